//! The shared memory of other blocks of a cluster: valid and refused accesses.

use simt::{
    Access, Fault, Label, LaunchConfig, Memory, MissingOrder, Order, Policy, Scope, Space, launch,
};

use crate::support::{Words, assert_site, config, global_thread, schedules};

/// A launch of `blocks` blocks of `threads` threads that form one cluster, with 16 bytes of dynamic
/// shared memory.
fn one_cluster(blocks: u32, threads: u32, policy: Policy) -> LaunchConfig<'static> {
    let cluster = Some(blocks);
    LaunchConfig { cluster, dynamic_shared: 16, ..config(blocks, threads, policy) }
}

/// The variable "tile" of a block of the cluster, 256 bytes.
#[track_caller]
fn tile_of(rank: u32) -> Words {
    let own = simt::static_shared("tile", 256, 16);
    Words::cluster(simt::cluster_shared(own, 256, rank))
}

#[track_caller]
fn sync() {
    simt::cluster_arrive(Order::Release);
    simt::cluster_wait();
}

#[test]
fn every_block_can_access_the_variables_of_every_other() {
    for schedule in schedules() {
        let mut memory = Memory::new(1 << 20);
        let out = Words::unwritten(&mut memory, 160);
        let config = LaunchConfig {
            schedule,
            races: true,
            cluster: Some(2),
            max_resident_blocks: Some(2),
            ..one_cluster(4, 40, Policy::RoundRobin)
        };
        launch(&mut memory, &config, &|| {
            let at = simt::position();
            let (i, block) = (at.linear_thread() as usize, at.block_idx.x);
            let other = 1 - at.cluster_rank();
            Words::shared(simt::static_shared("tile", 256, 16)).set(i, 100 * block + i as u32);
            let (dynamic, bytes) = simt::dynamic_shared();
            // The whole dynamic part, and its last word.
            let theirs = Words::cluster(simt::cluster_shared(dynamic, bytes, other));
            let last = simt::cluster_shared(dynamic.wrapping_add(12), 4, other);
            sync();
            if i == 0 {
                theirs.set(3, 1000 * block);
            }
            sync();
            let seen = Words::shared(dynamic).get(3) + tile_of(other).get(39 - i);
            out.set(global_thread(), seen + Words::cluster(last).get(0));
            sync();
        })
        .unwrap_or_else(|fault| panic!("under {schedule:?}: {fault}"));
        let expected = (0..160).map(|thread| {
            let (block, i) = (thread / 40, thread % 40);
            let other = block ^ 1;
            1000 * (block + other) + 100 * other + 39 - i
        });
        assert_eq!(out.host(&memory, 160), expected.collect::<Vec<u32>>());
    }
}

#[test]
fn blocks_of_a_cluster_can_add_to_one_word_of_any_block() {
    for schedule in schedules() {
        let mut memory = Memory::new(1 << 20);
        let out = Words::unwritten(&mut memory, 1);
        let config =
            LaunchConfig { schedule, races: true, ..one_cluster(3, 40, Policy::RoundRobin) };
        launch(&mut memory, &config, &|| {
            let sum = tile_of(0);
            if global_thread() == 0 {
                sum.set(5, 0);
            }
            sync();
            sum.add_at(5, 1, Order::Relaxed, Scope::Cluster);
            sync();
            if global_thread() == 0 {
                out.set(0, sum.get(5));
            }
        })
        .unwrap_or_else(|fault| panic!("under {schedule:?}: {fault}"));
        assert_eq!(out.host(&memory, 1), [120]);
    }
}

