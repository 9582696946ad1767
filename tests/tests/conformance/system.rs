//! The barriers and the exchange over several GPUs, both emulated and real. A single real GPU is
//! used twice.

use gridsync::device::{Device, DeviceError, Devices, EmulatorConfig, Launch, MOST_GPUS};
use gridsync::launch::{Blocks, cooperative_on_all, system_words};
use gridsync_kernels::grid::barrier::{Absent, SystemBarrier, SystemExchange};
use gridsync_lab_kernels::barrier::{system_barrier_only, system_exchange_only};
use gridsync_tests::devices::{emulated_gpus, schedules, with_cuda_gpus};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Absence, Crossing, Outcome, cross_on_all, exchange_on_all, give_up_on_all};
use simt::Schedule;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            the_barrier_holds_under_every_schedule,
            every_schedule_gives_the_right_results_of_the_exchange,
            the_largest_number_of_gpus_crosses,
            blocks_of_fewer_threads_than_gpus_cross,
            one_gpu_alone_crosses,
            the_mean_has_the_same_bits_on_all_gpus,
            the_bounded_barrier_names_gpu_and_blocks,
            a_grid_too_large_is_refused_before_any_launch,
            a_fault_names_its_gpu_and_loses_all,
            the_barrier_holds_on_cuda,
            the_exchange_has_its_results_on_cuda,
            the_bounded_barrier_names_gpu_and_blocks_on_cuda,
            zero_and_too_many_gpus_are_refused;
        thorough:
            the_barrier_holds_in_a_million_crossings_on_cuda;
    }
}

fn seeds(drawn: u64) -> impl Iterator<Item = Schedule> {
    schedules().into_iter().chain((0..drawn).map(Schedule::from_seed))
}

#[track_caller]
fn holds(devices: &Devices, crossing: &Crossing) {
    let outcome = cross_on_all(devices, crossing);
    assert_eq!(outcome, Ok(Outcome::Held), "{} GPUs, {crossing:?}", devices.len());
}

#[track_caller]
fn exchanges(devices: &Devices, grid: (u32, u32), rounds: u32, skew: u32) {
    let done = exchange_on_all(devices, grid, rounds, skew);
    assert_eq!(done, Ok(()), "{} GPUs, {grid:?}, skew {skew}", devices.len());
}

fn the_barrier_holds_under_every_schedule() {
    for schedule in seeds(6) {
        for (gpus, blocks, threads) in [(2, 1, 33), (2, 3, 1), (3, 2, 40)] {
            let crossing = Crossing { rounds: 4, ..Crossing::of(Blocks::Exactly(blocks), threads) };
            holds(&emulated_gpus(gpus, schedule), &crossing);
            holds(&emulated_gpus(gpus, schedule), &Crossing { skew: 300, ..crossing });
        }
    }
}

fn every_schedule_gives_the_right_results_of_the_exchange() {
    // `gridsync emulate system` draws many more seeds.
    for schedule in seeds(6) {
        for (gpus, blocks) in [(2, 1), (2, 3), (3, 2)] {
            exchanges(&emulated_gpus(gpus, schedule), (blocks, 64), 4, 0);
        }
    }
}

fn the_largest_number_of_gpus_crosses() {
    let devices = emulated_gpus(MOST_GPUS as u32, Schedule::default());
    holds(&devices, &Crossing { rounds: 5, ..Crossing::of(Blocks::Exactly(2), 32) });
    exchanges(&devices, (2, 32), 2, 0);
}

fn blocks_of_fewer_threads_than_gpus_cross() {
    for threads in [1, 2, 5, 31] {
        holds(&emulated_gpus(7, Schedule::default()), &Crossing::of(Blocks::Exactly(2), threads));
    }
}

fn one_gpu_alone_crosses() {
    let devices = emulated_gpus(1, Schedule::default());
    holds(&devices, &Crossing::of(Blocks::Exactly(5), 64));
    exchanges(&devices, (5, 64), 4, 100);
}

