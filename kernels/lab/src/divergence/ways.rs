//! Up to 32 different paths through one kernel, distributed over the lanes of each warp or over
//! whole warps.

use super::STEPS;
use cuda_std::prelude::*;
use cuda_std::time::clock;
use cuda_std::warp::WARP_SIZE;

/// Makes the threads of a block follow `ways` different paths, each a chain of `rounds` times
/// [`STEPS`] dependent multiply-adds (`along`).
///
/// The paths are distributed round-robin over the lanes of each warp, or over whole warps if
/// `to_warps` is not 0. Each thread writes the result of its path to its element of `results`.
/// `cycles` gets the cycles from the start of the first path to the end of the last.
///
/// The emulator distinguishes paths by the lines of their calls. So the calls must be in the kernel
/// itself, each on its own line.
///
/// # Safety
///
/// The grid has one block of one dimension; `results` has one element per thread and `cycles` one
/// element; `ways` is a power of two up to 32; `zero` is 0.
#[kernel]
pub unsafe fn divergence_ways(
    results: Global<f32>,
    cycles: Global<u64>,
    ways: u32,
    to_warps: u32,
    rounds: u32,
    zero: u32,
) {
    let number = thread::thread_idx_x();
    let dealt_to = if to_warps != 0 { number / WARP_SIZE } else { number };
    let path = dealt_to & (ways - 1);
    thread::sync_threads();
    let start = clock();
    let result = match path {
        0 => along::<0>(rounds, zero),
        1 => along::<1>(rounds, zero),
        2 => along::<2>(rounds, zero),
        3 => along::<3>(rounds, zero),
        4 => along::<4>(rounds, zero),
        5 => along::<5>(rounds, zero),
        6 => along::<6>(rounds, zero),
        7 => along::<7>(rounds, zero),
        8 => along::<8>(rounds, zero),
        9 => along::<9>(rounds, zero),
        10 => along::<10>(rounds, zero),
        11 => along::<11>(rounds, zero),
        12 => along::<12>(rounds, zero),
        13 => along::<13>(rounds, zero),
        14 => along::<14>(rounds, zero),
        15 => along::<15>(rounds, zero),
        16 => along::<16>(rounds, zero),
        17 => along::<17>(rounds, zero),
        18 => along::<18>(rounds, zero),
        19 => along::<19>(rounds, zero),
        20 => along::<20>(rounds, zero),
        21 => along::<21>(rounds, zero),
        22 => along::<22>(rounds, zero),
        23 => along::<23>(rounds, zero),
        24 => along::<24>(rounds, zero),
        25 => along::<25>(rounds, zero),
        26 => along::<26>(rounds, zero),
        27 => along::<27>(rounds, zero),
        28 => along::<28>(rounds, zero),
        29 => along::<29>(rounds, zero),
        30 => along::<30>(rounds, zero),
        _ => along::<31>(rounds, zero),
    };
    results.write(number as usize, result);
    thread::sync_threads();
    if number == 0 {
        cycles.write(0, clock() - start);
    }
}

/// The path `PATH`: each step halves the distance to 2·(`PATH` + 1). Each path has a different
/// constant, which keeps the compiler from merging two paths into one loop. It would evaluate a
/// loop that started at a known number, and unroll one with a known number of rounds: 32 long loops
/// would not fit in the instruction caches.
#[device]
fn along<const PATH: u32>(rounds: u32, zero: u32) -> f32 {
    let (mut x, mut round) = (zero as f32, 0);
    while thread::branch(round < rounds) {
        for _ in 0..STEPS {
            x = x.mul_add(0.5, (PATH + 1) as f32);
        }
        round += 1 + zero;
    }
    x
}
