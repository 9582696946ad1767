//! The block reduction with the last warp unrolled, without barriers between its lanes.

use super::kernels::last_warp_without_barriers;
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_tests::devices::{emulator_under, unjudged_under};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::{Fault, Policy, Schedule};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            the_unrolled_last_warp_is_right_in_lockstep_and_wrong_if_lanes_run_ahead,
            the_unrolled_last_warp_is_a_data_race_even_if_its_sum_is_right;
    }
}

/// Sums 0 to 255 with this kernel, in one block.
fn sum(device: &Device) -> Result<u32, DeviceError> {
    let input = device.upload(&(0..256).collect::<Vec<u32>>())?;
    let sum = device.zeroed::<u32>(1)?;
    // SAFETY: one element for each thread, and one for the sum. The download waits for the launch.
    unsafe {
        let geometry = Geometry::new(1, 256);
        device.launch::<last_warp_without_barriers>(&geometry, (input.view(), sum.view()))?;
    }
    Ok(sum.download()?[0])
}

fn the_unrolled_last_warp_is_right_in_lockstep_and_wrong_if_lanes_run_ahead() {
    let under = |policy| sum(&unjudged_under(Schedule::new(policy)));
    let right = (0..256).sum();
    // As on devices before Volta: all lanes load, and then all store.
    assert_eq!(under(Policy::RoundRobin), Ok(right));
    // Each lane runs alone as far as it can.
    let caught = under(Policy::Coarse).expect("no fault");
    assert_ne!(caught, right);
}

fn the_unrolled_last_warp_is_a_data_race_even_if_its_sum_is_right() {
    let judged = sum(&emulator_under(Schedule::new(Policy::RoundRobin)));
    let Err(DeviceError::Fault(fault)) = judged else {
        panic!("{judged:?}");
    };
    assert!(matches!(*fault, Fault::Race(_)), "{fault}");
}
