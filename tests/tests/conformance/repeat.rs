//! Repeated runs: the same input gives the same bits, after any other runs and in any order.

use gridsync::device::Device;
use gridsync::primitives::{Checked, Reducer};
use gridsync::reference::reduce_depth;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::op::{ArgMax, Sum, Xor};
use gridsync_tests::devices::{emulator, emulator_under, schedules};
use gridsync_tests::oracle::Plain;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Sample, sample};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            a_sum_has_the_same_bits_under_every_schedule;
        on_each_backend:
            one_workspace_serves_sums_of_every_length,
            one_workspace_serves_xors_of_every_length,
            one_workspace_serves_arguments_of_every_length,
            a_new_workspace_gives_the_same_bits;
    }
}

/// Reduces inputs of many lengths in one workspace, long after short and short after long. Returns
/// the first wrong result as an error.
pub(crate) fn one_workspace<O>(op: O, device: &Device) -> Result<(), String>
where
    O: Reducible + Checked,
    O::Element: Plain + Sample,
    O::Output: Debug,
{
    let mut reducer = Reducer::new(op, device).map_err(|error| error.to_string())?;
    for (seed, len) in (0..).zip([9000, 0, 1, 50_000, 4096, 4097, 0, 33, 12_289, 12_289]) {
        let host = sample::<O::Element>(Input::Values, len, seed);
        let input = device.upload(&host).map_err(|error| error.to_string())?;
        let result = reducer.reduce(&input).map_err(|error| error.to_string())?;
        let check = op.check(&host, result, reduce_depth::<O>(len));
        if !check.ok {
            return Err(format!("{len} elements: {result:?} is wrong: {check:?}"));
        }
    }
    Ok(())
}

/// The bits of a sum that rounds in nearly every step.
fn bits_of_a_sum(device: &Device, len: usize) -> u32 {
    let input = device.upload(&sample::<f32>(Input::Values, len, 7)).expect("the input should fit");
    let mut reducer = Reducer::new(Sum::<f32>::new(), device).expect("a reducer should fit");
    let sum = reducer.reduce(&input).expect("the sum should be computed");
    sum.to_bits()
}

fn one_workspace_serves_sums_of_every_length(device: &Device) {
    one_workspace(Sum::<f32>::new(), device).unwrap_or_else(|wrong| panic!("{wrong}"));
}

fn one_workspace_serves_xors_of_every_length(device: &Device) {
    one_workspace(Xor::<u64>::new(), device).unwrap_or_else(|wrong| panic!("{wrong}"));
}

fn one_workspace_serves_arguments_of_every_length(device: &Device) {
    one_workspace(ArgMax::<i64>::new(), device).unwrap_or_else(|wrong| panic!("{wrong}"));
}

fn a_new_workspace_gives_the_same_bits(device: &Device) {
    for len in [1000, 4097, 70_001] {
        let first = bits_of_a_sum(device, len);
        for _ in 0..5 {
            assert_eq!(bits_of_a_sum(device, len), first, "{len} elements");
        }
    }
}

fn a_sum_has_the_same_bits_under_every_schedule() {
    let len = 3 * 4096 + 5;
    let first = bits_of_a_sum(&emulator(), len);
    for schedule in schedules() {
        let bits = bits_of_a_sum(&emulator_under(schedule), len);
        assert_eq!(bits, first, "{schedule:?}");
    }
}
