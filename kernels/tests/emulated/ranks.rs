//! Ranks and sorts of the values of a warp and of a block, under many schedules.

use crate::support::launch;
use cuda_std::prelude::*;
use gridsync_kernels::{block, warp};
use simt::{LaunchConfig, Schedule};

shared_array! {
    fn of_block() -> [u32; 1024];
}

shared_array! {
    fn counters() -> [u32; 32 * 128];
}

fn config(threads: u32, seed: u64) -> LaunchConfig<'static> {
    LaunchConfig {
        schedule: Schedule::from_seed(seed),
        races: true,
        ..LaunchConfig::new("test", 2, threads)
    }
}

/// The value of a thread: many are equal.
fn value(thread: usize) -> u32 {
    (thread as u32).wrapping_mul(0x9E37_79B9) >> 27
}

/// The threads `range` in a stable order of their values.
fn in_order(range: std::ops::Range<usize>) -> Vec<usize> {
    let mut threads: Vec<usize> = range.collect();
    threads.sort_by_key(|&thread| value(thread));
    threads
}

#[test]
fn ranks_in_rows_of_lanes_are_stable() {
    for (count, seed) in [(1, 0), (2, 1), (5, 2), (16, 3), (31, 4), (32, 5)] {
        launch(&config(32, seed), &|_| {
            let lane = thread::index_in_block();
            let row = lane / count;
            let first = if row < 32 / count { row * count } else { 0 };
            let values = [value(lane), u32::MAX - value(lane)];
            let [up, down] = warp::ranks(values, first as u32, count as u32);
            if row < 32 / count {
                let order = in_order(first..first + count);
                assert_eq!(order[up as usize], lane, "{count} lanes");
                let before = |other: &usize| (u32::MAX - value(*other), *other) < (values[1], lane);
                assert_eq!(down as usize, (first..first + count).filter(before).count());
            }
        })
        .unwrap_or_else(|fault| panic!("{count} lanes: {fault}"));
    }
}

#[test]
fn a_warp_sorts_values_of_one_and_two_words() {
    launch(&config(32, 1), &|_| {
        let lane = thread::index_in_block();
        let expected = value(in_order(0..32)[lane]);
        assert_eq!(warp::sort(value(lane)), expected);
        let wide = |value: u32| i64::from(value) << 31;
        assert_eq!(warp::sort(wide(value(lane))), wide(expected));
    })
    .unwrap_or_else(|fault| panic!("{fault}"));
}

#[test]
fn a_block_sorts_one_value_of_each_thread() {
    for (threads, seed) in [(32, 0), (64, 1), (96, 2), (512, 3), (1024, 4)] {
        launch(&config(threads as u32, seed), &|_| {
            let me = thread::index_in_block();
            let scratch = of_block().part(0, threads);
            let sorted = block::sort(value(me), scratch);
            assert_eq!(sorted, value(in_order(0..threads)[me]), "{threads} threads");
            thread::sync_threads();
            assert_eq!(block::sort(sorted, scratch), sorted, "in order already");
        })
        .unwrap_or_else(|fault| panic!("{threads} threads: {fault}"));
    }
}

#[test]
fn ranks_by_a_digit_are_those_of_a_stable_sort() {
    for (threads, seed) in [(128, 0), (160, 1), (512, 2), (1024, 3)] {
        launch(&config(threads as u32, seed), &|_| {
            let me = thread::index_in_block();
            let scratch = counters().part(0, block::rank_words(threads as u32));
            let rank = block::rank(value(me) * 8 + 7, scratch) as usize;
            assert_eq!(in_order(0..threads)[rank], me, "{threads} threads");
        })
        .unwrap_or_else(|fault| panic!("{threads} threads: {fault}"));
    }
}