/// The value of each block of each GPU after `rounds` rounds: means of means, starting with 1/1,
/// 1/2, 1/3…
pub(super) fn means(devices: &Devices, blocks: u32, rounds: u32) -> Vec<f32> {
    let geometry =
        cooperative_on_all::<system_exchange_only>(devices, Blocks::Exactly(blocks), 64, 0);
    let geometry = geometry.expect("it should fit");
    let words = system_words::<SystemExchange>(devices, blocks).expect("there is room");
    let first =
        |gpu: usize| (0..blocks).map(move |block| 1.0 / (gpu as u32 * blocks + block + 1) as f32);
    let means = devices.each(|gpu, device| device.upload(&first(gpu).collect::<Vec<f32>>()));
    let means = means.expect("there is room");
    let of_gpu = |gpu: usize| {
        let args = (words[gpu].view(), means[gpu].view(), devices.len() as u32, rounds);
        Launch::new::<system_exchange_only>(geometry, args)
    };
    let launches: Vec<Launch> = (0..devices.len()).map(of_gpu).collect();
    // SAFETY: the words of the exchange and a number for each block, on each GPU, alive until the wait. Warps are
    // whole, and all blocks are resident.
    unsafe { devices.launch(&launches) }.expect("it should run");
    devices.synchronize().expect("it should end");
    means.iter().flat_map(|means| means.download().expect("they are there")).collect()
}

fn the_mean_has_the_same_bits_on_all_gpus() {
    for (gpus, blocks) in [(1, 7), (2, 5), (3, 11)] {
        let devices = emulated_gpus(gpus, Schedule::default());
        let first = means(&devices, blocks, 9);
        let ranks = gpus * blocks;
        let mean = (1..=ranks).map(|n| 1.0 / f64::from(n)).sum::<f64>() / f64::from(ranks);
        // At most about ten roundings per round, each by half a unit in the last place.
        let error = (f64::from(first[0]) - mean).abs();
        assert!(error < 100.0 * f64::from(f32::EPSILON) * mean, "{gpus} × {blocks}: {error}");
        assert!(first.iter().all(|mean| mean.to_bits() == first[0].to_bits()), "{first:?}");
        assert_eq!(means(&emulated_gpus(gpus, Schedule::from_seed(5)), blocks, 9), first);
    }
}

/// Two of the blocks of the last GPU leave after two rounds.
#[track_caller]
pub(super) fn names_the_absent(devices: &Devices, blocks: u32, limit_ns: u64) {
    let last = devices.len() - 1;
    let absence = Absence {
        grid: (blocks, 64),
        rounds: 9,
        limit_ns,
        absent: (last, blocks - 2),
        leave_after: 2,
    };
    let (crossed, missing) = give_up_on_all(devices, &absence).expect("it ends");
    assert!(crossed.iter().flatten().all(|&rounds| rounds == 2), "{crossed:?}");
    let missing = missing.expect("blocks were missing");
    assert_eq!(missing.round, 3);
    assert_eq!(missing.gpus, [Absent { gpu: last as u32, blocks: vec![blocks - 2, blocks - 1] }]);
    let said = missing.to_string();
    let absent = format!("of GPU {last}, 2 of {blocks} blocks had not arrived: {}", blocks - 2);
    assert!(
        said.starts_with("round 3 of the barrier of all GPUs: block ") && said.contains(&absent),
        "{said}"
    );

    let (crossed, missing) =
        give_up_on_all(devices, &Absence { absent: (last, blocks), ..absence }).expect("it ends");
    assert!(crossed.iter().flatten().all(|&rounds| rounds == 9), "{crossed:?}");
    assert_eq!(missing, None);
}

fn the_bounded_barrier_names_gpu_and_blocks() {
    for schedule in seeds(24) {
        for gpus in 1..4 {
            names_the_absent(&emulated_gpus(gpus, schedule), 3, 50_000_000);
        }
    }
}

