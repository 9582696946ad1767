//! Barriers and exchanges.

use super::{Add, on};
use crate::support::Zeros;
use cuda_std::prelude::thread;
use gridsync_kernels::grid::barrier::*;
use gridsync_kernels::op::Sum;
use gridsync_lab_kernels::barrier::{
    ClusterBarrier, FlipBarrier, GenerationBarrier, GrowingBarrier, LockFreeBarrier, PhaseBarrier,
    Ptx, ReleaseBarrier, TreeBarrier, Volatile,
};

/// Attaches to a barrier, and crosses it in both forms.
macro_rules! cross {
    ($($barrier:ty),*) => {
        walk! {$(
            on(3, 64) => |zeros| {
                let words = zeros.of(0, <$barrier>::words(3));
                let mut barrier = <$barrier>::attach(words);
                barrier.sync();
                barrier.arrive();
                barrier.wait()
            };
        )*}
    };
}

#[test]
fn faults_in_barriers_name_the_caller() {
    let op = Add::new();
    let lane = cuda_std::warp::lane_id;
    cross!(GridBarrier, PhaseBarrier, FlipBarrier, SplitBarrier<4>, LateBarrier, GrowingBarrier);
    cross!(GrowingBarrier<Volatile>, GrowingBarrier<Ptx>, GenerationBarrier, LockFreeBarrier);
    cross!(ReleaseBarrier, TreeBarrier, ClusterBarrier);
    walk! {
        on(3, 64) => |zeros| {
            let all = Members::grid();
            let mut barrier = PhaseBarrier::attach_among(zeros.of(0, 1), all);
            barrier.sync();
        };
        on(3, 64) => |zeros| {
            let words = zeros.of(0, BoundedBarrier::words(3));
            let mut barrier = BoundedBarrier::attach(words, Members::grid(), 1_000_000);
            let first = barrier.sync();
            first.and(barrier.sync())
        };
        on(40, 32) => |zeros| {
            let mut exchange = Exchange::attach(zeros.of(0, Exchange::words(40)));
            let sum = exchange.all_reduce(Sum::<u64>::new(), 1);
            exchange.broadcast(2, sum)
        };
        on(2, 64) => |zeros| {
            let words = zeros.of(0, Exchange::words(2));
            Exchange::attach_among(words, Members::grid()).all_reduce(Add::new(), 1)
        };
        on(3, 64) => |zeros| {
            let words = zeros.of(0, Exchange::words(3));
            let mut exchange = Exchange::attach_nth::<2>(words, Members::grid());
            let before = exchange.arrive(op, lane()).wait_prefix();
            (exchange.scan(op, 1), exchange.scan_threads(op, lane()), before)
        };
        on(3, 64) => |zeros| {
            let mut exchange = Exchange::attach(zeros.of(0, Exchange::words(3)));
            exchange.gather(lane(), |values| values.of(values.count()))
        };
        // Words of zeros contain no GPU, so no thread waits for one.
        on(2, 64) => |zeros| {
            let mut barrier = SystemBarrier::attach(zeros.of(0, SystemBarrier::words(2)));
            barrier.arrive();
            barrier.wait();
            barrier.sync();
        };
        on(2, 64) => |zeros| {
            let words = zeros.of(0, BoundedSystemBarrier::words(2));
            BoundedSystemBarrier::attach(words, 1_000_000).sync()
        };
        on(2, 64) => |zeros| {
            let mut exchange = SystemExchange::attach(zeros.of(0, SystemExchange::words(2)));
            let sum = exchange.all_reduce(op, lane());
            (exchange.scan(op, 1), exchange.broadcast(0, 1, sum))
        };
        on(2, 64) => |zeros| {
            let mut exchange = SystemExchange::attach(zeros.of(0, SystemExchange::words(2)));
            (exchange.any(true), exchange.all(true), exchange.count(true))
        };
        on(2, 64) => |zeros| {
            let mut exchange = Exchange::attach(zeros.of(0, Exchange::words(2)));
            (exchange.any(true), exchange.all(true), exchange.count(true))
        };
    }
    // Block 1 records that block 0 is missing.
    let missing = |zeros: Zeros| {
        let words = zeros.of(0, BoundedBarrier::words(2));
        if thread::block_index() == 1 {
            let mut barrier = BoundedBarrier::attach(words, Members::grid(), 1_000);
            let expired = barrier.sync();
            assert!(expired.is_err());
        }
    };
    super::walk("a missing block", on(2, 32), missing);
}
