//! The ladder of sums: every rung at every edge, in both types, all in the same memory.

use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::{Device, DeviceError};
use gridsync_lab::ladder::Ladder;
use gridsync_lab::ladder::sums::{Climb, Rung, Step, rungs};
use gridsync_lab_kernels::ladder::sums::kernels::{ladder_read_only, ladder_redux_u32};
use gridsync_tests::devices::{schedules, skipped, unjudged_under, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, sample};
use simt::{LaunchConfig, Memory, Policy, Schedule};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            every_rung_is_right_for_long_arrays_on_cuda,
            reading_only_loads_every_element_once_and_writes_nothing;
        on_each_backend:
            every_rung_is_within_its_bound_for_f32;
        thorough:
            every_rung_is_right_for_longer_arrays_on_the_emulator,
            every_rung_is_right_whatever_the_schedule;
        thorough_on_the_emulator:
            every_rung_is_exact_for_u32;
    }
}

/// Around a warp, the 256 threads of a block, and the 512 and 2048 elements per block.
const SHORT: [usize; 15] = [0, 1, 3, 31, 32, 33, 255, 256, 257, 511, 512, 513, 2047, 2048, 2049];

/// Around the 4096 elements per block and the 65 536 of a two-level pyramid; and 12 345, which is
/// not a multiple of any of these.
const LONG: [usize; 6] = [4095, 4096, 4097, 12_345, 65_536, 65_537];

/// The kernels that every image has.
pub(crate) fn kernels() -> Vec<&'static str> {
    let f32 = rungs::<f32>();
    let u32 = rungs::<u32>();
    let all = f32.iter().map(Rung::kernel).chain(u32.iter().map(Rung::kernel));
    all.filter(|&kernel| kernel != ladder_redux_u32::NAME).chain([ladder_read_only::NAME]).collect()
}

/// For each of `lengths`, sums that many elements of one input with every rung.
fn climb<T: Step>(device: &Device, lengths: &[usize]) {
    let most = lengths.iter().copied().max().unwrap_or(0);
    let input = sample::<T>(Input::Values, most, 7);
    let mut climb = Climb::new(device, &input).expect("the input should fit");
    for rung in rungs::<T>() {
        for len in lengths.iter().map(|&len| len.min(rung.at_most)) {
            let case = || format!("{} of {len}", rung.kernel());
            let geometry = rung.geometry(device, len).and_then(|geometry| {
                climb.launch(&rung, len, &geometry)?;
                Ok(geometry)
            });
            let geometry = match geometry {
                Err(error @ DeviceError::UnknownKernel { .. }) => {
                    skipped(&error.to_string());
                    break;
                }
                other => other.unwrap_or_else(|error| panic!("{}: {error}", case())),
            };
            let sum = climb.sum().unwrap_or_else(|error| panic!("{}: {error}", case()));
            let check = T::check(&input[..len], sum, rung.depth(len, &geometry));
            assert!(check.ok, "{}: {sum:?}, {check:?}", case());
        }
    }
}

fn every_rung_is_within_its_bound_for_f32(device: &Device) {
    climb::<f32>(device, &SHORT);
}

fn every_rung_is_exact_for_u32(device: &Device) {
    climb::<u32>(device, &SHORT);
}

fn every_rung_is_right_for_longer_arrays_on_the_emulator() {
    // Without race checks, which would take too long.
    let device = unjudged_under(Schedule::new(Policy::Coarse));
    climb::<f32>(&device, &[4097, 65_537]);
    climb::<u32>(&device, &[12_345]);
}

fn every_rung_is_right_for_long_arrays_on_cuda() {
    with_cuda(|device| {
        climb::<f32>(device, &LONG);
        climb::<u32>(device, &LONG);
        climb::<f32>(device, &[(1 << 20) + 3, (1 << 25) + 1]);
        climb::<u32>(device, &[(1 << 20) + 3, (1 << 25) + 1]);
    });
}

fn every_rung_is_right_whatever_the_schedule() {
    for schedule in schedules() {
        climb::<u32>(&unjudged_under(schedule), &[4999]);
    }
}

fn reading_only_loads_every_element_once_and_writes_nothing() {
    const LEN: usize = 9999;
    let mut memory = Memory::new(1 << 20);
    let input = memory.alloc(4 * LEN, 256).expect("it fits");
    memory.zero(input, 4 * LEN).expect("it is there");
    let config = LaunchConfig::new(ladder_read_only::NAME, 3, 256);
    // SAFETY: the input has `LEN` elements at a multiple of 16 bytes. The output is empty, so a
    // write would be a fault.
    let stats = simt::launch(&mut memory, &config, &|| unsafe {
        let never = Global::from_address(input, 0);
        ladder_read_only::run((Global::from_address(input, LEN), never));
    });
    let loads = LEN / 4 + LEN % 4;
    assert_eq!(stats.expect("no fault").accesses, loads as u64);
}
