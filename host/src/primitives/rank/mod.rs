//! Selection by rank: the elements that a sort would put at some ranks, without the sort. The first
//! k elements, the k-th, the median, and quantiles.
//!
//! Keys and orders are those of the [sort](mod@super::sort). Ranks count from 0 in the stable order: of
//! equal elements, the one with the smaller index comes first. So each rank has one element, and
//! results have the same bits on the GPU, in the emulator and on the CPU. With
//! [`Order::DESCENDING`] the first elements are the largest; there NaNs come first.
//!
//! ```
//! use gridsync::device::Device;
//! use gridsync::primitives::rank::{QuantileMethod, median, quantiles, top_k};
//! use gridsync::primitives::sort::Order;
//!
//! let input = Device::emulator().upload(&[2.5f32, 8.0, -1.0, 8.0, 4.0])?;
//! let largest = top_k(Order::DESCENDING, &input, 3)?;
//! assert_eq!(largest.elements.download()?, [8.0, 8.0, 4.0]);
//! assert_eq!(largest.indices.download()?, [1, 3, 4]);
//! assert_eq!(median(&input)?, 4.0);
//! assert_eq!(quantiles(&input, &[0.25, 0.9], QuantileMethod::Linear)?, [2.5, 8.0]);
//! # Ok::<(), gridsync::primitives::rank::RankError>(())
//! ```

mod bracket;
mod ranker;
mod rows;

pub use crate::reference::QuantileMethod;
pub use bracket::Tuning;
pub use ranker::{Arranged, Ranker};
pub use rows::{
    kth_rows, kth_rows_on_cpu, quantiles_rows, quantiles_rows_on_cpu, top_k_rows, top_k_rows_on_cpu,
};

use super::sort::{Key, Order};
use crate::device::{Buffer, DeviceError};
use crate::parallel;
use crate::reference::{self, Virtual};

/// Why elements could not be selected by rank.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RankError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The array is too short for the rank.
    #[error(
        "there is no rank {rank} in {len} elements: ranks count from 0, so choose one below {len}"
    )]
    NoSuchRank {
        /// The rank.
        rank: usize,
        /// Elements of the array.
        len: usize,
    },
    /// The array has fewer elements.
    #[error("the first {k} of {len} elements do not exist: choose at most {len}")]
    TooMany {
        /// How many are wanted.
        k: usize,
        /// Elements of the array.
        len: usize,
    },
    /// The array has no elements, so it has no median.
    #[error("an empty array has no quantiles: pass at least one element")]
    Empty,
    /// Not a share.
    #[error("{0} is not a quantile: choose a number from 0 to 1")]
    NotAQuantile(f64),
}

/// The first elements of an order, on a device.
#[derive(Debug)]
pub struct Top<K> {
    /// The elements, in the order.
    pub elements: Buffer<K>,
    /// Their indices in the array.
    pub indices: Buffer<u64>,
}

/// The first `k` elements of `input` in the order, with their indices, in new buffers on its device.
/// [`Order::DESCENDING`] gives the largest.
///
/// To select more than once, keep a [`Ranker`], which allocates less.
///
/// # Errors
/// [`RankError::TooMany`] if the input has fewer, and if the device fails.
pub fn top_k<K: Key>(order: Order, input: &Buffer<K>, k: usize) -> Result<Top<K>, RankError> {
    let (device, len) = (input.device(), input.len());
    if k > len {
        return Err(RankError::TooMany { k, len });
    }
    let (mut elements, mut indices) = (device.alloc(k)?, device.alloc(k)?);
    let to = (&mut elements, &mut indices);
    Ranker::new(device, len)?.top_k(order, input, Arranged::ByRank, to)?;
    Ok(Top { elements, indices })
}

/// The element of rank `rank`, from 0, of `input` in the order, and its index.
///
/// # Errors
/// As for [`Ranker::kth`].
pub fn kth<K: Key>(order: Order, input: &Buffer<K>, rank: usize) -> Result<(K, u64), RankError> {
    Ranker::new(input.device(), input.len())?.kth(order, input, rank)
}

/// The median of `input`: [`Ranker::median`].
///
/// # Errors
/// As for [`Ranker::quantiles`].
pub fn median<K: Key>(input: &Buffer<K>) -> Result<f64, RankError> {
    Ranker::new(input.device(), input.len())?.median(input)
}

/// Quantiles of `input`: [`Ranker::quantiles`].
///
/// # Errors
/// As for [`Ranker::quantiles`].
pub fn quantiles<K: Key>(
    input: &Buffer<K>,
    qs: &[f64],
    method: QuantileMethod,
) -> Result<Vec<f64>, RankError> {
    Ranker::new(input.device(), input.len())?.quantiles(input, qs, method)
}

