//! Your own kernel on gridsync's device library: it sums each row of a matrix, one block per row,
//! and then, after a barrier of the whole grid, divides every element by the greatest of the sums.
//!
//! Here it runs on the emulator under several schedules, from the same source that is compiled to
//! PTX, and the emulator checks for data races: remove the barrier, and it reports the missing
//! order. For a GPU, build the kernel to PTX with `cuda_builder`, and open the device with that
//! image (see kernels/README.md, "Your own kernels").
//!
//! `cargo run --release -p gridsync --example own_kernel`

use cuda_std::prelude::*;
use gridsync::device::{Device, Emulator, EmulatorConfig};
use gridsync::launch::{Blocks, barrier_words, cooperative};
use gridsync_kernels::block;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
use gridsync_kernels::op::Sum;

/// Divides `matrix`, with one row per block, by the greatest sum of a row.
///
/// # Safety
///
/// `sums` has an element per block, `barrier` has the words of the barrier, which start as 0, and
/// all blocks are resident.
#[kernel(cooperative)]
unsafe fn normalise(matrix: Global<f32>, sums: Global<f32>, barrier: Global<u32>) {
    let mut barrier = GridBarrier::attach(barrier);
    let columns = matrix.len() / thread::block_count();
    let row = matrix.part(thread::block_index() * columns, columns);
    let (me, threads) = (thread::index_in_block(), thread::threads_per_block());

    // Each thread sums its share of the row; then the block adds the shares.
    let share = (me..columns).step_by(threads).map(|i| row.read(i)).sum();
    let sum = block::reduce(Sum::<f32>::new(), share);
    if thread::is_first_in_block() {
        sums.write(thread::block_index(), sum);
    }

    // After this every sum is visible to every thread of the grid.
    barrier.sync();

    let greatest = (0..sums.len()).map(|i| sums.read(i)).fold(0.0, f32::max);
    for i in (me..columns).step_by(threads) {
        row.write(i, row.read(i) / greatest);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Each schedule shows some errors and hides others.
    for seed in 0..8 {
        let device = Device::new(Emulator::new(EmulatorConfig::checking(seed)));
        normalise_rows(&device)?;
    }
    println!("the same, to the bit, under eight schedules of the emulator, and no data race");
    Ok(())
}

fn normalise_rows(device: &Device) -> Result<(), Box<dyn std::error::Error>> {
    let (rows, columns) = (6u16, 1000);
    let host: Vec<f32> = (0..rows).flat_map(|row| vec![f32::from(row); columns]).collect();

    let matrix = device.upload(&host)?;
    let sums = device.zeroed::<f32>(rows.into())?;
    // Refuses a grid that cannot be resident, because it would hang.
    let geometry = cooperative::<normalise>(device, Blocks::Exactly(rows.into()), 128, 0)?;
    let barrier = barrier_words::<GridBarrier>(device, &geometry)?;
    // SAFETY: as many sums as blocks, barrier words of 0, and a resident geometry.
    unsafe {
        device.launch::<normalise>(&geometry, (&matrix, &sums, &barrier))?;
    }

    let result = matrix.download()?;
    let greatest = sums.download()?.into_iter().fold(0.0, f32::max);
    assert_eq!(greatest, 5000.0);
    assert_eq!(result.last(), Some(&(5.0 / greatest)));
    Ok(())
}
