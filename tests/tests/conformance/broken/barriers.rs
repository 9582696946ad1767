//! Wrong grid barriers, in the same harness as the right ones.

use super::kernels::{hides_its_grid_barrier, resets_when_full};
use gridsync::check::Check;
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync::launch::{Blocks, cooperative, resident_blocks};
use gridsync_tests::devices::{emulator, emulator_under, schedules, unjudged_under, weak_under};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Contender, Crossing, DESIGNS, MUTANTS, Outcome};
use simt::{Fault, Policy, Schedule};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            each_mutant_is_caught_by_every_policy,
            each_mutant_is_caught_by_its_values_unless_it_only_races,
            each_mutant_is_caught_by_its_values_on_weak_memory,
            a_barrier_reset_before_its_waiters_leave_is_caught_as_a_deadlock,
            blocks_that_cannot_start_before_others_end_are_caught_as_a_deadlock;
        thorough:
            every_design_holds_in_the_same_harness,
            every_design_holds_under_thousands_of_schedules_on_weak_memory;
    }
}

/// Mutants with right values in sequentially consistent memory: only the data race reveals the bug.
const RIGHT_BY_VALUE: [&str; 4] =
    ["relaxed arrival", "fence of block scope", "relaxed look", "plain look"];

/// The outcome at a barrier under each schedule, with some late warps, or `None` if the run ended
/// in a data race.
fn outcomes(
    contender: &Contender,
    device: impl Fn(Schedule) -> Device,
) -> Vec<(Schedule, Option<Outcome>)> {
    let crossing =
        Crossing { launches: 1, rounds: 12, skew: 300, ..Crossing::of(Blocks::Exactly(3), 64) };
    let outcome = |schedule| match (contender.cross)(&device(schedule), &crossing) {
        Ok(outcome) => Some(outcome),
        Err(DeviceError::Fault(fault)) if matches!(*fault, Fault::Race(_)) => None,
        Err(error) => panic!("{}, {schedule:?}: {error}", contender.name),
    };
    schedules().into_iter().map(|schedule| (schedule, outcome(schedule))).collect()
}

/// The policies that catch a mutant: the fixed ones, and random turns of any length.
fn caught_by(outcomes: Vec<(Schedule, Option<Outcome>)>) -> Vec<&'static str> {
    let mut names: Vec<_> = outcomes
        .into_iter()
        .filter(|(_, outcome)| *outcome != Some(Outcome::Held))
        .map(|(schedule, _)| match schedule.policy {
            Policy::RoundRobin => "round robin",
            Policy::RunAhead => "run ahead",
            Policy::Reverse => "reverse",
            Policy::Random { .. } => "random",
            Policy::Preempt { .. } => "preempt",
            Policy::Stall => "stall",
            Policy::Coarse => "coarse",
        })
        .collect();
    names.dedup();
    names
}

/// Every policy.
const ALL: [&str; 6] = ["round robin", "run ahead", "reverse", "preempt", "stall", "random"];

fn each_mutant_is_caught_by_every_policy() {
    for mutant in MUTANTS {
        let outcomes = outcomes(mutant, emulator_under);
        assert_eq!(caught_by(outcomes), ALL, "{}", mutant.name);
    }
}

fn each_mutant_is_caught_by_its_values_unless_it_only_races() {
    for mutant in MUTANTS {
        let outcomes = outcomes(mutant, unjudged_under);
        let expected: &[&str] = if RIGHT_BY_VALUE.contains(&mutant.name) { &[] } else { &ALL };
        assert_eq!(caught_by(outcomes), expected, "{}", mutant.name);
    }
}

fn each_mutant_is_caught_by_its_values_on_weak_memory() {
    for mutant in MUTANTS {
        let outcomes = outcomes(mutant, weak_under);
        assert_eq!(caught_by(outcomes), ALL, "{}", mutant.name);
    }
}

fn every_design_holds_in_the_same_harness() {
    for design in DESIGNS {
        let outcomes = [emulator_under, weak_under].map(|device| outcomes(design, device));
        for (schedule, outcome) in outcomes.into_iter().flatten() {
            let held = Some(Outcome::Held);
            assert_eq!(outcome, held, "{}, {schedule:?}", design.name);
        }
    }
}

fn every_design_holds_under_thousands_of_schedules_on_weak_memory() {
    for design in DESIGNS {
        let crossing = Crossing { launches: 1, rounds: 4, ..Crossing::of(Blocks::Exactly(3), 33) };
        let held = Check::default().schedules(6250).run(|device| {
            match (design.cross)(device, &crossing)? {
                Outcome::Held => Ok(()),
                outcome => Err(format!("{outcome:?}").into()),
            }
        });
        held.unwrap_or_else(|failure| panic!("{}: {failure}", design.name));
    }
}

fn a_barrier_reset_before_its_waiters_leave_is_caught_as_a_deadlock() {
    // In lockstep, all waiters read the full count before the reset, so it does not deadlock.
    let deadlocks = schedules().into_iter().filter(|&schedule| {
        let device = emulator_under(schedule);
        let geometry = cooperative::<resets_when_full>(&device, Blocks::Exactly(3), 64, 0)
            .expect("three blocks should fit");
        let word = device.zeroed::<u32>(1).expect("a word should fit");
        // SAFETY: the word is 0, and the emulator ends the launch before it returns.
        match unsafe { device.launch::<resets_when_full>(&geometry, (word.view(), 24)) } {
            Ok(()) => false,
            Err(DeviceError::Fault(fault)) if matches!(*fault, Fault::Deadlock(_)) => true,
            Err(error) => panic!("{schedule:?}: {error}"),
        }
    });
    assert!(deadlocks.count() > 0);
}

fn blocks_that_cannot_start_before_others_end_are_caught_as_a_deadlock() {
    let device = emulator();
    let resident =
        resident_blocks::<hides_its_grid_barrier>(&device, 64, 0).expect("it should be known");
    let word = device.zeroed::<u32>(1).expect("a word should fit");
    let launch = |blocks| {
        // SAFETY: the word is 0, or holds a phase that a complete launch left. The emulator ends
        // the launch before it returns.
        unsafe {
            device.launch::<hides_its_grid_barrier>(&Geometry::new(blocks, 64), (word.view(),))
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
