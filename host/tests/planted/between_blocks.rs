//! Blocks that hand over data.

use crate::{Planted, RIGHT, expect_named};
use cuda_std::prelude::*;
use gridsync::device::Geometry;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};

const FLAG: usize = 0;
const COUNT: usize = 1;
const LOCK: usize = 2;
const DATA: usize = 64;

/// The first ordering if this bug is present, and otherwise the second one.
#[device]
fn order(is_bug: bool, right: Ordering) -> Ordering {
    if is_bug { Ordering::Relaxed } else { right }
}

#[device]
fn scope(is_bug: bool) -> Scope {
    if is_bug { Scope::Block } else { Scope::Device }
}

/// Block 0 writes a word for block 1.
#[kernel]
unsafe fn message(words: Global<u32>, out: Global<u32>, bug: u32) {
    if thread::block_idx_x() == 0 {
        if bug != 7 {
            words.write(DATA, RIGHT);
        }
        match bug {
            4 => words.write(FLAG, 1),
            5 => words.write_volatile(FLAG, 1),
            _ => words.store(FLAG, 1, order(bug == 1, Ordering::Release), scope(bug == 3)),
        }
        if bug == 7 {
            words.write(DATA, RIGHT);
        }
        out.write(0, RIGHT);
    } else {
        match bug {
            6 => while words.load(FLAG, Ordering::Acquire, Scope::Device) == 0 {},
            9 => spin::until(|| words.read(FLAG) == 1),
            _ => spin::until(|| {
                words.load(FLAG, order(bug == 2, Ordering::Acquire), scope(bug == 8)) == 1
            }),
        }
        out.write(1, words.read(DATA));
    }
}

/// The same with fences around relaxed accesses.
#[kernel]
unsafe fn fenced_message(words: Global<u32>, out: Global<u32>, bug: u32) {
    if thread::block_idx_x() == 0 {
        words.write(DATA, RIGHT);
        if bug != 1 && bug != 5 {
            thread::fence(Ordering::AcqRel, scope(bug == 3));
        }
        words.store(FLAG, 1, Ordering::Relaxed, Scope::Device);
        if bug == 5 {
            thread::device_fence();
        }
        out.write(0, RIGHT);
    } else {
        spin::until(|| words.load(FLAG, Ordering::Relaxed, Scope::Device) == 1);
        if bug != 2 {
            thread::fence(Ordering::AcqRel, scope(bug == 4));
        }
        out.write(1, words.read(DATA));
    }
}

/// All blocks arrive at a counter, and wait for all others. Each thread reads a word of the next block.
#[kernel]
unsafe fn counted(words: Global<u32>, out: Global<u32>, bug: u32) {
    let (me, all) = (thread::index(), thread::thread_count());
    words.write(DATA + me, RIGHT);
    if bug == 8 {
        thread::device_fence();
    }
    if bug != 1 {
        thread::sync_threads();
    }
    let goal = thread::block_count() as u32 + u32::from(bug == 6);
    if thread::is_first_in_block() {
        let arrives = order(bug == 3 || bug == 8, Ordering::Release);
        words.fetch_add(COUNT, if bug == 5 { 2 } else { 1 }, arrives, Scope::Device);
        let polls = order(bug == 4 || bug == 7, Ordering::Acquire);
        spin::until(|| words.load(COUNT, polls, Scope::Device) >= goal);
    }
    if bug != 2 {
        thread::sync_threads();
    }
    if bug == 7 && thread::is_first_in_block() {
        thread::device_fence();
    }
    let next = (me + thread::threads_per_block()) % all;
    out.write(me, words.read(DATA + next));
}

/// The same with the barrier of the grid.
#[kernel(cooperative)]
unsafe fn synced(words: Global<u32>, out: Global<u32>, bug: u32) {
    let mut barrier = GridBarrier::attach(words.part(512, 256));
    let (me, all) = (thread::index(), thread::thread_count());
    words.write(DATA + me, RIGHT);
    match bug {
        1 => {}
        2 if thread::block_index() == 1 => {
            out.write(me, RIGHT);
            return;
        }
        3 if thread::block_index() == 1 => {
            barrier.sync();
            barrier.sync();
        }
        _ => barrier.sync(),
    }
    let next = (me + thread::threads_per_block()) % all;
    out.write(me, words.read(DATA + next));
}

/// No barrier at all: each thread reads a word that the next block wrote.
#[kernel]
unsafe fn stages(words: Global<u32>, out: Global<u32>, bug: u32) {
    let (me, all) = (thread::index(), thread::thread_count());
    words.write(DATA + me, RIGHT);
    let next = if bug == 1 { (me + thread::threads_per_block()) % all } else { me };
    out.write(me, words.read(DATA + next));
}

/// Threads add to a word under a lock.
#[kernel]
unsafe fn locked(words: Global<u32>, out: Global<u32>, bug: u32) {
    let (taken, free) = (order(bug == 1, Ordering::Acquire), order(bug == 2, Ordering::Release));
    spin::until(|| words.exchange(LOCK, 1, taken, scope(bug == 4)) == 0);
    words.write(DATA, words.read(DATA) + 1);
    if bug != 3 {
        words.store(LOCK, 0, free, Scope::Device);
    }
    out.write(thread::index(), RIGHT);
}

