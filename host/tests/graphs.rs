//! Graphs: in the emulator, which runs them, and on the fake driver, which logs them.

mod fake_driver;

use cuda_std::prelude::*;
use fake_driver::{GOOD, kernel, launch, log_of, open};
use gridsync::device::{
    Buffer, Device, DeviceError, Emulator, EmulatorConfig, Geometry, Launch, Ordered, Policy,
    Schedule, Way,
};
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync::primitives::{Reducer, Scanner};
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
use gridsync_kernels::op::Sum;
use gridsync_lab_kernels::barrier::barrier_rounds;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::scope;

/// # Safety
/// `values` has an element for each thread.
#[kernel]
unsafe fn times_and_plus(values: Global<u64>, factor: u8, summand: u64) {
    let i = thread::index();
    values.write(i, values.read(i) * u64::from(factor) + summand);
}

/// # Safety
///
/// Always safe: it writes past its buffer, and the emulator reports the write.
#[kernel]
unsafe fn writes_past_the_end(values: Global<u64>) {
    values.write(values.len(), 1);
}

fn emulator() -> Device {
    Device::new(Emulator::new(EmulatorConfig::default()))
}

/// The emulator, and the fake CUDA device.
fn devices() -> [Device; 2] {
    [emulator(), open(GOOD)]
}

const WARP: fn() -> Geometry = || Geometry::new(1, 32);

fn push(
    device: &Device,
    values: &Buffer<u64>,
    factor: u8,
    summand: u64,
) -> Result<(), DeviceError> {
    let args = (values.view(), factor, summand);
    // SAFETY: `values` has 32 elements and outlives the graphs that record this launch.
    unsafe { device.launch::<times_and_plus>(&WARP(), args) }
}

#[test]
fn a_graph_runs_only_when_launched_in_order_with_the_arguments_of_its_recording() {
    let device = emulator();
    let mut values = device.upload(&[1u64; 32]).expect("256 bytes fit");
    let graph = device
        .record(|| {
            push(&device, &values, 10, 1 << 40)?;
            push(&device, &values, 3, 7)
        })
        .expect("launches can be recorded");
    assert_eq!(values.download(), Ok(vec![1; 32]), "nothing has run");
    let once = |value: u64| (10 * value + (1 << 40)) * 3 + 7;
    for start in [1, 5] {
        values.copy_from(&[start; 32]).expect("the lengths match");
        // SAFETY: `values` is alive.
        unsafe { graph.launch().and_then(|()| graph.launch()) }.expect("should run");
        assert_eq!(values.download(), Ok(vec![once(once(start)); 32]));
    }
}

/// Two unordered launches, and one after both: ((1 · 10 + 3) · 2 + 0) and then · 1 + 7, or the
/// other way round.
fn assembled(device: &Device, values: &Buffer<u64>, way: Way) -> u64 {
    let launch = |factor: u8, summand: u64| {
        Launch::new::<times_and_plus>(WARP(), (values.view(), factor, summand))
    };
    let [one, other, last] = [launch(10, 3), launch(2, 0), launch(1, 7)];
    let ordered = |launch, after: &[usize]| Ordered { launch, after: after.to_vec() };
    let launches = [ordered(&one, &[]), ordered(&other, &[]), ordered(&last, &[0, 1])];
    let graph = device.assemble(&launches, way).expect("they can be put together");
    // SAFETY: `values` has an element for each thread, and is alive.
    unsafe { graph.launch() }.expect("should run");
    values.download().expect("it ran")[31]
}

#[test]
fn launches_run_in_every_possible_order() {
    let mut seen = [0, 0];
    for seed in 0..20 {
        let schedule = Schedule::seeded(Policy::Coarse, seed);
        let config = EmulatorConfig { schedule, ..EmulatorConfig::default() };
        let device = Device::new(Emulator::new(config));
        let values = device.upload(&[1u64; 32]).expect("256 bytes fit");
        match assembled(&device, &values, Way::Streams) {
            33 => seen[0] += 1,
            30 => seen[1] += 1,
            other => panic!("seed {seed}: {other}"),
        }
    }
    assert!(seen.iter().all(|&times| times > 0), "{seen:?}");
}

