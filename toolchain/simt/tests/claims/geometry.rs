//! Numbering of threads, and launches that are refused.

use simt::{Dim3, Fault, LaunchConfig, Memory, Policy, launch};

use crate::support::{Words, config, global_thread};

#[test]
fn every_thread_of_odd_shapes_runs_once() {
    let shapes: [(Dim3, Dim3); 6] = [
        (1.into(), 1.into()),
        (3.into(), 33.into()),
        (2.into(), 1024.into()),
        ((2, 3).into(), (40, 2).into()),
        ((2, 2, 3).into(), (5, 3, 7).into()),
        ([1, 1, 4].into(), [1, 1, 64].into()),
    ];
    for (grid, block) in shapes {
        let mut memory = Memory::new(1 << 20);
        let count = (grid.count() * block.count()) as usize;
        let words = Words::zeros(&mut memory, count);
        let stats =
            launch(&mut memory, &config(grid, block, Policy::Random { quantum: 3 }), &|| {
                let at = simt::position();
                assert_eq!((at.grid_dim, at.block_dim), (grid, block));
                assert_eq!(at.linear_thread(), at.warp() * 32 + at.lane());
                words.add(global_thread(), 1);
            })
            .expect("no fault");
        assert_eq!(words.host(&memory, count), vec![1; count], "grid {grid}, block {block}");
        assert_eq!((stats.blocks, stats.threads), (grid.count(), count as u64));
    }
}

#[test]
fn forty_by_two_threads_are_three_warps_x_fastest() {
    let mut memory = Memory::new(1 << 20);
    launch(&mut memory, &config(1, (40, 2), Policy::RoundRobin), &|| {
        let at = simt::position();
        assert!(at.warp() < 3);
        if at.thread_idx == Dim3::new(0, 1, 0) {
            assert_eq!((at.warp(), at.lane()), (1, 8));
        }
    })
    .expect("no fault");
}

#[test]
fn impossible_launches_are_refused_with_their_numbers() {
    let mut memory = Memory::new(1 << 20);
    let mut refused = |config: LaunchConfig<'_>| {
        launch(&mut memory, &config, &|| unreachable!("no thread may run"))
            .expect_err("must be refused")
    };
    let plain = |grid: Dim3, block: Dim3| config(grid, block, Policy::RoundRobin);
    let large = refused(plain(1.into(), (32, 33).into()));
    assert!(matches!(large, Fault::BlockTooLarge { threads: 1056, limit: 1024, .. }), "{large}");
    let empty = refused(plain((1, 0).into(), 32.into()));
    assert!(matches!(empty, Fault::EmptyLaunch { .. }), "{empty}");
    let endless = refused(plain(Dim3::new(u32::MAX, u32::MAX, u32::MAX), 1024.into()));
    assert!(matches!(endless, Fault::EmptyLaunch { .. }), "{endless}");
    let shared = refused(LaunchConfig { dynamic_shared: 50_000, ..plain(1.into(), 1.into()) });
    let Fault::DynamicSharedLimit { requested: 50_000, limit: 49_152, .. } = shared else {
        panic!("{shared}")
    };
    let wide = refused(LaunchConfig {
        cooperative: true,
        max_resident_blocks: Some(132),
        ..plain(133.into(), 32.into())
    });
    assert!(wide.to_string().contains("133 blocks, but only 132 can be resident"), "{wide}");
}

#[test]
fn races_among_more_threads_than_a_clock_has_numbers_for_are_refused() {
    let mut memory = Memory::new(1 << 20);
    let config = LaunchConfig { races: true, ..config(129, 1024, Policy::Coarse) };
    let fault = launch(&mut memory, &config, &|| {}).expect_err("129 × 1024 threads");
    let Fault::TooLargeForRaces { threads, limit, .. } = fault else { panic!("{fault}") };
    assert_eq!((threads, limit), (129 * 1024, 128 * 1024));
}
