//! Wrong block chains, as a scan could contain: each block adds its element to the sum from the
//! previous block, and passes the new sum on.

use cuda_std::prelude::{Global, Ordering, Scope, kernel, spin, thread};
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_tests::devices::{emulator, emulator_under, schedules};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::{Fault, Policy, Schedule};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            a_chain_of_blocks_ends_if_tiles_are_numbered_by_tickets,
            a_chain_of_blocks_hangs_if_tiles_are_numbered_by_blocks,
            a_value_separate_from_its_flag_is_a_data_race;
    }
}

/// Blocks of the chain. At most 128 are resident at once.
const BLOCKS: u32 = 200;

/// The stamp of a word, above its 32-bit value.
const STAMP: u64 = 1 << 32;

/// Waits for the word before `tile`, then writes its own. A word holds stamp and value together.
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn pass_on(input: Global<u32>, words: Global<u64>, tile: usize) {
    let mut before = STAMP;
    if tile > 0 {
        spin::until(|| {
            before = words.load(tile - 1, Ordering::Relaxed, Scope::Device);
            before >= STAMP
        });
    }
    let sum = before + u64::from(input.read(tile));
    words.store(tile, sum, Ordering::Relaxed, Scope::Device);
}

/// Right: the tile's number comes from a ticket.
///
/// # Safety
/// Blocks of one thread; an element and a word of 0 for each block; a ticket of 0.
#[kernel]
unsafe fn numbers_tiles_by_tickets(input: Global<u32>, words: Global<u64>, ticket: Global<u32>) {
    let tile = ticket.fetch_add(0, 1, Ordering::Relaxed, Scope::Device);
    pass_on(input, words, tile as usize);
}

/// Wrong: the block's number is the tile's number, as if blocks started in order.
///
/// # Safety
/// Blocks of one thread; an element and a word of 0 for each block.
#[kernel]
unsafe fn numbers_tiles_by_blocks(input: Global<u32>, words: Global<u64>, _ticket: Global<u32>) {
    pass_on(input, words, thread::block_index());
}

/// Wrong: the value and its flag are in separate words, without release or acquire.
///
/// # Safety
/// Blocks of one thread; an element and a word of 0 for each block; in `state`, words of 0 for a
/// ticket and for one flag per block.
#[kernel]
unsafe fn sends_value_and_flag_apart(input: Global<u32>, words: Global<u64>, state: Global<u32>) {
    let tile = state.fetch_add(0, 1, Ordering::Relaxed, Scope::Device) as usize;
    let flags = state.part(1, state.len() - 1);
    let mut before = STAMP;
    if tile > 0 {
        spin::until(|| flags.load(tile - 1, Ordering::Relaxed, Scope::Device) == 1);
        before = words.read(tile - 1);
    }
    words.write(tile, before + u64::from(input.read(tile)));
    flags.store(tile, 1, Ordering::Relaxed, Scope::Device);
}

/// The prefix sums of 1 to [`BLOCKS`], computed by a chain of blocks.
fn sums<K>(device: &Device) -> Result<Vec<u64>, DeviceError>
where
    K: cuda_std::launch::Kernel<Args = (Global<u32>, Global<u64>, Global<u32>)>,
{
    let input = device.upload(&(1..=BLOCKS).collect::<Vec<u32>>())?;
    let words = device.zeroed::<u64>(BLOCKS as usize)?;
    let state = device.zeroed::<u32>(1 + BLOCKS as usize)?;
    let args = (input.view(), words.view(), state.view());
    // SAFETY: all words that the kernels need, set to 0. The download waits for the launch.
    unsafe { device.launch::<K>(&Geometry::new(BLOCKS, 1), args)? };
    Ok(words.download()?.into_iter().map(|word| word - STAMP).collect())
}

fn a_chain_of_blocks_ends_if_tiles_are_numbered_by_tickets() {
    let right: Vec<u64> = (1..=u64::from(BLOCKS)).map(|n| n * (n + 1) / 2).collect();
    for schedule in schedules() {
        let sums = sums::<numbers_tiles_by_tickets>(&emulator_under(schedule));
        assert_eq!(sums, Ok(right.clone()), "{schedule:?}");
    }
}

/// Checks that `scan`, which numbers tiles by block, is right if blocks start in order, and hangs
/// under most seeds, which start blocks in another order.
#[track_caller]
pub(super) fn hangs_where_blocks_start_in_another_order<T>(
    scan: impl Fn(&Device) -> Result<T, DeviceError>,
) {
    let in_order = scan(&emulator_under(Schedule::new(Policy::RunAhead)));
    assert!(in_order.is_ok(), "blocks started in order");
    let hangs = |seed: &u64| match scan(&emulator_under(Schedule::from_seed(*seed))) {
        Ok(_) => false,
        Err(DeviceError::Fault(fault)) if matches!(*fault, Fault::Deadlock(_)) => true,
        Err(error) => panic!("seed {seed}: {error}"),
    };
    let hung = (0..16).filter(hangs).count();
    assert!(hung >= 8, "{hung} of 16 seeds");
}

fn a_chain_of_blocks_hangs_if_tiles_are_numbered_by_blocks() {
    hangs_where_blocks_start_in_another_order(sums::<numbers_tiles_by_blocks>);
}

fn a_value_separate_from_its_flag_is_a_data_race() {
    let caught = sums::<sends_value_and_flag_apart>(&emulator());
    let Err(DeviceError::Fault(fault)) = caught else {
        panic!("{caught:?}");
    };
    assert!(matches!(*fault, Fault::Race(_)), "{fault}");
}
