//! Sorts, range sums and rank correlations.

use super::{On, on};
use crate::support::Zeros;
use cuda_std::memory::Global;
use cuda_std::prelude::thread;
use gridsync_kernels::grid::kendall::{self, Side};
use gridsync_kernels::grid::search::{self, Levels};
use gridsync_kernels::grid::sort::{
    self, Arrays, COUNT_THREADS, Floats, Integers, Nothing, Portions, Small, State, Task, WORDS,
};
use gridsync_kernels::grid::{merge_sort, range_sum};

#[test]
fn faults_in_sorts_and_correlations_name_the_caller() {
    let threads = merge_sort::THREADS;
    let tile = merge_sort::TILE;
    let queries = |zeros: Zeros| zeros.of::<u64>(1, 4);
    let levels = Levels { count: 3 };
    let searching = On { dynamic_shared: levels.shared_bytes(4) as usize, ..on(1, 32) };
    walk! {
        on(1, threads) => |zeros| {
            let keys: Global<u32> = zeros.of(0, 1000);
            merge_sort::sort_tile(|i| keys.read(i), keys)
        };
        on(2, threads) => |zeros|
            merge_sort::merge_runs::<u32>(zeros.of(0, 2 * tile), zeros.of(1, 2 * tile), tile);
        on(1, 32) => |zeros|
            range_sum::range_sums::<u64>(zeros.of(0, 9), queries(zeros), zeros.of(2, 2), zeros.of(3, 1));
        searching => |zeros| search::search(
            Integers::<u32>::new(true, false), zeros.of(0, 99), zeros.of(1, 140), zeros.of(2, 140), 1, levels);
        on(1, 64) => |zeros| {
            let (values, keys, counts) = (zeros.of::<f32>(0, 50), zeros.of(1, 50), zeros.of(2, 16));
            kendall::place(values, keys, counts, Side::X);
        };
        on(1, 64) => |zeros| {
            let (values, bits, counts) = (zeros.of::<f64>(0, 50), zeros.of(1, 50), zeros.of(2, 16));
            kendall::order(values, bits, counts, Side::Y);
        };
        on(1, 64) => |zeros| {
            let (values, sorted, keys) = (zeros.of::<f64>(0, 50), zeros.of(1, 50), zeros.of(2, 50));
            kendall::rank(values, sorted, keys, Side::X);
        };
        on(2, 256) => |zeros|
            kendall::by_pairs::<f32>(zeros.of(0, 300), zeros.of(1, 300), zeros.of(2, 16));
        on(1, 64) => |zeros| kendall::count(zeros.of(2, 16), 0, 1);
        on(1, 256) => |zeros| kendall::ties_of_keys(zeros.of(0, 200), zeros.of(2, 16));
        on(1, 256) => |zeros| kendall::ties_of_ranks(zeros.of(0, 200), zeros.of(2, 16));
    }
}

#[test]
fn faults_in_a_radix_sort_name_the_caller() {
    let shape = sort::Shape { word: 4, payload: 0, is_small: true, is_90: false };
    let threads = sort::one_block_threads(100, 2, false).expect("they fit");
    let in_block = On {
        dynamic_shared: sort::one_block_shared_bytes(threads, 2, false) as usize,
        ..on(1, threads)
    };
    let in_windows = On {
        dynamic_shared: sort::one_block_shared_bytes(threads, 4, true) as usize,
        ..on(1, threads)
    };
    let in_warps = On {
        dynamic_shared: sort::short_row_shared_bytes(4, true) as usize,
        ..on(1, sort::SHORT_ROW_THREADS)
    };
    let rows = |zeros: Zeros, count, len| sort::Rows {
        count,
        len,
        shortest: 0,
        kept: len,
        each: 1,
        are_indices: 1,
        segments: sort::Segments { offsets: zeros.of(4, 0), starts: zeros.of(4, 0) },
    };
    let counting =
        On { dynamic_shared: sort::count_shared_bytes(4, false) as usize, ..on(2, COUNT_THREADS) };
    let scattering = On { dynamic_shared: shape.shared_bytes() as usize, ..on(1, sort::THREADS) };
    let floats = Floats::numpy(f32::INFINITY.to_bits(), true);
    let state = |zeros: Zeros| State {
        counts: zeros.of(1, sort::counts_len(4)),
        carries: zeros.of(2, sort::carries_len(4, 3)),
        words: zeros.of(3, WORDS),
    };
    walk! {
        in_block => |zeros| {
            let (keys, payloads) = (zeros.of(0, 100), zeros.of(1, 100));
            let order = Integers::<u16>::new(false, false);
            sort::sort_in_one_block::<_, u32>(order, [keys; 2], [payloads; 2], rows(zeros, 1, 100))
        };
        in_windows => |zeros| {
            let (keys, payloads) = (zeros.of(0, 100), zeros.of(1, 100));
            let (offsets, starts) = (zeros.of::<u64>(2, 4), zeros.of::<u32>(3, 2));
            if thread::thread_idx_x() == 0 {
                (0..4).for_each(|segment| offsets.write(segment, 33 * segment as u64));
                starts.write(1, 3);
            }
            thread::sync_threads();
            let segments = sort::Segments { offsets, starts };
            let rows = sort::Rows { shortest: 33, segments, ..rows(zeros, 1, 33) };
            sort::sort_in_windows::<_, u32>(floats, [keys; 2], [payloads; 2], rows)
        };
        counting => |zeros| {
            let task = Task { portions: 1, flags: 2, count: zeros.of(4, 0) };
            sort::count(floats, zeros.of(0, 9), state(zeros), zeros.of(4, 512), task)
        };
        counting => |zeros| {
            let task = Task { portions: 3, flags: 2, count: zeros.of(4, 0) };
            let none = zeros.of(4, 0);
            sort::count_rows(floats, zeros.of(0, 9), state(zeros), zeros.of(4, 512), task, 3, none)
        };
        in_warps => |zeros| {
            let (keys, payloads) = (zeros.of(0, 99), zeros.of(1, 99));
            sort::sort_short_rows::<_, u32>(floats, [keys; 2], [payloads; 2], rows(zeros, 9, 11))
        };
        scattering => |zeros| {
            let state = state(zeros);
            // What the count leaves for the first pass: it runs, from the input to the output.
            let digit = thread::thread_idx_x() as usize;
            state.carries.write(digit, 1 << 63);
            if digit == 0 {
                state.words.write(9, 0b10_0011);
            }
            thread::sync_threads();
            let [input, spare, output] = [0, 0, 1].map(|number| zeros.of(number, 9));
            let keys = Arrays { input, spare, output };
            let nothing = keys.cast();
            let portions = Portions { count: 1, tiles: 1, len: 9, flags: 0, table: zeros.of(4, 0), counted: zeros.of(4, 0) };
            sort::scatter::<_, Nothing, Small>(
                floats, 0, keys, nothing, state, zeros.of(4, 512), portions)
        };
    }
}
