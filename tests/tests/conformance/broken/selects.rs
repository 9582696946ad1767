//! Wrong compactions in shared memory, as a selection could contain: a block packs the odd elements
//! together and writes them out.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, sync_warp, warp_vote_ballot};
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_tests::devices::{emulator, emulator_under, schedules};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::Fault;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            elements_are_packed_if_a_barrier_precedes_the_reads,
            reads_of_elements_without_a_barrier_are_a_data_race;
    }
}

/// Threads of the block: two warps, one element for each thread.
const THREADS: u32 = 64;

shared_array! {
    /// The odd elements, in order.
    fn broken_select_staged() -> [u32; THREADS as usize];
    /// Number of odd elements of each warp.
    fn broken_select_counts() -> [u32; 2];
}

/// Packs the odd elements together, and returns their number.
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn stage(input: Global<u32>) -> usize {
    let (thread, counts) = (thread::thread_idx_x(), broken_select_counts());
    let element = input.read(thread as usize);
    let odd = warp_vote_ballot(FULL_MASK, element % 2 == 1);
    let (warp, lane) = (thread / 32, thread % 32);
    if lane == 0 {
        counts.write(warp as usize, odd.count_ones());
    }
    thread::sync_threads();
    let before = match warp {
        0 => 0,
        _ => counts.read(0),
    };
    if element % 2 == 1 {
        let rank = before + (odd & ((1 << lane) - 1)).count_ones();
        broken_select_staged().write(rank as usize, element);
    }
    (counts.read(0) + counts.read(1)) as usize
}

/// Writes the packed elements to `output`.
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn unload(output: Global<u32>, count: usize) {
    let thread = thread::thread_idx_x() as usize;
    if thread < count {
        output.write(thread, broken_select_staged().read(thread));
    }
}

/// Right: a block barrier separates writing and reading.
///
/// # Safety
/// One block of [`THREADS`] threads; an element of each view for each thread.
#[kernel]
unsafe fn takes_after_the_block_has_met(input: Global<u32>, output: Global<u32>) {
    let count = stage(input);
    thread::sync_threads();
    unload(output, count);
}

/// Wrong: a warp may read an element before the other warp has written it.
///
/// # Safety
/// One block of [`THREADS`] threads; an element of each view for each thread.
#[kernel]
unsafe fn takes_before_the_block_has_met(input: Global<u32>, output: Global<u32>) {
    let count = stage(input);
    sync_warp(FULL_MASK);
    unload(output, count);
}

/// The odd numbers below 2 × [`THREADS`]; the first warp has few of them.
fn odd_numbers<K>(device: &Device) -> Result<Vec<u32>, DeviceError>
where
    K: cuda_std::launch::Kernel<Args = (Global<u32>, Global<u32>)>,
{
    let number = |i| {
        if i < 32 { 32 * i + u32::from(i == 5) } else { 2 * i + 1 }
    };
    let input = device.upload(&(0..THREADS).map(number).collect::<Vec<u32>>())?;
    let output = device.zeroed::<u32>(THREADS as usize)?;
    // SAFETY: an element of each view for each thread. The download waits for the launch.
    unsafe { device.launch::<K>(&Geometry::new(1, THREADS), (input.view(), output.view()))? };
    output.download_part(0..33)
}

fn elements_are_packed_if_a_barrier_precedes_the_reads() {
    let right: Vec<u32> = [161].into_iter().chain((32..64).map(|i| 2 * i + 1)).collect();
    for schedule in schedules() {
        let odd = odd_numbers::<takes_after_the_block_has_met>(&emulator_under(schedule));
        assert_eq!(odd, Ok(right.clone()), "{schedule:?}");
    }
}

fn reads_of_elements_without_a_barrier_are_a_data_race() {
    let caught = odd_numbers::<takes_before_the_block_has_met>(&emulator());
    let Err(DeviceError::Fault(fault)) = caught else {
        panic!("{caught:?}");
    };
    // Alternatively the element was not yet written.
    assert!(matches!(*fault, Fault::Race(_) | Fault::Uninitialised { .. }), "{fault}");
}
