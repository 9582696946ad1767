//! Positions, block barriers, fences, clocks, trap, conversion.

use crate::{does, gives, in_each_order_and_scope};
#[cfg(compute_ge_90)]
use cuda_std::dependent;
use cuda_std::memory::Global;
use cuda_std::{bf16, convert, f16, thread, time, trap, warp};

gives! {
    thread_idx_x() -> u32 { thread::thread_idx_x() }
    thread_idx_y() -> u32 { thread::thread_idx_y() }
    thread_idx_z() -> u32 { thread::thread_idx_z() }
    block_idx_x() -> u32 { thread::block_idx_x() }
    block_idx_y() -> u32 { thread::block_idx_y() }
    block_idx_z() -> u32 { thread::block_idx_z() }
    block_dim_x() -> u32 { thread::block_dim_x() }
    block_dim_y() -> u32 { thread::block_dim_y() }
    block_dim_z() -> u32 { thread::block_dim_z() }
    grid_dim_x() -> u32 { thread::grid_dim_x() }
    grid_dim_y() -> u32 { thread::grid_dim_y() }
    grid_dim_z() -> u32 { thread::grid_dim_z() }
    lane_id() -> u32 { warp::lane_id() }

    sync_threads_count(predicate: u32) -> u32 { thread::sync_threads_count(predicate != 0) }
    sync_threads_and(predicate: u32) -> u32 { thread::sync_threads_and(predicate != 0).into() }
    sync_threads_or(predicate: u32) -> u32 { thread::sync_threads_or(predicate != 0).into() }

    clock_twice() -> u64 { let start = time::clock(); time::clock() - start }
    global_timer_twice() -> u64 { let start = time::global_timer(); time::global_timer() - start }

    f16_to_f32(value: u16) -> f32 { convert::f16_to_f32(f16::from_bits(value)) }
    bf16_to_f32(value: u16) -> f32 { convert::bf16_to_f32(bf16::from_bits(value)) }
}

does! {
    sync_threads() { thread::sync_threads(); }
    fences() {
        thread::block_fence();
        thread::device_fence();
        thread::system_fence();
        in_each_order_and_scope!(order scope in [Relaxed Acquire Release AcqRel SeqCst] => {
            thread::fence(order, scope);
        });
    }
    nanosleep(nanoseconds: u32) { time::nanosleep(nanoseconds); }
    traps(at: Global<u32>) { if at.is_empty() { trap("nothing to do") } }
    panics(at: Global<u32>) { assert!(!at.is_empty(), "nothing to do"); }
}

#[cfg(compute_ge_90)]
does! {
    between_grids(from: Global<u32>, to: Global<u32>) {
        to.write(0, from.read(0));
        dependent::wait_for_previous();
        to.write(1, from.read(0));
        dependent::let_next_start();
    }
}
