//! A transpose through shared memory.

use cuda_std::launch::Kernel;
use cuda_std::prelude::*;
use gridsync::check::{Check, Wrong};
use gridsync::device::{Device, Emulator, EmulatorConfig, Geometry};

/// Rows and columns of a tile.
const SIDE: usize = 32;

/// Words from one row of the padded tile to the next.
const PADDED: usize = SIDE + 1;

shared_array! {
    /// A tile.
    fn plain_tile() -> [u32; SIDE * SIDE];
    /// A tile with an unused word at the end of each row.
    fn padded_tile() -> [u32; SIDE * PADDED];
}

/// Copies a tile of `from` to its mirrored position in `to`, through `tile`.
#[device]
fn through(tile: Shared<u32>, stride: usize, from: Global<u32>, to: Global<u32>, side: usize) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let left = SIDE * thread::block_idx_x() as usize;
    let top = SIDE * thread::block_idx_y() as usize;
    // The 32 threads of a warp have the same y: they read a row.
    tile.write(y * stride + x, from.read((top + y) * side + left + x));
    thread::sync_threads();
    // They also write a row, which was a column of the tile.
    to.write((left + y) * side + top + x, tile.read(x * stride + y));
}

/// Transposes a square matrix. Its tile makes the threads of a warp queue for one bank.
///
/// # Safety
///
/// Both have `side`² elements, and the grid has `side` / 32 blocks of 32 × 32 threads each way.
#[kernel]
unsafe fn transpose_plain(from: Global<u32>, to: Global<u32>, side: u32) {
    through(plain_tile(), SIDE, from, to, side as usize);
}

/// Transposes a square matrix.
///
/// # Safety
///
/// Both have `side`² elements, and the grid has `side` / 32 blocks of 32 × 32 threads each way.
#[kernel]
unsafe fn transpose(from: Global<u32>, to: Global<u32>, side: u32) {
    through(padded_tile(), PADDED, from, to, side as usize);
}

fn transposes<K: Kernel<Args = (Global<u32>, Global<u32>, u32)>>(
    device: &Device,
) -> Result<(), Wrong> {
    let numbers: Vec<u32> = (0..64 * 64).collect();
    let (from, to) = (device.upload(&numbers)?, device.zeroed::<u32>(64 * 64)?);
    // SAFETY: 64² elements in each, and 2 × 2 blocks of 32 × 32 threads. Both live until the download.
    unsafe { device.launch::<K>(&Geometry::new((2, 2), (32, 32)), (from.view(), to.view(), 64))? };
    let found = to.download()?;
    match (0..64 * 64).find(|&i| found[i] != (i % 64 * 64 + i / 64) as u32) {
        None => Ok(()),
        Some(i) => Err(format!("element {i} is {}", found[i]).into()),
    }
}

#[test]
fn a_word_of_padding_removes_all_bank_conflicts() -> Result<(), Wrong> {
    let counting = EmulatorConfig { count: true, ..EmulatorConfig::default() };
    let conflicts = |transposes: fn(&Device) -> Result<(), Wrong>| {
        let device = Device::new(Emulator::new(counting));
        transposes(&device)?;
        let counts = device.emulated().and_then(|stats| stats.counts);
        Ok::<_, Wrong>(counts.expect("this emulator counts").bank_conflicts)
    };
    // Each of 128 warps reads a column: 32 words of one bank need 31 more passes than one.
    assert_eq!(conflicts(transposes::<transpose_plain>)?, 128 * 31);
    assert_eq!(conflicts(transposes::<transpose>)?, 0);
    Ok(())
}

#[test]
fn both_transposes_are_right_under_every_schedule() {
    for transposes in [transposes::<transpose_plain>, transposes::<transpose>] {
        let checked = Check::default().schedules(20).run(transposes);
        checked.unwrap_or_else(|failure| panic!("{failure}"));
    }
}
