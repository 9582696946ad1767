//! Data races, one litmus test each. Accesses that the PTX memory model orders do not race, and
//! others do. The fault has the missing order. Each claim holds under every schedule.

use simt::{
    Access, Dim3, Fault, Flaw, LaunchConfig, Memory, MissingOrder, Order, Policy, Race, Schedule,
    Scope, Space, launch, position,
};

use crate::support::{Words, config, schedules};

pub(crate) const FLAG: usize = 0;
pub(crate) const DATA: usize = 16;

/// Runs a kernel on words of zero under each schedule, with race detection. Either all schedules
/// have a race, for the same reason, or none has.
#[track_caller]
pub(crate) fn race_in(
    grid: impl Into<Dim3>,
    block: impl Into<Dim3>,
    kernel: impl Fn(Words),
) -> Option<MissingOrder> {
    let launched = LaunchConfig { races: true, ..config(grid, block, Policy::RoundRobin) };
    let mut found = Vec::new();
    for schedule in schedules() {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, 32);
        let config = LaunchConfig { schedule, ..launched };
        found.push(match launch(&mut memory, &config, &|| kernel(words)) {
            Ok(_) => None,
            Err(Fault::Race(race)) => Some(race.missing),
            Err(fault) => panic!("{schedule:?}: {fault}"),
        });
    }
    // With several races to find, threads and lines differ between schedules.
    let kind = |missing: &Option<MissingOrder>| match missing {
        Some(MissingOrder::Link(link)) => format!("{:?}", (link.release, link.acquire)),
        other => format!("{other:?}"),
    };
    assert!(found.iter().all(|other| kind(other) == kind(&found[0])), "{found:?}");
    found.swap_remove(0)
}

/// The flaws at the two ends of a flag: at its write and at its read.
type Ends = (Option<Flaw>, Option<Flaw>);

fn ends(missing: Option<MissingOrder>) -> Option<Ends> {
    match missing {
        None => None,
        Some(MissingOrder::Link(link)) => Some((link.release, link.acquire)),
        Some(other) => panic!("{other}"),
    }
}

const NOT_RELEASED: Ends = (Some(Flaw::Absent), None);
const NOT_ACQUIRED: Ends = (None, Some(Flaw::Absent));
const NEITHER: Ends = (Some(Flaw::Absent), Some(Flaw::Absent));

/// One thread writes data and sets a flag. Another waits for the flag and reads the data, in
/// another warp of the block or in another block.
#[track_caller]
fn message(same_block: bool, tell: impl Fn(Words), seen: impl Fn(Words) -> bool) -> Option<Race> {
    let (grid, block) = if same_block { (1, 33) } else { (2, 1) };
    let mut races = Vec::new();
    for schedule in schedules() {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, 32);
        let config =
            LaunchConfig { schedule, races: true, ..config(grid, block, Policy::RoundRobin) };
        let result = launch(&mut memory, &config, &|| {
            let at = position();
            match (at.block_idx.x, at.thread_idx.x) {
                (0, 0) => {
                    words.set(DATA, 42);
                    tell(words);
                }
                (1, 0) | (0, 32) => {
                    while !seen(words) {
                        simt::spin();
                    }
                    assert_eq!(words.get(DATA), 42);
                }
                _ => {}
            }
        });
        races.push(match result {
            Ok(_) => None,
            Err(Fault::Race(race)) => Some(*race),
            Err(fault) => panic!("{schedule:?}: {fault}"),
        });
    }
    assert!(races.iter().all(|race| race.is_some() == races[0].is_some()), "{races:?}");
    races.swap_remove(0)
}

fn missing(race: Option<Race>) -> Option<MissingOrder> {
    race.map(|race| race.missing)
}

