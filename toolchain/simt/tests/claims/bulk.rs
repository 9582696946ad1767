//! Bulk copies happen between their request and the wait for their end, at a time chosen by the
//! seed.

use std::collections::BTreeSet;

use simt::{
    Access, Fault, LaunchConfig, Memory, MissingOrder, Order, Policy, Schedule, Scope, Space,
    launch, position,
};

use crate::support::{Words, assert_site, config};

/// Words of a tile.
pub(crate) const TILE: usize = 64;
pub(crate) const BYTES: usize = 4 * TILE;

/// The block's tile in shared memory.
pub(crate) fn tile() -> Words {
    Words::shared(simt::static_shared("tile", BYTES, 16))
}

/// The block's barrier. Its word is the number of outstanding bytes.
fn barrier() -> *mut u8 {
    simt::static_shared("barrier", 8, 8)
}

fn pointer(words: Words) -> *mut u8 {
    core::ptr::with_exposed_provenance_mut(words.address() as usize)
}

/// Makes the barrier wait for the bytes of a tile.
#[track_caller]
pub(crate) fn init() {
    if simt::access(barrier(), 8, Access::write(Space::Shared)) {
        // SAFETY: checked just now, and no other emulated thread has run since.
        unsafe { barrier().cast::<u64>().write(BYTES as u64) };
    }
    simt::mbarrier_init(barrier());
}

/// Loads the tile.
#[track_caller]
pub(crate) fn load(from: Words) {
    simt::bulk_load(pointer(tile()), pointer(from), BYTES, barrier(), |word, bytes| {
        word.checked_sub(bytes as u64).ok_or_else(|| format!("waits for {word} bytes alone"))
    });
}

/// Waits for the tile.
#[track_caller]
pub(crate) fn wait() {
    let acquire = Access::read(Space::Shared).ordered(Order::Acquire, Scope::Block);
    loop {
        if !simt::access(barrier(), 8, acquire) {
            return;
        }
        // SAFETY: checked just now, and no other emulated thread has run since.
        if unsafe { barrier().cast::<u64>().read() } == 0 {
            return;
        }
        simt::spin();
    }
}

/// Stores the tile.
#[track_caller]
pub(crate) fn store(to: Words) {
    simt::bulk_store(pointer(to), pointer(tile()), BYTES);
}

/// Whether the caller is this thread of its block.
pub(crate) fn is(thread: u32) -> bool {
    position().linear_thread() == thread
}

/// Fills the tile with a value.
#[track_caller]
fn fill(value: u32) {
    (0..TILE).for_each(|i| tile().set(i, value));
    simt::bulk_fence();
}

/// The values that one thread leaves in the first word of the second of two tiles of device memory,
/// under many seeds. The first tile holds ones.
fn leaves(kernel: impl Fn(Words, Words) + Copy) -> BTreeSet<u32> {
    let left = |schedule| {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, 2 * TILE);
        memory.write(words.address(), &1u32.to_le_bytes().repeat(TILE)).expect("it fits");
        let to = Words::global(words.address() + BYTES as u64);
        let config = LaunchConfig { schedule, ..config(1, 1, Policy::RoundRobin) };
        if let Err(fault) = launch(&mut memory, &config, &|| kernel(words, to)) {
            panic!("{schedule:?}: {fault}");
        }
        to.host(&memory, 1)[0]
    };
    (0..60).map(|seed| left(Schedule::from_seed(seed))).collect()
}

/// A kernel of one thread that loads a tile over sevens, and calls `before` ahead of the wait for
/// the load and `after` behind it. They return the value to leave, if any.
fn loads(
    before: impl Fn(Words) -> Option<u32> + Copy,
    after: impl Fn() -> Option<u32> + Copy,
) -> BTreeSet<u32> {
    leaves(|from, to| {
        fill(7);
        init();
        simt::mbarrier_fence();
        load(from);
        let early = before(from);
        wait();
        let late = after();
        early.or(late).into_iter().for_each(|value| to.set(0, value));
    })
}

#[test]
fn a_tile_read_before_the_wait_is_stale_under_some_seeds() {
    let last = || Some(tile().get(TILE - 1));
    assert_eq!(loads(|_| last(), || None), BTreeSet::from([1, 7]));
    assert_eq!(loads(|_| None, last), BTreeSet::from([1]));
}

#[test]
fn a_source_rewritten_before_the_wait_changes_the_load_under_some_seeds() {
    let rewrite = |from: Words| {
        from.set(5, 9);
        None
    };
    let read = || Some(tile().get(5));
    assert_eq!(loads(rewrite, read), BTreeSet::from([1, 9]));
    assert_eq!(loads(|_| None, read), BTreeSet::from([1]));
}

#[test]
fn writes_to_the_tile_before_the_wait_are_lost_under_some_seeds() {
    let write = || {
        tile().set(5, 9);
        None
    };
    let read = || Some(tile().get(5));
    assert_eq!(loads(|_| write(), read), BTreeSet::from([1, 9]));
    assert_eq!(loads(|_| None, || write().or_else(read)), BTreeSet::from([9]));
}

