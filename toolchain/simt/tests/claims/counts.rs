//! The counts of a launch's warps.

use simt::{Access, Counts, LaunchConfig, Memory, Policy, Space, launch};

use crate::support::{Words, config};

/// The counts of one block of 64 threads. `body` receives the thread's number and 2048 words of
/// shared memory.
fn counted(policy: Policy, body: impl Fn(usize, Words)) -> Counts {
    let config = LaunchConfig { count: true, ..config(1, 64, policy) };
    let stats = launch(&mut Memory::new(1 << 10), &config, &|| {
        let words = Words::shared(simt::static_shared("words", 4 * 2048, 16));
        body(simt::position().linear_thread() as usize, words);
    });
    let counts = stats.expect("no fault").counts;
    counts.expect("the launch should count")
}

#[test]
fn different_words_of_one_bank_conflict() {
    let ways = [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (31, 1)];
    for (stride, ways) in ways {
        let counts = counted(Policy::RoundRobin, |me, words| words.set(me * stride, 1));
        let expected = Counts {
            instructions: 2,
            shared_stores: 2,
            bank_conflicts: 2 * (ways - 1),
            ..Counts::default()
        };
        assert_eq!(counts, expected, "{stride} words apart");
    }
}

#[test]
fn one_word_accessed_by_all_lanes_does_not_conflict() {
    let counts = counted(Policy::RoundRobin, |me, words| {
        if me == 0 {
            words.set(7, 1);
        }
        simt::block_barrier();
        words.get(7);
    });
    assert_eq!((counts.shared_stores, counts.shared_loads), (1, 2));
    assert_eq!(counts.bank_conflicts, 0);
}

#[test]
fn accesses_of_16_bytes_are_served_per_quarter_warp() {
    let counts = counted(Policy::RoundRobin, |me, _| {
        let at = simt::static_shared("words", 4 * 2048, 16).wrapping_add(16 * me);
        assert!(simt::access(at, 16, Access::write(Space::Shared)));
    });
    assert_eq!((counts.shared_stores, counts.bank_conflicts), (2, 0));
}

#[test]
fn an_instruction_counts_once_whatever_its_lanes_and_the_policy() {
    let policies = [Policy::RoundRobin, Policy::RunAhead, Policy::Coarse];
    for policy in policies {
        let counts = counted(policy, |me, words| {
            words.set(me, 1);
            simt::warp_exchange(u32::MAX, "bar.warp.sync", 0);
            if me % 32 == 3 {
                words.set(me, words.get(me) + words.get(me - 1));
            }
            simt::warp_exchange(u32::MAX, "shfl.sync.idx", 0);
        });
        let expected = Counts {
            shared_loads: 4,
            shared_stores: 4,
            shared_updates: 2,
            bank_conflicts: 0,
            exchanges: 2,
            instructions: 12,
            ..Counts::default()
        };
        assert_eq!(counts, expected, "{policy:?}");
    }
}

#[test]
fn a_store_updates_what_its_lane_has_loaded_since_the_last_store_and_barrier() {
    let counts = counted(Policy::RoundRobin, |me, words| {
        words.set(me, 1);
        words.set(me, words.get(me) + 1);
        words.set(me, 3);
        words.get(me);
        simt::block_barrier();
        words.set(me, 4);
        words.set(me ^ 1, words.get(me) + 1);
    });
    assert_eq!((counts.shared_stores, counts.shared_updates), (10, 2));
}

/// The counts of one block of 64 threads. `body` receives the thread's number and 4096 words of
/// device memory.
fn counted_globally(body: impl Fn(usize, Words)) -> Counts {
    let config = LaunchConfig { count: true, ..config(1, 64, Policy::RoundRobin) };
    let mut memory = Memory::new(1 << 16);
    let start = memory.alloc(4 * 4096, 256).expect("there is room");
    memory.zero(start, 4 * 4096).expect("allocated just now");
    let words = Words::global(start);
    let stats = launch(&mut memory, &config, &|| {
        body(simt::position().linear_thread() as usize, words);
    });
    stats.expect("no fault").counts.expect("the launch should count")
}

#[test]
fn scattered_words_use_a_sector_each_and_neighbours_share_one() {
    for (stride, sectors) in [(1, 8), (2, 16), (4, 32), (8, 64), (64, 64)] {
        let counts = counted_globally(|me, words| words.set(me * stride, 1));
        assert_eq!((counts.global_accesses, counts.sectors), (2, sectors), "{stride} words apart");
        assert_eq!((counts.least_sectors, counts.instructions), (8, 2));
    }
    let counts = counted_globally(|me, words| words.set(me + 1, 1));
    assert_eq!((counts.sectors, counts.least_sectors), (10, 8), "one word off");
    let counts = counted_globally(|_, words| _ = words.get(7));
    assert_eq!((counts.sectors, counts.least_sectors), (2, 2), "all the same word");
}

#[test]
fn a_branch_diverges_if_lanes_of_one_warp_disagree() {
    type Condition = fn(usize, usize) -> bool;
    let by_warp: Condition = |me, _| me < 32;
    let by_lane: Condition = |me, _| me % 2 == 0;
    let by_turn: Condition = |me, turn| me % 32 < turn;
    for (condition, diverged) in [(by_warp, 0), (by_lane, 6), (by_turn, 4)] {
        for policy in [Policy::RoundRobin, Policy::Coarse, Policy::RunAhead] {
            let counts = counted(policy, |me, _| {
                for turn in 0..3 {
                    // Calls between two iterations of a branch do not matter.
                    let _taken = simt::branch(condition(me, turn));
                }
            });
            let branches = (counts.branches, counts.diverged_branches, counts.instructions);
            assert_eq!(branches, (6, diverged, 6), "{policy:?}");
        }
    }
}

#[test]
fn a_launch_without_counting_has_no_counts() {
    let mut memory = Memory::new(1 << 10);
    let stats = launch(&mut memory, &config(1, 64, Policy::RoundRobin), &|| {});
    assert_eq!(stats.expect("no fault").counts, None);
}
