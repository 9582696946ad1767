//! After a failure, primitives return no wrong result, neither at once nor later.

use bytemuck::Pod;
use cuda_std::prelude::*;
use gridsync::device::{Buffer, Device, DeviceError, Emulator, EmulatorConfig, Geometry, Graph};
use gridsync::primitives::kendall::{KendallError, Method};
use gridsync::primitives::scan::Form;
use gridsync::primitives::select::Within;
use gridsync::primitives::{Correlator, Reducer, RowReducer, Scanner, Selector};
use gridsync_kernels::op::Sum;
use std::ops::Range;

fn emulator() -> Device {
    Device::new(Emulator::new(EmulatorConfig::default()))
}

/// An emulator that checks for races among up to 2^17 threads and refuses larger grids before they
/// run.
fn emulator_with_races() -> Device {
    Device::new(Emulator::new(EmulatorConfig { races: true, ..EmulatorConfig::default() }))
}

fn upload<T: Pod>(device: &Device, host: &[T]) -> Buffer<T> {
    device.upload(host).expect("the input should fit")
}

/// # Safety
///
/// Always safe: it writes past its buffer, and the emulator reports the write.
#[kernel]
unsafe fn writes_past_the_end(values: Global<u32>) {
    values.write(values.len(), 1);
}

/// A graph whose replay faults before the reduction.
fn faulting(device: &Device, sum: &mut Reducer<Sum<u64>>, input: &Buffer<u64>) -> Graph {
    let words = device.zeroed::<u32>(1).expect("a word should fit");
    device
        .record(|| {
            let geometry = Geometry::new(1, 1);
            // SAFETY: in the emulator a write past the end is only an error.
            unsafe { device.launch::<writes_past_the_end>(&geometry, (words.view(),))? };
            sum.launch(input)
        })
        .expect("launches can be recorded")
}

fn is_stopped<T>(result: Result<T, DeviceError>) -> bool {
    matches!(result, Err(DeviceError::Stopped { .. }))
}

#[test]
fn after_a_fault_every_call_fails_and_none_returns_an_old_result() {
    let device = emulator();
    let input = upload(&device, &[1u64; 1000]);
    let mut sum = Reducer::new(Sum::<u64>::new(), &device).expect("a reducer should fit");
    assert_eq!(sum.reduce(&input), Ok(1000));
    let graph = faulting(&device, &mut sum, &input);
    // SAFETY: everything that was recorded is alive.
    let fault = unsafe { graph.launch() }.expect_err("it writes past the end");
    assert!(matches!(fault, DeviceError::Fault(_)), "{fault}");

    assert!(is_stopped(sum.result()));
    assert!(is_stopped(sum.reduce(&input)));
    // SAFETY: everything that was recorded is alive.
    assert!(is_stopped(unsafe { graph.launch() }));
    assert!(is_stopped(device.synchronize()));
    assert!(is_stopped(device.alloc::<u32>(1)));
    assert!(is_stopped(device.record(|| sum.launch(&input))));
    let said = device.synchronize().expect_err("it is lost").to_string();
    for part in ["waiting for the stream failed", "out of bounds", "make a new Emulator"] {
        assert!(said.contains(part), "{part} in: {said}");
    }
}

#[test]
fn a_refused_launch_changes_nothing() {
    let device = emulator_with_races();
    let input = device.zeroed::<u32>(1 << 23).expect("the input should fit");
    let mut sum = Reducer::new(Sum::<u32, u64>::new(), &device).expect("a reducer should fit");
    let refused = sum.launch(&input).expect_err("there are too many threads");
    assert!(matches!(refused, DeviceError::Fault(_)), "{refused}");
    assert_eq!(sum.reduce(&upload(&device, &[3u32; 7])), Ok(21));
}

#[test]
fn a_scan_in_parts_continues_after_a_refused_launch() {
    let device = emulator_with_races();
    let len = 2048 * 8192;
    let input = upload(&device, &vec![1u32; len]);
    let mut output = device.alloc::<u32>(len).expect("the output should fit");
    let mut scanner = Scanner::new(Sum::<u32>::new(), &device, len).expect("a scanner should fit");
    let mut launch = |part: Range<usize>| {
        scanner.launch_next(&input, part.clone(), &mut output, part, Form::Inclusive)
    };
    for start in [0, 8192, 2 * 8192] {
        let refused = launch(start..len).expect_err("there are too many threads");
        assert!(matches!(refused, DeviceError::Fault(_)), "{refused}");
        launch(start..start + 8192).expect("a block is not too many");
    }
    let sums = output.download_part(0..3 * 8192);
    let sums = sums.expect("it should have run");
    let expected: Vec<u32> = (1..=3 * 8192).collect();
    assert!(sums == expected, "{:?} …", &sums[8190..8195]);
}

#[test]
fn a_scan_in_parts_fails_after_a_fault() {
    let device = emulator();
    let mut input = device.alloc::<u32>(2000).expect("the input should fit");
    let mut output = device.alloc::<u32>(2000).expect("the output should fit");
    input.copy_part_from(0, &[1; 1000]).expect("it is half of it");
    let mut scanner = Scanner::new(Sum::<u32>::new(), &device, 2000).expect("a scanner should fit");
    let mut launch = |part: Range<usize>| {
        scanner.launch_next(&input, part.clone(), &mut output, part, Form::Inclusive)
    };
    launch(0..1000).expect("it should launch");
    let fault = launch(1000..2000).expect_err("the second half was never written");
    assert!(matches!(fault, DeviceError::Fault(_)), "{fault}");
    assert!(is_stopped(launch(1000..2000)));
    assert!(is_stopped(output.download()));
}

