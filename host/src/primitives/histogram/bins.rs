//! Bins, and the number of elements in each, on the CPU.

use super::element::{Binned, Even, Integer};
use super::way::{Launch, Way};
use crate::parallel;
use cuda_std::memory::Global;
use gridsync_kernels::grid::histogram::{Edges, Steps};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The most bins of a histogram.
pub const MOST_BINS: usize = 1 << 30;

/// Bins that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BinsError {
    /// None, or too many.
    #[error("{bins} bins: a histogram has 1 to {MOST_BINS}")]
    Number {
        /// The number of bins.
        bins: i128,
    },
    /// The range is empty, or not finite.
    #[error(
        "bins from {low} to {high}: both must be finite, the second greater, and their difference finite"
    )]
    Range {
        /// The first edge.
        low: f64,
        /// The last edge.
        high: f64,
    },
    /// An edge is not greater than the one before, or NaN.
    #[error("edge {index} is {edge} after {before}: edges must ascend; use fewer bins or f64")]
    NotAscending {
        /// Its index.
        index: usize,
        /// The edge before.
        before: f64,
        /// The edge.
        edge: f64,
    },
}

/// The bins of a histogram of elements of `T`.
///
/// Each bin is from one edge up to the next one, without it; the last bin includes its upper edge,
/// as in NumPy. An element outside the edges is in no bin, and NaN neither.
#[derive(Clone)]
pub struct Bins<T> {
    len: usize,
    kind: Kind<T>,
}

#[derive(Clone)]
enum Kind<T> {
    /// Integers from this one.
    Numbers(T, Arc<dyn Way<T>>),
    /// From the start to the end, of this width.
    Even(Even, Arc<dyn Way<T>>),
    Edges(Arc<[f64]>, Arc<Table<T>>),
}

/// The first element of each bin, as [`Edges`] has them.
pub(super) struct Table<T> {
    firsts: Vec<T>,
    most: T,
    /// The bins before those that no value of the type is in, because they begin after the greatest.
    bins: usize,
}

impl<T: Integer> Bins<T> {
    /// A bin for each integer in `range`, as `numpy.bincount` has from 0.
    ///
    /// # Errors
    /// [`BinsError::Number`] if there is none, or more than [`MOST_BINS`].
    pub fn numbers(range: RangeInclusive<T>) -> Result<Self, BinsError> {
        let (first, last) = (*range.start(), *range.end());
        let bins = last.to_i128() - first.to_i128() + 1;
        let len = number(bins)?;
        Ok(Self { len, kind: Kind::Numbers(first, T::by_numbers(first)) })
    }
}

impl<T: Binned> Bins<T> {
    /// `bins` bins of the same width from `low` to `high`, as `numpy.histogram` has them: edge k is
    /// `low` + k × (`high` − `low`) / `bins` in f64. If `T` is f32 or shorter and not an integer,
    /// edges are rounded to f32. Integers of 64 bits are compared as the nearest f64.
    ///
    /// # Errors
    /// [`BinsError::Number`] and [`BinsError::Range`]; [`BinsError::NotAscending`] if bins are so
    /// narrow that two edges are the same number.
    pub fn even(low: f64, high: f64, bins: usize) -> Result<Self, BinsError> {
        let len = number(bins as i128)?;
        let (start, high) = (T::edge(low), T::edge(high));
        if !(start < high && (high - start).is_finite()) {
            return Err(BinsError::Range { low, high });
        }
        let step = (high - start) / len as f64;
        let even = Even { steps: Steps { start, step, last: len as u32 - 1 }, high };
        match T::even(even) {
            Some(way) => Ok(Self { len, kind: Kind::Even(even, way) }),
            None => Self::between(even.edges::<T>()),
        }
    }

    /// Bins between these edges, which ascend. They are compared with elements as f64.
    ///
    /// # Errors
    /// [`BinsError::Number`] if there are fewer than two edges or too many;
    /// [`BinsError::NotAscending`].
    pub fn edges(edges: &[f64]) -> Result<Self, BinsError> {
        Self::between(edges.to_vec())
    }

    fn between(edges: Vec<f64>) -> Result<Self, BinsError> {
        let len = number(edges.len() as i128 - 1)?;
        let ascends = |two: &[f64]| two[0] < two[1];
        if let Some(at) = edges.windows(2).position(|two| !ascends(two)) {
            let (before, edge) = (edges[at], edges[at + 1]);
            return Err(BinsError::NotAscending { index: at + 1, before, edge });
        }
        let table = Table::of(&edges);
        Ok(Self { len, kind: Kind::Edges(edges.into(), table.into()) })
    }

