//! Cases of selections by rank.

use super::kind::{Cases, Kind, Primitive, Size};
use super::{CaseError, Sample, same_bits};
use gridsync::device::Device;
use gridsync::primitives::rank::{
    Arranged, QuantileMethod, RankError, Ranker, Tuning, kth_on_cpu, kth_rows_on_cpu,
    quantiles_on_cpu, quantiles_rows_on_cpu, top_k_on_cpu, top_k_rows_on_cpu,
};
use gridsync::primitives::sort::{Key, argsort_on_cpu, argsort_rows_on_cpu};
use gridsync_kernels::grid::rank::{row_len, rows_together};
use std::any::type_name;
use std::fmt::Debug;
use std::marker::PhantomData;

/// Ways to look for elements: as usual; in arrays that would otherwise be sorted; with brackets that
/// the ranks often miss; and with too little room for the elements in a bracket.
pub const TUNINGS: [fn() -> Tuning; 4] = [
    Tuning::default,
    || Tuning { shortest: 32, sample: 100, ..Tuning::default() },
    || Tuning { shortest: 64, margin: 0.0, ..Tuning::default() },
    || Tuning { shortest: 64, room: 40, ..Tuning::default() },
];

/// The quantiles of a case.
const QUANTILES: [f64; 2] = [0.5, 0.987];

/// The selections from arrays of `K`.
struct Ranks<K>(PhantomData<K>);

impl<K: Key + Sample + Debug> Cases for Ranks<K> {
    /// Selects the first elements, those around the last of these, and quantiles, on the CPU and on
    /// the device, in the way that the seed gives. Compares every element and index with the sort.
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        let Size::Ranks(rows, len, keys, order, k) = size else { return Err(size.mismatch()) };
        if rows > 1 {
            return of_rows::<K>(device, size, seed);
        }
        let input = keys.sample::<K>(len, seed);
        let tuning = TUNINGS[seed as usize % TUNINGS.len()]();
        let case = format!("{size} of {}, seed {seed}, {tuning:?}", type_name::<K>());
        let sorted: Vec<u64> = argsort_on_cpu(order, &input);
        let elements = |indices: &[u64]| -> Vec<K> {
            indices.iter().map(|&index| input[index as usize]).collect()
        };
        let mut ranker = Ranker::with(device, len, tuning)?;
        let on_device = device.upload(&input)?;

        let by_rank = &sorted[..k];
        let mut by_index = by_rank.to_vec();
        by_index.sort_unstable();
        let first = [(Arranged::ByRank, by_rank), (Arranged::ByIndex, &by_index)];
        for (number, (arranged, expected)) in first.into_iter().enumerate() {
            let case = format!("{case}, {arranged:?}");
            let of_cpu = top_k_on_cpu(order, &input, k, arranged).map_err(of(&case))?;
            same_bits(&case, "the CPU's first indices are", &of_cpu.1, expected)?;
            same_bits(&case, "the CPU's first elements are", &of_cpu.0, &elements(expected))?;
            if seed as usize / TUNINGS.len() % 2 == number {
                let (mut first, mut indices) = (device.alloc(k)?, device.alloc(k)?);
                let to = (&mut first, &mut indices);
                ranker.top_k(order, &on_device, arranged, to).map_err(of(&case))?;
                same_bits(&case, "the first indices are", &indices.download()?, expected)?;
                let expected = elements(expected);
                same_bits(&case, "the first elements are", &first.download()?, &expected)?;
            }
        }

        let ranks: Vec<usize> = [k.wrapping_sub(1), k].into_iter().filter(|&k| k < len).collect();
        let found = ranker.kths(order, &on_device, &ranks).map_err(of(&case))?;
        for (&rank, &(element, index)) in ranks.iter().zip(&found) {
            let expected = (&sorted[rank..=rank], elements(&sorted[rank..=rank]));
            same_bits(&case, "the index at a rank is", &[index], expected.0)?;
            same_bits(&case, "the element at a rank is", &[element], &expected.1)?;
            let (element, index) = kth_on_cpu(order, &input, rank).map_err(of(&case))?;
            same_bits(&case, "the CPU's index at a rank is", &[index], expected.0)?;
            same_bits(&case, "the CPU's element at a rank is", &[element], &expected.1)?;
        }
        if len > 0 {
            let method = QuantileMethod::ALL[seed as usize % QuantileMethod::ALL.len()];
            let expected = quantiles_on_cpu(&input, &QUANTILES, method).map_err(of(&case))?;
            let found = ranker.quantiles(&on_device, &QUANTILES, method).map_err(of(&case))?;
            same_bits(&case, "the quantiles are", &found, &expected)?;
        }
        same_bits(&case, "the selection leaves the input", &on_device.download()?, &input)
    }
}

