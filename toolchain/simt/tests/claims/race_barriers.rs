//! Barriers order memory, and other collectives do not.

use simt::{LaunchConfig, Memory, MissingOrder, Order, Policy, Scope, launch, position};

use crate::races::{DATA, FLAG, race_in};
use crate::support::{Words, config};

#[test]
fn a_block_barrier_extends_a_release_and_an_acquire_to_all_threads() {
    // A small grid barrier: all write, one thread of each block reports, all read.
    let crossed = |first: bool, last: bool| {
        race_in(2, 40, move |words| {
            let at = position();
            let one = |block: u32| DATA + (block * 2) as usize;
            if at.thread_idx.x == 39 {
                words.set(one(at.block_idx.x), 1);
            }
            if first {
                simt::block_barrier();
            }
            if at.thread_idx.x == 0 {
                words.add_at(FLAG, 1, Order::Release, Scope::Device);
                while words.load(FLAG, Order::Acquire, Scope::Device) != 2 {
                    simt::spin();
                }
            }
            if last {
                simt::block_barrier();
            }
            if at.thread_idx.x == 20 {
                words.get(one(1 - at.block_idx.x));
            }
        })
    };
    assert_eq!(crossed(true, true), None);
    for (first, last) in [(false, true), (true, false)] {
        let race = crossed(first, last);
        let same_block = false;
        assert_eq!(race, Some(MissingOrder::Everything { same_block }));
    }
}

#[test]
fn shared_memory_needs_a_barrier_before_and_after_each_exchange() {
    // Every thread reads its neighbour's word, twice in the same memory.
    let turned = |kernel: fn(Words, usize)| {
        race_in(2, 64, move |_| {
            let tile = Words::shared(simt::static_shared("tile", 256, 16));
            let i = position().linear_thread() as usize;
            tile.set(i, 0);
            simt::block_barrier();
            for _ in 0..2 {
                kernel(tile, i);
            }
        })
    };
    let none = turned(|tile, i| {
        tile.set(i, 1);
        simt::block_barrier();
        tile.get((i + 32) % 64);
        simt::block_barrier();
    });
    assert_eq!(none, None);
    let same_block = true;
    let not_before = turned(|tile, i| {
        tile.set(i, 1);
        tile.get((i + 32) % 64);
        simt::block_barrier();
    });
    assert_eq!(not_before, Some(MissingOrder::Everything { same_block }));
    let not_behind = turned(|tile, i| {
        tile.set(i, 1);
        simt::block_barrier();
        tile.get((i + 32) % 64);
    });
    assert_eq!(not_behind, Some(MissingOrder::Everything { same_block }));
}

#[test]
fn a_warp_barrier_orders_its_lanes_and_a_shuffle_does_not() {
    let exchanged = |between: fn()| {
        race_in(1, 32, move |_| {
            let tile = Words::shared(simt::static_shared("tile", 128, 16));
            let i = position().lane() as usize;
            tile.set(i, 1);
            between();
            tile.get(i ^ 1);
        })
    };
    assert_eq!(exchanged(|| simt::warp_barrier(u32::MAX)), None);
    let pairs = exchanged(|| simt::warp_barrier(0b11 << (position().lane() & !1)));
    assert_eq!(pairs, None, "each pair by itself");
    let same_block = true;
    let race = Some(MissingOrder::Everything { same_block });
    let others = exchanged(|| simt::warp_barrier(0x5555_5555 << (position().lane() & 1)));
    assert_eq!(others, race, "even lanes and odd ones apart");
    let shuffled = exchanged(|| {
        simt::warp_exchange(u32::MAX, "shfl.sync.bfly", 0);
    });
    assert_eq!(shuffled, race);
}

#[test]
fn a_cluster_barrier_orders_what_was_released_before_it() {
    let crossed = |order, fence: bool| {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, 32);
        let config =
            LaunchConfig { cluster: Some(2), races: true, ..config(4, 3, Policy::RoundRobin) };
        launch(&mut memory, &config, &|| {
            let at = position();
            let one = DATA + at.block_idx.x as usize;
            for _ in 0..3 {
                if at.thread_idx.x == 0 {
                    words.set(one, 1);
                }
                if fence {
                    simt::fence(Scope::Cluster, Order::Release);
                }
                simt::cluster_arrive(order);
                simt::cluster_wait();
                words.get(one ^ 1);
                simt::cluster_arrive(Order::Release);
                simt::cluster_wait();
            }
        })
        .is_ok()
    };
    assert!(crossed(Order::Release, false));
    assert!(crossed(Order::Relaxed, true));
    assert!(!crossed(Order::Relaxed, false));
}
