//! Host arrays that the device or the CPU processes part by part: the results are those of the
//! whole. `scan::parts` does the same for scans.

use cuda_std::f16;
use gridsync::device::Device;
use gridsync::primitives::kendall::{KendallError, kendall_on_cpu};
use gridsync::primitives::range_sum::{BadRange, RangeSumError, range_sums_on_cpu};
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::select::{
    FirstOfRun, Within, partition_on_cpu, positions_on_cpu, select_on_cpu,
};
use gridsync::primitives::{
    Checked, PartCorrelator, PartRangeSums, PartReducer, PartReducible, PartSelector, Sifted,
    Wanted, kendall_in_parts, range_sums_in_parts, select_in_parts,
};
use gridsync_entries::select::Selectable;
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::op::{
    ArgMax, ArgMin, CompensatedSum, Compose, Count, Max, ProductModulo, Sum,
};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Ranked, Sample, Ties, runs, sample, sample_ranges};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            reductions_in_parts_are_those_of_the_whole_on_the_cpu,
            selections_in_parts_are_those_of_the_whole_on_the_cpu,
            rank_correlations_in_parts_are_those_of_the_whole_on_the_cpu,
            range_sums_in_parts_are_those_of_the_whole_on_the_cpu,
            range_sums_of_a_long_array_continue_from_part_to_part_on_cuda;
        on_each_backend:
            selections_in_parts_are_those_of_the_whole,
            unrequested_outputs_are_absent,
            a_nan_in_a_later_part_is_reported_as_in_the_whole_array,
            range_sums_in_parts_are_those_of_the_whole,
            an_invalid_range_is_reported_before_anything_is_scanned;
        thorough_on_the_emulator:
            rank_correlations_in_parts_are_those_of_the_whole,
            reductions_in_parts_are_those_of_the_whole;
    }
}

/// Length of the arrays for selections.
const LEN: usize = 3003;

/// Parts that divide the array and parts that do not; one element less than all, all, and more.
const PARTS: [usize; 8] = [500, 1000, 1001, 1500, LEN - 1, LEN, LEN + 1, usize::MAX];

/// Selects in parts, and compares with the CPU's selection of the whole.
fn selected<S>(device: &Device, by: S, input: &[S::Element], part: usize)
where
    S: Selectable<Element: bytemuck::Pod + PartialEq + std::fmt::Debug>,
{
    let [kept, rest] = partition_on_cpu(by, input);
    let positions = positions_on_cpu(by, input);
    let mut seen = Vec::new();
    let all = Wanted { rest: true, positions: true };
    let got = select_in_parts(by, device, input, part, all, |done| seen.push(done))
        .expect("every part should be selected from");
    let bits = |values: &[S::Element]| bytemuck::cast_slice::<_, u8>(values).to_vec();
    assert!(bits(&got.kept) == bits(&kept), "kept, by {part}");
    let got_rest = got.rest.expect("the rest was wanted");
    assert!(bits(&got_rest) == bits(&rest), "rest, by {part}");
    assert_eq!(got.positions, Some(positions), "positions, by {part}");
    let ends = (1..).map(|parts| input.len().min(part.max(1).saturating_mul(parts)));
    let ends: Vec<_> = ends.take(input.len().div_ceil(part.max(1))).collect();
    assert_eq!(seen, ends, "progress, by {part}");
}

/// Selects with both kinds of selections.
fn selected_by_both<T: Sample + bytemuck::Pod + PartialEq + std::fmt::Debug>(
    device: &Device,
    within: Within<T>,
    input: &[T],
    part: usize,
) where
    Within<T>: Selectable<Element = T>,
    FirstOfRun<T>: Selectable<Element = T>,
{
    selected(device, within, input, part);
    selected(device, FirstOfRun::<T>::new(), input, part);
}

/// Correlates in parts, and compares with the CPU.
fn correlated<T: Ranked>(device: &Device, ties: Ties, len: usize, part: usize) {
    let (x, y) = ties.sample::<T>(len, len as u64);
    let expected = kendall_on_cpu(&x, &y).expect("it has no NaN");
    let mut seen = Vec::new();
    let got = kendall_in_parts(device, &x, &y, part, |done, of| seen.push((done, of)));
    let got = got.expect("it has no NaN");
    assert!(got.same(&expected), "{ties:?}, {len} by {part}: {got:?}, not {expected:?}");
    assert!(!seen.is_empty(), "it should say when it is done");
    assert!(seen.iter().zip(1..).all(|(step, i)| *step == (i, seen.len())), "{seen:?}");
}

