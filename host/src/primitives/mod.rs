//! Primitives that are ready to call: planned, launched and, on request, checked.
//!
//! Each has a form for a [`Device`], GPU or emulator, and a form for the CPU with rayon.

mod check;
mod describe;
pub mod dot;
pub mod histogram;
pub mod kendall;
mod merge_sort;
pub mod parts;
pub mod range_sum;
mod range_sum_check;
pub mod rank;
pub mod reduce;
pub mod reduce_rows;
pub mod scan;
mod scan_check;
mod scratch;
pub mod search;
pub mod segments;
pub mod select;
mod sifted;
pub mod softmax;
pub mod sort;
mod spread;
pub mod value_counts;
mod wide_rows;

pub use check::{Accumulates, Check, Checked, Checking, Judged};
pub use describe::{describe, describe_on_cpu};
pub use dot::{DotProduct, dot, dot_on_cpu};
pub use histogram::{Bins, Histogram, histogram};
pub use kendall::{Correlator, Kendall, kendall};
pub use parts::{
    PartCorrelator, PartError, PartHistogram, PartRangeSums, PartReducer, PartReducible,
    PartScanner, PartSelector, PartSorter, PartTop, PartValueCounter, kendall_in_parts,
    range_sums_in_parts, scan_in_parts, select_in_parts, sort_in_parts,
};
pub use range_sum::RangeSums;
pub use range_sum_check::{RangeChecking, RangeSummable, range_bound};
pub use rank::{Ranker, kth, median, quantiles, top_k};
pub use reduce::{Reducer, reduce};
pub use reduce_rows::{RowReducer, reduce_rows};
pub use scan::{RowScanner, Scanner, scan};
pub use scan_check::{ScanAccumulates, ScanCheck, ScanChecked, ScanChecking};
pub use search::{Side, search, search_into};
pub use segments::{SegmentReducer, reduce_segments};
pub use select::{Selector, partition, select, unique};
pub use sifted::{Room, Sifted, Wanted};
pub use softmax::{RowSoftmax, softmax_rows};
pub use sort::{Sorter, argsort, sort};
pub use spread::{Spread, SpreadReducer, SpreadScanner, scan_spread};
pub use value_counts::{ValueCounter, ValueCounts, value_counts};
pub use wide_rows::{Halves, WideRowReducer};

pub use gridsync_entries::{ByKernel, Entry, KernelOf, NoKernel};

use crate::device::{Buffer, Device, DeviceError};
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use gridsync_kernels::op::{Carried, MOST_WORDS};
use std::ops::Range;

/// The single number in `count`, which must be on `device`.
fn count_of(device: &Device, count: &Buffer<u64>) -> Result<Global<u64>, DeviceError> {
    device.expect_own(count)?;
    match count.len() {
        1 => Ok(count.view()),
        buffer => Err(DeviceError::LengthMismatch { buffer, given: 1 }),
    }
}

/// Decodes words written by a kernel.
#[inline]
fn carried<A: Carried>(written: &[u32]) -> A {
    let mut words = [0; MOST_WORDS];
    words[..A::WORDS].copy_from_slice(&written[..A::WORDS]);
    A::from_words(words)
}

/// The elements `part` of `buffer`.
fn part_of<T: Scalar + Pod>(buffer: &Buffer<T>, part: &Range<usize>) -> Global<T> {
    assert!(
        part.start <= part.end && part.end <= buffer.len(),
        "a part {part:?} of {} elements",
        buffer.len()
    );
    buffer.view().part(part.start, part.len())
}
