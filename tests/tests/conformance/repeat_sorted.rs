//! Repeated sorts, selections by rank and histograms: the same bits in every run, on grids of
//! several sizes.

use gridsync::device::{Device, Emulator, EmulatorConfig};
use gridsync::primitives::histogram::{Bins, Histogram};
use gridsync::primitives::rank::{Arranged, Ranker, top_k_on_cpu};
use gridsync::primitives::sort::{Order, Sorter, argsort_on_cpu, sort_on_cpu};
use gridsync_tests::devices::with_cuda;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::Keys;
use simt::Schedule;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            sorted_bits_are_the_same_on_emulated_grids_of_three_sizes,
            sorted_bits_are_the_same_in_a_hundred_runs_on_cuda;
    }
}

/// Elements of three grids on a GPU: in one block, in a few, and in more than are resident.
const LENGTHS: [usize; 3] = [3000, 200_000, 9_000_000];

/// Elements in the emulator, in two tiles of a sort.
const EMULATED: usize = 4500;

/// The results of each primitive, as bits: sorted keys, their indices, the first of them and where
/// they are, and counts.
type Bits = (Vec<u32>, Vec<u32>, Vec<u32>, Vec<u32>, Vec<u32>);

fn bits(keys: Vec<f32>) -> Vec<u32> {
    keys.into_iter().map(f32::to_bits).collect()
}

/// The first elements that are selected.
const K: usize = 50;

fn bins() -> Bins<f32> {
    Bins::even(-100.0, 100.0, 300).expect("bins")
}

fn on_cpu(input: &[f32]) -> Bits {
    let order = Order::DESCENDING;
    let (first, places) = top_k_on_cpu(order, input, K, Arranged::ByRank).expect("as many");
    let counts = bins().count_on_cpu(input).into_iter().map(|count| count as u32).collect();
    let indices = argsort_on_cpu::<f32, u32>(order, input);
    let places = places.into_iter().map(|place| place as u32).collect();
    (bits(sort_on_cpu(order, input)), indices, bits(first), places, counts)
}

/// Repeats every primitive in the same workspaces, and compares each run.
fn repeat(device: &Device, len: usize, runs: usize) {
    let input = Keys::Special.sample::<f32>(len, 11);
    let expected = on_cpu(&input);
    let keys = device.upload(&input).expect("memory");
    let mut sorter = Sorter::<f32>::new(device, len).expect("a sorter");
    let mut ranker = Ranker::<f32>::new(device, len).expect("a ranker");
    let mut histogram = Histogram::new(device, bins()).expect("a histogram");
    let mut sorted = device.alloc::<f32>(len).expect("memory");
    let mut indices = device.alloc::<u32>(len).expect("memory");
    let mut first = device.alloc::<f32>(K).expect("memory");
    let mut places = device.alloc(K).expect("memory");
    let mut counts = device.alloc::<u32>(expected.4.len()).expect("memory");
    for run in 0..runs {
        let order = Order::DESCENDING;
        sorter.launch(order, &keys, &mut sorted).expect("a launch");
        sorter.launch_argsort(order, &keys, &mut indices).expect("a launch");
        let to = (&mut first, &mut places);
        ranker.top_k(order, &keys, Arranged::ByRank, to).expect("a launch");
        histogram.launch(&keys, &mut counts).expect("a launch");
        let places: Vec<_> = places.download().expect("a copy");
        let found: Bits = (
            bits(sorted.download().expect("a copy")),
            indices.download().expect("a copy"),
            bits(first.download().expect("a copy")),
            places.into_iter().map(|place| place as u32).collect(),
            counts.download().expect("a copy"),
        );
        assert!(found == expected, "{len} elements, run {run}");
    }
}

fn sorted_bits_are_the_same_in_a_hundred_runs_on_cuda() {
    with_cuda(|device| {
        for len in LENGTHS {
            repeat(device, len, if len == LENGTHS[2] { 20 } else { 100 });
        }
    });
}

fn sorted_bits_are_the_same_on_emulated_grids_of_three_sizes() {
    // One block at a time, a few, and all.
    for (seed, multiprocessors) in [1, 3, 24].into_iter().enumerate() {
        let schedule = Schedule::from_seed(seed as u64);
        let config = EmulatorConfig { multiprocessors, ..EmulatorConfig::default() };
        repeat(&Device::new(Emulator::new(config)), EMULATED, 2);
        let config = EmulatorConfig { schedule, ..config };
        repeat(&Device::new(Emulator::new(config)), EMULATED, 1);
    }
}