fn a_grid_too_large_is_refused_before_any_launch() {
    let devices = emulated_gpus(2, Schedule::default());
    let error = cooperative_on_all::<system_barrier_only>(&devices, Blocks::Exactly(9), 1024, 0);
    let error = error.expect_err("eight fit");
    assert!(matches!(error, DeviceError::OnGpu { gpu: 0, .. }), "{error}");
    let said = error.to_string();
    assert!(
        said.starts_with("GPU 0 (emulator:0): ") && said.contains("at most 8 blocks"),
        "{said}"
    );
    let fill = cooperative_on_all::<system_barrier_only>(&devices, Blocks::Fill, 1024, 0);
    assert_eq!(fill.expect("it fits").grid.x, 8);
}

fn a_fault_names_its_gpu_and_loses_all() {
    let devices = emulated_gpus(2, Schedule::default());
    let geometry = cooperative_on_all::<system_barrier_only>(&devices, Blocks::Exactly(1), 32, 0);
    let geometry = geometry.expect("it fits");
    let words = system_words::<SystemBarrier>(&devices, 1).expect("there is room");
    let short = devices[1].zeroed::<u64>(64).expect("there is room");
    let launches = [words[0].view(), short.view()]
        .map(|words| Launch::new::<system_barrier_only>(geometry, (words, 3)));
    // SAFETY: the emulator checks every access, and the words are alive.
    let error = unsafe { devices.launch(&launches) }.expect_err("the words are too few");
    assert!(error.to_string().contains("GPU 1, block (0, 0, 0)"), "{error}");
    for device in &devices {
        let error = device.zeroed::<u32>(1).expect_err("it is lost");
        assert!(matches!(error, DeviceError::Stopped { .. }), "{error}");
    }
}

/// The grids of one GPU, or of each of several: one block per multiprocessor, and half as many.
fn grids(devices: &Devices) -> [u32; 3] {
    let each = devices[0].properties().multiprocessors / devices.sharing();
    [1, each / 2, each]
}

fn the_barrier_holds_on_cuda() {
    with_cuda_gpus(|devices| {
        for blocks in grids(devices) {
            for (skew, far) in [(0, 0), (3000, 0), (0, 1 << 28)] {
                let crossing = Crossing::of(Blocks::Exactly(blocks), 256);
                let launches = devices.len() as u32 + 1;
                holds(devices, &Crossing { skew, far, launches, rounds: 2000, ..crossing });
            }
        }
    });
}

/// In one of four rounds a GPU is late, drawn by its number.
fn the_barrier_holds_in_a_million_crossings_on_cuda() {
    with_cuda_gpus(|devices| {
        let [_, _, blocks] = grids(devices);
        let crossing = Crossing::of(Blocks::Exactly(blocks), 256);
        holds(devices, &Crossing { skew: 3000, launches: 10, rounds: 50_000, ..crossing });
    });
}

fn the_exchange_has_its_results_on_cuda() {
    with_cuda_gpus(|devices| {
        for blocks in grids(devices) {
            exchanges(devices, (blocks, 256), 300, 0);
            exchanges(devices, (blocks, 64), 300, 3000);
        }
    });
}

fn the_bounded_barrier_names_gpu_and_blocks_on_cuda() {
    with_cuda_gpus(|devices| names_the_absent(devices, 40, 100_000_000));
}

fn zero_and_too_many_gpus_are_refused() {
    for gpus in [0, MOST_GPUS as u32 + 1] {
        let config = EmulatorConfig { gpus, ..EmulatorConfig::default() };
        let error = Devices::emulated(config).expect_err("none, or too many").to_string();
        assert_eq!(error, format!("{gpus} GPUs cannot work together: name 1 to 32"));
    }
    let alone = Device::new(gridsync::device::Emulator::new(EmulatorConfig::default()));
    assert_eq!(Devices::of(&alone).len(), 1);
}
