//! Runs of the kernels of the experiments and the examples that no protocol launches: the checks of
//! the conformance tests where those are small, and otherwise one small launch.

use crate::{
    bounded, collectives, device_launch, examples, exchange, fences, finished, limits, memory,
    scan, search, spin, system,
};
use cuda_std::Dim3;
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::{Device, DeviceError, Devices, Emulator, EmulatorConfig, Geometry, Launch};
use gridsync::launch::{Blocks, cooperative_on_all, system_words};
use gridsync_kernels::grid::barrier::SystemBarrier;
use gridsync_lab::dag::{Method, RunError, Runner, Work};
use gridsync_lab::divergence::{Branches, MATH, Setup};
use gridsync_lab::ladder::{Ladder, sums};
use gridsync_lab::locks::field::Field;
use gridsync_lab::locks::{Grid, LOCKS};
use gridsync_lab::memory::bandwidth::{Array, READERS, Shape};
use gridsync_lab::{atomics, banks, launches, threads, xpx};
use gridsync_lab_kernels::barrier as barriers;
use gridsync_lab_kernels::device_launch::order::many;
use gridsync_lab_kernels::divergence::{divergence_warm_up, ways::divergence_ways};
use gridsync_lab_kernels::ladder::sums::kernels::ladder_read_only;
use gridsync_lab_kernels::locks::lockstep::{locks_lockstep, locks_lockstep_cured};
use gridsync_verify::{Crossing, Input, MUTANTS, sample};
use simt::Fault;

/// A run on all GPUs of an emulated machine.
pub(crate) struct Other {
    pub(crate) name: &'static str,
    pub(crate) gpus: u32,
    pub(crate) run: Box<dyn Fn(&Devices) + Send + Sync>,
}

/// A run on one GPU.
pub(crate) fn on_one(name: &'static str, run: fn(&Device)) -> Other {
    Other { name, gpus: 1, run: Box::new(move |devices| run(&devices[0])) }
}

/// A run on two GPUs.
pub(crate) fn on_gpus(name: &'static str, run: fn(&Devices)) -> Other {
    Other { name, gpus: 2, run: Box::new(run) }
}

