//! Jacobi's method in one launch: sweeps over a plate until no cell changes by much.
//!
//! The alternative is one launch per sweep, where the host copies the greatest change back to see
//! whether to continue. The kernels are in kernels/examples/src/jacobi.rs.
//!
//! `cargo run --release -p gridsync --example jacobi`

mod shared;

use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync::launch::{Blocks, barrier_words, cooperative};
use gridsync::parallel;
use gridsync_example_kernels::jacobi::{jacobi_solve, jacobi_sweep};
use gridsync_kernels::grid::barrier::{Exchange, GridBarrier};
use shared::{is_gpu, noise, time};

/// A plate with the stopping rule.
pub(crate) struct Problem {
    cells: Vec<f32>,
    columns: usize,
    tolerance: f32,
    /// Checks the greatest change each time after this many sweeps.
    every: u32,
    most: u32,
}

/// The number of sweeps, the greatest change in the last one, and the cells after it.
pub(crate) type Solved = (u32, f32, Vec<f32>);

fn main() -> Result<(), DeviceError> {
    shared::run(|device| {
        let large = is_gpu(device);
        let (rows, tolerance) = if large { (512, 1e-4) } else { (21, 1e-2) };
        let blocks = if large { Blocks::PerMultiprocessor(1) } else { Blocks::Exactly(5) };
        let threads = if large { 512 } else { 32 };
        for every in [1, 16] {
            let problem = Problem::new(rows, rows + 11, tolerance, every);
            let solved = problem.solve_on_cpu();
            if large {
                println!("{rows} rows, {} sweeps, a look after every {every}", solved.0);
            }
            assert_eq!(problem.solve(device, blocks, threads)?, solved);
            assert_eq!(problem.solve_by_launches(device)?, solved);
        }
        Ok(())
    })
}

impl Problem {
    /// A plate whose first row is warm, and the rest cold.
    pub(crate) fn new(rows: usize, columns: usize, tolerance: f32, every: u32) -> Self {
        let mut cells = vec![0.0; rows * columns];
        for (cell, i) in cells[..columns].iter_mut().zip(0..) {
            *cell = noise(i) as f32 / 2f32.powi(32);
        }
        Self { cells, columns, tolerance, every, most: 1 << 16 }
    }

    /// Solves it in one launch.
    pub(crate) fn solve(
        &self,
        device: &Device,
        blocks: Blocks,
        threads: u32,
    ) -> Result<Solved, DeviceError> {
        let geometry = cooperative::<jacobi_solve>(device, blocks, threads, 0)?;
        let barrier = barrier_words::<GridBarrier>(device, &geometry)?;
        let words = device.zeroed(Exchange::words(geometry.grid.volume() as usize))?;
        let (mut plates, outcome) = (self.plates(device)?, device.zeroed::<u32>(2)?);
        let (tolerance, every, most) = (self.tolerance, self.every, self.most);
        let (both, outcomes) = (plates.each_ref().map(Buffer::view), outcome.view());
        let (columns, barriers, words) = (self.columns as u32, barrier.view(), words.view());
        let args = (both, columns, tolerance, every, most, outcomes, barriers, words);
        let prepare = || self.refill(&mut plates);
        // SAFETY: two plates, two numbers, the words of both, whole warps, and a resident grid. All
        // of it lives until the download.
        time(device, "one launch", prepare, || unsafe {
            device.launch::<jacobi_solve>(&geometry, args)
        })?;
        let outcome = outcome.download()?;
        let cells = plates[outcome[0] as usize % 2].download()?;
        Ok((outcome[0], f32::from_bits(outcome[1]), cells))
    }

    /// Solves it with one launch per sweep. An even number of sweeps is one launch of a graph.
    pub(crate) fn solve_by_launches(&self, device: &Device) -> Result<Solved, DeviceError> {
        let cells = self.cells.len();
        let (mut plates, mut change) = (self.plates(device)?, device.zeroed::<u32>(1)?);
        let both = plates.each_ref().map(Buffer::view);
        let geometry = Geometry::new(cells.div_ceil(256) as u32, 256);
        // SAFETY: two plates, one number, and whole warps. All of it lives until the download.
        let sweep = |nth: u32, change: &Buffer<u32>| unsafe {
            let (from, to) = (both[nth as usize % 2], both[(nth as usize + 1) % 2]);
            let args = (from, to, self.columns as u32, change.view());
            device.launch::<jacobi_sweep>(&geometry, args)
        };
        let sweep_some = |from: u32, change: &mut Buffer<u32>| {
            let last = from + self.every - 1;
            (from..last).try_for_each(|nth| sweep(nth, change))?;
            change.zero()?;
            sweep(last, change)
        };
        let (graph, what) = match self.every % 2 {
            0 => (Some(device.record(|| sweep_some(0, &mut change))?), "a graph of the sweeps"),
            _ => (None, "a launch for each sweep"),
        };
        let prepare = || self.refill(&mut plates);
        let (sweeps, change) = time(device, what, prepare, || {
            let mut sweeps = 0;
            loop {
                match &graph {
                    // SAFETY: the buffers of each recorded sweep are still alive.
                    Some(graph) => unsafe { graph.launch()? },
                    None => sweep_some(sweeps, &mut change)?,
                }
                sweeps += self.every;
                let change = f32::from_bits(change.download()?[0]);
                if change < self.tolerance || sweeps >= self.most {
                    return Ok((sweeps, change));
                }
            }
        })?;
        Ok((sweeps, change, plates[sweeps as usize % 2].download()?))
    }

    /// Solves it on the CPU.
    pub(crate) fn solve_on_cpu(&self) -> Solved {
        let columns = self.columns;
        let (mut from, mut to, mut sweeps) = (self.cells.clone(), self.cells.clone(), 0);
        loop {
            let rows: Vec<_> = to.chunks_mut(columns).enumerate().collect();
            let mut changes = vec![0.0f32; rows.len()];
            let inner = 1..rows.len() - 1;
            let jobs =
                rows.into_iter().zip(&mut changes).filter(|((row, _), _)| inner.contains(row));
            parallel::for_each(jobs, &|_, ((row, cells), change)| {
                let cells = (row * columns..).zip(cells).take(columns - 1).skip(1);
                for (at, cell) in cells {
                    let across = from[at - 1] + from[at + 1];
                    *cell = 0.25 * (across + (from[at - columns] + from[at + columns]));
                    *change = change.max((*cell - from[at]).abs());
                }
            });
            sweeps += 1;
            (from, to) = (to, from);
            let change = changes.into_iter().fold(0.0, f32::max);
            if sweeps % self.every == 0 && (change < self.tolerance || sweeps >= self.most) {
                return (sweeps, change, from);
            }
        }
    }

    /// Two plates with the cells.
    fn plates(&self, device: &Device) -> Result<[Buffer<f32>; 2], DeviceError> {
        Ok([device.upload(&self.cells)?, device.upload(&self.cells)?])
    }

    /// Copies the cells to both plates.
    fn refill(&self, plates: &mut [Buffer<f32>; 2]) -> Result<(), DeviceError> {
        plates.iter_mut().try_for_each(|plate| plate.copy_from(&self.cells))
    }
}