#[test]
fn a_message_needs_a_release_and_an_acquire_that_reach_the_other_block() {
    use {Order::*, Scope::*};
    let passed = |same_block, tells: (Order, Scope), sees: (Order, Scope)| {
        ends(missing(message(
            same_block,
            |words| words.store(FLAG, 1, tells.0, tells.1),
            |words| words.load(FLAG, sees.0, sees.1) == 1,
        )))
    };
    for same_block in [true, false] {
        let released = (Release, Device);
        let acquired = (Acquire, Device);
        assert_eq!(passed(same_block, released, acquired), None);
        assert_eq!(passed(same_block, (Release, System), (Acquire, System)), None);
        for tells in [(Relaxed, Device), (Volatile, System)] {
            let ends = passed(same_block, tells, acquired);
            assert_eq!(ends, Some(NOT_RELEASED));
        }
        for sees in [(Relaxed, Device), (Volatile, System)] {
            let ends = passed(same_block, released, sees);
            assert_eq!(ends, Some(NOT_ACQUIRED));
        }
    }
    // Within one block, block scope is enough.
    assert_eq!(passed(true, (Release, Block), (Acquire, Block)), None);
    assert_eq!(passed(true, (Release, Device), (Acquire, Block)), None);
}

#[test]
fn a_flag_whose_scope_excludes_the_reader_races() {
    use {Order::*, Scope::*};
    for (tells, sees) in [(Block, Device), (Device, Block), (Block, Block)] {
        let race = message(
            false,
            |words| words.store(FLAG, 1, Release, tells),
            |words| words.load(FLAG, Acquire, sees) == 1,
        );
        assert_eq!(missing(race), Some(MissingOrder::Scope(Block)));
    }
}

#[test]
fn a_flag_that_is_written_or_read_weakly_races() {
    use {Order::*, Scope::*};
    for same_block in [true, false] {
        let plain_store = message(
            same_block,
            |words| words.set(FLAG, 1),
            |words| words.load(FLAG, Acquire, Device) == 1,
        );
        let plain_load = message(
            same_block,
            |words| words.store(FLAG, 1, Release, Device),
            |words| words.get(FLAG) == 1,
        );
        for race in [plain_store, plain_load] {
            let missing = missing(race);
            assert_eq!(missing, Some(MissingOrder::Everything { same_block }));
        }
    }
}

#[test]
fn fences_make_patterns_of_relaxed_accesses() {
    use {Order::*, Scope::*};
    let passed = |same_block, before: Option<(Order, Scope)>, behind: Option<(Order, Scope)>| {
        let fence = |fence: Option<(Order, Scope)>| {
            if let Some((order, scope)) = fence {
                simt::fence(scope, order);
            }
        };
        ends(missing(message(
            same_block,
            |words| {
                fence(before);
                words.store(FLAG, 1, Relaxed, Device);
            },
            |words| {
                let seen = words.load(FLAG, Relaxed, Device) == 1;
                if seen {
                    fence(behind);
                }
                seen
            },
        )))
    };
    let device = Some((AcqRel, Device));
    for same_block in [true, false] {
        assert_eq!(passed(same_block, device, device), None);
        let sc = Some((SeqCst, Device));
        assert_eq!(passed(same_block, sc, sc), None);
        let halves = (Some((Release, Device)), Some((Acquire, Device)));
        assert_eq!(passed(same_block, halves.0, halves.1), None);
        let none = passed(same_block, None, device);
        assert_eq!(none, Some(NOT_RELEASED));
        let none = passed(same_block, device, None);
        assert_eq!(none, Some(NOT_ACQUIRED));
        let wrong_way = passed(same_block, Some((Acquire, Device)), device);
        assert_eq!(wrong_way, Some(NOT_RELEASED));
    }
    let block = Some((AcqRel, Block));
    assert_eq!(passed(true, block, block), None);
    // A fence exists, but its scope is too narrow.
    let narrow = |end: Option<Flaw>| match end {
        Some(Flaw::Scope { scope, fence }) => (scope, fence.is_some()),
        other => panic!("{other:?}"),
    };
    let (release, acquire) = passed(false, block, device).expect("a race");
    assert_eq!((narrow(release), acquire), ((Block, true), None));
    let (release, acquire) = passed(false, device, block).expect("a race");
    assert_eq!((release, narrow(acquire)), (None, (Block, true)));
}

/// A thread releases twice: first to the device, and then later writes to its block alone. `tell`
/// is the second release and the flag. `seen` is how another thread of the block reads it.
#[track_caller]
fn narrowed(tell: impl Fn(Words), seen: impl Fn(Words) -> bool) -> Option<MissingOrder> {
    let race = message(
        true,
        |words| {
            words.store(FLAG + 1, 1, Order::Release, Scope::Device);
            simt::fence(Scope::Device, Order::AcqRel);
            words.set(DATA, 42);
            tell(words);
        },
        seen,
    );
    missing(race)
}

