//! Reductions of segments, and runs and groups of equal keys: every operation × lengths × backend,
//! and every schedule.

use crate::matrix::{each_is_there_once, run};
use gridsync::device::{Device, DeviceError};
use gridsync::primitives::segments::by_key::{Nans, reduce_by_key};
use gridsync::primitives::segments::{
    Offsets, SegmentReducer, reduce_segments, reduce_segments_on_cpu,
};
use gridsync_kernels::op::{Max, Sum};
use gridsync_tests::devices::{emulator, emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::{Budget, Trials};
use gridsync_verify::{Kind, Lens, Primitive, Size, kinds};

/// Lengths of arrays around the ends of a warp, a block and a tile.
const SHORT: [usize; 13] = [0, 1, 31, 32, 33, 255, 257, 3839, 3841, 7935, 7936, 7937, 20_001];

/// Lengths of many tiles, and of more than one group of them.
const LONG: [usize; 3] = [(1 << 16) - 1, (1 << 20) + 7, (1 << 24) + 1];

/// Lengths of segments: of every kind, one with half of all, one of everything, and as long as the
/// steps of a thread and of a tile, with the end or without.
const LENS: [Lens; 9] = [
    Lens::Mixed,
    Lens::Skewed,
    Lens::Of(1),
    Lens::Of(16),
    Lens::Of(30),
    Lens::Of(31),
    Lens::Of(1000),
    Lens::Of(7935),
    Lens::Of(usize::MAX),
];

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test: every_kind_is_in_the_matrix;
        on_each_backend:
            a_million_empty_segments_have_the_identity,
            arrays_with_other_lengths_than_the_offsets_are_refused,
            results_of_other_offsets_are_refused,
            a_run_of_everything_is_one_segment,
            a_long_segment_of_small_numbers_keeps_its_digits;
    };
    for primitive in [Primitive::Segments, Primitive::ByKey] {
        kinds(primitive).enumerate().for_each(|(row, kind)| add_row(&mut trials, row, kind));
    }
    trials
}

/// Adds the tests of one kind, in row `row` of the table.
fn add_row(trials: &mut Trials, row: usize, kind: &'static Kind) {
    let (name, is_by_key) = (name(kind), kind.primitive == Primitive::ByKey);
    for (number, len) in SHORT.into_iter().enumerate() {
        // All types share nearly all code, so one has all lengths of segments, and each of the others
        // a third or a ninth of them.
        let is_tried = number % 6 == 5 && !is_by_key;
        let (first, step) = match (kind.name, is_tried) {
            ("sum_f32", _) => (0, 1),
            (_, true) => (row % 3, 3),
            _ => (number % LENS.len(), LENS.len()),
        };
        let budget = Budget::thorough_if(step == LENS.len() && len > 33);
        trials.add(format!("{name}::on_the_emulator::len_{len}"), budget, move || {
            let lens = LENS.into_iter().skip(first).step_by(step);
            lens.for_each(|lens| run(&emulator(), kind, Size::Ragged(len, lens), len));
        });
    }
    for len in SHORT.into_iter().chain(LONG) {
        trials.test(format!("{name}::on_cuda::len_{len}"), move || {
            // The CPU takes many seconds for millions of segments, so one kind is enough.
            let is_long = len > 1 << 20 && kind.name != "sum_f32";
            let lens = if is_long { &[Lens::Mixed, Lens::Of(1000)] } else { &LENS[..] };
            with_cuda(|cuda| {
                for &lens in lens {
                    run(cuda, kind, Size::Ragged(len, lens), len);
                }
            });
        });
    }
    let budget = Budget::thorough_if(!kind.name.ends_with("f32") || is_by_key);
    trials.add(format!("{name}::under_every_schedule"), budget, move || {
        for (number, schedule) in schedules().into_iter().enumerate() {
            let lens = LENS[number % LENS.len()];
            run(&emulator_under(schedule), kind, Size::Ragged(300, lens), number);
        }
    });
}

fn name(kind: &Kind) -> String {
    if kind.primitive == Primitive::ByKey {
        format!("by_key_{}", kind.name)
    } else {
        kind.name.to_owned()
    }
}

