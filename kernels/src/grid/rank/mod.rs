//! Selection by rank: the elements that a sort would put at some ranks, without the sort.
//!
//! A [`sample`] of the keys, sorted, gives two of them that are likely to enclose the ranks.
//! [`filter`] reads the array once. It finds the keys between those two, and counts the keys before
//! them, which gives their ranks. [`collect`] puts the keys next to each other, in the order of the
//! array. They are few, and are sorted, or filtered again. [`take`] then writes the elements at the
//! ranks. See the protocol in `README.md`.

mod bracket;
mod chunk;
mod find;

pub use bracket::{Bracket, OPEN};
pub use chunk::{row_len, rows_together};
pub use find::{Candidates, Chunks, FOUND, THREADS, WARPS, collect, filter};

use super::overlap::begin;
use super::sort::Word;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;

/// Draws keys from `input` to all of `sample`: one of each `stride` keys, at an index that looks
/// random, so that no period of the input matters. Zeroes `found`, of [`FOUND`] numbers, for
/// [`filter`].
///
/// Called by every thread of a grid along x with at least one thread for each element of `sample`
/// and of `found`. `sample` has at most 2^32 elements, and `input` at least `stride` times as many.
/// `stride` is at most 2^32.
#[device]
pub fn sample<W: Word>(input: Global<W>, sample: Global<W>, found: Global<u64>, stride: u64) {
    begin();
    let thread = thread::index();
    if thread < found.len() {
        found.write(thread, 0);
    }
    if thread < sample.len() {
        let within = (stride * u64::from(scattered(thread as u32))) >> 32;
        sample.write(thread, input.read((thread as u64 * stride + within) as usize));
    }
}

/// A number of 32 bits that looks random.
#[inline(always)]
fn scattered(number: u32) -> u32 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9);
    let mixed = (mixed ^ mixed >> 16).wrapping_mul(0x85EB_CA6B);
    mixed ^ mixed >> 13
}

/// Where the keys of some ranks are.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// The places of keys in the order of their ranks; if empty, each number is its own place.
    pub sorted: Global<u64>,
    /// The positions of a first [`filter`], and those of a second one that filtered its keys. A place
    /// is an index of the last ones. A view is empty if there was no such filter.
    pub positions: [Global<u64>; 2],
    /// The first of the places that are taken.
    pub first: u64,
}

// SAFETY: `repr(C)` of views and a number, which are the same on both sides.
unsafe impl KernelArg for Places {}

/// Writes the elements of `input` at these places to all of `elements`, and their indices to
/// `indices`, which is as long and may be `places.sorted`, if there are no positions and `first` is 0.
///
/// Called by every thread of a grid along x with at least as many threads.
#[device]
pub fn take<W: Scalar>(
    input: Global<W>,
    places: Places,
    elements: Global<W>,
    indices: Global<u64>,
) {
    begin();
    let thread = thread::index();
    if thread < elements.len() {
        let Places { sorted, positions, first } = places;
        let at = first + thread as u64;
        let behind = |positions: Global<u64>, place: u64| {
            if positions.is_empty() { place } else { positions.read(place as usize) }
        };
        let [outer, inner] = positions;
        let place = behind(outer, behind(inner, behind(sorted, at)));
        indices.write(thread, place);
        elements.write(thread, input.read(place as usize));
    }
}

/// Writes the first elements of each row of `input`, which has `columns`, to all of `elements`, and
/// their indices in the row to `indices`. Both have `kept`, at least 1, for each row. `sorted` has the
/// indices of each row in order.
///
/// Called by every thread of a grid along x with at least as many threads as `elements` has elements.
#[device]
pub fn take_rows<W: Scalar>(
    input: Global<W>,
    sorted: Global<u64>,
    (columns, kept): (u64, u64),
    elements: Global<W>,
    indices: Global<u64>,
) {
    begin();
    let thread = thread::index();
    if thread < elements.len() {
        let (row, rank) = (thread as u64 / kept, thread as u64 % kept);
        let index = sorted.read((row * columns + rank) as usize);
        indices.write(thread, index);
        elements.write(thread, input.read((row * columns + index) as usize));
    }
}