/// Reduces in parts, on the device or on the CPU, and compares with the whole.
fn reduced<O>(device: Option<&Device>, op: O, input: &[O::Element], part: usize)
where
    O: PartReducible + Checked<Element: bytemuck::Pod, Output: std::fmt::Debug>,
{
    let len = input.len();
    let mut reducer = match device {
        Some(device) => PartReducer::new(op, device, len, part).expect("there is room"),
        None => PartReducer::on_cpu(op, len, part),
    };
    let taken = reducer.part();
    assert!(taken <= len && taken > 0, "{taken} of {len}");
    for part in input.chunks(taken) {
        reducer.next(part).expect("the part should be reduced");
    }
    let (got, expected) = (reducer.finish(), reduce_on_cpu(op, input));
    let name = std::any::type_name::<O>();
    assert!(O::same(got, expected), "{name} of {len} by {taken}: {got:?}, not {expected:?}");
}

/// Arrays of up to 4 MiB are reduced whole, longer ones in parts: of one tile, of several tiles,
/// and of lengths that are not multiples of a tile.
fn reduced_by_all(device: Option<&Device>) {
    let small = sample::<f32>(Input::Values, 5003, 1);
    reduced(device, Sum::<f32>::new(), &small, 1000);
    reduced(device, ArgMin::<f32>::new(), &small, 1000);
    let large = sample::<f64>(Input::Values, 600_001, 2);
    for part in [1, 300_000, 599_999] {
        reduced(device, Sum::<f64>::new(), &large, part);
    }
    reduced(device, CompensatedSum::<f64>::new(), &large, 100_000);
    reduced(device, Max::<f64>::new(), &large, 100_001);
    reduced(device, ArgMax::<f64>::new(), &large, 100_001);
    reduced(device, Count::<f64>::new(), &large, 250_000);
    let maps = sample::<u64>(Input::Factors, 600_001, 3);
    reduced(device, Compose::new(), &maps, 200_000);
    let modulo = ProductModulo::<u64>::by_a_prime();
    reduced(device, modulo, &maps, 200_001);
}

fn reductions_in_parts_are_those_of_the_whole_on_the_cpu() {
    reduced_by_all(None);
}

fn selections_in_parts_are_those_of_the_whole_on_the_cpu() {
    let input = runs::<f32>(LEN, 3);
    let all = Wanted { rest: true, positions: true };
    fn selected<S>(by: S, input: &[S::Element], part: usize, wanted: Wanted)
    where
        S: Selectable<Element: bytemuck::Pod>,
    {
        let mut selector = PartSelector::on_cpu(by, wanted);
        let mut got = Sifted::none(wanted);
        for part in input.chunks(part) {
            let found = selector.next(part).expect("there is room");
            got.extend(&found).expect("there is room");
        }
        let [kept, rest] = partition_on_cpu(by, input);
        let bits = |values: &[S::Element]| bytemuck::cast_slice::<_, u8>(values).to_vec();
        assert!(bits(&got.kept) == bits(&kept), "kept, by {part}");
        let rest = wanted.rest.then(|| bits(&rest));
        assert!(got.rest.map(|rest| bits(&rest)) == rest, "rest, by {part}");
        let positions = wanted.positions.then(|| positions_on_cpu(by, input));
        assert_eq!(got.positions, positions, "positions, by {part}");
    }
    for part in [1, 7, 1000, LEN, 5 * LEN] {
        selected(Within::less_than(0.0f32), &input, part, all);
        selected(FirstOfRun::<f32>::new(), &input, part, all);
        selected(FirstOfRun::<f32>::new(), &input, part, Wanted::default());
    }
    // More elements than one core processes at once.
    let long = runs::<i32>(300_001, 4);
    selected(FirstOfRun::<i32>::new(), &long, 200_000, all);
}

fn rank_correlations_in_parts_are_those_of_the_whole_on_the_cpu() {
    for ties in Ties::ALL {
        for (len, part) in [(1000, 999), (1000, 501), (1001, 400), (12, 2), (3, 0), (1, 0)] {
            let (x, y) = ties.sample::<f64>(len, 1);
            let mut parts = PartCorrelator::on_cpu(len, part);
            let got = parts.correlate(&x, &y, |_, _| ()).expect("it has no NaN");
            let expected = kendall_on_cpu(&x, &y).expect("it has no NaN");
            assert!(got.same(&expected), "{ties:?}, {len} by {part}: {got:?}");
        }
    }
}

