//! A sum of all threads of the grid, in every block, in one crossing.

use cuda_std::prelude::*;
use gridsync::check::{Check, Wrong};
use gridsync::device::Device;
use gridsync::launch::{Blocks, cooperative};
use gridsync_kernels::block;
use gridsync_kernels::grid::barrier::Exchange;
use gridsync_kernels::op::Sum;

/// Divides each number by the sum of all.
///
/// # Safety
///
/// `words` has the words of an [`Exchange`], which were 0 before its first use. Blocks have a multiple of 32
/// threads, and all are resident.
#[kernel(cooperative)]
unsafe fn shares(values: Global<f32>, words: Global<u64>) {
    let mut exchange = Exchange::attach(words);
    let mine = (thread::index()..values.len()).step_by(thread::thread_count());
    let sum = mine.clone().map(|i| values.read(i)).sum();
    let of_block = block::reduce(Sum::<f32>::new(), sum);
    let of_grid = exchange.all_reduce(Sum::<f32>::new(), of_block);
    for i in mine {
        values.write(i, values.read(i) / of_grid);
    }
}

fn shares_add_up(device: &Device) -> Result<(), Wrong> {
    let geometry = cooperative::<shares>(device, Blocks::Exactly(4), 64, 0)?;
    let values = device.upload(&[1.0f32; 1000])?;
    let words = device.zeroed::<u64>(Exchange::words(4))?;
    // SAFETY: the words of an exchange of four blocks, whole warps, a resident grid. Both live until the download.
    unsafe { device.launch::<shares>(&geometry, (values.view(), words.view()))? };
    let found = values.download()?;
    if found == [0.001; 1000] { Ok(()) } else { Err(format!("shares {found:?}").into()) }
}

#[test]
fn every_block_gets_the_sum_of_the_grid() {
    let checked = Check::default().run(shares_add_up);
    checked.unwrap_or_else(|failure| panic!("{failure}"));
}
