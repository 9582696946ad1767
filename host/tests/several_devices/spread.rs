//! Scans of arrays that are spread over several devices: when their grids start, and their sizes.

use super::{Machine, one, waiting};
use crate::fake_driver::controls::Launches;
use crate::fake_driver::log_of;
use cuda_std::launch::Kernel;
use gridsync::device::cuda::PtxImage;
use gridsync::device::{Device, Devices};
use gridsync::primitives::scan::Form;
use gridsync::primitives::{Spread, SpreadScanner};
use gridsync_entries::spread;
use gridsync_kernels::op::Sum;

/// The grids of a scan wait for each other. So the driver only records their launches and does not
/// run them.
const KERNELS: &[PtxImage] = &[PtxImage::text(90, ptx!("sm_90": scan_spread_sum_u32 waiting))];

/// A scanner, an array of the given number of tiles in stripes of one tile, and a buffer for the
/// results.
type Scan = (SpreadScanner<Sum<u32>>, Spread<u32>, Spread<u32>);

fn scan(devices: &Devices, tiles: usize) -> Scan {
    let input = Spread::in_stripes(devices, 1024 * tiles, 1024).expect("there is room");
    let output = Spread::like(devices, &input).expect("there is room");
    let scanner = SpreadScanner::new(Sum::new(), devices, input.len()).expect("there is room");
    (scanner, input, output)
}

fn launch((scanner, input, output): &mut Scan) {
    scanner.launch(input, output, Form::Inclusive).expect("it is put into both streams");
}

/// Whether all work in the stream is done.
fn is_idle(device: &Device) -> bool {
    let event = device.record_event().expect("nobody records");
    event.is_done().expect("nothing has failed")
}

#[test]
fn a_scan_begins_on_each_device_after_the_work_of_all() {
    for busy in [0, 1] {
        let machine = Machine::of(2);
        let devices = Devices::cuda(&[0, 1], KERNELS).expect("there are two");
        let mut scan = scan(&devices, 2);
        machine.controls.launches(busy as u32, Launches::Endless);
        // SAFETY: the kernel accesses no memory.
        unsafe { devices[busy].launch::<waiting>(&one(), ()) }.expect("it is launched");
        machine.controls.launches(busy as u32, Launches::Run);
        let before = is_idle(&devices[1 - busy]);
        launch(&mut scan);
        let after = is_idle(&devices[1 - busy]);
        machine.controls.end();
        assert_eq!((before, after), (true, false), "device {busy} has work");
        assert_eq!(devices.synchronize(), Ok(()));
        drop((scan, devices));
        assert_eq!(machine.controls.live(), "");
    }
}

#[test]
fn grids_that_share_a_device_fit_on_it_together() {
    let _machine = Machine::of(1);
    let launched = || {
        let lines = log_of(spread::sum_u32::NAME).into_iter();
        lines.filter(|line| line.starts_with("plain")).collect::<Vec<_>>()
    };
    // A device holds eight blocks, and the array has more tiles than that per device.
    for (ordinals, blocks) in [(&[0, 0][..], 4), (&[0, 0, 0, 0], 2)] {
        let devices = Devices::cuda(ordinals, KERNELS).expect("there is one");
        let before = launched().len();
        launch(&mut scan(&devices, 16 * devices.len()));
        let line = format!("plain {} {blocks},1,1 256,1,1 0", spread::sum_u32::NAME);
        assert_eq!(launched().split_off(before), vec![line; devices.len()]);
    }
}
