//! Answers to the exercises.

use cuda_std::prelude::*;
use gridsync::check::{Check, Wrong};
use gridsync::device::{Device, Geometry};
use gridsync::launch::{Blocks, cooperative};
use gridsync_kernels::block;
use gridsync_kernels::grid::barrier::Exchange;
use gridsync_kernels::op::Sum;

const THREADS: usize = 64;

shared_array! {
    /// A number of each thread.
    fn of_threads() -> [u32; THREADS];
}

/// Writes the largest number of each block's part, by a tree in shared memory.
///
/// # Safety
///
/// `from` has an element for each thread, `largest` has one for each block. Blocks have 64 threads.
#[kernel]
unsafe fn largest_of_block(from: Global<u32>, largest: Global<u32>) {
    let (numbers, me) = (of_threads(), thread::index_in_block());
    numbers.write(me, from.read(thread::index()));
    let mut active = THREADS / 2;
    while active > 0 {
        // Outside of the `if`: every thread of the block has to reach the barrier.
        thread::sync_threads();
        if me < active {
            numbers.write(me, numbers.read(me).max(numbers.read(me + active)));
        }
        active /= 2;
    }
    if me == 0 {
        largest.write(thread::block_index(), numbers.read(0));
    }
}

/// Counts the numbers above the mean of all.
///
/// # Safety
///
/// `words` has the words of an [`Exchange`], which were 0 before its first use. `count` has one element. Blocks
/// have a multiple of 32 threads, and all are resident.
#[kernel(cooperative)]
unsafe fn above_mean(values: Global<f32>, count: Global<u32>, words: Global<u64>) {
    let mut exchange = Exchange::attach(words);
    let mine = (thread::index()..values.len()).step_by(thread::thread_count());
    let of_thread = mine.clone().map(|i| values.read(i)).sum();
    let of_block = block::reduce(Sum::<f32>::new(), of_thread);
    let mean = exchange.all_reduce(Sum::<f32>::new(), of_block) / values.len() as f32;

    let above = mine.filter(|&i| values.read(i) > mean).count() as u32;
    let all = exchange.scan_threads(Sum::<u32>::new(), above).all;
    if thread::first() {
        count.write(0, all);
    }
}

fn largest(device: &Device) -> Result<(), Wrong> {
    let numbers: Vec<u32> = (0..128).map(|i| i * 37 % 128).collect();
    let (from, largest) = (device.upload(&numbers)?, device.zeroed::<u32>(2)?);
    let args = (from.view(), largest.view());
    // SAFETY: an element for each thread, one for each block. Both live until the download.
    unsafe { device.launch::<largest_of_block>(&Geometry::new(2, 64), args)? };
    let expected: Vec<_> = numbers.chunks(64).map(|part| *part.iter().max().unwrap()).collect();
    let found = largest.download()?;
    if found == expected { Ok(()) } else { Err(format!("{found:?}, not {expected:?}").into()) }
}

fn counts_those_above(device: &Device) -> Result<(), Wrong> {
    let numbers: Vec<f32> = (1..=1000u16).map(f32::from).collect();
    let geometry = cooperative::<above_mean>(device, Blocks::Exactly(3), 64, 0)?;
    let (values, count) = (device.upload(&numbers)?, device.zeroed::<u32>(1)?);
    let words = device.zeroed::<u64>(Exchange::words(3))?;
    let args = (values.view(), count.view(), words.view());
    // SAFETY: one count, the words of an exchange of three blocks, a resident grid. All live until the download.
    unsafe { device.launch::<above_mean>(&geometry, args)? };
    match count.download()?[0] {
        500 => Ok(()),
        other => Err(format!("{other} above the mean, not 500").into()),
    }
}

#[test]
fn the_answers_are_right_under_two_hundred_schedules() {
    for answer in [largest, counts_those_above] {
        let checked = Check::default().run(answer);
        checked.unwrap_or_else(|failure| panic!("{failure}"));
    }
}
