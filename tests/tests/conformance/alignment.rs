//! Views that start anywhere: the elements before the first aligned pack, and after the last one,
//! are reduced too, and none that lies outside.

use cuda_std::launch::Kernel;
use cuda_std::{bf16, f16};
use gridsync::device::{Device, Geometry};
use gridsync::verify::{Kind, Sample, sample};
use gridsync_kernels::entry::reduce::Reducible;
use gridsync_kernels::op::{Count, Max, Sum, Xor};
use gridsync_tests::oracle::{self, Plain};

/// Every start from 0 to 8 elements past an aligned address, with lengths around one pack, one turn
/// of a warp and several of the grid.
fn every_start<O>(device: &Device, op: &str)
where
    O: Reducible,
    O::Element: Plain + Sample,
    O::Accumulator: Plain,
{
    let geometry = Geometry::new(2, 64);
    for len in [0, 1, 7, 9, 33, 2999] {
        for start in 0..=8 {
            // Around the part lie elements that would change the result.
            let host = sample::<O::Element>(Kind::Values, start + len + 9, len as u64);
            let input = device.upload(&host).expect("the input should fit");
            let partials = device.alloc(2).expect("two partials should fit");
            let ticket = device.zeroed(1).expect("a ticket should fit");
            let result = device.alloc(1).expect("a result should fit");
            let part = input.view().part(start, len);
            // SAFETY: the part lies within the input; two partials for two blocks, a ticket of
            // zero and a result; all outlive the launch, which the download waits for.
            unsafe {
                device.launch::<O::Kernel>(
                    &geometry,
                    (part, partials.view(), ticket.view(), result.view()),
                )
            }
            .unwrap_or_else(|error| panic!("{}: {error}", O::Kernel::NAME));
            let got = result.download().expect("the kernel should have run")[0].number();
            // 2999 elements over 128 threads, then 5 steps in the warp and 1 in the block, and 1.
            let depth = 2999 / 128 + 16;
            let part = &host[start..start + len];
            let expected = oracle::reduce::<O::Element, O::Accumulator>(op, part, depth);
            assert!(
                expected.admits(got),
                "{} from {start}, {len} long: {got:?} is not {expected:?}",
                O::Kernel::NAME
            );
        }
    }
}

on_each_backend! {
    fn f16_sums_from_any_start(device: &Device) { every_start::<Sum<f16, f32>>(device, "sum") }
    fn bf16_sums_from_any_start(device: &Device) { every_start::<Sum<bf16, f32>>(device, "sum") }
    fn f32_sums_from_any_start(device: &Device) { every_start::<Sum<f32>>(device, "sum") }
    fn f64_sums_from_any_start(device: &Device) { every_start::<Sum<f64>>(device, "sum") }
    fn i32_sums_from_any_start(device: &Device) { every_start::<Sum<i32, i64>>(device, "sum") }
    fn u32_xors_from_any_start(device: &Device) { every_start::<Xor<u32>>(device, "xor") }
    fn i64_maxima_from_any_start(device: &Device) { every_start::<Max<i64>>(device, "max") }
    fn u64_counts_from_any_start(device: &Device) { every_start::<Count<u64>>(device, "count") }
    fn bf16_counts_from_any_start(device: &Device) { every_start::<Count<bf16>>(device, "count") }
}
