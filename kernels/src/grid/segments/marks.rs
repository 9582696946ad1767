//! Marks where the runs of equal keys start, or segments that offsets delimit.

use crate::block::ThreadPosition;
use crate::grid::overlap::begin;
use cuda_std::memory::{Pack, Scalar};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_vote_ballot};

/// Keys that a warp marks: 32 words of bits.
pub const MARKED: usize = (WARP_SIZE * WARP_SIZE) as usize;

/// Loads that a lane has in flight.
const LOADS: u32 = 8;

/// Sets bit i % 32 of word i / 32 of `marks` if key i differs from the one before, and bit 0 of
/// word 0. The other bits become 0.
///
/// Equality is `==`, so −0 equals +0. NaNs form one run with adjacent NaNs if `joins_nans` is set,
/// and otherwise each its own. Called by every thread of a grid along x with a warp for each
/// [`MARKED`] keys. `marks` has a word for each 32 keys. Nothing else accesses it, or writes the
/// keys, while the kernel runs. The launch may [overlap](cuda_std::dependent) the kernel before it.
#[device]
pub fn mark_runs<T: Scalar + PartialEq>(keys: Global<T>, marks: Global<u32>, joins_nans: bool) {
    begin();
    let at = ThreadPosition::here();
    let warp = thread::block_idx_x() as usize * at.warps as usize + at.warp as usize;
    let len = keys.len();
    let key = |index: usize| if index < len { keys.read(index) } else { T::default() };
    let mut word = 0;
    for round in 0..WARP_SIZE / LOADS {
        let row = |i: usize| round * LOADS + i as u32;
        let index = |i: usize| warp * MARKED + (row(i) * WARP_SIZE + at.lane) as usize;
        let own: [T; LOADS as usize] = Pack::from_fn(|i| key(index(i)));
        let before: [T; LOADS as usize] = Pack::from_fn(|i| key(index(i).saturating_sub(1)));
        own.for_each(|i, own| {
            let before = before[i];
            // Only a NaN differs from itself.
            let (is_nan, was_nan) = (is_not(own, own), is_not(before, before));
            let is_joined = joins_nans && is_nan && was_nan;
            let starts = index(i) == 0 || is_not(own, before) && !is_joined;
            let bits = warp_vote_ballot(FULL_MASK, starts && index(i) < len);
            if at.lane == row(i) {
                word = bits;
            }
        });
    }
    let at = warp * WARP_SIZE as usize + at.lane as usize;
    if at < marks.len() {
        marks.write(at, word);
    }
}

/// Whether two keys differ.
#[inline(always)]
fn is_not<T: PartialEq>(a: T, b: T) -> bool {
    a != b
}

/// Sets bit i % 32 of word i / 32 of `marks`, which are 0, if a segment starts at element i.
///
/// Called by every thread of a grid along x with at least a thread for each of the `starts`. An
/// empty segment starts where the next one does. A start past the last word is ignored. Nothing
/// else accesses the marks, or writes the starts, while the kernel runs. The launch may
/// [overlap](cuda_std::dependent) the kernel before it.
#[device]
pub fn mark_starts(starts: Global<u64>, marks: Global<u32>) {
    begin();
    let segment = thread::index();
    if segment < starts.len() {
        let start = starts.read(segment);
        let word = (start / 32) as usize;
        if word < marks.len() {
            // Relaxed: a later kernel reads the marks.
            marks.fetch_or(word, 1 << (start % 32), Ordering::Relaxed, Scope::Device);
        }
    }
}