fn every_kind_is_in_the_matrix() {
    let with =
        |prefix| move |name: &str| format!("segments::{prefix}{name}::on_the_emulator::len_33");
    each_is_there_once(Primitive::Segments, &trials(), with(""));
    each_is_there_once(Primitive::ByKey, &trials(), with("by_key_"));
}

fn a_million_empty_segments_have_the_identity(device: &Device) {
    // Few of them in the emulator, but more than one tile.
    let count = if device.properties().is_emulated() { 20_000 } else { 1 << 20 };
    let mut offsets = vec![0; count];
    offsets.extend([3; 5]);
    let input = device.upload(&[1u32, 7, 2]).expect("the input should fit");
    let largest = reduce_segments(Max::<u32>::new(), &input, &offsets).expect("it should run");
    assert_eq!(largest.len(), count + 4);
    assert!(largest.iter().enumerate().all(|(i, &max)| max == if i == count - 1 { 7 } else { 0 }));
}

fn arrays_with_other_lengths_than_the_offsets_are_refused(device: &Device) {
    let input = device.upload(&[1u32, 7, 2]).expect("the input should fit");
    let refused = |offsets: &[u64]| {
        let reduced = reduce_segments(Sum::<u32, u64>::new(), &input, offsets);
        reduced.expect_err("these are not offsets of its segments")
    };
    let other = refused(&[0, 2]);
    assert!(matches!(other, DeviceError::LengthMismatch { buffer: 3, given: 2 }), "{other}");
    for wrong in [&[][..], &[1, 3], &[0, 2, 1, 3]] {
        assert!(matches!(refused(wrong), DeviceError::NotOffsets { .. }), "{wrong:?}");
    }
}

fn results_of_other_offsets_are_refused(device: &Device) {
    let input = device.upload(&[1u32, 7, 2]).expect("the input should fit");
    let offsets = |of: &[u64]| Offsets::new(device, of).expect("they are offsets");
    let (two, three) = (offsets(&[0, 2, 3]), offsets(&[0, 2, 2, 3]));
    let mut sums = SegmentReducer::new(Sum::<u32, u64>::new(), device).expect("it should fit");
    assert!(matches!(sums.results(&two), Err(DeviceError::NoResult { .. })));
    assert_eq!(sums.reduce(&input, &two), Ok(vec![8, 2]));
    let error = sums.results(&three).expect_err("there are two results");
    assert!(matches!(error, DeviceError::LengthMismatch { buffer: 2, given: 3 }), "{error}");
}

/// Sums of millions of equal numbers, where jax.ops.segment_sum lost all digits (jax#4299).
fn a_long_segment_of_small_numbers_keeps_its_digits(device: &Device) {
    let is_emulated = device.properties().is_emulated();
    let len = if is_emulated { 100_000 } else { 50_000_000 };
    let each = 2.0 / len as f32;
    let host = vec![each; len];
    let input = device.upload(&host).expect("the input should fit");
    let offsets = [0, len as u64 / 3, len as u64];
    let sums = reduce_segments(Sum::<f32>::new(), &input, &offsets).expect("it should run");
    let on_cpu = reduce_segments_on_cpu(Sum::<f32>::new(), &host, &offsets);
    for (segment, pair) in offsets.windows(2).enumerate() {
        assert_eq!(sums[segment].to_bits(), on_cpu[segment].to_bits());
        let exact = (pair[1] - pair[0]) as f64 * f64::from(each);
        let error = (f64::from(sums[segment]) - exact).abs();
        assert!(error <= 4e-6 * exact, "{} is not {exact}", sums[segment]);
    }
}

fn a_run_of_everything_is_one_segment(device: &Device) {
    let (keys, values) = (vec![-3i64; 9000], vec![0.5f32; 9000]);
    let (keys, values) = (device.upload(&keys), device.upload(&values));
    let (keys, values) = (keys.expect("it should fit"), values.expect("it should fit"));
    let reduced = reduce_by_key(Sum::<f32>::new(), &keys, &values, Nans::Apart);
    let (runs, sums) = reduced.expect("it should run");
    assert_eq!((runs, sums), (vec![-3], vec![4500.0]));
}