#[test]
fn a_block_release_after_a_device_release_holds_in_the_block() {
    use {Order::*, Scope::*};
    let by_fence = |words: Words| {
        simt::fence(Block, AcqRel);
        words.store(FLAG, 1, Relaxed, Device);
    };
    let fenced = |words: Words| {
        let seen = words.load(FLAG, Relaxed, Device) == 1;
        if seen {
            simt::fence(Block, AcqRel);
        }
        seen
    };
    let acquired = |words: Words| words.load(FLAG, Acquire, Block) == 1;
    assert_eq!(narrowed(by_fence, fenced), None);
    assert_eq!(narrowed(by_fence, acquired), None);
    let by_store = |words: Words| words.store(FLAG, 1, Release, Block);
    assert_eq!(narrowed(by_store, acquired), None);
    // Twice at one location: a later relaxed store passes on both.
    let twice = |words: Words| {
        words.store(FLAG, 2, Release, Device);
        words.set(DATA, 42);
        words.store(FLAG, 3, Release, Block);
        words.store(FLAG, 1, Relaxed, Device);
    };
    assert_eq!(narrowed(twice, acquired), None);
}

#[test]
fn the_accidental_order_of_sc_fences_does_not_hide_races() {
    use {Order::*, Scope::*};
    for order in [SeqCst, AcqRel] {
        // Block 0 writes before its fence, block 1 reads after its own, and no flag links them.
        let untold = race_in(2, 1, |words| {
            if position().block_idx.x == 0 {
                words.set(DATA, 42);
                simt::fence(Device, order);
            } else {
                simt::fence(Device, order);
                words.get(DATA);
            }
        });
        assert_eq!(untold, Some(MissingOrder::Everything { same_block: false }));
    }
}

#[test]
fn an_sc_fence_on_the_wrong_side_of_the_flag_is_found_under_every_seed() {
    for seed in 0..100 {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, 32);
        let config = LaunchConfig {
            races: true,
            schedule: Schedule::from_seed(seed),
            ..config(2, 1, Policy::RoundRobin)
        };
        let fault = launch(&mut memory, &config, &|| {
            if position().block_idx.x == 0 {
                words.set(DATA, 42);
                words.store(FLAG, 1, Order::Relaxed, Scope::Device);
                simt::fence(Scope::Device, Order::SeqCst);
            } else {
                while words.load(FLAG, Order::Relaxed, Scope::Device) != 1 {
                    simt::spin();
                }
                simt::fence(Scope::Device, Order::SeqCst);
                words.get(DATA);
            }
        })
        .expect_err("the fence belongs before the flag");
        assert!(matches!(fault, Fault::Race(_)), "seed {seed}: {fault}");
    }
}

#[test]
fn only_atomics_pass_on_a_release_of_another_thread() {
    use {Order::*, Scope::*};
    // Block 0 releases, block 1 changes the flag once it is set, and block 2 acquires what block 1
    // left there.
    let passed = |change: fn(Words)| {
        race_in(3, 1, move |words| match position().block_idx.x {
            0 => {
                words.set(DATA, 42);
                words.store(FLAG, 1, Release, Device);
            }
            1 => {
                while words.load(FLAG, Relaxed, Device) != 1 {
                    simt::spin();
                }
                change(words);
                words.store(FLAG + 1, 1, Relaxed, Device);
            }
            _ => {
                while words.load(FLAG + 1, Relaxed, Device) != 1 {
                    simt::spin();
                }
                words.load(FLAG, Acquire, Device);
                assert_eq!(words.get(DATA), 42);
            }
        })
    };
    let atomic = passed(|words| {
        words.add_at(FLAG, 1, Relaxed, Device);
    });
    assert_eq!(atomic, None);
    let same_block = false;
    let race = Some(MissingOrder::Everything { same_block });
    let stored = passed(|words| words.store(FLAG, 2, Relaxed, Device));
    assert_eq!(stored, race);
    let atomic_of_the_block = passed(|words| {
        words.add_at(FLAG, 1, Relaxed, Block);
    });
    assert_eq!(atomic_of_the_block, Some(MissingOrder::Scope(Block)));
}

