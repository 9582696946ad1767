//! Repeated scans in one workspace, and devices that hold few blocks at once.

use super::{FORMS, same_bits, scan_in};
use gridsync::device::{Device, Emulator, EmulatorConfig};
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync::primitives::{Scanner, scan};
use gridsync::reference;
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::op::Sum;
use gridsync_tests::devices::schedules;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, sample};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            a_device_that_holds_four_blocks_at_once_scans_many_under_every_schedule;
        on_each_backend:
            one_workspace_serves_scans_of_every_length,
            a_single_scan_gives_the_same_result,
            lengths_that_differ_are_refused;
    }
}

fn one_workspace_serves_scans_of_every_length(device: &Device) {
    let mut scanner = Scanner::new(Sum::<f32>::new(), device, 5000).expect("a scanner should fit");
    // Short after long and long after short, and longer than the scanner was created for.
    for (seed, len) in (0..).zip([5000, 0, 1, 40_000, 1024, 1025, 0, 33, 12_289, 12_289]) {
        let host = sample::<f32>(Input::Values, len, seed);
        let input = device.upload(&host).expect("the input should fit");
        let mut output = device.alloc(len).expect("the output should fit");
        for form in FORMS {
            scanner.launch(&input, &mut output, form).expect("it should launch");
            let got = output.download().expect("the kernel should have run");
            same_bits(
                &format!("{form:?}, {len}"),
                &got,
                &scan_on_cpu(Sum::<f32>::new(), &host, form),
            );
        }
    }
}

fn a_single_scan_gives_the_same_result(device: &Device) {
    let host = sample::<i32>(Input::Values, 5001, 1);
    let input = device.upload(&host).expect("the input should fit");
    let output = scan(Sum::<i32, i64>::new(), &input, Form::Exclusive).expect("it should run");
    let got = output.download().expect("the results are there");
    same_bits("5001", &got, &scan_on_cpu(Sum::<i32, i64>::new(), &host, Form::Exclusive));
}

fn lengths_that_differ_are_refused(device: &Device) {
    let input = device.upload(&[1.0f32; 5]).expect("the input should fit");
    let mut output = device.alloc(4).expect("the output should fit");
    let mut scanner = Scanner::new(Sum::<f32>::new(), device, 5).expect("a scanner should fit");
    let refused = scanner.launch(&input, &mut output, Form::Inclusive);
    let error = refused.expect_err("the output is too short").to_string();
    assert!(error.contains('5') && error.contains('4'), "{error}");
}

fn a_device_that_holds_four_blocks_at_once_scans_many_under_every_schedule() {
    let len = 11 * 1024;
    let shape = Shape::with::<f32>(len, 8, 1, 4);
    assert_eq!(shape.tiles, 11);
    let host = sample::<f32>(Input::Values, len, 2);
    let expected = reference::scan_in(Sum::<f32>::new(), shape, &host, Form::Inclusive);
    for schedule in schedules() {
        // 1024 threads per multiprocessor: four blocks of 8 warps.
        let device = Device::new(Emulator::new(EmulatorConfig {
            multiprocessors: 1,
            schedule,
            races: true,
            ..EmulatorConfig::default()
        }));
        let got = scan_in(Sum::<f32>::new(), &device, shape, &host, Form::Inclusive);
        same_bits(&format!("{schedule:?}"), &got, &expected);
    }
}
