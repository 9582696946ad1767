//! The rungs of the ladders.

use super::on;
use crate::support::Zeros;
use gridsync_lab_kernels::ladder::{scans::*, sorts::*, sums::*};

#[test]
fn faults_in_ladder_rungs_name_the_caller() {
    let some = |zeros: Zeros| (zeros.of::<u32>(0, 600), zeros.of::<u32>(3, 512));
    macro_rules! sums {
        ($($rung:ident::$name:ident;)*) => {
            walk! {$(
                on(2, 256) => |zeros| {
                    let (input, output) = some(zeros);
                    $rung::$name(input, output)
                };
            )*}
        };
    }
    sums! {
        r00_read_only::read_only; r01_serial::serial; r02_chunks::chunks; r03_strided::strided;
        r04_atomics::atomics; r05_interleaved::interleaved; r06_compacted::compacted;
        r07_sequential::sequential; r08_first_add::first_add; r09_last_warp::last_warp;
        r10_warps_first::warps_first; r11_shuffles::shuffles; r12_wide_loads::wide_loads;
        r13_redux::redux; r14_grid_stride::grid_stride; r15_atomic_finish::atomic_finish;
    }
    let words = |zeros: Zeros| zeros.of::<u32>(2, 200);
    walk! {
        on(2, 256) => |zeros| r16_last_block::last_block(
            zeros.of::<u32>(0, 600), zeros.of(3, 2), zeros.of(2, 1), zeros.of(4, 1));
        on(2, 256) => |zeros| r17_grid_barrier::grid_barrier(
            zeros.of::<u32>(0, 600), zeros.of(3, 2), words(zeros), zeros.of(4, 1));
        on(1, 256) => |zeros| s00_copy::copy(zeros.of(0, 600), zeros.of(3, 600));
        on(1, 32) => |zeros| s01_serial::serial(zeros.of(0, 60), zeros.of(3, 60));
        on(1, 256) => |zeros| s02_one_block::one_block(zeros.of(0, 256), zeros.of(3, 256));
        on(2, 256) => |zeros|
            s03_block_sums::block_sums(zeros.of(0, 500), zeros.of(3, 500), zeros.of(1, 2));
        on(2, 256) => |zeros| s03_block_sums::inject(zeros.of(3, 500), zeros.of(1, 2));
        on(1, 256) => |zeros|
            s04_blelloch::blelloch(zeros.of(0, 500), zeros.of(3, 500), zeros.of(1, 1));
        on(1, 256) => |zeros|
            s05_padded::padded(zeros.of(0, 500), zeros.of(3, 500), zeros.of(1, 1));
        on(1, 256) => |zeros|
            s06_shuffles::shuffles(zeros.of(0, 2000), zeros.of(3, 2000), zeros.of(1, 1));
        on(1, 256) => |zeros| s06_shuffles::inject_packs(zeros.of(3, 2000), zeros.of(1, 1));
        on(2, 256) => |zeros| s07_grid_barrier::grid_barrier(
            zeros.of(0, 4000), zeros.of(3, 4000), zeros.of(1, 2), words(zeros));
        on(2, 256) => |zeros|
            s08_chained::chained(zeros.of(0, 4000), zeros.of(3, 4000), zeros.of(1, 100));
        on(2, 256) => |zeros|
            s09_look_back::look_back(zeros.of(0, 4000), zeros.of(3, 4000), zeros.of(1, 100));
    }
}

#[test]
fn faults_in_rungs_that_sort_name_the_caller() {
    walk! {
        on(1, 64) => |zeros| t01_odd_even::odd_even(zeros.of(0, 70), zeros.of(3, 70));
        on(2, 64) => |zeros| t02_bitonic::step(zeros.of(0, 201), zeros.of(3, 201), 3);
        on(2, 256) => |zeros| t03_bitonic_tiles::tiles(zeros.of(0, 2200), zeros.of(3, 2200), 0);
        on(2, 256) => |zeros| t04_counts::count(zeros.of(0, 2200), zeros.of(1, 512), 8);
        on(1, 256) => |zeros|
            t04_counts::scatter(zeros.of(0, 300), zeros.of(3, 300), zeros.of(1, 256), 8);
        on(1, 512) => |zeros|
            t05_ranks::scatter_ranked(zeros.of(0, 600), zeros.of(3, 600), zeros.of(1, 256), 8);
        on(2, 256) => |zeros| t06_one_sweep::count_all(zeros.of(0, 600), zeros.of(1, 1024));
        on(2, 512) => |zeros| t06_one_sweep::one_sweep(
            zeros.of(0, 2200), zeros.of(3, 2200), zeros.of(1, 256), zeros.of(2, 513), 8);
    }
}
