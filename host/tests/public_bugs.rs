//! Bugs of published GPU code, rebuilt in small kernels from their descriptions. Each bug must be
//! found, and its fix must pass.
//!
//! Every kernel runs one thread per block, and is right if `is_right` is 1.

use cuda_std::launch::Kernel;
use cuda_std::prelude::*;
use gridsync::check::{Check, Wrong};
use gridsync::device::{Device, DeviceError, EmulatorConfig, Geometry};
use simt::Fault;

/// Words that all blocks share. After them, starting at [`DATA`], each block has its own word.
const COUNT: usize = 0;
const EPOCH: usize = 1;
const OTHER: usize = 2;
const DATA: usize = 4;

const BLOCKS: u32 = 3;

#[device]
fn me() -> usize {
    thread::block_index()
}

/// The block after this one.
#[device]
fn next() -> usize {
    (me() + 1) % thread::block_count()
}

/// Whether this block is the last to arrive. `before` blocks arrived earlier.
#[device]
fn is_last(before: u32) -> bool {
    before as usize % thread::block_count() + 1 == thread::block_count()
}

#[device]
fn acquired(words: Global<u32>, at: usize) -> u32 {
    words.load(at, Ordering::Acquire, Scope::Device)
}

/// The last block to arrive resets the count that the others wait for, and arrives again before
/// they have read 0 (flashinfer-ai/flashinfer#3610, NVIDIA/cuml#458). Right: the count is never
/// reset.
#[kernel]
unsafe fn reset_by_the_last(words: Global<u32>, is_right: u32) {
    for round in 1..=3 {
        let before = words.fetch_add(COUNT, 1, Ordering::AcqRel, Scope::Device);
        if is_right == 1 {
            spin::until(|| acquired(words, COUNT) >= round * BLOCKS);
        } else if is_last(before) {
            words.store(COUNT, 0, Ordering::Release, Scope::Device);
        } else {
            spin::until(|| acquired(words, COUNT) == 0);
        }
    }
}

/// Blocks arrive with an addition that does not release (NVIDIA/TensorRT-LLM#8612, on Hopper only).
#[kernel]
unsafe fn arrival_without_release(words: Global<u32>, is_right: u32) {
    words.write(DATA + me(), 7);
    let order = if is_right == 1 { Ordering::Release } else { Ordering::Relaxed };
    words.fetch_add(COUNT, 1, order, Scope::Device);
    spin::until(|| acquired(words, COUNT) == BLOCKS);
    words.write(DATA + BLOCKS as usize + me(), words.read(DATA + next()));
}

/// One counter counts both blocks that have taken work and blocks that have arrived
/// (tokenspeed#351).
#[kernel]
unsafe fn one_counter_for_two_protocols(words: Global<u32>, is_right: u32) {
    let tickets = if is_right == 1 { OTHER } else { COUNT };
    words.fetch_add(tickets, 1, Ordering::Relaxed, Scope::Device);
    words.store(DATA + me(), 7, Ordering::Relaxed, Scope::Device);
    words.fetch_add(COUNT, 1, Ordering::Release, Scope::Device);
    spin::until(|| acquired(words, COUNT) >= BLOCKS);
    let seen = words.load(DATA + next(), Ordering::Relaxed, Scope::Device);
    words.write(DATA + BLOCKS as usize + me(), seen);
}

/// The poll is a weak load, which the compiler may execute once and reuse.
#[kernel]
unsafe fn weak_poll(words: Global<u32>, is_right: u32) {
    words.write(DATA + me(), 7);
    words.fetch_add(COUNT, 1, Ordering::Release, Scope::Device);
    if is_right == 1 {
        spin::until(|| acquired(words, COUNT) == BLOCKS);
    } else {
        spin::until(|| words.read(COUNT) == BLOCKS);
    }
    words.write(DATA + BLOCKS as usize + me(), words.read(DATA + next()));
}

/// A block reads the epoch after it has arrived. By then the epoch may have ended
/// (fleet-chiplet-megakernel#6).
#[kernel]
unsafe fn late_snapshot(words: Global<u32>, is_right: u32) {
    let mut epoch = acquired(words, EPOCH);
    let before = words.fetch_add(COUNT, 1, Ordering::AcqRel, Scope::Device);
    if is_right == 0 {
        epoch = acquired(words, EPOCH);
    }
    if is_last(before) {
        words.fetch_add(EPOCH, 1, Ordering::Release, Scope::Device);
    } else {
        spin::until(|| acquired(words, EPOCH) != epoch);
    }
}

/// Blocks wait for the previous block by index, although that block may not have started. Right:
/// they draw a number (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
/// Look-back", 2016).
#[kernel]
unsafe fn order_of_block_indices(words: Global<u32>, is_right: u32) {
    let number = match is_right {
        1 => words.fetch_add(COUNT, 1, Ordering::Relaxed, Scope::Device) as usize,
        _ => me(),
    };
    if number > 0 {
        spin::until(|| acquired(words, DATA + number - 1) == 7);
    }
    words.store(DATA + number, 7, Ordering::Release, Scope::Device);
}

