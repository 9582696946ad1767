//! The position of a block in its cluster, the shared memory of the other blocks, and the cluster
//! barrier. Since sm_90.

use crate::{does, gives};
use cuda_std::memory::{CacheHint, Global, Ordering, Scope};
use cuda_std::{cluster, shared_array, thread};

shared_array! {
    fn cluster_words() -> [u32; 64];
}

gives! {
    cluster_rank() -> u32 { cluster::rank() }
    cluster_blocks() -> u32 { cluster::blocks() }
}

does! {
    cluster_place(at: Global<u64>) {
        at.write_volatile(cluster::index(), cluster::count() as u64);
    }
    cluster_sync() { cluster::sync(); }
    cluster_arrive_and_wait_apart(at: Global<u32>) {
        at.write_volatile(0, 1);
        cluster::arrive_relaxed();
        at.write_volatile(1, 2);
        cluster::wait();
        at.write_volatile(2, 3);
    }
    cluster_barrier_between_equal_branches(at: Global<u32>, flag: u32) {
        let chosen = thread::thread_idx_x() < flag;
        if chosen {
            at.write_volatile(0, 1);
        }
        cluster::sync();
        if chosen {
            at.write_volatile(1, 2);
        }
    }
    cluster_shared_plain(at: Global<u32>, rank: u32, value: u32) {
        let other = cluster::shared_of(cluster_words(), rank);
        other.write(0, value);
        at.write_volatile(0, other.read(0));
    }
    cluster_shared_ordered(at: Global<u32>, rank: u32, value: u32) {
        let other = cluster::shared_of(cluster_words(), rank);
        other.store(0, value, Ordering::Release, Scope::Block);
        at.write_volatile(0, other.load(0, Ordering::Acquire, Scope::Device));
        at.write_volatile(1, other.fetch_add(0, value, Ordering::Relaxed, Scope::System));
        other.add(0, value, Ordering::Release, Scope::Block);
    }
    cluster_shared_seq_cst(at: Global<u32>, rank: u32) {
        let other = cluster::shared_of(cluster_words(), rank);
        at.write_volatile(0, other.load(0, Ordering::SeqCst, Scope::Block));
    }
    cluster_shared_pack(rank: u32) {
        let other = cluster::shared_of(cluster_words(), rank);
        other.write_pack(4, other.read_pack(0, CacheHint::Default), CacheHint::Default);
    }
    plain_read_round_cluster_barrier(at: Global<u32>) {
        let before = at.read(0);
        cluster::sync();
        at.write_volatile(1, before + at.read(0));
    }
}
