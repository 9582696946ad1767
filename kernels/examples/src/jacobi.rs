//! Jacobi's method: each inner cell of a plate becomes the mean of its four neighbours, until no
//! cell changes by much.
//!
//! [`jacobi_solve`] stays on the GPU until then. A grid barrier separates the sweeps. The largest
//! change of all cells crosses an [`Exchange`] at the same time as the barrier.

use cuda_std::prelude::*;
use gridsync_kernels::block;
use gridsync_kernels::grid::barrier::{Barrier, Exchange, GridBarrier};
use gridsync_kernels::op::{Max, Operation};

/// Sweeps once, from one plate to the other. Returns the largest change of this thread's cells.
#[device]
fn sweep(from: Global<f32>, to: Global<f32>, columns: usize) -> f32 {
    let cells = from.len() - columns;
    let mut change = 0.0;
    for at in (columns + thread::index()..cells).step_by(thread::thread_count()) {
        let column = at as u32 % columns as u32;
        if column == 0 || column == columns as u32 - 1 {
            continue;
        }
        let (left, right) = (from.read(at - 1), from.read(at + 1));
        let (above, below) = (from.read(at - columns), from.read(at + columns));
        let new = 0.25 * ((left + right) + (above + below));
        change = Max::<f32>::new().combine(change, (new - from.read(at)).abs());
        to.write(at, new);
    }
    change
}

/// Sweeps until no cell changes by `tolerance` or more, which it checks every `every` sweeps, or
/// until it has made `most` sweeps. `outcome` gets the number of sweeps, and the bits of the
/// largest change in the last one.
///
/// # Safety
///
/// `plates` are equal, and have one or more rows with `columns` cells each. Sweep 1 goes from the
/// first to the second, sweep 2 back, and so on. `barrier` and `words` have the words of a
/// [`GridBarrier`] and an [`Exchange`], `outcome` has two elements. Blocks have a multiple of 32
/// threads and are all co-resident.
#[kernel(cooperative)]
pub unsafe fn jacobi_solve(
    plates: [Global<f32>; 2],
    columns: u32,
    tolerance: f32,
    every: u32,
    most: u32,
    outcome: Global<u32>,
    barrier: Global<u32>,
    words: Global<u64>,
) {
    let mut barrier = GridBarrier::attach(barrier);
    let mut exchange = Exchange::attach(words);
    let [mut from, mut to] = plates;
    let mut sweeps = 0;
    loop {
        let change = sweep(from, to, columns as usize);
        sweeps += 1;
        (from, to) = (to, from);
        if sweeps % every != 0 {
            barrier.sync();
            continue;
        }
        let of_block = block::reduce(Max::<f32>::new(), change);
        // The exchange carries only its values. The barrier makes the cells visible.
        let arrival = exchange.arrive(Max::<f32>::new(), of_block);
        barrier.sync();
        let change = arrival.wait();
        if change < tolerance || sweeps >= most {
            if thread::first() {
                outcome.write(0, sweeps);
                outcome.write(1, change.to_bits());
            }
            return;
        }
    }
}

/// Sweeps once. Raises `change[0]` to the largest change, as bits, which are ordered like the
/// numbers because no change is negative.
///
/// # Safety
///
/// `from` and `to` have the same number of rows, one or more, with `columns` cells in each row.
/// `change` has one element. Blocks have a multiple of 32 threads.
#[kernel]
pub unsafe fn jacobi_sweep(from: Global<f32>, to: Global<f32>, columns: u32, change: Global<u32>) {
    let of_block = block::reduce(Max::<f32>::new(), sweep(from, to, columns as usize));
    if thread::is_first_in_block() {
        change.fetch_max(0, of_block.to_bits(), Ordering::Relaxed, Scope::Device);
    }
}