#[test]
fn zeroing_a_buffer_is_part_of_the_graph() {
    let device = emulator();
    let mut values = device.upload(&[9u64; 32]).expect("256 bytes fit");
    let view = values.view();
    let graph = device
        .record(|| {
            values.zero()?;
            // SAFETY: `values` has an element for each thread.
            unsafe { device.launch::<times_and_plus>(&WARP(), (view, 1, 4)) }
        })
        .expect("a filling can be recorded");
    assert_eq!(values.download(), Ok(vec![9; 32]));
    for _ in 0..3 {
        // SAFETY: `values` is alive.
        unsafe { graph.launch() }.expect("should run");
        assert_eq!(values.download(), Ok(vec![4; 32]));
    }
}

#[test]
fn barrier_words_serve_a_hundred_replays_of_a_cooperative_launch() {
    let device = emulator();
    let zeroed = |len| device.zeroed::<u32>(len).expect("a few words fit");
    let (barrier, cells, errors) = (zeroed(GridBarrier::words(0)), zeroed(4 * 64), zeroed(1));
    let args = (barrier.view(), cells.view(), errors.view(), 1, 3, 0);
    // SAFETY: a cell per thread, one counter, four blocks that fit, and barrier words that the
    // previous launch left between two rounds.
    let graph = device
        .record(|| unsafe { device.launch::<barrier_rounds>(&Geometry::new(4, 64), args) })
        .expect("a cooperative launch can be recorded");
    for _ in 0..100 {
        // SAFETY: the cells, the counter and the barrier words of the recorded launch are alive.
        unsafe { graph.launch() }.expect("should run");
    }
    assert_eq!(errors.download(), Ok(vec![0]));
}

/// Each replay has new input, so a result of an earlier replay is wrong.
#[test]
fn each_replay_reduces_and_scans_the_current_input() {
    // Two tiles and a remainder of a reduction, and of a scan.
    const LEN: usize = 2 * 4096 + 5;
    const SCANNED: usize = 2 * 512 + 5;
    for seed in 1..4 {
        let schedule = Schedule::from_seed(seed);
        let config = EmulatorConfig { schedule, weak_memory: true, ..EmulatorConfig::default() };
        let device = Device::new(Emulator::new(config));
        let mut input = device.zeroed::<u64>(LEN).expect("it fits");
        let mut scanned = device.zeroed::<u64>(SCANNED).expect("it fits");
        let mut output = device.zeroed::<u64>(SCANNED).expect("it fits");
        let op = Sum::<u64>::new();
        let mut sum = Reducer::new(op, &device).expect("it fits");
        let mut scanner = Scanner::new(op, &device, SCANNED).expect("it fits");
        let graph = device
            .record(|| {
                sum.launch(&input)?;
                scanner.launch(&scanned, &mut output, Form::Inclusive)
            })
            .expect("both can be recorded");
        for replay in 1..4 {
            let host: Vec<u64> = (0..LEN as u64).map(|i| i * replay).collect();
            input.copy_from(&host).expect("it is as long");
            scanned.copy_from(&host[..SCANNED]).expect("it is as long");
            // SAFETY: everything that was recorded is alive.
            unsafe { graph.launch() }.expect("should run");
            let what = format!("replay {replay}, seed {seed}");
            assert_eq!(sum.result(), Ok(host.iter().sum()), "{what}");
            let expected = scan_on_cpu(op, &host[..SCANNED], Form::Inclusive);
            assert!(output.download().as_ref() == Ok(&expected), "{what}");
        }
    }
}

#[test]
fn calls_that_cannot_be_recorded_are_refused_and_the_recording_continues() {
    for device in devices() {
        let mut values = device.upload(&[2u64; 32]).expect("256 bytes fit");
        let graph = device.record(|| {
            let refused = [
                values.download().err(),
                values.copy_from(&[0; 32]).err(),
                device.alloc::<u32>(1).err(),
                device.synchronize().err(),
                device.time(|| Ok(())).err(),
                device.record(|| Ok(())).err(),
            ];
            for error in refused {
                assert!(
                    matches!(error, Some(DeviceError::NotRecordable { .. })),
                    "{device:?}: {error:?}"
                );
            }
            push(&device, &values, 2, 1)
        });
        // SAFETY: `values` is alive.
        unsafe { graph.expect("the rest can be recorded").launch() }.expect("should run");
        device.synchronize().expect("should run");
    }
}

