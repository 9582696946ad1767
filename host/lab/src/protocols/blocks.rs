//! Sorts and ranks of the values of a block.

use super::kernels::{block_ranks, block_sorts};
use super::{Protocol, right};
use gridsync::device::Geometry;
use gridsync::primitives::sort::{Order, argsort_on_cpu, sort_on_cpu};
use gridsync_kernels::block::rank_words;
use gridsync_verify::Keys;

/// A protocol for each.
pub(super) fn all() -> [Protocol; 2] {
    [sort(), rank()]
}

/// Sorts a value of each thread of two warps.
fn sort() -> Protocol {
    const THREADS: u32 = 64;
    Protocol::new("block/sort", |device| {
        let input = Keys::Any.sample::<u32>(THREADS as usize, 1);
        let (values, sorted) = (device.upload(&input)?, device.alloc(input.len())?);
        let geometry = Geometry::new(1, THREADS).with_dynamic_shared(4 * THREADS);
        // SAFETY: both have an element for each thread, and live until the download.
        unsafe { device.launch::<block_sorts>(&geometry, (values.view(), sorted.view()))? };
        let is_right = sorted.download()? == sort_on_cpu(Order::ASCENDING, &input);
        right((!is_right).then(|| "the values are not in order".to_owned()))
    })
}

/// The ranks of a digit of each thread of four warps, which share some digits.
fn rank() -> Protocol {
    const THREADS: u32 = 128;
    Protocol::new("block/rank", |device| {
        let input: Vec<u32> = (0..THREADS).map(|thread| thread * 37 % 91 + 100).collect();
        let (digits, ranks) = (device.upload(&input)?, device.alloc(input.len())?);
        let shared = 4 * rank_words(THREADS) as u32;
        let geometry = Geometry::new(1, THREADS).with_dynamic_shared(shared);
        // SAFETY: both have an element for each thread, and live until the download.
        unsafe { device.launch::<block_ranks>(&geometry, (digits.view(), ranks.view()))? };
        let order: Vec<u32> = argsort_on_cpu(Order::ASCENDING, &input);
        let ranks = ranks.download()?;
        let is_right = order.iter().zip(0..).all(|(&at, rank)| ranks[at as usize] == rank);
        right((!is_right).then(|| "the ranks are not those of a stable sort".to_owned()))
    })
}
