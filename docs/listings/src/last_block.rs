//! A sum in one launch: the block that arrives last adds up the numbers of all blocks.

use cuda_std::launch::Kernel;
use cuda_std::prelude::*;
use gridsync::check::{Check, Wrong};
use gridsync::device::{Device, Geometry};

/// Each block writes a number. The block that arrives last adds them up. Wrong: the counter orders nothing.
///
/// # Safety
///
/// `of_blocks` has an element for each block. `arrived` and `total` have one, which is 0.
#[kernel]
unsafe fn sum_wrong(of_blocks: Global<u32>, arrived: Global<u32>, total: Global<u32>) {
    let block = thread::block_index();
    of_blocks.write(block, 10 * (block as u32 + 1));
    let before = arrived.fetch_add(0, 1, Ordering::Relaxed, Scope::Device);
    if before as usize == thread::block_count() - 1 {
        total.write(0, (0..of_blocks.len()).map(|i| of_blocks.read(i)).sum());
    }
}

/// Each block writes a number. The block that arrives last adds them up.
///
/// # Safety
///
/// `of_blocks` has an element for each block. `arrived` and `total` have one, which is 0.
#[kernel]
unsafe fn sum(of_blocks: Global<u32>, arrived: Global<u32>, total: Global<u32>) {
    let block = thread::block_index();
    of_blocks.write(block, 10 * (block as u32 + 1));
    let before = arrived.fetch_add(0, 1, Ordering::AcqRel, Scope::Device);
    if before as usize == thread::block_count() - 1 {
        total.write(0, (0..of_blocks.len()).map(|i| of_blocks.read(i)).sum());
    }
}

fn adds_up<K: Kernel<Args = (Global<u32>, Global<u32>, Global<u32>)>>(
    device: &Device,
) -> Result<(), Wrong> {
    let of_blocks = device.zeroed::<u32>(3)?;
    let (arrived, total) = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(1)?);
    let args = (&of_blocks, &arrived, &total);
    // SAFETY: an element for each of three blocks, and two words of 0.
    unsafe { device.launch::<K>(&Geometry::new(3, 1), args)? };
    match total.download()?[0] {
        60 => Ok(()),
        other => Err(format!("the sum is {other}, not 60").into()),
    }
}

#[test]
fn the_sum_is_right_under_two_hundred_schedules() {
    let checked = Check::default().run(adds_up::<sum>);
    checked.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn a_relaxed_counter_publishes_nothing() {
    let failure = Check::default().run(adds_up::<sum_wrong>).expect_err("a relaxed counter");
    crate::output::is("relaxed_counter.txt", &failure.to_string());
}

#[test]
fn each_order_of_the_sum_is_needed() {
    let weaker = Check::default().weaken(adds_up::<sum>).expect("it is right as it is written");
    assert!(!weaker.is_empty());
    for form in weaker {
        assert!(form.caught.is_some(), "{form}");
    }
}

#[test]
fn every_execution_of_three_blocks_gives_the_sum() {
    let every = Check::default().every(100_000, adds_up::<sum>).expect("no execution is wrong");
    assert!(every.exhausted);
}
