//! Selections by rank, from arrays and from the rows of matrices.

use super::{Protocol, right};
use gridsync::device::Device;
use gridsync::primitives::rank::{
    Arranged, QuantileMethod, RankError, Ranker, Tuning, kth_on_cpu, top_k_on_cpu,
    top_k_rows_on_cpu,
};
use gridsync::primitives::sort::Order;
use gridsync_verify::{CaseError, Keys};

/// Elements for two blocks of a filter, each with several chunks.
const LEN: usize = 5000;

/// A protocol for each way of selecting.
pub(super) fn all() -> [Protocol; 4] {
    [
        Protocol::new("rank/kth", kth),
        Protocol::new("rank/top", top),
        Protocol::new("rank/quantiles", quantiles),
        Protocol::new("rank/rows", rows),
    ]
}

/// Looks for elements in brackets from samples, even in short arrays.
fn bracketed() -> Tuning {
    Tuning { shortest: 32, sample: 100, ..Tuning::default() }
}

/// The element in the middle of an array in any order.
fn kth(device: &Device) -> Result<(), CaseError> {
    let input = Keys::Any.sample::<u32>(LEN, 1);
    let mut ranker = Ranker::with(device, LEN, bracketed())?;
    let got = ranker.kth(Order::ASCENDING, &device.upload(&input)?, LEN / 2).map_err(failed)?;
    let expected = kth_on_cpu(Order::ASCENDING, &input, LEN / 2).map_err(failed)?;
    right((got != expected).then(|| format!("{got:?}, not {expected:?}")))
}

/// The largest elements of a sorted array. They are next to each other, in chunks that have too
/// little room.
fn top(device: &Device) -> Result<(), CaseError> {
    const COUNT: usize = 600;
    let input = Keys::Sorted.sample::<u32>(LEN, 1);
    let (mut elements, mut indices) = (device.alloc(COUNT)?, device.alloc(COUNT)?);
    let mut ranker = Ranker::with(device, LEN, bracketed())?;
    let to = (&mut elements, &mut indices);
    let (order, arranged) = (Order::DESCENDING, Arranged::ByIndex);
    ranker.top_k(order, &device.upload(&input)?, arranged, to).map_err(failed)?;
    let expected = top_k_on_cpu(order, &input, COUNT, arranged).map_err(failed)?;
    let is_right = (elements.download()?, indices.download()?) == expected;
    right((!is_right).then(|| "other elements are the largest".to_owned()))
}

/// The median of an array with NaNs in both blocks, which is NaN.
fn quantiles(device: &Device) -> Result<(), CaseError> {
    let mut input = Keys::Any.sample::<f32>(LEN, 1);
    input[7] = f32::NAN;
    input[LEN - 7] = f32::NAN;
    let mut ranker = Ranker::with(device, LEN, bracketed())?;
    let method = QuantileMethod::Linear;
    let got = ranker.quantiles(&device.upload(&input)?, &[0.5], method).map_err(failed)?;
    right((!got[0].is_nan()).then(|| format!("the median is {}, not NaN", got[0])))
}

/// The first elements of rows that are too long for a block.
fn rows(device: &Device) -> Result<(), CaseError> {
    const SHAPE: (usize, usize) = (2, 4097);
    const COUNT: usize = 3;
    let input = Keys::Any.sample::<u8>(SHAPE.0 * SHAPE.1, 1);
    let (mut elements, mut indices) =
        (device.alloc(SHAPE.0 * COUNT)?, device.alloc(SHAPE.0 * COUNT)?);
    let (order, to) = (Order::DESCENDING, (&mut elements, &mut indices));
    let mut ranker = Ranker::new(device, SHAPE.1)?;
    ranker.top_k_rows(order, &device.upload(&input)?, SHAPE, to).map_err(failed)?;
    let expected = top_k_rows_on_cpu(order, &input, SHAPE, COUNT).map_err(failed)?;
    let is_right = (elements.download()?, indices.download()?) == expected;
    right((!is_right).then(|| "other elements are the first of their rows".to_owned()))
}

fn failed(error: RankError) -> CaseError {
    match error {
        RankError::Device(error) => error.into(),
        error => CaseError::Wrong(error.to_string()),
    }
}
