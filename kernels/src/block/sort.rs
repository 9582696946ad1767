//! Sorts of one value per thread.

use super::ThreadPosition;
use crate::op::Carried;
use crate::warp;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// The values of all threads of the block in order: thread i gets the value of rank i. The sort is
/// stable: equal values are in the order of their threads.
///
/// Called by every thread of the block, which extends along x only, and has a multiple of 32 threads;
/// `scratch` has an element for each. It has three block barriers inside and none at the end, so the
/// block needs a barrier before `scratch` is used again. Each warp sorts its values, and each thread
/// then looks for its value in those of the other warps, by bisection.
#[device]
pub fn sort<T: Scalar + Carried + Ord>(value: T, scratch: Shared<T>) -> T {
    let at = ThreadPosition::here();
    let value = warp::sort(value);
    scratch.write(at.thread as usize, value);
    thread::sync_threads();
    let mut rank = at.lane;
    for warp in 0..at.warps {
        if warp != at.warp {
            let run = scratch.part((warp * WARP_SIZE) as usize, WARP_SIZE as usize);
            // Of equal values, those of earlier warps come first.
            rank += count(run, |other| other < value || warp < at.warp && other == value);
        }
    }
    thread::sync_threads();
    scratch.write(rank as usize, value);
    thread::sync_threads();
    scratch.read(at.thread as usize)
}

/// The number of the 32 elements of `run` for which `is_before` holds; it holds for the first ones.
#[inline(always)]
fn count<T: Scalar>(run: Shared<T>, is_before: impl Fn(T) -> bool) -> u32 {
    let mut count = 0;
    let mut step = WARP_SIZE / 2;
    while step > 0 {
        if is_before(run.read((count + step - 1) as usize)) {
            count += step;
        }
        step /= 2;
    }
    count + u32::from(is_before(run.read(count as usize)))
}
