//! The value of another lane, whatever its size: a shuffle for each half.
//!
//! Each function is called by all 32 lanes of the warp, and orders no memory.

use crate::op::{Carried, Halves};
use cuda_std::device;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_shuffle_idx, warp_shuffle_up, warp_shuffle_xor};

/// The value of the lane whose number differs by the bits of `lanes`, which is below 32.
#[device]
pub fn swap<T: Carried>(value: T, lanes: u32) -> T {
    T::from_halves(of_halves::<T>(value, |half| {
        warp_shuffle_xor(FULL_MASK, half, lanes, WARP_SIZE).0
    }))
}

/// The value of the lane `lanes` below this one, if there is one.
#[device]
pub(super) fn of_below<T: Carried>(value: T, lanes: u32) -> Option<T> {
    let mut is_there = false;
    let halves = of_halves::<T>(value, |half| {
        let (below, there) = warp_shuffle_up(FULL_MASK, half, lanes, WARP_SIZE);
        is_there = there;
        below
    });
    is_there.then(|| T::from_halves(halves))
}

/// The value of lane `lane`.
#[device]
pub fn of_lane<T: Carried>(value: T, lane: u32) -> T {
    T::from_halves(of_halves::<T>(value, |half| {
        warp_shuffle_idx(FULL_MASK, half, lane, WARP_SIZE).0
    }))
}

/// What `shuffle` makes of each half that a `T` has.
#[device]
fn of_halves<T: Carried>(value: T, mut shuffle: impl FnMut(u32) -> u32) -> Halves {
    let mut halves = value.to_halves();
    halves[0] = shuffle(halves[0]);
    // Written out: an array that is indexed by a variable would live in local memory.
    if T::HALVES > 1 {
        halves[1] = shuffle(halves[1]);
    }
    if T::HALVES > 2 {
        halves[2] = shuffle(halves[2]);
    }
    if T::HALVES > 3 {
        halves[3] = shuffle(halves[3]);
    }
    halves
}
