//! Selection by rank: the elements that a sort would put at some ranks, without the sort.
//!
//! A [`sample`] of the keys, sorted, gives two of them that are likely to enclose the ranks.
//! [`filter`] reads the array once. It writes the keys between those two, in the order of the
//! array, and counts the keys before them, which gives the rank of each key that it wrote. They are
//! few, and are sorted, or filtered again. [`take`] then writes the elements at the ranks. See the
//! protocol in `README.md`.

mod bracket;

pub use bracket::{Bracket, OPEN};

use super::overlap::begin;
use super::select::{self, Held, Outputs};
use super::sort::{Order, Word};
use super::workspace::Workspace;
use bracket::{Before, Span};
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;

/// Threads of a block of [`sample`] and of [`take`].
pub const THREADS: u32 = 256;

/// Numbers that [`filter`] leaves: the keys before the bracket, those in it, whether all of these
/// have one number, and whether a key has the last number.
pub const FOUND: usize = 4;

/// Indices of these numbers.
const BEFORE: usize = 0;
const INSIDE: usize = 1;
const IS_ONE: usize = 2;
const HAS_LAST: usize = 3;

/// Where [`filter`] writes. Both views are as long; keys that do not fit are only counted.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Candidates<W> {
    /// The keys in the bracket, in the order of the input.
    pub keys: Global<W>,
    /// Their indices in the input.
    pub positions: Global<u64>,
    /// [`FOUND`] numbers.
    pub found: Global<u64>,
}

// SAFETY: `repr(C)` of views, which are the same on both sides.
unsafe impl<W: Scalar> KernelArg for Candidates<W> {}

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

/// Writes the keys of `input` that are in `bracket`, a part of the sorted `sample`, to `candidates`,
/// and counts them and those before.
///
/// Called like [`select`](super::select::select()), with a workspace as for it. [`sample`] has
/// zeroed the numbers. Later work on the stream sees the results.
#[device(protocol = "the selection by rank")]
pub fn filter<O: Order>(
    order: O,
    input: Global<O::Word>,
    (sample, bracket): (Global<O::Word>, Bracket),
    candidates: Candidates<O::Word>,
    workspace: Workspace,
    (rows, group): (u32, u32),
) {
    let Candidates { keys, positions, found } = candidates;
    let count = found.part(INSIDE, 1);
    let outputs = Outputs { kept: keys, rest: keys.part(0, 0), positions, count };
    select::compact(input, outputs, workspace, (rows, group), |held, lane| {
        let span = Span::of(order, sample, bracket);
        if lane == 0 && held.is_first() {
            found.write(IS_ONE, span.is_one.into());
        }
        if bracket.looks_for_last != 0 {
            note_last(order, held, found);
        }
        let before = held.flags(|key, _| span.is_after(order.place(key))) & held.there;
        let kept = held.flags(|key, _| span.contains(order.place(key)));
        (kept, Before { count: before.count_ones(), total: found.part(BEFORE, 1) })
    });
}

/// Notes whether one of these keys has the last number.
#[device]
fn note_last<O: Order>(order: O, held: Held<O::Word>, found: Global<u64>) {
    let [last, _] = order.span(order.last());
    if held.flags(|key, _| order.place(key) >= last) & held.there != 0 {
        // Relaxed: all that write it write the same.
        found.store(HAS_LAST, 1, Ordering::Relaxed, Scope::Device);
    }
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
