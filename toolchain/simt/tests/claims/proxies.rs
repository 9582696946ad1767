//! Proxies: ordering between ordinary accesses and those of bulk copies or of the read-only path.

use simt::{
    Access, Fault, LaunchConfig, Memory, MissingOrder, Policy, Schedule, Space, launch, position,
};

use crate::bulk::{TILE, init, is, load, store, tile, wait};
use crate::support::{Words, assert_site, config, schedules};

/// Launches with clocks: with race detection, weak memory, or both.
const CLOCKS: [(bool, bool); 3] = [(true, false), (false, true), (true, true)];
const NONE: (bool, bool) = (false, false);

/// Runs a kernel of two warps on a tile of zeros in device memory.
fn run(
    schedule: Schedule,
    (races, weak_memory): (bool, bool),
    kernel: impl Fn(Words),
) -> Option<Fault> {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, TILE);
    let config = LaunchConfig { schedule, races, weak_memory, ..config(1, 64, Policy::RoundRobin) };
    launch(&mut memory, &config, &|| kernel(words)).err()
}

/// The missing order in a kernel, the same under each schedule and with all clocks.
#[track_caller]
fn missing(kernel: impl Fn(Words)) -> Option<MissingOrder> {
    let mut found = Vec::new();
    for schedule in schedules() {
        for watched in CLOCKS {
            found.push(match run(schedule, watched, &kernel) {
                None => None,
                Some(Fault::Race(race)) => Some(race.missing),
                Some(fault) => panic!("{schedule:?}: {fault}"),
            });
        }
    }
    assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
    found.swap_remove(0)
}

const FENCE: Option<MissingOrder> = Some(MissingOrder::Proxy(Space::Shared));
const GLOBAL_FENCE: Option<MissingOrder> = Some(MissingOrder::Proxy(Space::Global));

/// Thread 0 writes the tile and calls `fences`, and thread 32 stores the tile after a barrier.
fn written_then_stored(fences: impl Fn()) -> impl Fn(Words) {
    move |to| {
        if is(0) {
            (0..TILE).for_each(|i| tile().set(i, 1));
        }
        fences();
        simt::block_barrier();
        if is(32) {
            store(to);
            simt::bulk_wait_read(0);
        }
    }
}

fn fence_by(thread: u32) {
    if is(thread) {
        simt::bulk_fence();
    }
}

#[test]
fn a_proxy_fence_by_the_writer_before_the_barrier_orders_a_store() {
    assert_eq!(missing(written_then_stored(|| fence_by(0))), None);
    assert_eq!(missing(written_then_stored(|| {})), FENCE);
}

#[test]
fn a_proxy_fence_of_another_thread_counts_only_after_a_barrier() {
    for fencing in [1, 32, 40] {
        let alone = written_then_stored(|| fence_by(fencing));
        assert_eq!(missing(alone), FENCE, "thread {fencing}");
        let after_a_barrier = written_then_stored(|| {
            simt::block_barrier();
            fence_by(fencing);
        });
        assert_eq!(missing(after_a_barrier), None, "thread {fencing}");
    }
}

#[test]
fn a_proxy_fence_after_the_request_or_before_the_write_does_not_count() {
    let early = |to: Words| {
        fence_by(0);
        written_then_stored(|| {})(to);
    };
    assert_eq!(missing(early), FENCE);
    let late = |to: Words| {
        written_then_stored(|| {})(to);
        fence_by(0);
    };
    assert_eq!(missing(late), FENCE);
}

#[test]
fn a_proxy_fence_of_the_thread_that_stores_counts_after_the_barrier() {
    let fences = |fences: bool| {
        missing(move |to: Words| {
            let i = position().linear_thread() as usize;
            tile().set(i, 1);
            simt::block_barrier();
            if i == 0 {
                if fences {
                    simt::bulk_fence();
                }
                store(to);
                simt::bulk_wait_read(0);
            }
        })
    };
    assert_eq!(fences(true), None);
    assert_eq!(fences(false), FENCE);
}