impl<K: Key> Ranker<K> {
    /// The quantiles `qs`, each from 0 to 1, of `input`. All are NaN if some element is, as in NumPy.
    /// [`Order::ASCENDING`] counts the ranks.
    ///
    /// The elements are converted to f64, which rounds integers above 2^53, and interpolated in f64.
    /// So results for shorter floats have more digits than NumPy's, which have the type of the
    /// elements. Between two infinities of one sign it is that infinity, where NumPy has NaN. Zero is
    /// always +0.
    ///
    /// # Errors
    /// [`RankError::Empty`] if the input is empty; [`RankError::NotAQuantile`] for a number outside
    /// of 0 to 1; [`DeviceError::OtherDevice`] if it is not on this device; and if the device fails.
    pub fn quantiles(
        &mut self,
        input: &Buffer<K>,
        qs: &[f64],
        method: QuantileMethod,
    ) -> Result<Vec<f64>, RankError> {
        let places = places(qs, method, input.len())?;
        self.device.expect_own(input)?;
        let ranks = ranks(&places);
        // SAFETY: the input is on this device, and borrowed.
        let (found, has_nan) =
            unsafe { self.look_up(Order::ASCENDING, input.view().cast(), &ranks, true)? };
        Ok(values(&places, found.into_iter().map(|(element, _)| element), has_nan))
    }

    /// The median of `input`: its [quantile](Self::quantiles) 0.5 by [`QuantileMethod::Linear`]. Of
    /// an even number of elements, that is the mean of the middle two.
    ///
    /// # Errors
    /// As for [`quantiles`](Self::quantiles).
    pub fn median(&mut self, input: &Buffer<K>) -> Result<f64, RankError> {
        Ok(self.quantiles(input, &[0.5], QuantileMethod::Linear)?[0])
    }
}

/// The first `k` elements of `input` in the order, with their indices, computed on all cores of the
/// CPU.
///
/// # Errors
/// [`RankError::TooMany`] if the input has fewer.
pub fn top_k_on_cpu<K: Key>(
    order: Order,
    input: &[K],
    k: usize,
    arranged: Arranged,
) -> Result<(Vec<K>, Vec<u64>), RankError> {
    if k > input.len() {
        return Err(RankError::TooMany { k, len: input.len() });
    }
    let indices = match arranged {
        Arranged::ByRank => reference::top_k(order, input, k),
        Arranged::ByIndex => reference::top_k_by_index(order, input, k),
    };
    Ok((indices.iter().map(|&index| input[index as usize]).collect(), indices))
}

/// The element of rank `rank`, from 0, of `input` in the order, and its index, computed on all cores
/// of the CPU.
///
/// # Errors
/// [`RankError::NoSuchRank`] if the input has no more than `rank` elements.
pub fn kth_on_cpu<K: Key>(order: Order, input: &[K], rank: usize) -> Result<(K, u64), RankError> {
    if rank >= input.len() {
        return Err(RankError::NoSuchRank { rank, len: input.len() });
    }
    let index = reference::kth(order, input, rank);
    Ok((input[index], index as u64))
}

/// The median of `input`, computed on all cores of the CPU. The bits are those of [`median`].
///
/// # Errors
/// [`RankError::Empty`] if the input is empty.
pub fn median_on_cpu<K: Key>(input: &[K]) -> Result<f64, RankError> {
    Ok(quantiles_on_cpu(input, &[0.5], QuantileMethod::Linear)?[0])
}

/// The quantiles `qs` of `input`, computed on all cores of the CPU. The bits are those of
/// [`quantiles`].
///
/// # Errors
/// [`RankError::Empty`] and [`RankError::NotAQuantile`], as for [`Ranker::quantiles`].
pub fn quantiles_on_cpu<K: Key>(
    input: &[K],
    qs: &[f64],
    method: QuantileMethod,
) -> Result<Vec<f64>, RankError> {
    let places = places(qs, method, input.len())?;
    let is_nan = |index: &usize| input[*index].to_f64().is_nan();
    let has_nan = parallel::find_first(input.len(), &|mut chunk| chunk.find(is_nan)).is_some();
    let found = reference::kths(Order::ASCENDING, input, &ranks(&places));
    Ok(values(&places, found.into_iter().map(|index| input[index]), has_nan))
}

/// Where these quantiles of `len` elements are.
fn places(qs: &[f64], method: QuantileMethod, len: usize) -> Result<Vec<Virtual>, RankError> {
    if len == 0 {
        return Err(RankError::Empty);
    }
    if let Some(&q) = qs.iter().find(|q| !(0.0..=1.0).contains(*q)) {
        return Err(RankError::NotAQuantile(q));
    }
    Ok(qs.iter().map(|&q| method.of(q, len)).collect())
}

/// The ranks of all places: two for each.
fn ranks(places: &[Virtual]) -> Vec<usize> {
    places.iter().flat_map(|place| place.ranks).collect()
}

/// The values at these places, from the elements of their ranks.
fn values<K: Key>(
    places: &[Virtual],
    elements: impl Iterator<Item = K>,
    has_nan: bool,
) -> Vec<f64> {
    let elements: Vec<f64> = elements.map(Key::to_f64).collect();
    let value = |(place, ends): (&Virtual, &[f64])| {
        if has_nan { f64::NAN } else { place.value([ends[0], ends[1]]) }
    };
    places.iter().zip(elements.chunks(2)).map(value).collect()
}
