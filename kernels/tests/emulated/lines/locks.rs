//! Locks.

use super::on;
use crate::support::Zeros;
use cuda_std::prelude::thread;
use gridsync_kernels::grid::lock::{Lock, QueueLock, SpinLock, TicketLock};

/// Acquires a lock in each form.
macro_rules! take {
    ($($attach:expr;)*) => {
        walk! {$(
            on(2, 33) => |zeros| {
                let mut lock = $attach(zeros);
                let word = zeros.of::<u32>(1, 1);
                lock.with(|| word.write(0, 1));
                drop(lock.lock());
                drop(lock.lock_unless(|| false));
            };
        )*}
    };
}

#[test]
fn faults_in_locks_name_the_caller() {
    take! {
        |zeros: Zeros| SpinLock::attach(zeros.of(0, SpinLock::words()));
        |zeros: Zeros| TicketLock::attach(zeros.of(0, TicketLock::words()));
        // SAFETY: each thread has its own node.
        |zeros: Zeros| unsafe {
            QueueLock::attach(zeros.of(0, QueueLock::words(66)), thread::index())
        };
    }
    walk! {
        on(2, 32) => |zeros| {
            let mut lock = SpinLock::attach(zeros.of(0, 1));
            let word = zeros.of::<u32>(1, 1);
            let guard = lock.warp_lock(u32::MAX);
            guard.in_turn(|| word.write(0, 1));
            drop(guard);
            drop(lock.warp_lock_unless(u32::MAX, || false));
            lock.warp_with(u32::MAX, || ());
        };
        on(1, 2) => |zeros| {
            let mut lock = SpinLock::attach(zeros.of(0, 1));
            drop(lock.try_lock());
        };
    }
}
