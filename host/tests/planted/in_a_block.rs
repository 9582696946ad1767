//! Threads of one block.

use crate::{Planted, RIGHT, expect_named};
use cuda_std::mbarrier;
use cuda_std::prelude::*;
use cuda_std::warp::FULL_MASK;
use gridsync::device::Geometry;

shared_array! {
    fn tile() -> [u32; 128];
}

shared_array! {
    fn phases() -> [u64; 1];
}

/// Each thread reads the word that the next one wrote, twice in the same memory.
#[kernel]
unsafe fn rotated(words: Global<u32>, out: Global<u32>, bug: u32) {
    let (tile, me) = (tile(), thread::index_in_block());
    let next = (me + 1) % thread::threads_per_block();
    for round in 0..2 {
        if bug == 5 && me == 40 {
            return;
        }
        if bug != 6 || me != 3 {
            tile.write(me, RIGHT - 1 + round);
        }
        match bug {
            1 => {}
            2 if me >= 32 => {}
            3 if me % 2 == 0 => thread::sync_threads(),
            _ => thread::sync_threads(),
        }
        out.write(me, tile.read(next));
        if bug != 4 {
            thread::sync_threads();
        }
    }
    let _ = words;
}

/// The same in device memory.
#[kernel]
unsafe fn rotated_in_device_memory(words: Global<u32>, out: Global<u32>, bug: u32) {
    let me = thread::index_in_block();
    let next = (me + 1) % thread::threads_per_block();
    words.write(me, RIGHT);
    if bug != 1 {
        thread::sync_threads();
    }
    out.write(me, words.read(next));
}

/// The same among the lanes of a warp, which also count themselves.
#[kernel]
unsafe fn rotated_in_warp(words: Global<u32>, out: Global<u32>, bug: u32) {
    let (tile, me) = (tile(), thread::index_in_block());
    tile.write(me, RIGHT);
    words.fetch_add(0, 1, Ordering::Relaxed, Scope::Device);
    if bug != 1 {
        warp::sync_warp(if bug == 2 { FULL_MASK << 1 } else { FULL_MASK });
    }
    out.write(me, tile.read((me + 1) % 32));
}

/// Lanes shuffle.
#[kernel]
unsafe fn shuffled(words: Global<u32>, out: Global<u32>, bug: u32) {
    let me = thread::index_in_block();
    out.write(me, RIGHT);
    if bug == 1 && me == 31 {
        return;
    }
    let mask = if bug == 2 && me.is_multiple_of(2) { FULL_MASK >> 1 } else { FULL_MASK };
    let (sum, _) = warp::warp_shuffle_xor(mask, me as u32, 1, 32);
    words.write(me, sum);
}

/// A flag from one warp to another.
#[kernel]
unsafe fn flagged(words: Global<u32>, out: Global<u32>, bug: u32) {
    let (tile, me) = (tile(), thread::index_in_block());
    let order = |is_bug, right| if is_bug { Ordering::Relaxed } else { right };
    if me == 0 {
        tile.write(0, RIGHT);
        words.store(0, 1, order(bug == 1, Ordering::Release), Scope::Block);
    } else if me == 32 {
        let acquire = order(bug == 2, Ordering::Acquire);
        spin::until(|| words.load(0, acquire, Scope::Block) == 1);
        out.write(32, tile.read(0));
    }
    if me != 32 {
        out.write(me, RIGHT);
    }
}

/// A barrier in shared memory.
#[kernel]
unsafe fn arrived(words: Global<u32>, out: Global<u32>, bug: u32) {
    let (tile, phases, me) = (tile(), phases(), thread::index_in_block());
    let all = thread::threads_per_block() as u32;
    if me == 0 {
        mbarrier::init(phases, 0, all + u32::from(bug == 1));
        mbarrier::fence_init();
    }
    if bug != 3 {
        thread::sync_threads();
    }
    tile.write(me, RIGHT);
    mbarrier::arrive(phases, 0);
    if bug == 4 && me == 5 {
        mbarrier::arrive(phases, 0);
    }
    mbarrier::wait(phases, 0, u32::from(bug == 2));
    if bug == 5 {
        mbarrier::wait(phases, 0, 1);
    }
    out.write(me, tile.read((me + 1) % all as usize));
    let _ = words;
}

const BLOCK: &str = "nothing orders them: put a barrier of the block or the warp between them";

#[test]
fn the_cause_of_each_bug_in_a_block_is_named() {
    let (one, warp) = (Geometry::new(1, 64), Geometry::new(1, 32));
    expect_named(&[
        Planted::new::<rotated>(
            one,
            &[
                ("no barrier", &[BLOCK]),
                (
                    "a barrier of one warp only",
                    &["barrier skipped|by different calls|nothing orders them"],
                ),
                ("a barrier in a branch", &["by different calls"]),
                ("no barrier before memory is used again", &[BLOCK]),
                ("a thread that leaves", &["barrier skipped", "has exited"]),
                ("a word that is not written", &["reads bytes never written"]),
            ],
        ),
        Planted::new::<rotated_in_device_memory>(one, &[("no barrier", &[BLOCK])]),
        Planted::new::<rotated_in_warp>(
            warp,
            &[("no barrier", &[BLOCK]), ("a lane not in the mask", &["is not in its own mask"])],
        ),
        Planted::new::<shuffled>(
            warp,
            &[
                ("a lane that leaves", &["names lane 31, which has exited"]),
                ("two masks", &["lanes that name each other must call the same collective"]),
            ],
        ),
        Planted::new::<flagged>(
            one,
            &[("relaxed store", &["is not released"]), ("relaxed load", &["does not acquire"])],
        ),
        Planted::new::<arrived>(
            one,
            &[
                (
                    "one arrival too few",
                    &["deadlock", "end of a phase of parity 0", "still needs 1 of 65 arrivals"],
                ),
                ("the wrong parity", &["nothing orders them: put a barrier of the block"]),
                ("no barrier after init", &["never written|nothing orders them"]),
                (
                    "two arrivals of a thread",
                    &["nothing orders them|arrivals of the phase have come"],
                ),
                (
                    "a phase more",
                    &["deadlock", "end of a phase of parity 1", "still needs 64 of 64 arrivals"],
                ),
            ],
        ),
    ]);
}
