//! Grid barriers that are wrong, in the harness of the one that is right.

use super::kernels;
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::{DeviceError, Geometry};
use gridsync::launch::{Blocks, cooperative};
use gridsync_tests::devices::{emulator, emulator_under, schedules};
use simt::{Fault, Schedule};

/// What a run of rounds over a barrier came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Held,
    Stale(u32),
    Deadlock,
}

/// Crosses the barrier of `K` again and again under `schedule`.
fn rounds<K>(schedule: Schedule) -> Outcome
where
    K: Kernel<Args = (Global<u32>, Global<u32>, Global<u32>, u32)>,
{
    let device = emulator_under(schedule);
    let geometry =
        cooperative::<K>(&device, Blocks::Exactly(3), 64, 0).expect("three blocks should fit");
    let word = device.zeroed::<u32>(1).expect("a word should fit");
    let cells = device.zeroed::<u32>(3 * 64).expect("the cells should fit");
    let errors = device.zeroed::<u32>(1).expect("a counter should fit");
    let args = (word.view(), cells.view(), errors.view(), 12);
    // SAFETY: a word of 0, a cell for each thread, a counter of 0; they outlive the launch, which
    // the emulator ends before it returns.
    match unsafe { device.launch::<K>(&geometry, args) } {
        Ok(()) => match errors.download().expect("the counter should be there")[0] {
            0 => Outcome::Held,
            stale => Outcome::Stale(stale),
        },
        Err(DeviceError::Fault(fault)) => match *fault {
            Fault::Deadlock(_) => Outcome::Deadlock,
            fault => panic!("{schedule:?}: {fault}"),
        },
        Err(error) => panic!("{schedule:?}: {error}"),
    }
}

/// The outcomes under all schedules.
fn outcomes<K>() -> Vec<Outcome>
where
    K: Kernel<Args = (Global<u32>, Global<u32>, Global<u32>, u32)>,
{
    schedules().into_iter().map(rounds::<K>).collect()
}

#[test]
fn the_right_barrier_holds_in_the_same_harness() {
    let outcomes = outcomes::<kernels::phase_barrier>();
    assert!(outcomes.iter().all(|o| *o == Outcome::Held), "{outcomes:?}");
}

#[test]
fn a_block_that_arrives_before_its_threads_is_caught() {
    let outcomes = outcomes::<kernels::arrives_too_early>();
    assert!(
        outcomes.iter().any(|o| matches!(o, Outcome::Stale(_))),
        "{outcomes:?}"
    );
}

#[test]
fn threads_that_leave_before_the_grid_has_arrived_are_caught() {
    let outcomes = outcomes::<kernels::leaves_too_early>();
    assert!(
        outcomes.iter().any(|o| matches!(o, Outcome::Stale(_))),
        "{outcomes:?}"
    );
}

#[test]
fn the_seeds_barrier_used_back_to_back_is_caught_as_a_deadlock() {
    let outcomes = outcomes::<kernels::wraps_to_zero>();
    assert!(outcomes.contains(&Outcome::Deadlock), "{outcomes:?}");
}

#[test]
fn a_barrier_that_is_reset_under_its_waiters_is_caught_as_a_deadlock() {
    // In lockstep every waiter looks between the last arrival and the reset: there it holds.
    let outcomes = outcomes::<kernels::resets_when_full>();
    assert!(outcomes.contains(&Outcome::Deadlock), "{outcomes:?}");
}

#[test]
fn blocks_that_cannot_start_before_others_end_are_caught_as_a_deadlock() {
    let device = emulator();
    let resident = cooperative::<kernels::phase_barrier>(&device, Blocks::Fill, 64, 0)
        .expect("as many as fit should fit")
        .grid
        .x;
    let word = device.zeroed::<u32>(1).expect("a word should fit");
    let launch = |blocks| {
        // SAFETY: a word of 0, or of a phase that a whole launch has left; the emulator ends the
        // launch before it returns.
        unsafe {
            device.launch::<kernels::hides_its_grid_barrier>(
                &Geometry::new(blocks, 64),
                (word.view(),),
            )
        }
    };
    launch(resident).expect("a grid that fits should end");
    let Err(DeviceError::Fault(fault)) = launch(resident + 5) else {
        panic!("a grid that does not fit should be stopped");
    };
    let Fault::Deadlock(deadlock) = *fault else {
        panic!("{fault}");
    };
    assert_eq!(deadlock.never_started, 5);
    assert_eq!(deadlock.live_blocks, u64::from(resident));
}
