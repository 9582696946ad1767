//! Clusters: their blocks, their barrier, and refused launches.

use simt::{Dim3, Fault, LaunchConfig, Memory, Order, Policy, Stats, WaitingFor, launch};

use crate::support::{Words, assert_site, config, global_thread, schedules};

/// A launch of `grid` blocks in clusters of `cluster`.
fn clustered(grid: impl Into<Dim3>, block: u32, cluster: u32) -> LaunchConfig<'static> {
    LaunchConfig { cluster: Some(cluster), ..config(grid, block, Policy::RoundRobin) }
}

/// Runs `body` on words of 0 under every schedule, each time in fresh memory.
#[track_caller]
fn under_all_schedules(
    config: LaunchConfig<'_>,
    count: usize,
    body: impl Fn(Words),
) -> Vec<(Stats, Vec<u32>)> {
    let run = |schedule| {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, count);
        let config = LaunchConfig { schedule, ..config };
        let stats = launch(&mut memory, &config, &|| body(words))
            .unwrap_or_else(|fault| panic!("under {schedule:?}: {fault}"));
        (stats, words.host(&memory, count))
    };
    schedules().into_iter().map(run).collect()
}

#[track_caller]
fn sync() {
    simt::cluster_arrive(Order::Release);
    simt::cluster_wait();
}

#[test]
fn consecutive_blocks_in_x_are_a_cluster() {
    let seen = under_all_schedules(clustered((6, 2), 1, 3), 12, |words| {
        let at = simt::position();
        let Dim3 { x, y, .. } = at.block_idx;
        assert_eq!((at.cluster_blocks, at.clusters()), (3, 4));
        assert_eq!(at.cluster_rank(), x % 3);
        assert_eq!(at.linear_cluster(), u64::from(2 * y + x / 3));
        words.add(global_thread(), 1);
    });
    assert!(seen.iter().all(|(_, words)| words == &[1; 12]));
}

#[test]
fn a_launch_without_clusters_has_clusters_of_one_block_and_their_barrier() {
    let seen = under_all_schedules(config(3, 40, Policy::RoundRobin), 1, |_| {
        let at = simt::position();
        assert_eq!((at.cluster_blocks, at.clusters()), (1, 3));
        assert_eq!((at.cluster_rank(), at.linear_cluster()), (0, at.linear_block()));
        sync();
    });
    assert!(seen.iter().all(|(stats, _)| stats.cluster_barriers == 3));
}

#[test]
fn the_cluster_barrier_opens_only_when_all_threads_of_all_blocks_have_arrived() {
    let (blocks, threads, cluster, rounds) = (8, 40, 4, 5);
    let seen = under_all_schedules(clustered(blocks, threads, cluster), 2, |arrived| {
        let own = simt::position().linear_cluster() as usize;
        for round in 1..=rounds {
            arrived.add(own, 1);
            sync();
            assert_eq!(arrived.get(own), round * cluster * threads);
            sync();
        }
    });
    for (stats, arrived) in seen {
        assert_eq!(stats.cluster_barriers, u64::from(2 * 2 * rounds));
        assert_eq!(arrived, [rounds * cluster * threads; 2]);
    }
}

#[test]
fn arriving_does_not_wait_and_clusters_are_independent() {
    let seen = under_all_schedules(clustered(4, 1, 2), 2, |flags| {
        match simt::position().linear_block() {
            // Its neighbour stores only after it has received the word, so after the arrival.
            0 => {
                simt::cluster_arrive(Order::Relaxed);
                flags.set(0, 1);
                simt::cluster_wait();
                flags.set(1, 1);
            }
            1 => {
                flags.wait_for(0, 1);
                sync();
            }
            // The second cluster reaches its barrier only after the first has passed.
            _ => {
                flags.wait_for(1, 1);
                sync();
            }
        }
    });
    assert!(seen.iter().all(|(stats, _)| stats.cluster_barriers == 2));
}

#[test]
fn the_cluster_barrier_does_not_wait_for_exited_threads() {
    under_all_schedules(clustered(4, 48, 2), 1, |_| {
        // Thread 0 exits before the first arrival, thread 1 after it, and thread 2 after the wait.
        let me = simt::position().linear_thread();
        for _ in 0..3 {
            if me == 0 {
                return;
            }
            simt::cluster_arrive(Order::Release);
            if me == 1 {
                return;
            }
            simt::cluster_wait();
            if me == 2 {
                return;
            }
        }
    });
}