#[test]
fn another_thread_is_refused_while_one_records_and_served_afterwards() {
    for device in devices() {
        let values = device.upload(&[2u64; 32]).expect("256 bytes fit");
        let elsewhere = |work: &(dyn Fn() -> Result<(), DeviceError> + Sync)| {
            scope(|scope| scope.spawn(work).join().expect("it does not panic"))
        };
        let launches = || push(&device, &values, 2, 1);
        let records = || device.record(|| Ok(())).map(drop);
        device
            .record(|| {
                for result in [elsewhere(&launches), elsewhere(&records)] {
                    assert!(
                        matches!(result, Err(DeviceError::RecordingElsewhere { .. })),
                        "{device:?}: {result:?}"
                    );
                }
                Ok(())
            })
            .expect("an empty graph is a graph");
        assert_eq!(elsewhere(&launches), Ok(()));
        assert_eq!(elsewhere(&records), Ok(()));
    }
}

#[test]
fn a_recording_that_fails_or_panics_records_nothing_and_can_be_repeated() {
    for device in devices() {
        let values = device.upload(&[1u64; 32]).expect("256 bytes fit");
        let mismatch = DeviceError::LengthMismatch { buffer: 1, given: 2 };
        let failed = device.record(|| {
            push(&device, &values, 2, 0)?;
            Err(mismatch.clone())
        });
        assert_eq!(failed.err(), Some(mismatch), "{device:?}");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            device.record(|| panic!("in the middle of recording"))
        }));
        assert!(panicked.is_err());
        assert_eq!(values.download(), Ok(vec![1; 32]), "{device:?}");
        device.record(|| Ok(())).expect("should record again");
    }
}

#[test]
fn a_buffer_dropped_while_recording_is_freed_afterwards() {
    for device in devices() {
        let mut dropped = Some(device.zeroed::<u64>(32).expect("256 bytes fit"));
        device
            .record(|| {
                drop(dropped.take());
                Ok(())
            })
            .expect("the free is no part of the graph");
        device.synchronize().expect("the stream is in order");
    }
}

#[test]
fn a_grid_that_cannot_be_resident_is_refused_when_recorded() {
    for device in devices() {
        let zeroed = |len| device.zeroed::<u32>(len).expect("a few words fit");
        let (barrier, cells, errors) = (zeroed(GridBarrier::words(0)), zeroed(1), zeroed(1));
        let args = (barrier.view(), cells.view(), errors.view(), 1, 1, 0);
        let geometry = Geometry::new(1 << 20, 32);
        // SAFETY: the launch is refused, so it never runs.
        let refused = device.record(|| unsafe { device.launch::<barrier_rounds>(&geometry, args) });
        let error = refused.expect_err("a million blocks are not resident at once");
        assert!(matches!(error, DeviceError::GridTooLarge { .. }), "{error}");
    }
}

#[test]
fn a_fault_in_a_replay_names_the_kernel() {
    let device = emulator();
    let values = device.zeroed::<u64>(1).expect("8 bytes fit");
    let geometry = Geometry::new(1, 1);
    // SAFETY: in the emulator a write past the end is only an error.
    let graph = device
        .record(|| unsafe { device.launch::<writes_past_the_end>(&geometry, (values.view(),)) })
        .expect("nothing has run");
    // SAFETY: the kernel's buffer is alive. In the emulator a write past its end is only an error.
    let error = unsafe { graph.launch() }.expect_err("it writes past the end");
    assert!(error.to_string().contains("writes_past_the_end"), "{error}");

    let device = open(GOOD);
    let graph = device
        .record(|| {
            launch(&device, &kernel("replay_fault"), WARP())?;
            launch(&device, &kernel("graph_end"), WARP())
        })
        .expect("launches can be recorded");
    device.synchronize().expect("nothing has run");
    // SAFETY: the kernels have no arguments.
    unsafe { graph.launch() }.expect("a fault comes to light later");
    let error = device.synchronize().expect_err("a kernel faulted");
    assert!(matches!(error, DeviceError::Lost { .. }), "{error}");
    let said = "`graph_end` with 1 block of 32 threads, the last kernel of a graph";
    assert!(error.to_string().contains(said), "{error}");
}

#[test]
fn a_graph_is_built_once_and_destroyed_when_dropped() {
    let device = open(GOOD);
    let overlapping = WARP().overlapping();
    let graph = device
        .record(|| launch(&device, &kernel("drawn"), overlapping))
        .expect("an overlapping launch can be recorded");
    for _ in 0..2 {
        // SAFETY: the kernel has no arguments.
        unsafe { graph.launch() }.expect("should run");
    }
    drop(graph);
    assert_eq!(
        log_of("drawn"),
        [
            "load drawn sm_90",
            "find drawn",
            "ex drawn 1,1,1 32,1,1 0 programmatic=1",
            "replay drawn",
            "replay drawn",
            "destroy drawn"
        ]
    );
}
