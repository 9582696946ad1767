//! Positions of threads, and the block barrier.

use crate::support::{config, leaves, run};
use cuda_std::memory::Ordering::{AcqRel, Relaxed};
use cuda_std::memory::Scope::Device;
use cuda_std::{Dim3, thread, warp};

#[test]
fn threads_of_a_grid_in_three_dimensions_are_numbered_x_first() {
    let threads = 3 * 2 * 4 * 5 * 3 * 7;
    let numbers = leaves(&config((3, 2, 4), (5, 3, 7)), &vec![0; threads], |out| {
        let (at, block) = (thread::thread_idx(), thread::block_idx());
        assert_eq!(thread::block_dim(), Dim3::new(5, 3, 7));
        assert_eq!(thread::grid_dim(), Dim3::new(3, 2, 4));
        let in_block = at.x + 5 * (at.y + 3 * at.z);
        let block = block.x + 3 * (block.y + 2 * block.z);
        assert_eq!(thread::index_in_block(), in_block as usize);
        assert_eq!(thread::block_index(), block as usize);
        assert_eq!(thread::index(), (105 * block + in_block) as usize);
        assert_eq!(warp::lane_id(), in_block % 32);
        assert_eq!(warp::warp_index(), in_block / 32);
        assert_eq!(thread::is_first_in_block(), in_block == 0);
        assert_eq!(thread::first(), block == 0 && in_block == 0);
        out.fetch_add(thread::index(), 1u32, Relaxed, Device);
    });
    assert_eq!(numbers, vec![1; threads], "each number belongs to one thread");
}

#[test]
fn each_index_component_matches_its_dim3() {
    run(&config((2, 3, 4), (4, 3, 2)), || {
        let whole =
            [thread::thread_idx(), thread::block_idx(), thread::block_dim(), thread::grid_dim()];
        let parts = [
            [thread::thread_idx_x(), thread::thread_idx_y(), thread::thread_idx_z()],
            [thread::block_idx_x(), thread::block_idx_y(), thread::block_idx_z()],
            [thread::block_dim_x(), thread::block_dim_y(), thread::block_dim_z()],
            [thread::grid_dim_x(), thread::grid_dim_y(), thread::grid_dim_z()],
        ];
        assert_eq!(whole.map(|at| [at.x, at.y, at.z]), parts);
        assert_eq!((thread::threads_per_block(), thread::block_count()), (24, 24));
        assert_eq!(thread::thread_count(), 576);
    });
}

#[test]
fn a_barrier_makes_earlier_writes_of_all_threads_visible() {
    let sums = leaves(&config(1, 100), &[0u32; 200], |data| {
        let i = thread::index();
        data.write(i, i as u32);
        thread::sync_threads();
        data.write(100 + i, (0..100).map(|j| data.read(j)).sum());
    });
    assert_eq!(sums[100..], [4950; 100]);
}

#[test]
fn a_voting_barrier_counts_only_its_own_block() {
    run(&config(3, 70), || {
        let (i, block) = (thread::index_in_block(), thread::block_index());
        assert_eq!(thread::sync_threads_count(i < 10 * block), 10 * block as u32);
        assert_eq!(thread::sync_threads_and(i < 35 * block), block == 2);
        assert_eq!(thread::sync_threads_or(i >= 70 - block), block != 0);
    });
}

#[test]
fn every_fence_is_counted_except_relaxed_ones() {
    let mut memory = simt::Memory::new(0);
    let stats = simt::launch(&mut memory, &config(1, 1), &|| {
        thread::block_fence();
        thread::device_fence();
        thread::system_fence();
        thread::fence(AcqRel, Device);
        thread::fence(Relaxed, Device);
    });
    assert_eq!(stats.expect("fences cannot fail").fences, 4);
}

#[test]
fn dimensions_are_displayed_without_trailing_ones() {
    let shapes = [Dim3::from(5), (5, 6).into(), (5, 1, 7).into()];
    assert_eq!(shapes.map(|shape| shape.to_string()), ["5", "5×6", "5×1×7"]);
    assert_eq!(shapes.map(Dim3::volume), [5, 30, 35]);
    assert_eq!(Dim3::new(u32::MAX, u32::MAX, 1).volume(), u64::from(u32::MAX).pow(2));
    assert_eq!(Dim3::new(5, 6, 7).linear(Dim3::new(4, 5, 6)), 5 * 6 * 7 - 1);
}
