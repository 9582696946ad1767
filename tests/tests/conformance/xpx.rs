//! X→P→X: right with a grid barrier; without one, wrong in whole warps or whole blocks.

use gridsync::device::{Device, DeviceError};
use gridsync::launch::{Blocks, barrier_words, cooperative};
use gridsync::reference;
use gridsync_kernels::grid::barrier::GridBarrier;
use gridsync_lab::launches::{self, Job};
use gridsync_lab::xpx::{Form, Setup, Wrong, run};
use gridsync_lab_kernels::xpx::xpx_grid_barrier;
use gridsync_tests::devices::{emulator_under, schedules, unjudged_under};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::{Fault, Lanes, Policy, Schedule};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            after_each_barrier_every_schedule_gives_the_references_bits,
            after_a_grid_barrier_every_schedule_is_right,
            without_a_barrier_whole_warps_are_wrong,
            after_a_block_barrier_whole_blocks_are_wrong,
            one_block_needs_no_grid_barrier_and_one_warp_in_lockstep_needs_none,
            without_a_grid_barrier_there_are_races_under_every_schedule;
        on_each_backend:
            after_a_grid_barrier_every_shape_is_right,
            many_rounds_in_one_launch_equal_the_reference,
            many_launches_and_one_with_each_barrier_give_the_references_bits;
    }
}

/// The demo's default shape, and others: one block, one thread, partial warps, fewer elements than
/// threads, and more elements than threads.
const SETUPS: [(usize, u32, u32); 9] = [
    (128, 2, 64),
    (1, 1, 1),
    (7, 1, 1),
    (33, 1, 32),
    (100, 3, 33),
    (64, 4, 32),
    (300, 2, 64),
    (5, 8, 32),
    (129, 2, 96),
];

fn setup((elements, blocks, threads): (usize, u32, u32)) -> Setup {
    Setup { elements, blocks, threads }
}

fn once(device: &Device, form: Form, setup: &Setup) -> Option<Wrong> {
    run(device, form, setup, 0).unwrap_or_else(|error| panic!("{setup:?}: {error}"))
}

fn after_a_grid_barrier_every_shape_is_right(device: &Device) {
    for shape in SETUPS {
        let wrong = once(device, Form::GridBarrier, &setup(shape));
        assert_eq!(wrong, None, "{shape:?}");
    }
}

fn many_rounds_in_one_launch_equal_the_reference(device: &Device) {
    let start: Vec<f32> = (0..96).map(|j| j as f32 * 0.37 + 1.0).collect();
    let x = device.upload(&start).expect("X should fit");
    let p = device.upload(&[f32::NAN; 96]).expect("P should fit");
    let geometry = cooperative::<xpx_grid_barrier>(device, Blocks::Exactly(3), 32, 0)
        .expect("three blocks should fit");
    let barrier = barrier_words::<GridBarrier>(device, &geometry).expect("the words should fit");
    let args = (x.view(), p.view(), 0, barrier.view(), 20);
    // SAFETY: X and P have the same length, and the barrier's words start at 0. All blocks are
    // resident. The buffers live until the download has waited for the launch.
    unsafe { device.launch::<xpx_grid_barrier>(&geometry, args) }.expect("it should run");
    let got = x.download().expect("X should come back");
    let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&got), bits(&reference::xpx(&start, 20)));
}

fn many_launches_and_one_with_each_barrier_give_the_references_bits(device: &Device) {
    for form in launches::Form::ALL {
        for shape in SETUPS {
            for rounds in [1, 5] {
                let mut job =
                    match Job::new(device, form, &setup(shape), rounds) {
                        // Overlapping needs compute capability 9.0.
                        Err(
                            DeviceError::UnknownKernel { .. } | DeviceError::Unsupported { .. },
                        ) if device.properties().compute < 90 => continue,
                        job => job.unwrap_or_else(|error| panic!("{form:?}, {shape:?}: {error}")),
                    };
                // A job can run again: it leaves the words of its barrier ready for the next run.
                for _ in 0..2 {
                    let wrong = job.check();
                    assert_eq!(wrong, Ok(None), "{form:?}, {shape:?}, {rounds} rounds");
                }
            }
        }
    }
}