/// Checks that a primitive refuses to grow after a graph has recorded it, and that the graph still
/// runs.
fn keeps_what_a_graph_uses(
    device: &Device,
    mut launch: impl FnMut(bool) -> Result<(), DeviceError>,
    mut check: impl FnMut(),
) {
    let graph = device.record(|| launch(false)).expect("a launch can be recorded");
    let refused = launch(true).expect_err("its memory would be replaced");
    assert!(matches!(refused, DeviceError::InGraph { .. }), "{refused}");
    // If the memory had been freed, one of these buffers would get it.
    let _others: Vec<_> = (0..8).map(|_| device.zeroed::<u64>(4096)).collect();
    launch(false).expect("a short one needs no more memory");
    check();
    for _ in 0..3 {
        // SAFETY: everything that was recorded is alive.
        unsafe { graph.launch() }.expect("should run");
        check();
    }
}

#[test]
fn memory_that_a_graph_uses_is_not_replaced_for_a_longer_array() {
    let device = emulator();
    let (short, long) = (upload(&device, &[1u32; 5000]), upload(&device, &vec![1u32; 1 << 20]));
    let mut outputs = [5000, 1 << 20].map(|len| device.alloc::<u32>(len).expect("it should fit"));

    let mut scanner = Scanner::new(Sum::<u32>::new(), &device, 5000).expect("a scanner should fit");
    let [short_sums, long_sums] = &mut outputs;
    let shared = std::cell::RefCell::new(short_sums);
    keeps_what_a_graph_uses(
        &device,
        |is_long| {
            if is_long {
                scanner.launch(&long, long_sums, Form::Inclusive)
            } else {
                scanner.launch(&short, &mut shared.borrow_mut(), Form::Inclusive)
            }
        },
        || {
            let sums = shared.borrow().download().expect("it should have run");
            assert!(sums == (1..=5000).collect::<Vec<u32>>());
        },
    );

    let within = Within::less_than(2u32);
    let mut selector = Selector::new(within, &device, 5000).expect("a selector should fit");
    let mut count = device.zeroed::<u64>(1).expect("a count should fit");
    let [short_kept, long_kept] = &mut outputs;
    let counted = std::cell::RefCell::new(&mut count);
    keeps_what_a_graph_uses(
        &device,
        |is_long| {
            let count = &mut counted.borrow_mut();
            if is_long {
                selector.launch(&long, long_kept, count)
            } else {
                selector.launch(&short, short_kept, count)
            }
        },
        || assert_eq!(counted.borrow().download(), Ok(vec![5000])),
    );

    let mut correlator = Correlator::<u32>::new(&device, 0)
        .expect("a correlator should fit")
        .with_method(Method::Sort);
    correlator.launch(&short, &short).expect("makes room for the short ones");
    let correlator = std::cell::RefCell::new(correlator);
    keeps_what_a_graph_uses(
        &device,
        |is_long| {
            let array = if is_long { &long } else { &short };
            let launched = correlator.borrow_mut().launch(array, array);
            launched.map_err(|error| match error {
                KendallError::Device(error) => error,
                other => panic!("the arrays are of one length: {other}"),
            })
        },
        || {
            let all_tied = correlator.borrow().result().expect("there is no NaN");
            assert_eq!(all_tied.discordant, 0);
        },
    );
}

#[test]
fn result_is_an_error_before_a_launch_and_after_a_failed_one() {
    let (device, other) = (emulator(), emulator());
    let (input, foreign) = (upload(&device, &[1u32; 4]), upload(&other, &[1u32; 4]));
    let no_result = |error: Option<DeviceError>| {
        assert!(matches!(error, Some(DeviceError::NoResult { .. })), "{error:?}");
    };

    let mut sum = Reducer::new(Sum::<u32, u64>::new(), &device).expect("a reducer should fit");
    no_result(sum.result().err());
    assert_eq!(sum.reduce(&input), Ok(4));
    assert!(sum.launch(&foreign).is_err());
    no_result(sum.result().err());

    let rows = RowReducer::new(Sum::<u32, u64>::new(), &device, 2, 2);
    let mut rows = rows.expect("a reducer should fit");
    no_result(rows.results().err());
    assert_eq!(rows.reduce(&input), Ok(vec![2, 2]));
    assert!(rows.launch(&foreign).is_err());
    no_result(rows.results().err());

    let mut correlator = Correlator::<u32>::new(&device, 4).expect("a correlator should fit");
    let error = |correlator: &Correlator<u32>| match correlator.result() {
        Err(KendallError::Device(error)) => Some(error),
        _ => None,
    };
    no_result(error(&correlator));
    correlator.launch(&input, &input).expect("it should launch");
    assert!(correlator.result().is_ok());
    assert!(correlator.launch(&input, &foreign).is_err());
    no_result(error(&correlator));
}

#[test]
fn too_many_pairs_for_a_grid_are_refused_with_the_maximum() {
    let device = emulator();
    let longest = 65_535 * 256;
    let array = device.alloc::<u32>(longest + 1).expect("it is not touched");
    let correlator = Correlator::<u32>::new(&device, 0).expect("a correlator should fit");
    let mut correlator = correlator.with_method(Method::Pairs);
    let refused = correlator.launch(&array, &array);
    let expected = KendallError::TooManyPairs { len: longest + 1, most: longest };
    assert_eq!(refused, Err(expected));
}
