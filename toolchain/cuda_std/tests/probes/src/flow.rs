//! Effects of optimisations around barriers and in waiting loops.

use crate::does;
use cuda_std::memory::Global;
use cuda_std::memory::Ordering::{AcqRel, Acquire, Relaxed, Release};
use cuda_std::memory::Scope::Device;
use cuda_std::{spin, thread, warp};

does! {
    // The condition is the same before and after the barrier. Jump threading would give each
    // outcome its own copy of the barrier, and threads with different conditions would not meet.
    barrier_between_equal_branches(at: Global<u32>, flag: u32) {
        let chosen = thread::thread_idx_x() < flag;
        if chosen {
            at.write_volatile(0, 1);
        }
        thread::sync_threads();
        if chosen {
            at.write_volatile(1, 2);
        }
    }
    barrier_after_divergent_branch(at: Global<u32>) {
        let state = if thread::thread_idx_x() == 0 { Some(at.read_volatile(0)) } else { None };
        thread::sync_threads();
        if let Some(value) = state {
            at.write_volatile(1, value);
        }
    }
    barrier_after_early_loop(at: Global<u32>) {
        let mut found = false;
        for i in 0..at.len() {
            if at.read_volatile(i) == 7 {
                found = true;
                break;
            }
        }
        thread::sync_threads();
        if found {
            at.write_volatile(0, 1);
        }
    }
    votes_between_equal_branches(at: Global<u32>, flag: u32) {
        let chosen = thread::thread_idx_x() < flag;
        if chosen {
            at.write_volatile(0, 1);
        }
        let count = thread::sync_threads_count(chosen);
        let all = thread::sync_threads_and(chosen);
        let any = thread::sync_threads_or(chosen);
        if chosen {
            at.write_volatile(1, count + u32::from(all) + u32::from(any));
        }
    }
    shuffle_between_equal_branches(at: Global<u32>, flag: u32) {
        let chosen = thread::thread_idx_x() < flag;
        if chosen {
            at.write_volatile(0, 1);
        }
        warp::sync_warp(warp::FULL_MASK);
        let (other, _) = warp::warp_shuffle_xor(warp::FULL_MASK, flag, 1, 32);
        if chosen {
            at.write_volatile(1, other);
        }
    }
    barrier_in_loop(rounds: u32) {
        for _ in 0..rounds {
            thread::sync_threads();
        }
    }

    naive_spin(flag: Global<u32>) { while flag.read(0) != 0 {} }
    volatile_spin(flag: Global<u32>) { spin::until(|| flag.read_volatile(0) == 0); }
    relaxed_spin(flag: Global<u32>) { spin::until(|| flag.load(0, Relaxed, Device) == 0); }
    acquire_spin(flag: Global<u32>) { spin::until(|| flag.load(0, Acquire, Device) == 0); }
    timed_spin(flag: Global<u32>, nanoseconds: u64) {
        if !spin::until_timeout(nanoseconds, || flag.read_volatile(0) == 0) {
            flag.write_volatile(0, 2);
        }
    }

    reads_merge(at: Global<u32>, to: Global<u32>) { to.write(0, at.read(0) + at.read(0)); }
    read_again_after_barrier(at: Global<u32>, to: Global<u32>) {
        let before = at.read(0);
        thread::sync_threads();
        to.write(0, before + at.read(0));
    }
    read_again_after_fence(at: Global<u32>, to: Global<u32>) {
        let before = at.read(0);
        thread::fence(AcqRel, Device);
        to.write(0, before + at.read(0));
    }
    read_again_after_acquire(at: Global<u32>, to: Global<u32>) {
        let before = at.read(0);
        at.load(1, Acquire, Device);
        to.write(0, before + at.read(0));
    }
    read_again_after_sync_warp(at: Global<u32>, to: Global<u32>) {
        let before = at.read(0);
        warp::sync_warp(warp::FULL_MASK);
        to.write(0, before + at.read(0));
    }
    write_before_release(at: Global<u32>) {
        at.write(0, 1);
        at.store(1, 1, Release, Device);
        at.write(0, 2);
    }
}
