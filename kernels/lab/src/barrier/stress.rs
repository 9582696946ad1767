//! Code shared by all kernels that check a barrier.

use cuda_std::prelude::*;
use cuda_std::time::clock;
use cuda_std::warp::{WARP_SIZE, warp_index};
use gridsync_kernels::grid::barrier::Barrier;

/// Attaches to a barrier before the first round and again after every `together` rounds. Crosses it
/// twice a round, and adds the stale cells to `errors[0]`. See the docs of the kernels.
#[device]
pub(super) fn cross_and_check<B: Barrier>(
    attach: impl Fn() -> B,
    together: u32,
    cells: Global<u32>,
    errors: Global<u32>,
    first_round: u32,
    rounds: u32,
    skew: u32,
) {
    let far = errors.part(1, errors.len() - 1);
    let mut barrier = attach();
    let (mut crossed_together, mut wrong) = (0, 0);
    for round in 0..rounds {
        if crossed_together == together {
            (barrier, crossed_together) = (attach(), 0);
        }
        crossed_together += 1;
        let round = first_round.wrapping_add(round);
        come_late(round, skew);
        keep_stores_busy(far, round);
        write_own(cells, round);
        barrier.sync();
        wrong += count_stale_of_straggler(cells, round, skew);
        come_late(!round, skew);
        wrong += count_stale(cells, round);
        barrier.sync();
        if round.is_multiple_of(4) {
            // Crossings back to back catch a barrier that cannot be crossed again immediately.
            for crossing in 0..BURST.min(skew) {
                barrier.arrive();
                // One warp of the grid waits late. The others may be at the next crossing by then.
                come_late(round + 2 * crossing + 1, skew);
                barrier.wait();
            }
        }
    }
    if wrong > 0 {
        errors.fetch_add(0, wrong, Ordering::Relaxed, Scope::Device);
    }
}

/// The most crossings back to back.
const BURST: u32 = 8;

/// Far stores that each thread makes before it writes its cells.
const FAR_STORES: u32 = 8;

/// Stores to this thread's words throughout `far`. No thread reads `far`. If it is much larger than
/// the L2, these stores are slow. Then later stores that are not released become visible late. An
/// idle memory system would make them visible immediately.
#[device]
pub(super) fn keep_stores_busy(far: Global<u32>, round: u32) {
    let (me, threads) = (thread::index(), thread::thread_count());
    let rows = (far.len() / threads) as u32;
    if rows == 0 {
        return;
    }
    for store in 0..FAR_STORES {
        let row = mix(FAR_STORES * round + store, me as u32) % rows;
        far.write(row as usize * threads + me, round);
    }
}

/// Writes the round to all cells of this thread: every `thread_count`-th cell.
#[device]
pub(super) fn write_own(cells: Global<u32>, round: u32) {
    let mut own = thread::index();
    while own < cells.len() {
        cells.write(own, round);
        own += thread::thread_count();
    }
}

/// Counts the cells of this thread's share that do not hold `round`. The threads of a block share
/// all cells.
#[device]
pub(super) fn count_stale(cells: Global<u32>, round: u32) -> u32 {
    let (mut stale, mut at) = (0, thread::in_32_bits::index_in_block() as usize);
    let step = thread::in_32_bits::threads_per_block() as usize;
    // Four loads are in flight, because single loads would take most of the time.
    while at + 3 * step < cells.len() {
        let (a, b) = (cells.read(at), cells.read(at + step));
        let (c, d) = (cells.read(at + 2 * step), cells.read(at + 3 * step));
        stale += u32::from(a != round) + u32::from(b != round);
        stale += u32::from(c != round) + u32::from(d != round);
        at += 4 * step;
    }
    while at < cells.len() {
        stale += u32::from(cells.read(at) != round);
        at += step;
    }
    stale
}

/// Delays warps by up to `skew` cycles. In even rounds each warp's delay depends on its index. In
/// odd rounds a single warp of the grid is late by `skew`, and all others wait for it.
#[device]
pub(super) fn come_late(round: u32, skew: u32) {
    if skew == 0 {
        return;
    }
    let (block, warp) = (thread::block_index() as u32, warp_index());
    let cycles = if round.is_multiple_of(2) {
        mix(block * 32 + warp, round) % skew
    } else if (block, warp) == straggler(round) {
        skew
    } else {
        0
    };
    let start = clock();
    spin::until(|| clock().wrapping_sub(start) >= u64::from(cycles));
}

/// The straggler: the block and the warp that all others wait for in an odd round.
#[device]
fn straggler(round: u32) -> (u32, u32) {
    let warps = thread::in_32_bits::threads_per_block().div_ceil(WARP_SIZE);
    let block = mix(1, round) % thread::block_count() as u32;
    (block, mix(2, round) % warps)
}

/// Counts the cells of the straggler that do not hold `round`, as seen by this thread. Every warp
/// reads them before all other cells, last written first: the earlier writes had more time to
/// become visible.
#[device]
fn count_stale_of_straggler(cells: Global<u32>, round: u32, skew: u32) -> u32 {
    let (block, warp) = straggler(round);
    let threads = thread::in_32_bits::threads_per_block();
    let thread = warp * WARP_SIZE + thread::in_32_bits::index_in_block() % WARP_SIZE;
    if skew == 0 || round.is_multiple_of(2) || thread >= threads {
        return 0;
    }
    let (first, apart) = ((block * threads + thread) as usize, thread::thread_count());
    let mut stale = 0;
    let mut row = cells.len() / apart;
    while row > 0 {
        row -= 1;
        stale += u32::from(cells.read(first + row * apart) != round);
    }
    stale
}

/// A hash of two numbers: each bit depends on all bits of both (the finaliser of MurmurHash3).
#[inline(always)]
pub(super) fn mix(number: u32, salt: u32) -> u32 {
    let bits = number.wrapping_mul(0x9e37_79b9) ^ salt.wrapping_mul(0x85eb_ca6b);
    let bits = (bits ^ bits >> 16).wrapping_mul(0x85eb_ca6b);
    let bits = (bits ^ bits >> 13).wrapping_mul(0xc2b2_ae35);
    bits ^ bits >> 16
}
