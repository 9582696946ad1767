//! Compaction in one launch, by a kernel that could continue with the kept elements.
//!
//! The library's `Selector` does the same in a separate launch. The kernel of this example is in
//! kernels/examples/src/compaction.rs.
//!
//! `cargo run --release -p gridsync --example compaction`

mod shared;

use gridsync::device::{Device, DeviceError};
use gridsync::launch::{Blocks, cooperative};
use gridsync::primitives::Selector;
use gridsync_example_kernels::compaction::compact_above;
use gridsync_kernels::grid::barrier::Exchange;
use gridsync_kernels::grid::select::Within;
use shared::{is_gpu, noise, time};

/// Elements above this are kept.
pub(crate) const BOUND: f32 = 0.5;

fn main() -> Result<(), DeviceError> {
    shared::run(|device| {
        let large = is_gpu(device);
        let lengths = if large { [1 << 18, 1 << 22, 1 << 26] } else { [0, 1000, 5003] };
        let blocks = if large { Blocks::PerMultiprocessor(1) } else { Blocks::Exactly(5) };
        let threads = if large { 1024 } else { 64 };
        for len in lengths {
            let input: Vec<f32> = (0..len).map(|i| noise(i) as f32 / 2f32.powi(32)).collect();
            let expected: Vec<f32> = input.iter().copied().filter(|&x| x > BOUND).collect();
            if large {
                println!("{} of {len} elements", expected.len());
            }
            assert_eq!(keep(device, &input, blocks, threads)?, expected);
            assert_eq!(keep_by_selector(device, &input)?, expected);
        }
        Ok(())
    })
}

/// Selects the elements above the bound with the example's kernel.
pub(crate) fn keep(
    device: &Device,
    input: &[f32],
    blocks: Blocks,
    threads: u32,
) -> Result<Vec<f32>, DeviceError> {
    let geometry = cooperative::<compact_above>(device, blocks, threads, 0)?;
    let words = device.zeroed(Exchange::words(geometry.grid.volume() as usize))?;
    let (input, kept) = (device.upload(input)?, device.alloc(input.len())?);
    let count = device.zeroed::<u32>(1)?;
    let args = (input.view(), BOUND, kept.view(), count.view(), words.view());
    let nothing = || Ok(());
    // SAFETY: as much room as there is input, a number, the words of the exchange, whole warps, and
    // a resident grid. All of it lives until the downloads.
    time(device, "compact_above", nothing, || unsafe {
        device.launch::<compact_above>(&geometry, args)
    })?;
    let count = count.download()?[0] as usize;
    kept.download_part(0..count)
}

/// Selects the same elements with the library.
fn keep_by_selector(device: &Device, input: &[f32]) -> Result<Vec<f32>, DeviceError> {
    let mut selector = Selector::new(Within::greater_than(BOUND), device, input.len())?;
    let (input, mut kept) = (device.upload(input)?, device.alloc(input.len())?);
    let mut count = device.zeroed(1)?;
    let nothing = || Ok(());
    time(device, "Selector", nothing, || selector.launch(&input, &mut kept, &mut count))?;
    let count = count.download()?[0] as usize;
    kept.download_part(0..count)
}