/// Threads add to a word.
#[kernel]
unsafe fn added(words: Global<u32>, out: Global<u32>, bug: u32) {
    match bug {
        1 => words.write(DATA, words.read(DATA) + 1),
        2 => words.add(DATA, 1, Ordering::Relaxed, Scope::Block),
        _ => words.add(DATA, 1, Ordering::Relaxed, Scope::Device),
    }
    out.write(thread::index(), RIGHT);
}

/// Each block waits for the one before it, by its index or by the order in which they start.
#[kernel]
unsafe fn chained(words: Global<u32>, out: Global<u32>, bug: u32) {
    let number = match bug {
        1 => thread::block_index(),
        _ => words.fetch_add(COUNT, 1, Ordering::Relaxed, Scope::Device) as usize,
    };
    if number > 0 {
        spin::until(|| words.load(DATA + number - 1, Ordering::Acquire, Scope::Device) == 1);
    }
    words.store(DATA + number, 1, Ordering::Release, Scope::Device);
    out.write(thread::block_index(), RIGHT);
}

/// Each block fills its tile.
#[kernel]
unsafe fn tiles(words: Global<u32>, out: Global<u32>, bug: u32) {
    let (tile, lane) = (32, thread::index_in_block());
    let start = DATA + thread::block_index() * tile;
    words.write(start + lane, RIGHT);
    if bug == 1 && lane == 0 {
        words.write(start + tile, 1);
    }
    if bug == 2 {
        words.write(words.len() - tile + lane + 1, 1);
    }
    out.write(thread::index(), words.read(start + lane));
}

const RELEASE: &str = "is not released: make it release, or put a fence right before it";
const ACQUIRE: &str = "does not acquire: make it acquire, or put a fence right after it";
const NARROW: &str = "has block scope, which does not reach the other thread: widen it";
const GRID: &str = "nothing orders them: put a barrier of the grid between them";

#[test]
fn the_cause_of_each_bug_between_blocks_is_named() {
    let two = Geometry::new(2, 1);
    expect_named(&[
        Planted::new::<message>(
            two,
            &[
                ("relaxed store", &[RELEASE, "so this run ends with: thread 1 saw 0"]),
                ("relaxed load", &[ACQUIRE]),
                ("store of block scope", &["block scope"]),
                ("plain store of the flag", &["weak store", "data race"]),
                ("volatile store", &[RELEASE]),
                ("no spin", &["call `spin` in each iteration"]),
                ("flag before data", &[GRID]),
                ("load of block scope", &["block scope"]),
                ("plain load of the flag", &["weak load", "data race"]),
            ],
        ),
        Planted::new::<fenced_message>(
            two,
            &[
                ("no fence before", &[RELEASE]),
                ("no fence after", &[ACQUIRE]),
                ("narrow fence before", &["the fence before the write", NARROW]),
                ("narrow fence after", &["the fence after the read", NARROW]),
                ("fence after the store", &[RELEASE]),
            ],
        ),
        Planted::new::<counted>(
            Geometry::new(3, 64),
            &[
                ("no barrier before the arrival", &[GRID]),
                ("no barrier after the wait", &["nothing orders them: put a barrier of the "]),
                ("relaxed arrival", &[RELEASE]),
                ("relaxed poll", &[ACQUIRE]),
                ("two arrivals of a block", &["data race"]),
                ("one arrival too few", &["deadlock", "a spin loop"]),
                ("fence of the poller after the barrier", &[ACQUIRE]),
                ("fence before the barrier", &[RELEASE]),
            ],
        ),
        Planted::new::<synced>(
            Geometry::new(3, 64).cooperative(),
            &[
                ("no barrier", &["cross the grid barrier between them"]),
                ("a block that leaves", &["deadlock", "1 of 3 blocks have already exited: 1"]),
                ("a barrier more in one block", &["deadlock", "2 of 3 blocks have already exited"]),
            ],
        ),
        Planted::new::<stages>(Geometry::new(3, 64), &[("no barrier", &[GRID])]),
        Planted::new::<locked>(
            Geometry::new(3, 1),
            &[
                ("relaxed lock", &[ACQUIRE]),
                ("relaxed unlock", &[RELEASE]),
                ("no unlock", &["deadlock"]),
                ("lock of block scope", &["block scope"]),
            ],
        ),
        Planted::new::<added>(
            Geometry::new(3, 1),
            &[
                ("plain", &["data race", "weak store"]),
                ("block scope", &["block scope does not reach the other thread"]),
            ],
        ),
        Planted {
            multiprocessors: 1,
            ..Planted::new::<chained>(
                Geometry::new(40, 1),
                &[("order of indices", &["deadlock", "blocks never started"])],
            )
        },
        Planted::new::<tiles>(
            Geometry::new(3, 32),
            &[("one too many", &["data race", GRID]), ("beyond the end", &["out of bounds"])],
        ),
    ]);
}