fn range_sums_in_parts_are_those_of_the_whole_on_the_cpu() {
    // Two parts of a scan of small elements, and some more elements.
    let len = 2 * Shape::part::<f16, f64>() + 1001;
    let (op, input) = (Sum::<f16, f64>::new(), sample::<f16>(Input::Values, len, 9));
    let queries = sample_ranges(len, 500, 1);
    let mut sums = PartRangeSums::on_cpu(op, len, &queries, 1).expect("all are ranges");
    let part = sums.part();
    assert!(part < len, "{part}");
    for part in input.chunks(part) {
        sums.next(part).expect("there is room");
    }
    let got = sums.sums().expect("there is room");
    let expected = range_sums_on_cpu(op, &input, &queries).expect("all are ranges");
    let bits = |sums: &[f64]| sums.iter().map(|sum| sum.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&got), bits(&expected));
}

fn reductions_in_parts_are_those_of_the_whole(device: &Device) {
    reduced_by_all(Some(device));
}

fn selections_in_parts_are_those_of_the_whole(device: &Device) {
    for part in PARTS {
        selected_by_both(device, Within::less_than(0.0), &runs::<f32>(LEN, 3), part);
        selected_by_both(device, Within::less_than(0), &runs::<i64>(LEN, 4), part);
    }
    // Parts of one element are allowed too.
    for part in [0, 1, 2, 3] {
        selected_by_both(device, Within::less_than(0), &runs::<i32>(40, 5), part);
    }
    selected_by_both(device, Within::less_than(0), &runs::<i32>(0, 5), 7);
}

fn unrequested_outputs_are_absent(device: &Device) {
    let (by, input) = (Within::less_than(0), sample::<i32>(Input::Values, 100, 1));
    let got = select_in_parts(by, device, &input, 30, Wanted::default(), |_| ());
    let got = got.expect("every part should be selected from");
    assert_eq!(got.kept, select_on_cpu(by, &input));
    assert_eq!((got.rest, got.positions), (None, None));
}

fn rank_correlations_in_parts_are_those_of_the_whole(device: &Device) {
    for ties in Ties::ALL {
        for (len, part) in [(1000, 999), (1000, 1000), (1000, 501), (1001, 400), (12, 2)] {
            correlated::<f32>(device, ties, len, part);
        }
        correlated::<f64>(device, ties, 777, 300);
        correlated::<i32>(device, ties, 3, 0);
        correlated::<i32>(device, ties, 1, 0);
    }
    correlated::<u64>(device, Ties::Few, 0, 0);
}

fn a_nan_in_a_later_part_is_reported_as_in_the_whole_array(device: &Device) {
    let (mut x, mut y) = Ties::Few.sample::<f64>(1000, 1);
    (x[700], y[3]) = (f64::NAN, f64::NAN);
    let got = kendall_in_parts(device, &x, &y, 300, |_, _| ());
    assert_eq!(got, Err(KendallError::NotANumber { array: 'x', index: 700 }));
}

fn range_sums_in_parts_are_those_of_the_whole(device: &Device) {
    let (op, input) = (Sum::<f32, f64>::new(), sample::<f32>(Input::Values, LEN, 9));
    let queries = sample_ranges(LEN, 500, 1);
    let got = range_sums_in_parts(op, device, &input, &queries, 100, |_| ());
    let expected = range_sums_on_cpu(op, &input, &queries).expect("all are ranges");
    let bits = |sums: &[f64]| sums.iter().map(|sum| sum.to_bits()).collect::<Vec<_>>();
    assert_eq!(got.map(|sums| bits(&sums)), Ok(bits(&expected)));
}

fn an_invalid_range_is_reported_before_anything_is_scanned(device: &Device) {
    let (op, input) = (Sum::<i32, i64>::new(), sample::<i32>(Input::Values, 10, 9));
    let queries = [[0, 10], [3, 11], [2, 1]];
    let refuse = |_| panic!("nothing should be scanned");
    let got = range_sums_in_parts(op, device, &input, &queries, 100, refuse);
    let bad = BadRange { query: 1, from: 3, to: 11, len: 10 };
    assert_eq!(got, Err(RangeSumError::BadRange(bad)));
}

/// Longer than one part of a scan, which is too slow in the emulator.
fn range_sums_of_a_long_array_continue_from_part_to_part_on_cuda() {
    gridsync_tests::devices::with_cuda(|cuda| {
        let len = 3 * (8 << 20) + 17;
        let (op, input) = (Sum::<i32, i64>::new(), sample::<i32>(Input::Values, len, 9));
        let queries = sample_ranges(len, 10_000, 1);
        let mut parts = 0;
        let got = range_sums_in_parts(op, cuda, &input, &queries, 1, |_| parts += 1);
        let expected = range_sums_on_cpu(op, &input, &queries).expect("all are ranges");
        assert_eq!(got, Ok(expected));
        assert!(parts > 1, "{parts}");
    });
}