/// Selects the first elements of each row, the last of these, and quantiles, on the CPU and on the
/// device, and compares every element and index with the sort.
fn of_rows<K: Key + Sample + Debug>(
    device: &Device,
    size: Size,
    seed: u64,
) -> Result<(), CaseError> {
    let Size::Ranks(rows, columns, keys, order, k) = size else { return Err(size.mismatch()) };
    let (shape, input) = ((rows, columns), keys.sample::<K>(rows * columns, seed));
    let tuning = TUNINGS[seed as usize % TUNINGS.len()]();
    let case = format!("{size} of {}, seed {seed}, {tuning:?}", type_name::<K>());
    let sorted: Vec<u64> = argsort_rows_on_cpu(order, &input, rows, columns);
    let expected: Vec<u64> = sorted.chunks(columns).flat_map(|row| &row[..k]).copied().collect();
    let element = |i: usize| input[i / k * columns + expected[i] as usize];
    let elements: Vec<K> = (0..rows * k).map(element).collect();

    let of_cpu = top_k_rows_on_cpu(order, &input, shape, k).map_err(of(&case))?;
    same_bits(&case, "the CPU's first indices are", &of_cpu.1, &expected)?;
    same_bits(&case, "the CPU's first elements are", &of_cpu.0, &elements)?;

    let on_device = device.upload(&input)?;
    let (mut first, mut indices) = (device.alloc(rows * k)?, device.alloc(rows * k)?);
    let mut ranker = Ranker::with(device, columns, tuning)?;
    let to = (&mut first, &mut indices);
    ranker.top_k_rows(order, &on_device, shape, to).map_err(of(&case))?;
    same_bits(&case, "the first indices are", &indices.download()?, &expected)?;
    same_bits(&case, "the first elements are", &first.download()?, &elements)?;

    if let Some(last) = k.checked_sub(1) {
        let of_cpu = kth_rows_on_cpu(order, &input, shape, last).map_err(of(&case))?;
        let found = ranker.kth_rows(order, &on_device, shape, last).map_err(of(&case))?;
        for (row, (of_cpu, found)) in of_cpu.iter().zip(&found).enumerate() {
            let (at, element) = (row * k + last, [elements[row * k + last]]);
            same_bits(&case, "the CPU's index at a rank is", &[of_cpu.1], &expected[at..=at])?;
            same_bits(&case, "the CPU's element at a rank is", &[of_cpu.0], &element)?;
            same_bits(&case, "the index at a rank is", &[found.1], &expected[at..=at])?;
            same_bits(&case, "the element at a rank is", &[found.0], &element)?;
        }
    }
    if columns > 0 {
        let method = QuantileMethod::ALL[seed as usize % QuantileMethod::ALL.len()];
        let expected =
            quantiles_rows_on_cpu(&input, shape, &QUANTILES, method).map_err(of(&case))?;
        let found =
            ranker.quantiles_rows(&on_device, shape, &QUANTILES, method).map_err(of(&case))?;
        same_bits(&case, "the quantiles are", &found, &expected)?;
    }
    same_bits(&case, "the selection leaves the input", &on_device.download()?, &input)
}

/// The error of a case that fails.
fn of(case: &str) -> impl Fn(RankError) -> CaseError {
    move |error| match error {
        RankError::Device(error) => error.into(),
        error => CaseError::Wrong(format!("{case}: {error}")),
    }
}

/// The kind of the selections from arrays of `K`, called `name`, by these kernels for its order and
/// those for keys of this size.
pub(super) fn kind<K: Key + Sample + Debug>(
    name: &'static str,
    [filter, collect]: [&'static str; 2],
) -> Kind {
    let [sample, take, take_rows] = match size_of::<K>() {
        1 => ["rank_sample_8", "rank_take_8", "rank_take_rows_8"],
        2 => ["rank_sample_16", "rank_take_16", "rank_take_rows_16"],
        4 => ["rank_sample_32", "rank_take_32", "rank_take_rows_32"],
        _ => ["rank_sample_64", "rank_take_64", "rank_take_rows_64"],
    };
    let shortest_chunk = rows_together::<K::Word>() * row_len::<K::Word>();
    let (kernels, cases) = ([filter, collect, sample, take, take_rows], Ranks::<K>(PhantomData));
    Kind::of::<K, K>(Primitive::Rank, (name, "top"), &kernels, shortest_chunk, cases)
}