/// Thread 0 accesses the tile with `touch`, and thread 32 loads over it.
fn touched_then_loaded(touch: impl Fn(), fences: bool) -> impl Fn(Words) {
    move |from| {
        if is(32) {
            (0..TILE).for_each(|i| tile().set(i, 1));
            init();
            simt::mbarrier_fence();
            simt::bulk_fence();
        }
        simt::block_barrier();
        if is(0) {
            touch();
            if fences {
                simt::bulk_fence();
            }
        }
        simt::block_barrier();
        if is(32) {
            load(from);
            wait();
        }
    }
}

#[test]
fn a_load_over_read_or_written_bytes_needs_a_proxy_fence() {
    let read = || _ = tile().get(9);
    let write = || tile().set(9, 1);
    assert_eq!(missing(touched_then_loaded(read, false)), FENCE);
    assert_eq!(missing(touched_then_loaded(read, true)), None);
    assert_eq!(missing(touched_then_loaded(write, false)), FENCE);
    assert_eq!(missing(touched_then_loaded(write, true)), None);
}

#[test]
fn a_missing_proxy_fence_names_the_access_and_the_request() {
    let (written, asked) = (line!() + 4, line!() + 6);
    let fault = run(Schedule::default(), CLOCKS[0], |to| {
        if is(0) {
            (0..TILE).for_each(|i| {
                tile().set(i, 1);
            });
            store(to);
            simt::bulk_wait_read(0);
        }
    });
    let Some(Fault::Race(race)) = fault else { panic!("{fault:?}") };
    assert_eq!((race.earlier.site.place.line(), race.later.site.place.line()), (written, asked));
    assert!(race.to_string().contains("no proxy fence is between"), "{race}");
}

#[test]
fn loading_device_memory_written_by_the_launch_is_a_missing_fence() {
    let loads = |writes: bool| {
        move |from: Words| {
            if is(0) {
                if writes {
                    from.set(9, 1);
                }
                simt::bulk_fence();
                init();
                simt::mbarrier_fence();
                load(from);
                wait();
            }
        }
    };
    assert_eq!(missing(loads(true)), GLOBAL_FENCE);
    assert_eq!(missing(loads(false)), None);
    let stores = |touches: bool| {
        move |to: Words| {
            written_then_stored(|| {
                if touches && is(40) {
                    to.get(9);
                    to.set(10, 1);
                }
                fence_by(0);
            })(to);
        }
    };
    assert_eq!(missing(stores(true)), GLOBAL_FENCE);
    assert_eq!(missing(stores(false)), None);
    for kernel in [&loads(true) as &dyn Fn(Words), &stores(true)] {
        let fault = run(Schedule::default(), NONE, kernel).expect("an ordinary store is known");
        let told = fault.to_string();
        for part in ["byte ", "in this launch", "`fence.proxy.async.global`"] {
            assert!(told.contains(part), "{told}");
        }
    }
}

#[test]
fn writes_of_an_earlier_launch_may_be_read_through_any_path() {
    for (races, weak_memory) in [NONE, CLOCKS[0], CLOCKS[1]] {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, TILE);
        let config = LaunchConfig { races, weak_memory, ..config(1, 1, Policy::RoundRobin) };
        launch(&mut memory, &config, &|| words.set(9, 1)).expect("nothing is wrong");
        launch(&mut memory, &config, &|| {
            init();
            simt::mbarrier_fence();
            load(words);
            wait();
            assert_eq!((tile().get(9), read_only(words, 9)), (1, 1));
        })
        .expect("launches order everything");
    }
}

#[test]
fn without_clocks_a_missing_fence_is_found_and_any_later_one_of_the_block_counts() {
    let line = line!() + 7;
    let stores = |fencing: Option<u32>| {
        move |to: Words| {
            tile().set(position().linear_thread() as usize, 1);
            simt::block_barrier();
            fencing.into_iter().for_each(fence_by);
            if is(0) {
                store(to);
                simt::bulk_wait_read(0);
            }
        }
    };
    for schedule in schedules() {
        let fault = run(schedule, NONE, stores(None)).expect("nobody fences");
        assert!(fault.to_string().contains("must call `fence_shared`"), "{fault}");
        assert_site(&fault, 0, 0, file!(), line);
        assert_eq!(run(schedule, NONE, stores(Some(0))), None);
        let write = || tile().set(9, 1);
        let fault = run(schedule, NONE, touched_then_loaded(write, false)).expect("nobody fences");
        assert!(fault.to_string().contains("a bulk load writes over"), "{fault}");
        assert_eq!(run(schedule, NONE, touched_then_loaded(write, true)), None);
    }
    // Only by chance does thread 40 come after the write.
    let chance = written_then_stored(|| fence_by(40));
    assert_eq!(run(Schedule::new(Policy::RunAhead), NONE, chance), None);
}

