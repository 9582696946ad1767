//! Waiting for a word. `gridsync_lab::spin` checks the PTX of the naive form. Here that
//! form never has to wait on a GPU, because it would wait forever.

use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::{Device, DeviceError};
use gridsync::launch::{Blocks, cooperative};
use gridsync_lab_kernels::spin::{spin_acquire, spin_asm, spin_naive, spin_volatile};
use gridsync_tests::devices::{emulator_under, schedules, unjudged_under};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::{Fault, Policy, Schedule};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            in_the_emulator_every_form_ends_under_every_schedule,
            in_the_emulator_the_naive_form_is_a_race_under_every_schedule,
            in_the_emulator_a_word_that_is_never_counted_down_is_a_deadlock;
        on_each_backend:
            the_forms_that_reload_wait_for_every_block,
            the_naive_form_passes_a_word_that_is_0_already;
    }
}

/// Runs `K` in `blocks` blocks on a word that starts at `count`. Returns the final value of the
/// word, and the number of blocks that finished waiting.
fn wait<K>(device: &Device, blocks: u32, count: u32) -> Result<(u32, u32), DeviceError>
where
    K: Kernel<Args = (Global<u32>, Global<u32>)>,
{
    let word = device.upload(&[count])?;
    let done = device.zeroed::<u32>(blocks as usize)?;
    let geometry = cooperative::<K>(device, Blocks::Exactly(blocks), 1, 0)?;
    // SAFETY: a word to count down and one for each block live until the downloads have waited for
    // the launch. All blocks are resident. Only the emulator, which stops an endless wait, gets a
    // `count` other than the number of the other blocks.
    unsafe { device.launch::<K>(&geometry, (word.view(), done.view()))? };
    Ok((word.download()?[0], done.download()?.iter().sum()))
}

fn waits_for_all<K>(device: &Device)
where
    K: Kernel<Args = (Global<u32>, Global<u32>)>,
{
    for blocks in [1, 2, 3, 8] {
        let (left, done) = wait::<K>(device, blocks, blocks - 1)
            .unwrap_or_else(|error| panic!("{}, {blocks} blocks: {error}", K::NAME));
        assert_eq!((left, done), (0, blocks), "{}, {blocks} blocks", K::NAME);
    }
}

pub(super) fn the_forms_that_reload_wait_for_every_block(device: &Device) {
    waits_for_all::<spin_volatile>(device);
    waits_for_all::<spin_asm>(device);
    waits_for_all::<spin_acquire>(device);
}

pub(super) fn the_naive_form_passes_a_word_that_is_0_already(device: &Device) {
    let (left, done) = wait::<spin_naive>(device, 1, 0).expect("there is nothing to wait for");
    assert_eq!((left, done), (0, 1));
}

fn in_the_emulator_every_form_ends_under_every_schedule() {
    for schedule in schedules() {
        waits_for_all::<spin_naive>(&unjudged_under(schedule));
        let device = emulator_under(schedule);
        waits_for_all::<spin_volatile>(&device);
        waits_for_all::<spin_asm>(&device);
        waits_for_all::<spin_acquire>(&device);
    }
}

fn in_the_emulator_the_naive_form_is_a_race_under_every_schedule() {
    for schedule in schedules() {
        for blocks in [2, 3, 8] {
            match wait::<spin_naive>(&emulator_under(schedule), blocks, blocks - 1) {
                Err(DeviceError::Fault(fault)) if matches!(*fault, Fault::Race(_)) => {}
                other => panic!("{blocks} blocks under {schedule:?}: {other:?}"),
            }
        }
    }
}

fn in_the_emulator_a_word_that_is_never_counted_down_is_a_deadlock() {
    fn deadlocks<K>()
    where
        K: Kernel<Args = (Global<u32>, Global<u32>)>,
    {
        let device = unjudged_under(Schedule::new(Policy::Coarse));
        match wait::<K>(&device, 2, 2) {
            Err(DeviceError::Fault(fault)) if matches!(*fault, Fault::Deadlock(_)) => {}
            other => panic!("{} should deadlock: {other:?}", K::NAME),
        }
    }
    deadlocks::<spin_naive>();
    deadlocks::<spin_volatile>();
    deadlocks::<spin_asm>();
    deadlocks::<spin_acquire>();
}
