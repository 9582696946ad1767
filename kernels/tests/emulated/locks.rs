//! The locks admit one thread at a time and order the guarded data, under many schedules.

use crate::support::{Zeros, launch, words_after};
use cuda_std::memory::{Global, Ordering, Scope};
use cuda_std::warp::{lane_id, warp_redux_add};
use cuda_std::{spin, thread};
use gridsync_kernels::grid::lock::{Lock, QueueLock, SpinLock, TicketLock};
use gridsync_lab_kernels::locks::TextbookLock;
use simt::{Fault, Flaw, Lanes, LaunchConfig, MissingOrder, Schedule, WaitingFor};

/// The array of the guarded words, and the arrays of two locks.
const DATA: usize = 0;
const LOCK: usize = 1;
const SECOND: usize = 2;

/// The most threads of a launch.
const THREADS: usize = 99;

/// Blocks and threads per block.
const GRIDS: [(u32, u32); 6] = [(1, 1), (1, 2), (1, 32), (1, 33), (3, 1), (3, 33)];

/// The number of schedules for a grid: more for small grids, which are fast.
fn seeds((blocks, threads): (u32, u32)) -> u64 {
    if blocks * threads > 40 { 4 } else { 16 }
}

/// A launch that checks for races under the schedule of a seed, as `EmulatorConfig::checking` does.
fn checking((blocks, threads): (u32, u32), seed: u64) -> LaunchConfig<'static> {
    LaunchConfig {
        schedule: Schedule::from_seed(seed),
        races: true,
        ..LaunchConfig::new("test", blocks, threads)
    }
}

/// Attaches to each kind of lock in an array of zeros.
fn spin_lock(zeros: Zeros, array: usize) -> SpinLock {
    SpinLock::attach(zeros.of(array, SpinLock::words()))
}

fn ticket_lock(zeros: Zeros, array: usize) -> TicketLock {
    TicketLock::attach(zeros.of(array, TicketLock::words()))
}

fn queue_lock(zeros: Zeros, array: usize) -> QueueLock {
    // SAFETY: a node for each thread.
    unsafe { QueueLock::attach(zeros.of(array, QueueLock::words(THREADS)), thread::index()) }
}

fn textbook_lock(zeros: Zeros, array: usize) -> TextbookLock {
    TextbookLock::attach(zeros.of(array, 1))
}

/// Adds `value` to element `at` of `data`, with a plain load and a plain store.
fn add(data: Global<u32>, at: usize, value: u32) {
    data.write(at, data.read(at) + value);
}

/// Each thread adds to a counter under a lock in two launches, twice in each.
#[track_caller]
fn one_at_a_time<L: Lock>(attach: impl Fn(Zeros, usize) -> L) {
    for grid in GRIDS {
        for seed in 0..seeds(grid) {
            let counted = words_after(2, &checking(grid, seed), &|zeros| {
                let mut lock = attach(zeros, LOCK);
                let data = zeros.of(DATA, 1);
                let guard = lock.lock();
                add(data, 0, 1);
                drop(guard);
                lock.with(|| add(data, 0, 1));
            });
            match counted {
                Ok([counter]) => assert_eq!(counter, 4 * grid.0 * grid.1, "{grid:?}, {seed}"),
                Err(fault) => panic!("{grid:?}, seed {seed}: {fault}"),
            }
        }
    }
}

#[test]
fn a_spin_lock_lets_one_thread_in_at_a_time() {
    one_at_a_time(spin_lock);
}

#[test]
fn a_ticket_lock_lets_one_thread_in_at_a_time() {
    one_at_a_time(ticket_lock);
}

#[test]
fn a_queue_lock_lets_one_thread_in_at_a_time() {
    one_at_a_time(queue_lock);
}

#[test]
fn a_textbook_lock_lets_one_thread_in_at_a_time() {
    one_at_a_time(textbook_lock);
}

