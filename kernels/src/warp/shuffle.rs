//! The value of another lane, of any size: one shuffle per word.
//!
//! Each function is called by all 32 lanes of the warp, and orders no memory.

use crate::op::{Carried, map_words};
use cuda_std::device;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_shuffle_idx, warp_shuffle_up, warp_shuffle_xor};

/// The value of the lane whose index is this lane's xor `lanes`, which is below 32.
#[device]
pub fn swap<T: Carried>(value: T, lanes: u32) -> T {
    T::from_words(map_words(value, |word| warp_shuffle_xor(FULL_MASK, word, lanes, WARP_SIZE).0))
}

/// The value of the lane `lanes` below this one, if it exists.
#[device]
pub(super) fn of_below<T: Carried>(value: T, lanes: u32) -> Option<T> {
    let mut is_there = false;
    let words = map_words(value, |word| {
        let (below, there) = warp_shuffle_up(FULL_MASK, word, lanes, WARP_SIZE);
        is_there = there;
        below
    });
    is_there.then(|| T::from_words(words))
}

/// The value of the lane `distance` below this one among each `lanes` lanes, a power of two; its
/// own, if the lane does not exist.
#[device]
pub(super) fn of_below_among<T: Carried>(value: T, distance: u32, lanes: u32) -> T {
    T::from_words(map_words(value, |word| warp_shuffle_up(FULL_MASK, word, distance, lanes).0))
}

/// The value of lane `lane`.
#[device]
pub fn of_lane<T: Carried>(value: T, lane: u32) -> T {
    T::from_words(map_words(value, |word| warp_shuffle_idx(FULL_MASK, word, lane, WARP_SIZE).0))
}
