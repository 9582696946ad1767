//! Views that start anywhere: the elements before the first aligned pack and after the last one are
//! reduced too, and no element outside the view.

use cuda_std::launch::Kernel;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::{Checked, Reducer};
use gridsync::reference::reduce_depth;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::op::{ArgMax, ArgMin, Compose, Count, Max, Sum, Xor};
use gridsync_program::verify::{Kind, Sample, Widen, sample};
use gridsync_tests::oracle::{self, Plain};
use gridsync_tests::outcome::Outcome;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;

pub(crate) fn trials() -> Trials {
    trials! {
        on_each_backend:
            f16_sums_from_any_start,
            bf16_sums_from_any_start,
            f32_sums_from_any_start,
            f64_sums_from_any_start,
            i32_sums_from_any_start,
            u32_xors_from_any_start,
            i64_maxima_from_any_start,
            u64_counts_from_any_start,
            f32_argmins_from_any_start,
            bf16_argmaxs_from_any_start,
            maps_from_any_start,
            bf16_counts_from_any_start;
    }
}

/// Every start from 0 to 8 elements past an aligned address, with lengths around one pack, one turn
/// of a warp, and several turns of the grid.
fn every_start<O>(op: O, device: &Device, name: &str)
where
    O: Reducible + Checked,
    O::Element: Plain + Sample,
    O::Output: Outcome,
{
    let mut reducer = Reducer::with(op, device).expect("a reducer should fit");
    for len in [0, 1, 7, 9, 33, 2999, 9001] {
        for start in 0..=8 {
            // The elements around the part would change the result.
            let host = sample::<O::Element>(Kind::Values, start + len + 9, len as u64);
            let input = device.upload(&host).expect("the input should fit");
            reducer
                .launch_part(&input, start..start + len)
                .unwrap_or_else(|error| panic!("{}: {error}", O::Kernel::NAME));
            let result = reducer.result().expect("the kernel should have run");
            let part = &host[start..start + len];
            let on_the_cpu = reduce_on_cpu(op, part);
            assert!(
                O::same(result, on_the_cpu),
                "{} from {start}, {len} long: {result:?} is not {on_the_cpu:?}",
                O::Kernel::NAME
            );
            let got = result.number();
            let depth = reduce_depth::<O>(len);
            let expected =
                oracle::reduce::<O::Element, <O::Output as Outcome>::Plain>(name, part, depth);
            assert!(
                expected.admits(got),
                "{} from {start}, {len} long: {got:?} is not {expected:?}",
                O::Kernel::NAME
            );
        }
    }
}

fn f16_sums_from_any_start(device: &Device) {
    every_start(Sum::<f16, f32>::new(), device, "sum")
}

fn bf16_sums_from_any_start(device: &Device) {
    every_start(Sum::<bf16, f32>::new(), device, "sum")
}

fn f32_sums_from_any_start(device: &Device) {
    every_start(Sum::<f32>::new(), device, "sum")
}

fn f64_sums_from_any_start(device: &Device) {
    every_start(Sum::<f64>::new(), device, "sum")
}

fn i32_sums_from_any_start(device: &Device) {
    every_start(Sum::<i32, i64>::new(), device, "sum")
}

fn u32_xors_from_any_start(device: &Device) {
    every_start(Xor::<u32>::new(), device, "xor")
}

fn i64_maxima_from_any_start(device: &Device) {
    every_start(Max::<i64>::new(), device, "max")
}

fn u64_counts_from_any_start(device: &Device) {
    every_start(Count::<u64>::new(), device, "count")
}

fn f32_argmins_from_any_start(device: &Device) {
    every_start(ArgMin::<f32>::new(), device, "argmin")
}

fn bf16_argmaxs_from_any_start(device: &Device) {
    every_start(ArgMax::<bf16, f32>::new(), device, "argmax")
}

fn maps_from_any_start(device: &Device) {
    every_start(Compose::new(), device, "compose")
}

fn bf16_counts_from_any_start(device: &Device) {
    every_start(Count::<bf16>::new(), device, "count")
}