#[test]
fn guards_of_two_locks_nest() {
    for grid in [(1, 2), (1, 33), (3, 2)] {
        for seed in 0..seeds(grid) {
            let nested = words_after(1, &checking(grid, seed), &|zeros| {
                let (mut outer, mut inner) = (ticket_lock(zeros, LOCK), queue_lock(zeros, SECOND));
                let data = zeros.of(DATA, 2);
                let held = outer.lock();
                let both = inner.lock();
                add(data, 0, 1);
                drop(held);
                // The inner lock is still held, and the outer one is not.
                add(data, 1, 1);
                drop(both);
            });
            let threads = grid.0 * grid.1;
            assert_eq!(
                nested.expect("each lock guards its word"),
                [threads; 2],
                "{grid:?}, {seed}"
            );
        }
    }
}

#[test]
fn one_lane_acquires_a_lock_for_its_warp() {
    for grid in [(1, 1), (1, 32), (3, 64)] {
        for seed in 0..12 {
            let config = checking(grid, seed);
            let counted = words_after(2, &config, &|zeros| {
                // Odd lanes take part, and lane 0, if they exist.
                let lanes = 0xAAAA_AAAB & if grid.1 < 32 { (1 << grid.1) - 1 } else { u32::MAX };
                if lanes >> lane_id() & 1 == 0 {
                    return;
                }
                let mut lock = spin_lock(zeros, LOCK);
                let data = zeros.of(DATA, 2);
                let guard = lock.warp_lock(lanes);
                guard.in_turn(|| add(data, 0, 1));
                drop(guard);
                lock.warp_with(lanes, || {
                    let together = warp_redux_add(lanes, 1);
                    if lane_id() == 0 {
                        add(data, 1, together);
                    }
                });
            });
            let lanes = if grid.1 < 32 { 1 } else { 17 };
            let all = 2 * lanes * grid.0 * grid.1.div_ceil(32);
            match counted {
                Ok(counted) => assert_eq!(counted, [all; 2], "{grid:?}, {seed}"),
                Err(fault) => panic!("{grid:?}, seed {seed}: {fault}"),
            }
        }
    }
}

#[test]
fn lanes_of_a_warp_can_share_a_node_if_one_acquires_the_lock() {
    for seed in 0..12 {
        let counted = words_after(2, &checking((2, 64), seed), &|zeros| {
            let words = zeros.of(LOCK, QueueLock::words(4));
            // SAFETY: a node for each warp, whose lanes acquire the lock together.
            let mut lock = unsafe { QueueLock::attach(words, thread::index() / 32) };
            let data = zeros.of(DATA, 1);
            if let Some(guard) = lock.warp_lock_unless(u32::MAX, || false) {
                guard.in_turn(|| add(data, 0, 1));
            }
        });
        assert_eq!(counted.expect("no two warps share a node"), [2 * 128], "seed {seed}");
    }
}

/// A spin lock whose orders can be weakened.
struct Weakened {
    word: Global<u32>,
    acquire: Ordering,
    release: Ordering,
}

impl Lock for Weakened {
    type Held = (Global<u32>, Ordering);

    fn acquire_unless(&mut self, mut give_up: impl FnMut() -> bool) -> Option<Self::Held> {
        let mut taken = false;
        spin::until(|| {
            taken = self.word.compare_exchange(0, 0, 1, self.acquire, Scope::Device) == 0;
            taken || give_up()
        });
        taken.then_some((self.word, self.release))
    }

    unsafe fn release((word, order): Self::Held) {
        word.store(0, 0, order, Scope::Device);
    }
}

