//! What a launch counts about its warps in shared memory.

use simt::{Access, Counts, LaunchConfig, Memory, Policy, Space, launch};

use crate::support::{Words, config};

/// The counts of one block of 64 threads. `body` gets the thread's number and 2048 words of shared
/// memory.
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
fn lanes_that_want_different_words_of_one_bank_wait_for_each_other() {
    let ways = [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (31, 1)];
    for (stride, ways) in ways {
        let counts = counted(Policy::RoundRobin, |me, words| words.set(me * stride, 1));
        let expected =
            Counts { shared_stores: 2, bank_conflicts: 2 * (ways - 1), ..Counts::default() };
        assert_eq!(counts, expected, "{stride} words apart");
    }
}

#[test]
fn a_word_that_all_lanes_want_is_served_to_all_at_once() {
    let counts = counted(Policy::RoundRobin, |me, words| {
        if me == 0 {
            words.set(7, 1);
        }
        simt::block_barrier(0);
        words.get(7);
    });
    assert_eq!((counts.shared_stores, counts.shared_loads), (1, 2));
    assert_eq!(counts.bank_conflicts, 0);
}

#[test]
fn accesses_of_16_bytes_go_by_quarters_of_the_warp() {
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
        simt::block_barrier(0);
        words.set(me, 4);
        words.set(me ^ 1, words.get(me) + 1);
    });
    assert_eq!((counts.shared_stores, counts.shared_updates), (10, 2));
}

#[test]
fn a_launch_that_is_not_asked_does_not_count() {
    let mut memory = Memory::new(1 << 10);
    let stats = launch(&mut memory, &config(1, 64, Policy::RoundRobin), &|| {});
    assert_eq!(stats.expect("no fault").counts, None);
}
