//! Views that start at any element: elements before the first aligned pack and after the last one
//! are reduced too, and no element outside the view. And buffers over foreign memory, which start
//! at any element.

use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::{bf16, f16};
use gridsync::device::{Buffer, Device, DeviceError};
use gridsync::primitives::dot::dot;
use gridsync::primitives::histogram::{Bins, histogram};
use gridsync::primitives::kendall::Method;
use gridsync::primitives::rank::top_k;
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::scan::Form;
use gridsync::primitives::segments::reduce_segments;
use gridsync::primitives::select::{Within, select_with_positions};
use gridsync::primitives::softmax::RowSoftmax;
use gridsync::primitives::sort::{Order, argsort, sort};
use gridsync::primitives::{Checked, Correlator, RangeSums, Reducer, RowReducer, Scanner};
use gridsync::reference::reduce_depth;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::op::{ArgMax, ArgMin, Compose, Count, Max, Sum, Xor};
use gridsync_tests::oracle::{self, Plain};
use gridsync_tests::outcome::Outcome;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Sample, Widen, sample};

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
            bf16_counts_from_any_start,
            buffers_over_foreign_memory_may_start_at_any_element,
            queries_that_start_within_16_bytes_are_refused;
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
    let mut reducer = Reducer::new(op, device).expect("a reducer should fit");
    for len in [0, 1, 7, 9, 33, 2999, 9001] {
        for start in 0..=8 {
            // The elements around the part would change the result if they were read.
            let host = sample::<O::Element>(Input::Values, start + len + 9, len as u64);
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

/// A buffer with the contents of `host` that starts `past` elements after its allocation.
fn shifted<T: Pod + Send + Sync>(device: &Device, host: &[T], past: usize) -> Buffer<T> {
    let contents = [&vec![T::zeroed(); past], host].concat();
    let memory = device.upload(&contents).expect("the input should fit");
    let address = memory.address() + (past * size_of::<T>()) as u64;
    // SAFETY: the allocation has that many elements at this address, and lives as long as the
    // buffer.
    unsafe { Buffer::from_raw(device, address, host.len(), memory) }.expect("it is aligned")
}

fn buffers_over_foreign_memory_may_start_at_any_element(device: &Device) {
    /// The results of each primitive on buffers that start there, as bytes.
    fn results(device: &Device, past: usize) -> Result<Vec<Vec<u8>>, DeviceError> {
        let floats = sample::<f32>(Input::Values, 9001, 1);
        let queries: Vec<u64> = (0..500).flat_map(|i| [i, 9001 - 7 * i]).collect();
        // Long enough for scans by bulk copies.
        let words: Vec<u32> = (0..(1 << 18) + 1).collect();
        let of = |host: &[f32]| shifted(device, host, past);
        let x = of(&floats);

        let sum = Reducer::new(Sum::<f32>::new(), device)?.reduce(&x)?;
        let rows =
            RowReducer::new(Sum::<f32>::new(), device, 90, 100)?.reduce(&of(&floats[1..]))?;
        let scanner = || Scanner::new(Sum::<u32>::new(), device, words.len());
        let scanned = scanner()?.designs(words.len()).iter().map(|&design| {
            let mut sums = shifted(device, &words, past);
            let input = shifted(device, &words, past);
            scanner()?.with_design(design)?.launch(&input, &mut sums, Form::Inclusive)?;
            sums.download()
        });
        let scanned: Vec<Vec<u32>> = scanned.collect::<Result<_, _>>()?;
        let (kept, positions) = select_with_positions(Within::greater_than(0.5f32), &x)?;
        let mut ranges = RangeSums::<Sum<f32>>::new(device, &x)?;
        let mut of_ranges = of(&floats[..500]);
        // Two words are read at once.
        ranges.launch(&shifted(device, &queries, 2 * past), &mut of_ranges)?;
        let finite = sample::<f32>(Input::Factors, 3000, 2);
        let finite_rows = sample::<f32>(Input::Factors, 9000, 3);
        let (a, b) = (of(&finite[..2900]), of(&finite[100..]));
        let tau = |method| {
            let mut correlator = Correlator::new(device, a.len())?.with_method(method);
            correlator.launch(&a, &b)?;
            correlator.result()
        };
        let taus = [Method::Pairs, Method::Sort].map(|method| tau(method).expect("no NaN").tau);
        // Too long for one block.
        let keys: Vec<u16> = (0..20_001u32).map(|i| (i * 40_503) as u16).collect();
        let sorted = sort(Order::DESCENDING, &shifted(device, &keys, past))?;
        let indices = argsort::<f32, u32>(Order::ASCENDING, &x)?;
        let bins = Bins::even(-2.0, 2.0, 100).expect("f32 is fine enough");
        let counts = histogram(&bins, &x)?;
        let mut softmax = of(&floats[..9000]);
        RowSoftmax::new(device, 90, 100)?.launch(&of(&finite_rows), &mut softmax)?;
        let of_segments = reduce_segments(Sum::<f32>::new(), &x, &[0, 1, 700, 700, 9001])?;
        let top = top_k(Order::DESCENDING, &x, 50).expect("there are more");
        Ok(vec![
            bytemuck::bytes_of(&dot(&a, &b)?).to_vec(),
            bytemuck::cast_slice(&softmax.download()?).to_vec(),
            bytemuck::cast_slice(&of_segments).to_vec(),
            bytemuck::cast_slice(&top.indices.download()?).to_vec(),
            bytemuck::cast_slice(&counts.download()?).to_vec(),
            bytemuck::cast_slice(&sorted.download()?).to_vec(),
            bytemuck::cast_slice(&indices.download()?).to_vec(),
            bytemuck::bytes_of(&sum).to_vec(),
            bytemuck::cast_slice(&rows).to_vec(),
            bytemuck::cast_slice(&scanned.concat()).to_vec(),
            bytemuck::cast_slice(&kept.download()?).to_vec(),
            bytemuck::cast_slice(&positions.download()?).to_vec(),
            bytemuck::cast_slice(&of_ranges.download()?).to_vec(),
            bytemuck::cast_slice(&taus).to_vec(),
        ])
    }
    let expected = results(device, 0);
    assert!(expected.is_ok(), "{expected:?}");
    for past in [1, 3, 60] {
        assert!(results(device, past) == expected, "{past} elements past a multiple of 256");
    }
}

fn queries_that_start_within_16_bytes_are_refused(device: &Device) {
    let x = device.upload(&[1.0f32; 100]).expect("it fits");
    let mut ranges = RangeSums::<Sum<f32>>::new(device, &x).expect("it fits");
    let mut sums = device.zeroed(1).expect("it fits");
    let refused = ranges.launch(&shifted(device, &[0, 100u64], 1), &mut sums);
    assert!(matches!(refused, Err(DeviceError::Misaligned { alignment: 16, .. })), "{refused:?}");
}