#[test]
fn a_missing_cluster_barrier_or_block_scope_is_a_race() {
    let race = |body: &dyn Fn(Words, Words)| {
        let mut memory = Memory::new(1 << 20);
        let config = LaunchConfig { races: true, ..one_cluster(2, 1, Policy::RoundRobin) };
        let fault = launch(&mut memory, &config, &|| {
            let own = Words::shared(simt::static_shared("tile", 256, 16));
            own.set(0, 0);
            sync();
            body(own, tile_of(1));
            sync();
        });
        match fault {
            Err(Fault::Race(race)) => Some((race.target.region, race.missing)),
            other => {
                other.expect("nothing but a race");
                None
            }
        }
    };
    let first = || simt::position().block_idx.x == 0;
    let (target, missing) =
        race(&|own, other| if first() { other.set(0, 1) } else { _ = own.get(0) })
            .expect("a store by one block, a load by the other");
    assert_eq!(target, Some((Label::StaticShared("tile"), 0)));
    assert!(matches!(missing, MissingOrder::Everything { same_block: false }), "{missing:?}");
    let adds = |scope: Scope| {
        race(&move |own: Words, other: Words| {
            let words = if first() { other } else { own };
            words.add_at(0, 1, Order::Relaxed, scope);
        })
    };
    assert!(adds(Scope::Cluster).is_none());
    let (_, missing) = adds(Scope::Block).expect("a scope that does not reach the other block");
    assert_eq!(missing, MissingOrder::Scope(Scope::Block));
}

#[test]
fn a_block_that_has_not_started_or_has_ended_is_refused_with_its_rank() {
    // Under run-ahead block 0 runs first; under reverse block 1 has ended before it.
    for (policy, has_ended) in [(Policy::RunAhead, false), (Policy::Reverse, true)] {
        let line = line!() + 4;
        let fault = launch(&mut Memory::new(0), &one_cluster(2, 1, policy), &|| {
            let other = tile_of(1);
            if simt::position().block_idx.x == 0 {
                other.set(0, 1);
            }
        })
        .expect_err("the other block does not run");
        let Fault::ClusterBlockAbsent { rank: 1, ended, .. } = fault else { panic!("{fault}") };
        assert_eq!(ended, has_ended);
        assert_site(&fault, 0, 0, file!(), line);
        let said = if has_ended { "which has ended" } else { "which has not started yet" };
        assert!(fault.to_string().contains(said), "{fault}");
    }
}

#[test]
fn bounds_and_unwritten_words_are_checked_in_the_other_block() {
    let fails = |body: &dyn Fn(Words)| {
        launch(&mut Memory::new(0), &one_cluster(2, 1, Policy::RoundRobin), &|| {
            let other = tile_of(1);
            sync();
            if simt::position().block_idx.x == 0 {
                body(other);
            }
            sync();
        })
        .expect_err("the access is wrong")
    };
    let fault = fails(&|other| other.set(64, 0));
    assert!(
        matches!(fault, Fault::OutOfBounds { access: Access { space: Space::Cluster, .. }, .. }),
        "{fault}"
    );
    assert!(fault.to_string().contains("offset 256 of shared variable tile"), "{fault}");
    let fault = fails(&|other| _ = other.get(7));
    let Fault::Uninitialised { target, .. } = &fault else { panic!("{fault}") };
    assert_eq!(target.region, Some((Label::StaticShared("tile"), 28)));
}

#[test]
fn invalid_ranks_and_bytes_outside_a_variable_are_refused() {
    let fails = |body: fn(*mut u8)| {
        let body = || body(simt::static_shared("tile", 256, 16));
        let fault = launch(&mut Memory::new(0), &one_cluster(2, 1, Policy::RunAhead), &body);
        fault.expect_err("there is no such address").to_string()
    };
    let fault = fails(|tile| _ = simt::cluster_shared(tile, 256, 2));
    assert!(fault.contains("a cluster of 2 blocks has no block 2"), "{fault}");
    let fault = fails(|tile| _ = simt::cluster_shared(tile, 257, 1));
    assert!(fault.contains("257 bytes"), "{fault}");
    let fault = fails(|_| _ = simt::cluster_shared(core::ptr::null(), 4, 1));
    assert!(fault.contains("not in one variable"), "{fault}");
}