/// The flaws at the release and at the acquire of a weakened lock, from the race reports under many
/// schedules. `None` if none of them had a race.
fn missing(acquire: Ordering, release: Ordering) -> Option<(Option<Flaw>, Option<Flaw>)> {
    let mut found = None;
    for lanes in [Lanes::Together, Lanes::Apart] {
        for seed in 1..20 {
            let config = checking((2, 33), seed);
            let schedule = config.schedule.with_lanes(lanes);
            let ended = launch(&LaunchConfig { schedule, ..config }, &|zeros| {
                let mut lock = Weakened { word: zeros.of(LOCK, 1), acquire, release };
                lock.with(|| add(zeros.of(DATA, 1), 0, 1));
            });
            let missing = match ended {
                Ok(_) => None,
                Err(Fault::Race(race)) => match &race.missing {
                    MissingOrder::Link(link) => Some((link.release, link.acquire)),
                    other => panic!("seed {seed}: {other}"),
                },
                Err(fault) => panic!("seed {seed}: {fault}"),
            };
            assert!(seed == 1 && lanes == Lanes::Together || missing == found, "seed {seed}");
            found = missing;
        }
    }
    found
}

#[test]
fn a_lock_without_release_or_acquire_is_reported_as_a_race() {
    use Ordering::{Acquire, Relaxed, Release};
    assert_eq!(missing(Acquire, Release), None);
    assert_eq!(missing(Acquire, Relaxed), Some((Some(Flaw::Absent), None)));
    assert_eq!(missing(Relaxed, Release), Some((None, Some(Flaw::Absent))));
}

/// The waits of the threads of a deadlocked launch.
#[track_caller]
fn deadlocked(grid: (u32, u32), kernel: impl Fn(Zeros)) -> Vec<WaitingFor> {
    match launch(&checking(grid, 3), &kernel) {
        Err(Fault::Deadlock(deadlock)) => deadlock.waiting.iter().map(|w| w.what).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lock_held_across_a_block_barrier_deadlocks() {
    let waits = deadlocked((1, 64), |zeros| {
        let mut lock = spin_lock(zeros, LOCK);
        let guard = lock.lock();
        thread::sync_threads();
        drop(guard);
    });
    assert!(waits.contains(&WaitingFor::BlockBarrier), "{waits:?}");
    assert!(waits.contains(&WaitingFor::Change), "{waits:?}");
}

#[test]
fn a_thread_that_never_releases_makes_all_others_wait_forever() {
    fn forget<L: Lock>(mut lock: L) {
        core::mem::forget(lock.lock());
    }
    let kernels: [&dyn Fn(Zeros); 3] = [
        &|zeros| forget(spin_lock(zeros, LOCK)),
        &|zeros| forget(ticket_lock(zeros, LOCK)),
        &|zeros| forget(queue_lock(zeros, LOCK)),
    ];
    for kernel in kernels {
        let waits = deadlocked((3, 2), kernel);
        assert!(waits.iter().all(|&what| what == WaitingFor::Change), "{waits:?}");
    }
}

#[test]
fn a_thread_that_gives_up_does_not_hold_the_lock() {
    fn held_by_one<L: Lock>(mut lock: L, data: Global<u32>) {
        let mut turns = 0;
        let give_up = || {
            turns += 1;
            turns > 100
        };
        match lock.lock_unless(give_up) {
            Some(guard) => {
                data.fetch_add(0, 1, Ordering::Relaxed, Scope::Device);
                core::mem::forget(guard);
            }
            None => _ = data.fetch_add(1, 1, Ordering::Relaxed, Scope::Device),
        }
    }
    let kernels: [&dyn Fn(Zeros); 3] = [
        &|zeros| held_by_one(spin_lock(zeros, LOCK), zeros.of(DATA, 2)),
        &|zeros| held_by_one(ticket_lock(zeros, LOCK), zeros.of(DATA, 2)),
        &|zeros| held_by_one(queue_lock(zeros, LOCK), zeros.of(DATA, 2)),
    ];
    for kernel in kernels {
        let config = LaunchConfig { patience: 1000, ..checking((2, 3), 5) };
        assert_eq!(words_after(1, &config, kernel).expect("all end"), [1, 5]);
    }
}
