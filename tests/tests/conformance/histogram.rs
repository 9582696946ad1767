//! Histograms: every type × bins × length × backend, and every schedule.

use crate::matrix::{self, each_is_there_once};
use gridsync::device::Device;
use gridsync::primitives::histogram::{Bins, Count, Histogram, histogram};
use gridsync_tests::devices::{emulator, emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::{Budget, Trials};
use gridsync_verify::{Input, Kind, Primitive, Size, kinds, sample};

/// Lengths around the ends of a warp, a pack, a block, and what a block reads at once.
const SHORT: [usize; 14] = [0, 1, 2, 31, 32, 33, 255, 257, 1023, 1025, 4095, 4097, 8191, 40_003];

/// Lengths of many blocks.
const LONG: [usize; 3] = [(1 << 16) - 1, (1 << 20) + 7, (1 << 22) + 1];

/// Numbers of bins around those of each layout: with a column for each lane, with fewer, with one,
/// in half words, in device memory; on a GPU and in the emulator.
const BINS: [usize; 12] = [1, 2, 10, 256, 511, 512, 1000, 4096, 4097, 20_000, 60_000, 200_000];

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test: every_type_of_the_library_is_in_the_matrix;
        on_each_backend:
            one_histogram_counts_arrays_of_every_length,
            narrow_bins_of_f32_are_exact,
            equal_elements_do_not_overflow_half_words,
            counts_of_the_wrong_length_are_refused;
    };
    for kind in kinds(Primitive::Histogram) {
        add_row(&mut trials, kind);
    }
    trials
}

/// Adds the tests of one type.
fn add_row(trials: &mut Trials, kind: &'static Kind) {
    let ty = kind.element;
    for (number, len) in SHORT.into_iter().enumerate() {
        // All types share nearly all code.
        let is_tried = matches!(ty, "f32" | "f64" | "u8") || number % 4 == 1;
        let budget = Budget::thorough_if(!is_tried);
        trials.add(format!("{ty}::on_the_emulator::len_{len}"), budget, move || {
            case(&emulator(), kind, len, number);
        });
    }
    trials.test(format!("{ty}::on_cuda::short"), move || {
        with_cuda(|cuda| {
            for len in SHORT {
                (0..BINS.len()).for_each(|number| case(cuda, kind, len, number));
            }
        });
    });
    for len in LONG {
        trials.test(format!("{ty}::on_cuda::len_{len}"), move || {
            with_cuda(|cuda| (0..BINS.len()).for_each(|number| case(cuda, kind, len, number)));
        });
    }
    let budget = Budget::thorough_if(ty != "f32");
    trials.add(format!("{ty}::under_every_schedule"), budget, move || {
        for (number, schedule) in schedules().into_iter().enumerate() {
            case(&emulator_under(schedule), kind, 77, number);
        }
    });
}

/// Runs the library's case with the number of bins of this number.
fn case(device: &Device, kind: &Kind, len: usize, number: usize) {
    matrix::run(device, kind, Size::Bins(len, BINS[number % BINS.len()]), len + number);
}

/// The counts of `input`, in `counts` of either width.
fn counted<C: Count>(histogram: &mut Histogram<u32>, input: &[u32], device: &Device) -> Vec<u64> {
    let bins = histogram.bins().len();
    let mut counts = device.alloc::<C>(bins).expect("memory");
    let input = device.upload(input).expect("memory");
    histogram.launch(&input, &mut counts).expect("it should launch");
    counts.download().expect("a download").into_iter().map(Into::into).collect()
}

fn one_histogram_counts_arrays_of_every_length(device: &Device) {
    for bins in [100, 9000] {
        let bins = Bins::numbers(0..=bins - 1).expect("bins");
        let mut histogram = Histogram::new(device, bins.clone()).expect("a histogram");
        for len in [300, 50_000, 0, 20_000] {
            let input: Vec<u32> = (0..len).map(|i| i * 7 % 10_000).collect();
            let right = bins.count_on_cpu(&input);
            assert_eq!(counted::<u32>(&mut histogram, &input, device), right, "{len} elements");
            assert_eq!(counted::<u64>(&mut histogram, &input, device), right, "{len} elements");
        }
    }
}

fn narrow_bins_of_f32_are_exact(device: &Device) {
    // In f64, and by their edges.
    for (low, high, bins) in [(0.0, 1.0, 1 << 21), (1000.0, 1000.0625, 500)] {
        let bins = Bins::<f32>::even(low, high, bins).expect("bins");
        let edges = bins.edge_list();
        let near = edges.iter().step_by(31).flat_map(|&edge| {
            let edge = edge as f32;
            [edge, edge.next_down(), edge.next_up()]
        });
        let input: Vec<f32> = near.chain(sample(Input::Values, 100, 1)).collect();
        let numbers: Vec<f64> = input.iter().copied().map(f64::from).collect();
        let right = gridsync::reference::histogram(&edges, &numbers);
        let counts = histogram(&bins, &device.upload(&input).expect("memory"));
        let counts = counts.expect("it should launch").download().expect("a download");
        assert!(counts == right, "{} bins", bins.len());
    }
}

fn equal_elements_do_not_overflow_half_words(device: &Device) {
    // In half words on a GPU and in the emulator; two neighbours, and enough to fill each several
    // times.
    let bins = Bins::numbers(0..=13_999).expect("bins");
    let wide = Bins::numbers(0..=59_999).expect("bins");
    let bins = if device.properties().is_emulated() { bins } else { wide };
    let len = if device.properties().is_emulated() { 400_000 } else { 100_000_000 };
    let input: Vec<u32> = (0..len).map(|i| 6 + u32::from(i % 5 == 0)).collect();
    let mut histogram = Histogram::new(device, bins.clone()).expect("a histogram");
    let counts = counted::<u32>(&mut histogram, &input, device);
    assert_eq!(counts, bins.count_on_cpu(&input));
}

fn counts_of_the_wrong_length_are_refused(device: &Device) {
    let bins = Bins::numbers(0..=9u32).expect("bins");
    let mut histogram = Histogram::new(device, bins).expect("a histogram");
    let mut counts = device.alloc::<u64>(9).expect("memory");
    let input = device.upload(&[1, 2, 3]).expect("memory");
    let error = histogram.launch(&input, &mut counts).expect_err("there are ten bins");
    assert!(error.to_string().contains('9') && error.to_string().contains("10"), "{error}");
}

fn every_type_of_the_library_is_in_the_matrix() {
    each_is_there_once(Primitive::Histogram, &trials(), |name| {
        format!("histogram::{name}::under_every_schedule")
    });
}
