//! A stable counting sort by four bits of each element, in one launch.
//!
//! The alternative is three launches: count, scan the counts, place. The kernels are in
//! kernels/examples/src/counting_sort.rs.
//!
//! `cargo run --release -p gridsync --example counting_sort`

mod shared;

use gridsync::device::{Device, DeviceError, Geometry};
use gridsync::launch::{Blocks, barrier_words, cooperative};
use gridsync::primitives::Scanner;
use gridsync_example_kernels::counting_sort::{
    BINS, counting_sort, counting_sort_count, counting_sort_place,
};
use gridsync_kernels::grid::barrier::{Exchange, GridBarrier};
use gridsync_kernels::grid::scan::Form;
use gridsync_kernels::op::Sum;
use shared::{is_gpu, noise, time};

/// Elements are sorted by their highest four bits.
pub(crate) const SHIFT: u32 = 28;

fn main() -> Result<(), DeviceError> {
    shared::run(|device| {
        let large = is_gpu(device);
        let lengths = if large { [1 << 16, 1 << 20, 1 << 24] } else { [0, 1000, 5003] };
        let blocks = if large { Blocks::PerMultiprocessor(1) } else { Blocks::Exactly(5) };
        let threads = if large { 512 } else { 64 };
        for len in lengths {
            let input: Vec<u32> = (0..len).map(noise).collect();
            let mut expected = input.clone();
            expected.sort_by_key(|element| element >> SHIFT);
            if large {
                println!("{len} elements");
            }
            assert_eq!(sort(device, &input, blocks, threads)?, expected);
            assert_eq!(sort_by_launches(device, &input, blocks, threads)?, expected);
        }
        Ok(())
    })
}

/// Sorts in one launch.
pub(crate) fn sort(
    device: &Device,
    input: &[u32],
    blocks: Blocks,
    threads: u32,
) -> Result<Vec<u32>, DeviceError> {
    let geometry = cooperative::<counting_sort>(device, blocks, threads, 0)?;
    let blocks = geometry.grid.volume() as usize;
    let barrier = barrier_words::<GridBarrier>(device, &geometry)?;
    let words = device.zeroed(Exchange::words(blocks))?;
    let (input, output) = (device.upload(input)?, device.alloc(input.len())?);
    let array = device.alloc(BINS * blocks)?;
    let (input, words) = (input.view(), (barrier.view(), words.view()));
    let args = (input, SHIFT, array.view(), output.view(), words.0, words.1);
    let nothing = || Ok(());
    // SAFETY: as much room as there is input, 16 counts per block, the words of both, whole warps,
    // and a resident grid. All of it lives until the download.
    time(device, "one launch", nothing, || unsafe {
        device.launch::<counting_sort>(&geometry, args)
    })?;
    output.download()
}

/// Sorts in three launches of the same grid, with the library's scan in the middle.
pub(crate) fn sort_by_launches(
    device: &Device,
    input: &[u32],
    blocks: Blocks,
    threads: u32,
) -> Result<Vec<u32>, DeviceError> {
    let geometry = cooperative::<counting_sort>(device, blocks, threads, 0)?;
    let geometry = Geometry { cooperative: false, ..geometry };
    let (input, output) = (device.upload(input)?, device.alloc(input.len())?);
    let counts = BINS * geometry.grid.volume() as usize;
    let [mut array, spare] = [device.alloc::<u32>(counts)?, device.alloc(counts)?];
    let mut scanner = Scanner::new(Sum::<u32>::new(), device, counts)?;
    let nothing = || Ok(());
    // SAFETY: as much room as there is input, 16 counts per block, twice, and whole warps. All of
    // it lives until the download.
    time(device, "three launches", nothing, || unsafe {
        let args = (input.view(), SHIFT, array.view());
        device.launch::<counting_sort_count>(&geometry, args)?;
        scanner.launch_in_place(&mut array, Form::Exclusive)?;
        let args = (input.view(), SHIFT, array.view(), spare.view(), output.view());
        device.launch::<counting_sort_place>(&geometry, args)
    })?;
    output.download()
}