#[test]
fn seed_0_makes_a_load_at_once_under_every_policy() {
    for policy in [Policy::RoundRobin, Policy::RunAhead, Policy::Reverse, Policy::Coarse] {
        let mut memory = Memory::new(1 << 20);
        let from = Words::zeros(&mut memory, TILE);
        launch(&mut memory, &config(1, 1, policy), &|| {
            fill(7);
            init();
            simt::mbarrier_fence();
            load(from);
            assert_eq!(tile().get(3), 0);
        })
        .expect("the load is there");
    }
}

/// The results of a kernel on a tile of zeros under many seeds, with and without race detection.
fn results(kernel: impl Fn(Words)) -> Vec<Result<Vec<u32>, Fault>> {
    let result = |seed: u64| {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, TILE);
        let schedule = Schedule::from_seed(seed);
        let races = seed.is_multiple_of(2);
        let config = LaunchConfig { schedule, races, ..config(2, 64, Policy::RoundRobin) };
        launch(&mut memory, &config, &|| kernel(words))?;
        Ok(words.host(&memory, TILE))
    };
    (0..60).map(result).collect()
}

#[test]
fn a_block_that_ends_before_its_load_is_a_fault() {
    let line = line!() + 6;
    let ends = |waits: bool| {
        results(move |from| {
            if is(3) {
                init();
                simt::mbarrier_fence();
                load(from);
                if waits {
                    wait();
                }
            }
        })
    };
    let faults: Vec<Fault> = ends(false).into_iter().filter_map(Result::err).collect();
    assert!(faults.len() > 10, "{}", faults.len());
    for fault in faults {
        let Fault::Trap { site, message } = &fault else { panic!("{fault}") };
        assert!(message.contains("a thread of the block must wait"), "{message}");
        assert_site(&fault, site.block.x, 3, file!(), line);
    }
    for result in ends(true) {
        result.expect("the thread has waited");
    }
}

#[test]
fn a_thread_may_exit_before_its_load_if_another_waits_for_it() {
    let waited = results(|from| {
        if is(0) {
            init();
            simt::mbarrier_fence();
        }
        simt::block_barrier();
        if is(0) {
            return load(from);
        }
        wait();
        assert_eq!(tile().get(position().linear_thread() as usize), 0);
    });
    for result in waited {
        result.expect("all other threads have waited");
    }
}

#[test]
fn a_load_in_flight_is_not_a_deadlock_and_does_not_expire_timeouts() {
    let mut waited = BTreeSet::new();
    for seed in 0..60 {
        let mut memory = Memory::new(1 << 20);
        let from = Words::zeros(&mut memory, TILE);
        let schedule = Schedule::from_seed(seed);
        let config = LaunchConfig { schedule, ..config(1, 1, Policy::RoundRobin) };
        let stats = launch(&mut memory, &config, &|| {
            init();
            simt::mbarrier_fence();
            let start = simt::clock();
            load(from);
            wait();
            assert!(simt::clock() - start < 1 << 20);
        });
        waited.insert(stats.expect("the load comes").spins);
    }
    // It arrives before the first poll, or after one.
    assert_eq!(waited, BTreeSet::from([0, 1]));
}

#[test]
fn a_fault_of_a_late_load_names_its_request() {
    let line = line!() + 7;
    let faults = results(|from| {
        if is(0) {
            init();
            simt::mbarrier_fence();
            // Four words more than the source has.
            let beyond = Words::global(from.address() + 16);
            load(beyond);
            from.get(0);
            wait();
        }
    });
    for fault in faults.into_iter().map(|result| result.expect_err("the source is too short")) {
        assert!(matches!(fault, Fault::OutOfBounds { .. }), "{fault}");
        let block = fault.site().expect("an access has one").block.x;
        assert_site(&fault, block, 0, file!(), line);
    }
}

#[test]
fn a_store_reads_at_its_request_under_some_seeds_and_at_the_wait_under_others() {
    let stores = |waits: bool| {
        leaves(move |_, to| {
            fill(7);
            store(to);
            if waits {
                simt::bulk_wait_read(0);
            }
            tile().set(0, 9);
            simt::bulk_wait_read(0);
        })
    };
    assert_eq!(stores(false), BTreeSet::from([7, 9]));
    assert_eq!(stores(true), BTreeSet::from([7]));
}

#[test]
fn a_store_that_is_done_early_races_until_it_is_waited_for() {
    let reads = |waits: bool| {
        results(move |to| {
            if is(0) && position().block_idx.x == 0 {
                fill(7);
                store(to);
                simt::bulk_wait_read(0);
                if waits {
                    simt::bulk_wait_stored(0);
                }
                to.get(0);
            }
        })
    };
    for result in reads(true) {
        result.expect("the thread has waited");
    }
    for (seed, result) in reads(false).into_iter().enumerate() {
        match result {
            Ok(_) => assert_eq!(seed % 2, 1),
            Err(Fault::Race(race)) => assert_eq!(race.missing, MissingOrder::Copy),
            Err(fault) => panic!("{fault}"),
        }
    }
}