fn after_each_barrier_every_schedule_gives_the_references_bits() {
    for schedule in schedules() {
        let device = emulator_under(schedule);
        for form in launches::Form::ALL {
            for shape in [(128, 2, 64), (100, 3, 33)] {
                let job = Job::new(&device, form, &setup(shape), 3);
                let wrong = job.and_then(|mut job| job.check());
                assert_eq!(wrong, Ok(None), "{form:?}, {shape:?} under {schedule:?}");
            }
        }
    }
}

fn after_a_grid_barrier_every_schedule_is_right() {
    for schedule in schedules() {
        let device = emulator_under(schedule);
        for shape in SETUPS {
            let wrong = once(&device, Form::GridBarrier, &setup(shape));
            assert_eq!(wrong, None, "{shape:?} under {schedule:?}");
        }
    }
}

fn without_a_barrier_whole_warps_are_wrong() {
    let device = unjudged_under(Schedule::new(Policy::RunAhead));
    for shape in [(128, 2, 64), (256, 4, 64), (96, 1, 96)] {
        let setup = setup(shape);
        let wrong = once(&device, Form::NoBarrier, &setup)
            .unwrap_or_else(|| panic!("{shape:?} should go wrong"));
        assert!(wrong.whole_warps > 0, "{shape:?}: {wrong:?}");
        assert_eq!(wrong.broken_warps, 0, "{shape:?}: {wrong:?}");
        assert_eq!(wrong.elements, 32 * wrong.whole_warps, "{shape:?}");
        assert_eq!(wrong.first.start % 32, 0, "{shape:?}");
    }
}

fn after_a_block_barrier_whole_blocks_are_wrong() {
    for policy in [Policy::RunAhead, Policy::Reverse] {
        let device = unjudged_under(Schedule::new(policy));
        for shape in [(128, 2, 64), (256, 4, 64)] {
            let wrong = once(&device, Form::BlockBarrier, &setup(shape))
                .unwrap_or_else(|| panic!("{shape:?} should go wrong under {policy:?}"));
            assert!(wrong.whole_blocks > 0, "{shape:?}: {wrong:?}");
            assert_eq!(wrong.broken_blocks, 0, "{shape:?}: {wrong:?}");
            assert_eq!(wrong.elements, 64 * wrong.whole_blocks, "{shape:?}");
        }
    }
}

fn one_block_needs_no_grid_barrier_and_one_warp_in_lockstep_needs_none() {
    for schedule in schedules() {
        let one_block = setup((96, 1, 96));
        assert!(!Form::BlockBarrier.can_fail(&one_block));
        let wrong = once(&emulator_under(schedule), Form::BlockBarrier, &one_block);
        assert_eq!(wrong, None, "under {schedule:?}");
        // This is right only because the lanes run in lockstep here; the memory model does not
        // guarantee it.
        let one_warp = setup((32, 1, 32));
        assert!(!Form::NoBarrier.can_fail(&one_warp));
        let in_step = schedule.with_lanes(Lanes::Together);
        let wrong = once(&unjudged_under(in_step), Form::NoBarrier, &one_warp);
        assert_eq!(wrong, None, "under {in_step:?}");
    }
}

fn without_a_grid_barrier_there_are_races_under_every_schedule() {
    for schedule in schedules() {
        for (form, shape) in [
            (Form::NoBarrier, (128, 2, 64)),
            (Form::NoBarrier, (32, 1, 32)),
            (Form::BlockBarrier, (128, 2, 64)),
            (Form::BlockBarrier, (128, 4, 32)),
        ] {
            match run(&emulator_under(schedule), form, &setup(shape), 0) {
                Err(DeviceError::Fault(fault)) if matches!(*fault, Fault::Race(_)) => {}
                other => panic!("{form:?}, {shape:?} under {schedule:?}: {other:?}"),
            }
        }
    }
}