/// Thread 0 initialises the barrier, thread `fencing` fences it, and thread 32 loads.
fn initialised_then_loaded(fencing: Option<u32>, fence: fn()) -> impl Fn(Words) {
    move |from| {
        if is(0) {
            init();
        }
        if fencing.is_some_and(is) {
            fence();
        }
        simt::block_barrier();
        if is(32) {
            load(from);
            wait();
        }
    }
}

#[test]
fn a_load_to_an_unfenced_barrier_is_a_fault() {
    let (by_init, by_proxy): (fn(), fn()) = (simt::mbarrier_fence, simt::bulk_fence);
    for schedule in schedules() {
        for watched in [NONE, CLOCKS[0], CLOCKS[1], CLOCKS[2]] {
            for fence in [by_init, by_proxy] {
                let right = initialised_then_loaded(Some(0), fence);
                assert_eq!(run(schedule, watched, right), None);
            }
            for fencing in [None, Some(1)] {
                let wrong = initialised_then_loaded(fencing, by_init);
                let fault = run(schedule, watched, wrong).expect("the fence is missing");
                let told = fault.to_string();
                assert!(matches!(fault, Fault::Trap { .. }), "{told}");
                assert!(told.contains("must call `fence_init` after `init`"), "{told}");
                assert!(told.contains("thread (0, 0, 0) has initialised at"), "{told}");
            }
        }
    }
}

#[test]
fn clocks_find_a_barrier_fence_that_is_not_ordered_before_the_load() {
    // Thread 32 meets thread 0 after the initialisation, but before the fence.
    let kernel = |from: Words| {
        if is(0) {
            init();
        }
        simt::block_barrier();
        if is(0) {
            simt::mbarrier_fence();
        }
        if is(32) {
            simt::nanosleep(1000);
            load(from);
            wait();
        }
    };
    for watched in CLOCKS {
        for schedule in schedules() {
            let fault = run(schedule, watched, kernel).expect("the fence is too late");
            assert!(matches!(fault, Fault::Trap { .. }), "{fault}");
        }
    }
}

/// Reads a word through the read-only path.
#[track_caller]
fn read_only(words: Words, index: usize) -> u32 {
    let at = core::ptr::with_exposed_provenance::<u32>(words.address() as usize + 4 * index);
    if !simt::access(at.cast(), 4, Access::read(Space::ReadOnly)) {
        return 0;
    }
    // SAFETY: checked just now, and no other emulated thread has run since.
    unsafe { at.read() }
}

/// A thread writes a word, and after a barrier another reads word `at` through the read-only path.
fn written_then_read_only(at: usize) -> impl Fn(Words) {
    move |words| {
        if is(0) {
            words.set(9, 1);
        }
        simt::block_barrier();
        if is(32) {
            read_only(words, at);
        }
    }
}

#[test]
fn reading_writes_of_the_launch_through_the_read_only_path_is_a_fault() {
    assert_eq!(missing(written_then_read_only(9)), Some(MissingOrder::ReadOnly));
    assert_eq!(missing(written_then_read_only(10)), None);
    for schedule in schedules() {
        let fault = run(schedule, NONE, written_then_read_only(9)).expect("the launch wrote it");
        let told = fault.to_string();
        assert!(told.contains("offset 36 of allocation 0"), "{told}");
        assert!(told.contains("through the read-only path what this launch wrote"), "{told}");
        assert_eq!(run(schedule, NONE, written_then_read_only(10)), None);
    }
}

#[test]
fn reading_a_bulk_store_of_the_launch_through_the_read_only_path_is_a_fault() {
    let kernel = |to: Words| {
        written_then_stored(|| fence_by(0))(to);
        if is(32) {
            simt::bulk_wait_stored(0);
        }
        simt::block_barrier();
        if is(0) {
            read_only(to, 9);
        }
    };
    assert_eq!(missing(kernel), Some(MissingOrder::ReadOnly));
    assert!(run(Schedule::default(), NONE, kernel).is_some());
}