#[test]
fn lanes_of_a_warp_must_reach_the_barrier_by_one_call() {
    let diverges = |arrival: bool, apart: u32| {
        let config = clustered(2, 64, 2);
        let fault = launch(&mut Memory::new(0), &config, &|| {
            let branch = simt::position().linear_thread() < apart;
            if arrival && branch {
                simt::cluster_arrive(Order::Relaxed);
            } else {
                simt::cluster_arrive(Order::Release);
            }
            if !arrival && branch {
                simt::clock();
                simt::cluster_wait();
            } else {
                simt::cluster_wait();
            }
        })
        .err()?;
        let Fault::BarrierDiverged { barrier, sites } = &fault else { panic!("{fault}") };
        assert_eq!(*barrier, WaitingFor::ClusterBarrier);
        assert_ne!(sites[0].place, sites[1].place, "{fault}");
        Some(())
    };
    for arrival in [true, false] {
        assert_eq!(diverges(arrival, 7), Some(()), "within a warp");
        assert_eq!(diverges(arrival, 32), None, "between warps");
    }
}

#[test]
fn blocks_of_a_cluster_are_resident_together() {
    for (resident, fit) in [(1, 2), (3, 2), (5, 4)] {
        let config = LaunchConfig { max_resident_blocks: Some(resident), ..clustered(12, 32, 2) };
        let seen = under_all_schedules(config, 2, |live| {
            if simt::position().linear_thread() == 0 {
                assert!(live.add(0, 1) < fit);
            }
            sync();
            if simt::position().linear_thread() == 0 {
                live.add(0, u32::MAX);
            }
        });
        assert!(seen.iter().all(|(stats, _)| stats.cluster_barriers == 6));
    }
}

#[test]
fn a_deadlock_names_the_threads_at_the_cluster_barrier() {
    for schedule in schedules() {
        let mut memory = Memory::new(1 << 20);
        let flag = Words::zeros(&mut memory, 1);
        let config = LaunchConfig { schedule, ..clustered(2, 33, 2) };
        let line = line!() + 6;
        let fault = launch(&mut memory, &config, &|| {
            if global_thread() == 40 {
                flag.wait_for(0, 1);
            }
            simt::cluster_arrive(Order::Release);
            simt::cluster_wait();
        })
        .expect_err("the flag stays 0");
        let Fault::Deadlock(deadlock) = &fault else { panic!("{fault}") };
        let whole = &deadlock.waiting[0];
        assert_eq!((whole.what, whole.threads), (WaitingFor::ClusterBarrier, 33));
        assert_eq!(whole.place.line(), line);
        let said = "block (1, 0, 0): 32 thread(s) from (0, 0, 0) at the cluster barrier";
        assert!(fault.to_string().contains(said), "{fault}");
    }
}

#[test]
fn a_wait_without_an_arrival_and_a_second_arrival_are_faults() {
    let mut memory = Memory::new(1 << 20);
    let config = clustered(2, 32, 2);
    let line = line!() + 3;
    let fault = launch(&mut memory, &config, &|| {
        sync();
        simt::cluster_wait();
    })
    .expect_err("one arrival, two waits");
    assert_site(&fault, 0, 0, file!(), line);
    assert!(matches!(fault, Fault::ClusterNotArrived { .. }), "{fault}");

    let line = line!() + 4;
    let fault = launch(&mut memory, &config, &|| {
        sync();
        simt::cluster_arrive(Order::Release);
        simt::cluster_arrive(Order::Relaxed);
    })
    .expect_err("two arrivals, no wait");
    assert_site(&fault, 0, 0, file!(), line);
    let Fault::ClusterArrivedTwice { first, .. } = fault else { panic!("{fault}") };
    assert_eq!(first.line(), line - 1);
}

#[test]
fn a_grid_not_divisible_into_clusters_is_refused_with_its_numbers() {
    let mut memory = Memory::new(1 << 20);
    let mut refused = |config: LaunchConfig<'_>| {
        launch(&mut memory, &config, &|| unreachable!("no thread may run"))
            .expect_err("must be refused")
    };
    // Eight blocks are enough for two clusters, but not in a row along x.
    for grid in [Dim3::new(7, 1, 1), Dim3::new(2, 4, 1)] {
        let fault = refused(clustered(grid, 32, 4));
        let Fault::PartialCluster { cluster: 4, .. } = fault else { panic!("{fault}") };
        let said = format!("a grid of {grid} blocks cannot be cut into clusters of 4 along x");
        assert!(fault.to_string().contains(&said), "{fault}");
    }
    let none = refused(clustered(7, 32, 0));
    assert!(matches!(none, Fault::PartialCluster { cluster: 0, .. }), "{none}");
    let wide = refused(LaunchConfig {
        cooperative: true,
        max_resident_blocks: Some(7),
        ..clustered(8, 32, 4)
    });
    let said = "8 blocks, but only 4 can be resident";
    assert!(wide.to_string().contains(said), "{wide}");
}