/// A name, and a run on one GPU.
type OnOne = (&'static str, fn(&Device));

/// The runs.
pub(crate) fn all() -> Vec<Other> {
    let on_one_gpu: [OnOne; 37] = [
        ("bounded", bounded::no_block_is_reported_missing_if_all_arrived),
        ("collectives", |device| collectives::all_results_are_right(device, (2, 64), 2, 0)),
        ("collectives::threads", |device| collectives::threads_are_scanned(device, (2, 64), 2)),
        ("collectives::blocks", |device| collectives::blocks_are_scanned(device, (2, 64), 2)),
        ("collectives::measured", collectives::the_scan_that_is_measured_adds_up),
        ("dag", graphs),
        ("device_launch", device_launch::every_schedule_computes_35),
        ("device_launch::unordered", device_launch::two_streams_run_both_children),
        ("device_launch::ordered", device_launch::an_event_orders_two_streams),
        ("device_launch::tail", device_launch::a_tail_launch_runs_after_all_other_children),
        ("device_launch::many", |device| {
            assert_eq!(device_launch::noted::<many>(device, 3).len(), 3)
        }),
        ("device_launch::streams", device_launch::the_default_stream_of_a_block_keeps_its_order),
        ("device_launch::memory", device_launch::a_child_sees_what_its_parent_wrote),
        ("device_launch::values", device_launch::a_child_gets_arguments_of_every_size),
        ("device_launch::itself", device_launch::a_kernel_launches_itself),
        (
            "device_launch::refused",
            device_launch::a_block_that_is_too_large_is_an_error_and_nothing_runs,
        ),
        ("device_launch::device", device_launch::a_kernel_knows_its_device),
        ("examples", small_examples),
        ("exchange", exchange::the_exchange_and_a_barrier_give_the_same_means),
        ("fences", fences::each_thread_stores_to_its_lines_and_reds_add_to_its_word),
        ("finished", finished::results_of_short_rows_stay_on_the_device),
        ("limits", limits::each_thread_computes_the_right_result),
        ("memory", memory::walks_end_at_the_right_line),
        ("memory::cluster", memory::a_walk_goes_through_the_shared_memory_of_another_block),
        ("memory::repeat", memory::shuffles_and_barriers_run_the_requested_number_of_times),
        ("memory::lines", memory::every_line_is_read_from_every_block),
        ("memory::shared", memory::shared_memory_is_read_the_requested_number_of_times),
        ("memory::readers", readers),
        ("scan::rows", scan::rows::small_matrices_have_the_bits_of_the_cpu),
        ("search", search::small_searches),
        ("spin", spin::the_forms_that_reload_wait_for_every_block),
        ("spin::naive", spin::the_naive_form_passes_a_word_that_is_0_already),
        ("threads", numbers_of_threads),
        ("divergence", divergent_branches),
        ("atomics", atomic_additions),
        ("banks", loads_and_tiles),
        ("read_only", reading_only),
    ];
    let more: [OnOne; 6] = [
        ("barriers", crossings),
        ("mutants", mutants_are_caught),
        ("locks", a_textbook_lock),
        ("lockstep", lanes_in_lockstep),
        ("xpx", rounds_of_xpx),
        ("sums", sums_of_integers),
    ];
    let of_systems = [
        on_gpus("system", crossings_of_all),
        on_gpus("system::means", |devices| {
            let means = system::means(devices, 3, 4);
            assert!(means.iter().all(|mean| mean.to_bits() == means[0].to_bits()), "{means:?}");
        }),
    ];
    let on_one_gpu = on_one_gpu.into_iter().chain(more).map(|(name, run)| on_one(name, run));
    on_one_gpu.chain(of_systems).collect()
}

fn readers(device: &Device) {
    let array = Array::new(device, 1 << 10).expect("there is room");
    for reader in &READERS {
        let read = array.read(reader, Shape { blocks: 2, threads: 33 }, 1, 2);
        read.unwrap_or_else(|error| panic!("{reader:?}: {error}"));
    }
}

fn numbers_of_threads(device: &Device) {
    let found = threads::numbered(device, Dim3::new(5, 3, 4)).expect("it runs");
    assert!(found.wrong().is_none(), "{:?}", found.wrong());
}

/// The short kernels, and the paths as in the source.
fn divergent_branches(device: &Device) {
    for math in MATH {
        let of_ptx = Branches { written: 0, looped: 0 };
        let found = math.find(device, Setup::of(48, 96), of_ptx).expect("it runs");
        assert_eq!(found.wrong, 0, "{}", math.name);
    }
    let warm_up = |device: &Device| {
        let (values, counts) = (device.zeroed::<f32>(64)?, device.zeroed::<u32>(2)?);
        let args = (values.view(), counts.view(), 4, 0);
        // SAFETY: an element for each thread and the counts, alive until the download; the rounds
        // suffice, and the last argument is 0.
        unsafe { device.launch::<divergence_warm_up>(&Geometry::new(1, 64), args) }?;
        values.download()
    };
    let ways = |device: &Device| {
        let (results, cycles) = (device.zeroed::<f32>(64)?, device.zeroed::<u64>(1)?);
        let args = (results.view(), cycles.view(), 32, 0, 3, 0);
        // SAFETY: one block, an element for each thread and one for the cycles, alive until the
        // download; the ways are 32, and the last argument is 0.
        unsafe { device.launch::<divergence_ways>(&Geometry::new(1, 64), args) }?;
        results.download()
    };
    assert_eq!(warm_up(device), warm_up(&source()), "the PTX and the source");
    assert_eq!(ways(device), ways(&source()), "the PTX and the source");
}

/// An emulator that runs the source, even if the process has other kernels by default.
fn source() -> Device {
    Device::new(Emulator::new(EmulatorConfig { ptx: None, ..EmulatorConfig::default() }))
}

fn atomic_additions(device: &Device) {
    for cost in atomics::costs(device, (2, 32), None, || {}).expect("it runs") {
        assert!(cost.right, "{cost:?}");
    }
}

fn loads_and_tiles(device: &Device) {
    for width in &banks::WIDTHS {
        assert!(banks::load(None, device, width, 3).expect("it runs").right, "{}", width.bytes);
    }
    for layout in banks::LAYOUTS {
        assert!(banks::transpose(None, device, layout).expect("it runs").right, "{layout:?}");
    }
}

/// Every element is read, and nothing written: a write would be outside of the output.
fn reading_only(device: &Device) {
    let (input, never) =
        (device.zeroed::<u32>(999).expect("room"), device.zeroed(0).expect("room"));
    // SAFETY: both buffers outlive the wait.
    unsafe {
        device.launch::<ladder_read_only>(&Geometry::new(3, 256), (input.view(), never.view()))
    }
    .and_then(|()| device.synchronize())
    .expect("it runs");
}

/// The sums of u32, whose kernels no protocol launches.
fn sums_of_integers(device: &Device) {
    let input = sample::<u32>(Input::Values, 700, 7);
    for rung in <sums::Climb<u32> as Ladder>::rungs() {
        let input = &input[..rung.at_most.min(input.len())];
        let mut ladder = sums::Climb::<u32>::new(device, input).expect("there is room");
        let fault =
            ladder.plan(&rung, input.len()).and_then(|plan| ladder.fault(&rung, input, &plan));
        match fault {
            Err(DeviceError::UnknownKernel { .. }) if device.properties().compute < 90 => {}
            fault => assert_eq!(fault, Ok(None), "{}", rung.name),
        }
    }
}

/// Every design, crossed without a check, as the benchmarks do.
fn crossings(device: &Device) {
    fn cross<K: Kernel<Args = (Global<u32>, u32)>>(device: &Device) {
        let geometry = Geometry::new(3, 33).cooperative();
        // More words than any design has.
        let words = device.zeroed::<u32>(4096).expect("there is room");
        // SAFETY: the words of the barrier are 0 and outlive the wait. All three blocks are
        // resident.
        unsafe { device.launch::<K>(&geometry, (words.view(), 3)) }
            .and_then(|()| device.synchronize())
            .unwrap_or_else(|error| panic!("{}: {error}", K::NAME));
    }
    cross::<barriers::barrier_only>(device);
    cross::<barriers::split_barrier_only>(device);
    cross::<barriers::split_4_barrier_only>(device);
    cross::<barriers::late_barrier_only>(device);
    cross::<barriers::phase_barrier_only>(device);
    cross::<barriers::flip_barrier_only>(device);
    cross::<barriers::growing_barrier_only>(device);
    cross::<barriers::growing_volatile_barrier_only>(device);
    cross::<barriers::growing_ptx_barrier_only>(device);
    cross::<barriers::generation_barrier_only>(device);
    cross::<barriers::lock_free_barrier_only>(device);
    cross::<barriers::release_barrier_only>(device);
    cross::<barriers::tree_barrier_only>(device);
    if device.properties().cluster {
        let geometry = Geometry::new(4, 33).cooperative().clusters_of(2);
        let words = device.zeroed::<u32>(4096).expect("there is room");
        // SAFETY: as above.
        unsafe { device.launch::<barriers::cluster_barrier_only>(&geometry, (words.view(), 3)) }
            .and_then(|()| device.synchronize())
            .expect("it runs");
    }
}

/// Each wrong barrier of the lab fails under one of the first schedules, as its source does.
fn mutants_are_caught(device: &Device) {
    let ptx = super::kernels(device.properties().compute);
    for mutant in MUTANTS {
        let is_caught = |seed| {
            let config = EmulatorConfig { ptx: Some(ptx), ..EmulatorConfig::checking(seed) };
            let device = Device::new(Emulator::new(EmulatorConfig { weak_memory: true, ..config }));
            let crossing = Crossing { rounds: 4, ..Crossing::of(Blocks::Exactly(3), 33) };
            mutant.case(&device, &crossing).is_err()
        };
        assert!((0..40).any(is_caught), "{}", mutant.name);
    }
}

/// The barrier of all GPUs, crossed without a check.
fn crossings_of_all(devices: &Devices) {
    type Only = barriers::system_barrier_only;
    let geometry = cooperative_on_all::<Only>(devices, Blocks::Exactly(2), 33, 0);
    let geometry = geometry.expect("it fits");
    let words = system_words::<SystemBarrier>(devices, 2).expect("there is room");
    let of_gpu = |gpu: usize| Launch::new::<Only>(geometry, (words[gpu].view(), 3));
    let launches: Vec<Launch> = (0..devices.len()).map(of_gpu).collect();
    // SAFETY: the barrier's words of each GPU outlive the wait, and all blocks are resident.
    unsafe { devices.launch(&launches) }.and_then(|()| devices.synchronize()).expect("it runs");
}

/// The lock that no protocol has.
fn a_textbook_lock(device: &Device) {
    for tried in LOCKS {
        let grid = Grid { blocks: 2, threads: 2 };
        let field = Field::new(device, tried, grid, u64::MAX).expect("there is room");
        let (counted, pushed) = (field.count(8).expect("it runs"), field.push(2).expect("it runs"));
        assert_eq!(counted.wrong().or(pushed.wrong()), None, "{}", tried.name);
    }
}

/// A lock whose owner waits for the lanes of its warp is a deadlock, and the cured one is not.
fn lanes_in_lockstep(device: &Device) {
    let warp = Geometry::new(1, 32);
    let lock = device.zeroed::<u32>(1).expect("there is room");
    let counter = device.zeroed::<u32>(1).expect("there is room");
    let args = (lock.view(), counter.view());
    // SAFETY: a full warp, and a word each for the lock and the counter, both 0, alive until the
    // download.
    unsafe { device.launch::<locks_lockstep_cured>(&warp, args) }.expect("it runs");
    assert_eq!(counter.download().expect("it ran"), [32]);
    // SAFETY: as above. The lock is free again.
    let stuck = unsafe { device.launch::<locks_lockstep>(&warp, args) };
    let stuck = stuck.and_then(|()| device.synchronize());
    assert!(
        matches!(&stuck, Err(DeviceError::Fault(fault)) if matches!(**fault, Fault::Deadlock { .. })),
        "{stuck:?}"
    );
}

/// Rounds of X→P→X by every form, and the forms without a grid barrier where they need none.
fn rounds_of_xpx(device: &Device) {
    let setup = xpx::Setup { elements: 100, blocks: 3, threads: 33 };
    for form in launches::Form::ALL {
        match launches::Job::new(device, form, &setup, 2).and_then(|mut job| job.check()) {
            Err(DeviceError::UnknownKernel { .. } | DeviceError::Unsupported { .. })
                if device.properties().compute < 90 => {}
            wrong => assert_eq!(wrong, Ok(None), "{form:?}"),
        }
    }
    for form in xpx::Form::ALL {
        let setup = xpx::Setup { elements: 7, blocks: 1, threads: 1 };
        assert_eq!(xpx::run(device, form, &setup, 0), Ok(None), "{form:?}");
    }
}

fn graphs(device: &Device) {
    let in_memory = Work { elements: 100, threads: 64, ..Work::diamond() };
    for (work, timed) in [(Work::diamond(), false), (in_memory, false), (Work::diamond(), true)] {
        for method in Method::ALL {
            let mut runner = Runner::new(device, &work, timed).expect("a graph that fits");
            runner.clear().expect("the arrays can be cleared");
            let ready = match runner.ready(method, 2) {
                // 7.5 has no kernels that overlap.
                Err(RunError::Device(DeviceError::UnknownKernel { .. }))
                    if device.properties().compute < 90 =>
                {
                    continue;
                }
                ready => ready.unwrap_or_else(|error| panic!("{}: {error}", method.name())),
            };
            ready.launch().and_then(|()| device.synchronize()).expect("it runs");
            assert_eq!(ready.refused(), Ok(None), "{}", method.name());
            assert_eq!(runner.wrong(), Ok(None), "{}", method.name());
        }
    }
}

fn small_examples(device: &Device) {
    let shape = (3, 32);
    examples::solves(device, (9, 21), 2, shape);
    examples::searches(device, &examples::bfs::Graph::random(60), shape);
    examples::descends(device, 9, shape.0, shape.1);
    examples::sorts(device, &examples::mixed(333), shape);
    examples::keeps(device, 333, shape);
}