    /// The number of bins.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always a bin")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The edges of the bins, one more than bins. Those of [`numbers`](Self::numbers) are the first
    /// number of each bin, and the number after the last.
    #[must_use]
    pub fn edge_list(&self) -> Vec<f64> {
        match &self.kind {
            Kind::Numbers(first, _) => {
                (0..=self.len).map(|bin| first.to_f64() + bin as f64).collect()
            }
            Kind::Even(even, _) => even.edges::<T>(),
            Kind::Edges(edges, _) => edges.to_vec(),
        }
    }

    /// Whether an element is less than all that are in a bin. NaN is not.
    pub(super) fn is_below(&self, element: T) -> bool {
        match &self.kind {
            Kind::Numbers(first, _) => !first.is_at_most(element),
            Kind::Even(even, _) => element.to_f64() < T::edge(even.steps.start),
            Kind::Edges(edges, _) => element.to_f64() < edges[0],
        }
    }

    /// The number of elements of `input` in each bin, counted on all cores of the CPU.
    #[must_use]
    pub fn count_on_cpu(&self, input: &[T]) -> Vec<u64> {
        // Not so many parts that their counts are more than the elements.
        let parts = parallel::cores().min(input.len() / self.len).max(1);
        let size = input.len().div_ceil(parts).max(1);
        let parts = parallel::map_chunks(input.len(), size, &|part| {
            let mut counts = vec![0; self.len];
            self.count(&input[part], &mut counts);
            counts
        });
        let add = |mut all: Vec<u64>, part: Vec<u64>| {
            all.iter_mut().zip(part).for_each(|(all, count)| *all += count);
            all
        };
        parts.into_iter().reduce(add).unwrap_or_else(|| vec![0; self.len])
    }

    fn count(&self, elements: &[T], counts: &mut [u64]) {
        match &self.kind {
            Kind::Numbers(_, way) | Kind::Even(_, way) => way.count(elements, counts),
            Kind::Edges(_, table) => {
                let firsts = &table.firsts[..table.bins];
                for &element in elements.iter().filter(|element| element.is_at_most(table.most)) {
                    let after = firsts.partition_point(|first| first.is_at_most(element));
                    if let Some(bin) = after.checked_sub(1) {
                        counts[bin] += 1;
                    }
                }
            }
        }
    }

    /// The table that the kernel needs, or an empty one.
    pub(super) fn table(&self) -> &[T] {
        match &self.kind {
            Kind::Edges(_, table) => &table.firsts,
            _ => &[],
        }
    }

    /// Calls `launch` with the kernel's way, given the [`table`](Self::table) on its device.
    pub(super) fn on_device<R>(
        &self,
        firsts: Global<T>,
        launch: impl FnOnce(&dyn Launch<T>) -> R,
    ) -> R {
        match &self.kind {
            Kind::Numbers(_, way) | Kind::Even(_, way) => launch(&**way),
            Kind::Edges(_, table) => {
                let edges = Edges { firsts, most: table.most, bins: table.bins as u32 };
                launch(&*T::by_edges(edges))
            }
        }
    }
}

impl<T> fmt::Debug for Bins<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bins", self.len)
    }
}

impl Even {
    fn edges<T: Binned>(self) -> Vec<f64> {
        let inner = (0..=self.steps.last).map(|bin| T::edge(self.steps.edge(bin)));
        inner.chain([self.high]).collect()
    }
}

impl<T: Binned> Table<T> {
    /// Of ascending edges.
    fn of(edges: &[f64]) -> Self {
        let (&last, starts) = edges.split_last().expect("there are edges");
        let firsts = starts.iter().map_while(|&edge| first_rank::<T>(|x| x >= edge));
        let mut firsts: Vec<T> = firsts.map(T::of_rank).collect();
        // The one before the first that is greater. If that is the least of all, no value is in a
        // bin.
        let after = first_rank::<T>(|x| x > last);
        let most = T::of_rank(after.map_or(T::LAST_RANK, |rank| rank.saturating_sub(1)));
        let bins = if after == Some(0) { 0 } else { firsts.len() };
        firsts.resize((firsts.len() + 1).next_power_of_two(), T::GREATEST);
        Self { firsts, most, bins }
    }
}

/// The number of bins, if it can be.
fn number(bins: i128) -> Result<usize, BinsError> {
    if (1..=MOST_BINS as i128).contains(&bins) {
        Ok(bins as usize)
    } else {
        Err(BinsError::Number { bins })
    }
}

/// The rank of the first value that is `past` an edge, if there is one.
fn first_rank<T: Binned>(past: impl Fn(f64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (0, T::LAST_RANK);
    while low < high {
        let middle = low + (high - low) / 2;
        if past(T::of_rank(middle).to_f64()) { high = middle } else { low = middle + 1 }
    }
    past(T::of_rank(low).to_f64()).then_some(low)
}
