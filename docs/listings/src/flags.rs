//! Passes a value from block to block, with a flag next to it and with a flag in the same word.

use cuda_std::prelude::*;
use gridsync::check::{Check, Wrong};
use gridsync::device::{Device, Geometry};

/// Element i of `sums` becomes the sum of 1 to i + 1. Each block adds to the sum of the block before it.
///
/// # Safety
///
/// `sums` and `flags` have an element for each block. The flags and `ticket` are 0.
#[kernel]
unsafe fn pass_on(sums: Global<u32>, flags: Global<u32>, ticket: Global<u32>) {
    if thread::is_first_in_block() {
        // Blocks are numbered in the order in which they start.
        let me = ticket.fetch_add(0, 1, Ordering::Relaxed, Scope::Device) as usize;
        let mut sum = me as u32 + 1;
        if me > 0 {
            spin::until(|| flags.load(me - 1, Ordering::Acquire, Scope::Device) == 1);
            sum += sums.read(me - 1);
        }
        sums.write(me, sum);
        flags.store(me, 1, Ordering::Release, Scope::Device);
    }
}

/// Like [`pass_on`], but with the flag in the upper half of the word that has the sum.
///
/// # Safety
///
/// `words` has an element for each block, which is 0, and `ticket` is 0.
#[kernel]
unsafe fn pass_on_in_one_word(words: Global<u64>, ticket: Global<u32>) {
    const READY: u64 = 1 << 32;
    if thread::is_first_in_block() {
        let me = ticket.fetch_add(0, 1, Ordering::Relaxed, Scope::Device) as usize;
        let mut sum = me as u64 + 1;
        if me > 0 {
            let mut word = 0;
            spin::until(|| {
                word = words.load(me - 1, Ordering::Relaxed, Scope::Device);
                word >= READY
            });
            sum += word - READY;
        }
        words.store(me, READY + sum, Ordering::Relaxed, Scope::Device);
    }
}

fn passes_on(device: &Device) -> Result<(), Wrong> {
    let (sums, flags) = (device.zeroed::<u32>(4)?, device.zeroed::<u32>(4)?);
    let ticket = device.zeroed::<u32>(1)?;
    let args = (sums.view(), flags.view(), ticket.view());
    // SAFETY: an element for each of four blocks, and 0 in the flags and the ticket. All live until the download.
    unsafe { device.launch::<pass_on>(&Geometry::new(4, 32), args)? };
    let found = sums.download()?;
    if found == [1, 3, 6, 10] { Ok(()) } else { Err(format!("sums {found:?}").into()) }
}

fn passes_on_in_one_word(device: &Device) -> Result<(), Wrong> {
    let (words, ticket) = (device.zeroed::<u64>(4)?, device.zeroed::<u32>(1)?);
    // SAFETY: an element for each of four blocks, and 0 in all. Both live until the download.
    unsafe {
        let args = (words.view(), ticket.view());
        device.launch::<pass_on_in_one_word>(&Geometry::new(4, 32), args)?;
    };
    let found: Vec<u32> = words.download()?.iter().map(|&word| word as u32).collect();
    if found == [1, 3, 6, 10] { Ok(()) } else { Err(format!("sums {found:?}").into()) }
}

#[test]
fn a_value_is_passed_from_block_to_block() {
    for passes_on in [passes_on, passes_on_in_one_word] {
        let checked = Check::default().run(passes_on);
        checked.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[test]
fn the_flag_needs_its_release_and_its_acquire() {
    let weaker = Check::default().weaken(passes_on).expect("it is right as written");
    for order in ["release store", "acquire load"] {
        let of_order = weaker.iter().filter(|form| form.to_string().contains(order));
        let caught: Vec<bool> = of_order.map(|form| form.caught.is_some()).collect();
        assert!(!caught.is_empty() && caught.iter().all(|&caught| caught), "{order}");
    }
}