#[test]
fn a_later_store_of_the_same_thread_passes_its_release_on() {
    let race = race_in(2, 1, |words| {
        if position().block_idx.x == 0 {
            words.set(DATA, 42);
            words.store(FLAG, 1, Order::Release, Scope::Device);
            words.store(FLAG, 2, Order::Relaxed, Scope::Device);
        } else {
            while words.load(FLAG, Order::Acquire, Scope::Device) != 2 {
                simt::spin();
            }
            words.get(DATA);
        }
    });
    assert_eq!(race, None);
}

#[test]
fn an_observed_write_may_be_overwritten_by_a_weak_store() {
    // Causality includes the writes that a strong read observes, but nothing that came before them.
    // Here that is the counter's writes, but not the data.
    let observed = |data: bool| {
        race_in(3, 1, move |words| {
            if position().block_idx.x > 0 {
                words.set(DATA + position().block_idx.x as usize, 1);
                words.add_at(FLAG, 1, Order::Relaxed, Scope::Device);
            } else {
                while words.load(FLAG, Order::Relaxed, Scope::Device) != 2 {
                    simt::spin();
                }
                words.set(FLAG, 0);
                if data {
                    words.get(DATA + 1);
                }
            }
        })
    };
    assert_eq!(observed(false), None);
    assert_eq!(ends(observed(true)), Some(NEITHER));
}

#[test]
fn overlapping_bytes_race_and_neighbouring_ones_do_not() {
    let touched = |first: (usize, usize), second: (usize, usize)| {
        let (weak, strong) = (Order::Weak, Order::Relaxed);
        [weak, strong].map(|order| {
            race_in(2, 1, |words| {
                let (offset, bytes) = [first, second][position().block_idx.x as usize];
                let at = (words.address() as usize + offset) as *const u8;
                let access = Access::write(Space::Global).ordered(order, Scope::Device);
                assert!(simt::access(at, bytes, access));
            })
        })
    };
    for (first, second) in
        [((0, 1), (1, 1)), ((4, 2), (6, 2)), ((0, 8), (8, 4)), ((16, 16), (32, 16))]
    {
        assert_eq!(touched(first, second), [None, None], "{first:?}, {second:?}");
    }
    for (first, second) in
        [((3, 1), (2, 2)), ((0, 8), (4, 4)), ((16, 16), (30, 2)), ((8, 8), (8, 4))]
    {
        let race = Some(MissingOrder::Everything { same_block: false });
        let partial = Some(MissingOrder::Overlap);
        assert_eq!(touched(first, second), [race, partial], "{first:?}, {second:?}");
    }
    let race = Some(MissingOrder::Everything { same_block: false });
    assert_eq!(touched((8, 8), (8, 8)), [race, None]);
}

#[test]
fn reads_race_with_writes_and_not_with_reads() {
    let read = race_in(3, 40, |words| {
        words.get(DATA);
    });
    assert_eq!(read, None);
    for writer in [0, 2] {
        let written = race_in(3, 1, move |words| {
            if position().block_idx.x == writer {
                words.set(DATA, 1);
            } else {
                words.get(DATA);
            }
        });
        let same_block = false;
        assert_eq!(written, Some(MissingOrder::Everything { same_block }));
    }
}

#[test]
fn launches_are_ordered_and_blocks_have_separate_shared_memory() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 32);
    let config = LaunchConfig {
        races: true,
        max_resident_blocks: Some(1),
        ..config(3, 1, Policy::RoundRobin)
    };
    for writer in 0..3 {
        launch(&mut memory, &config, &|| {
            // A block may reuse the memory of one that has ended, but it counts as other memory.
            Words::shared(simt::static_shared("word", 4, 4)).set(0, 1);
            if position().block_idx.x == writer {
                words.set(DATA, words.get(DATA) + 1);
            }
        })
        .expect("one launch follows the other");
        memory.zero(words.address(), 4).expect("in bounds");
    }
    assert_eq!(words.host(&memory, 32)[DATA], 3);
}