/// Launches `blocks` blocks. At the end, each block's words from index `first` must be 7.
fn run<K>(device: &Device, blocks: u32, first: Option<usize>, is_right: u32) -> Result<(), Wrong>
where
    K: Kernel<Args = (Global<u32>, u32)>,
{
    let words = device.zeroed::<u32>(DATA + 2 * blocks as usize)?;
    // SAFETY: four words, and two per block, which live until the download. All blocks are
    // resident, or wait only for earlier blocks.
    unsafe { device.launch::<K>(&Geometry::new(blocks, 1), (words.view(), is_right)) }?;
    let words = words.download()?;
    let own = first.map_or(&[][..], |first| &words[first..first + blocks as usize]);
    match own.iter().find(|&&word| word != 7) {
        None => Ok(()),
        Some(word) => Err(format!("a block saw {word} in place of 7").into()),
    }
}

/// The error that the check finds in the wrong kernel. The right one must pass.
fn found<K>(check: &Check, blocks: u32, first: Option<usize>) -> Wrong
where
    K: Kernel<Args = (Global<u32>, u32)>,
{
    let right = check.run(|device| run::<K>(device, blocks, first, 1));
    right.unwrap_or_else(|failure| panic!("{}: {failure}", K::NAME));
    let wrong = check.run(|device| run::<K>(device, blocks, first, 0));
    wrong.expect_err(K::NAME).what
}

const SEEN: Option<usize> = Some(DATA + BLOCKS as usize);

#[track_caller]
fn expect_deadlock(what: &Wrong) {
    let Wrong::Device(DeviceError::Fault(fault)) = what else { panic!("{what}") };
    assert!(matches!(**fault, Fault::Deadlock(_)), "{what}");
}

#[track_caller]
fn expect_race_or_stale_word(what: &Wrong) {
    match what {
        Wrong::Result(what) => assert_eq!(what, "a block saw 0 in place of 7"),
        Wrong::Device(DeviceError::Fault(fault)) => {
            assert!(matches!(**fault, Fault::Race(_)), "{what}");
        }
        Wrong::Device(_) => panic!("{what}"),
    }
}

#[test]
fn a_barrier_reset_by_its_last_arriver_hangs_when_reused() {
    expect_deadlock(&found::<reset_by_the_last>(&Check::default(), BLOCKS, None));
}

#[test]
fn an_arrival_without_release_is_found() {
    expect_race_or_stale_word(&found::<arrival_without_release>(&Check::default(), BLOCKS, SEEN));
}

#[test]
fn a_counter_of_two_protocols_lets_a_block_through_too_early() {
    let what = found::<one_counter_for_two_protocols>(&Check::default(), BLOCKS, SEEN);
    assert_eq!(what, "a block saw 0 in place of 7".into());
}

#[test]
fn a_weak_poll_is_found() {
    let what = found::<weak_poll>(&Check::default(), BLOCKS, SEEN);
    match &what {
        Wrong::Device(DeviceError::Fault(fault)) if matches!(**fault, Fault::Deadlock(_)) => {}
        what => expect_race_or_stale_word(what),
    }
}

#[test]
fn an_epoch_that_is_read_too_late_never_ends() {
    expect_deadlock(&found::<late_snapshot>(&Check::default(), BLOCKS, None));
}

#[test]
fn blocks_that_wait_by_their_index_hang_when_not_all_are_resident() {
    // 16 blocks are resident at once.
    let config = EmulatorConfig { multiprocessors: 1, ..EmulatorConfig::default() };
    let check = Check::default().on(config);
    expect_deadlock(&found::<order_of_block_indices>(&check, 40, Some(DATA)));
}

/// Explores all executions on sequential memory: the right kernel must pass, and the wrong one must
/// fail.
fn explored<K>(first: Option<usize>) -> Wrong
where
    K: Kernel<Args = (Global<u32>, u32)>,
{
    let check = Check::default().sequential();
    let right = check.every(100_000, |device| run::<K>(device, BLOCKS, first, 1));
    let right = right.unwrap_or_else(|failure| panic!("{}: {failure}", K::NAME));
    assert!(right.exhausted, "{}: {right}", K::NAME);
    let wrong = check.every(100_000, |device| run::<K>(device, BLOCKS, first, 0));
    wrong.expect_err(K::NAME).what
}

#[test]
fn all_executions_of_three_blocks_have_each_bug_and_no_fix_has_one() {
    expect_deadlock(&explored::<reset_by_the_last>(None));
    expect_race_or_stale_word(&explored::<arrival_without_release>(SEEN));
    let what = explored::<one_counter_for_two_protocols>(SEEN);
    assert_eq!(what, "a block saw 0 in place of 7".into());
    expect_race_or_stale_word(&explored::<weak_poll>(SEEN));
    expect_deadlock(&explored::<late_snapshot>(None));
}
