//! Arrays that are spread over several GPUs in stripes: every scan has the bits of the CPU, on
//! emulated GPUs and on real ones; a single real GPU is used twice.

use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::{Device, DeviceError, Devices, Emulator, EmulatorConfig};
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::scan::{Design, Form, scan_on_cpu};
use gridsync::primitives::{Checked, Spread, SpreadReducer, SpreadScanner, scan_spread};
use gridsync_entries::spread::{self, SpreadScannable};
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::op::*;
use gridsync_tests::devices::{emulated_gpus, skipped, with_cuda_gpus};
use gridsync_tests::trials;
use gridsync_tests::trials::{Budget, Trials};
use gridsync_verify::{Input, Sample, sample};
use simt::{Policy, Schedule};

const FORMS: [Form; 2] = [Form::Inclusive, Form::Exclusive];

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            every_element_is_in_its_stripe,
            an_array_of_one_stripe_is_on_the_first_device,
            arrays_have_the_bits_of_one_gpu_whatever_the_stripes,
            one_scanner_serves_longer_and_shorter_arrays,
            every_schedule_gives_the_same_bits,
            mismatched_spreads_are_refused,
            scans_follow_each_other_without_a_wait_on_cuda,
            arrays_that_stay_on_the_devices_have_the_bits_of_the_whole_on_cuda;
        thorough:
            arrays_of_more_than_a_group_have_the_bits_of_the_whole,
            arrays_that_stay_on_the_devices_have_the_bits_of_the_whole;
    };
    for (kernel, check, _) in kernels() {
        // Types of the same width share their code: sums of f32 and f64 always run.
        let is_long = ["scan_spread_bulk_sum_u32", "scan_spread_bulk_sum_u64"].contains(&kernel);
        let budget = Budget::thorough_if(is_long);
        trials.add(format!("{kernel}::emulated"), budget, move || check(&emulated(2)));
        trials.test(format!("{kernel}::on_cuda"), move || with_cuda_gpus(check));
    }
    trials
}

/// A check on several GPUs.
type OnGpus = fn(&Devices);

/// A test of each kernel of a scan over several GPUs, with the kernel's name and the compute
/// capability that it needs.
pub(crate) fn kernels() -> Vec<(&'static str, OnGpus, u32)> {
    let mut kernels: Vec<(&'static str, OnGpus, u32)> = Vec::new();
    macro_rules! of_operations {
        (scan [2 bulk] ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            of_operations! { scan 2 ($name: $op $ty, $inputs) }
            kernels.push((spread::bulk::$name::NAME, by_bulk::<$ty>, 90));
        };
        (scan $blocks:literal ($name:ident: $op:literal $ty:ty, $inputs:ident)) => {
            let scans = |devices: &Devices| in_registers(devices, <$ty>::new(), Input::$inputs);
            kernels.push((spread::$name::NAME, scans, 75));
        };
        (scan $blocks:literal ($name:ident: $op:literal $ty:ty { $example:expr }, $inputs:ident)) => {
            let scans = |devices: &Devices| in_registers::<$ty>(devices, $example, Input::$inputs);
            kernels.push((spread::$name::NAME, scans, 75));
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(of_operations);
    kernels
}

/// Emulated GPUs with as much shared memory per block as Hopper.
fn config(gpus: u32) -> EmulatorConfig {
    EmulatorConfig { gpus, shared_per_block: 227 << 10, ..EmulatorConfig::default() }
}

fn emulated(gpus: u32) -> Devices {
    let config = EmulatorConfig { races: true, multiprocessors: 2, ..config(gpus) };
    Devices::emulated(config).expect("there may be so many")
}

fn bits<T: Pod>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// Spreads `host` in stripes of `stripe` elements, scans it in one form, and backwards in the other
/// form, and compares with the CPU.
#[track_caller]
fn scans<O>(
    scanner: &mut SpreadScanner<O>,
    op: O,
    devices: &Devices,
    host: &[O::Element],
    stripe: usize,
) where
    O: SpreadScannable<Element: Pod, Output: Pod>,
{
    let mut input = Spread::in_stripes(devices, host.len(), stripe).expect("there is room");
    let mut output = Spread::<O::Output>::like(devices, &input).expect("there is room");
    // Other elements in the second launch, so a leftover of the first launch is wrong.
    let backwards: Vec<O::Element> = host.iter().rev().copied().collect();
    for (form, host) in FORMS.into_iter().zip([host, &backwards]) {
        input.copy_from(host).expect("it is as long");
        scanner.launch(&input, &mut output, form).expect("it runs");
        let got = output.download().expect("it is there");
        let what = format!("{form:?} of {} in {stripe}, {} GPUs", host.len(), devices.len());
        assert!(bits(&got) == bits(&scan_on_cpu(op, host, form)), "{what}");
    }
}

/// Tiles that do not divide evenly, in stripes of one and of two tiles.
fn in_registers<O>(devices: &Devices, op: O, input: Input)
where
    O: SpreadScannable<Element: Pod + Sample, Output: Pod>,
{
    let tile = Shape::of::<O::Element, O::Accumulator>(1).tile::<O::Element>();
    let host = sample::<O::Element>(input, 5 * tile + 77, 1);
    let scanner = SpreadScanner::new(op, devices, host.len()).expect("there is room");
    let mut scanner = scanner.with_design(Design::Registers).expect("every scan has it");
    for tiles in [1, 2] {
        scans(&mut scanner, op, devices, &host, tiles * tile);
    }
}

/// A few tiles of an array that is large enough, with bulk copies.
fn by_bulk<O>(devices: &Devices)
where
    O: SpreadScannable<Element: Pod + Sample, Output: Pod> + Default,
{
    let device = devices[0].properties();
    if !device.is_emulated() && device.compute < 90 {
        return skipped("the devices have no bulk copies");
    }
    let op = O::default();
    let host = sample::<O::Element>(Input::Values, (1 << 20) / size_of::<O::Element>() + 77, 3);
    let tile = Shape::for_bulk::<O::Element>(host.len()).tile::<O::Element>();
    let scanner = SpreadScanner::new(op, devices, host.len()).expect("there is room");
    let mut scanner = scanner.with_design(Design::Bulk).expect("a sum has it");
    // The emulator needs seconds for a scan of 1 MiB. `gridsync emulate scan/spread` has stripes of
    // one tile.
    let stripes = if device.is_emulated() { &[2][..] } else { &[1, 8] };
    for tiles in stripes {
        scans(&mut scanner, op, devices, &host, tiles * tile);
    }
}

fn every_element_is_in_its_stripe() {
    let host = sample::<u32>(Input::Values, 1100, 1);
    for gpus in 1..=4 {
        let devices = emulated(gpus);
        for stripe in [1, 2, 16, 128, 1024] {
            let lens = [0, 1, stripe - 1, stripe, stripe + 1, 3 * stripe + 5, host.len()];
            for len in lens.into_iter().filter(|&len| len <= host.len()) {
                let host = &host[..len];
                let mut spread =
                    Spread::in_stripes(&devices, host.len(), stripe).expect("there is room");
                spread.copy_from(host).expect("it is as long");
                assert_eq!(spread.download().expect("it is there"), host);
                for gpu in 0..devices.len() {
                    let here = spread.part(gpu).download().expect("it is there");
                    let stripes: Vec<u32> =
                        spread.stripes(gpu).flat_map(|stripe| &host[stripe]).copied().collect();
                    assert_eq!(here, stripes, "GPU {gpu} of {gpus}, {len} in {stripe}");
                    let all = spread.stripes(gpu).map(|of| of.start / stripe);
                    assert!(all.into_iter().all(|number| number % devices.len() == gpu));
                }
            }
        }
    }
}

/// Reduces and scans an array that stays on the devices.
#[track_caller]
fn reduces_and_scans<T: Scalar + Sample + Pod>(devices: &Devices, len: usize)
where
    Sum<T>:
        SpreadScannable<Element = T, Output = T> + gridsync::primitives::PartReducible + Checked,
    ArgMax<T>: gridsync::primitives::PartReducible<Element = T> + Checked,
{
    let host = sample::<T>(Input::Values, len, 12);
    let input = Spread::upload(devices, &host).expect("there is room");
    let (sum, place) = (Sum::<T>::new(), ArgMax::<T>::new());
    let mut sums = SpreadReducer::new(sum, devices).expect("there is room");
    let mut places = SpreadReducer::new(place, devices).expect("there is room");
    for _ in 0..2 {
        let got = sums.reduce(&input).expect("it runs");
        assert!(Sum::<T>::same(got, reduce_on_cpu(sum, &host)), "{len}");
        let got = places.reduce(&input).expect("it runs");
        assert!(ArgMax::<T>::same(got, reduce_on_cpu(place, &host)), "{len}");
    }
    let mut output = Spread::<T>::like(devices, &input).expect("there is room");
    for form in FORMS {
        scan_spread(sum, devices, &input, &mut output, form).expect("it runs");
        let got = output.download().expect("it is there");
        assert!(bits(&got) == bits(&scan_on_cpu(sum, &host, form)), "{form:?}, {len}");
    }
}

fn an_array_of_one_stripe_is_on_the_first_device() {
    let devices = emulated(3);
    for len in [0, 1, 3003] {
        reduces_and_scans::<f64>(&devices, len);
        let spread = Spread::<f64>::alloc(&devices, len).expect("there is room");
        assert_eq!((spread.part(0).len(), spread.part(1).len()), (len, 0));
    }
}

/// Stripes of 4 MiB.
fn arrays_that_stay_on_the_devices_have_the_bits_of_the_whole() {
    let config = |gpus| EmulatorConfig { races: false, ..config(gpus) };
    for gpus in [1, 2, 3] {
        let devices = Devices::emulated(config(gpus)).expect("there may be so many");
        reduces_and_scans::<f64>(&devices, (3 << 19) + 12_345);
        reduces_and_scans::<u64>(&devices, (3 << 19) + 12_345);
    }
}

fn arrays_that_stay_on_the_devices_have_the_bits_of_the_whole_on_cuda() {
    with_cuda_gpus(|devices| {
        for len in [(3 << 19) + 12_345, (8 << 20) + 12_345, (1 << 27) + 1] {
            reduces_and_scans::<f64>(devices, len);
        }
        reduces_and_scans::<f32>(devices, (1 << 28) + 7);
        reduces_and_scans::<u64>(devices, (1 << 26) + 4321);
    });
}

/// More than one group, in registers: all GPUs also receive the bases of later groups.
fn arrays_of_more_than_a_group_have_the_bits_of_the_whole() {
    // Groups of f16 in f64 are the shortest.
    type Op = Sum<f16, f64>;
    let host = sample::<f16>(Input::Values, Shape::part::<f16, f64>() + 70_001, 5);
    let devices = Devices::emulated(config(2)).expect("there may be so many");
    let mut scanner = SpreadScanner::new(Op::new(), &devices, host.len()).expect("there is room");
    scans(&mut scanner, Op::new(), &devices, &host, 1 << 16);
}

fn arrays_have_the_bits_of_one_gpu_whatever_the_stripes() {
    let (op, tile) = (Sum::<f32>::new(), Shape::of::<f32, f32>(1).tile::<f32>());
    let host = sample::<f32>(Input::Values, 9 * tile + 5, 1);
    for gpus in [1, 2, 3, 8] {
        let devices = emulated(gpus);
        let mut scanner = SpreadScanner::new(op, &devices, host.len()).expect("there is room");
        for stripe in [tile, 4 * tile, 64 * tile] {
            for len in [tile - 1, tile, tile + 1, 7 * tile, host.len()] {
                scans(&mut scanner, op, &devices, &host[..len], stripe);
            }
        }
    }
}

/// One scanner, whose words serve all arrays, and are replaced for a longer array.
fn one_scanner_serves_longer_and_shorter_arrays() {
    let (op, tile) = (Sum::<u64>::new(), Shape::of::<u64, u64>(1).tile::<u64>());
    let devices = emulated(2);
    let mut scanner = SpreadScanner::new(op, &devices, 3 * tile).expect("there is room");
    for tiles in [3, 2, 3, 11, 4, 12] {
        let host = sample::<u64>(Input::Values, tiles * tile - 3, tiles as u64);
        scans(&mut scanner, op, &devices, &host, tile);
    }
}

fn every_schedule_gives_the_same_bits() {
    let (op, tile) = (Sum::<f64>::new(), Shape::of::<f64, f64>(1).tile::<f64>());
    let host = sample::<f64>(Input::Values, 4 * tile + 9, 9);
    let drawn = (0..12).map(Schedule::from_seed);
    for schedule in [Policy::RunAhead, Policy::Reverse].map(Schedule::new).into_iter().chain(drawn)
    {
        let devices = emulated_gpus(2, schedule);
        let mut scanner = SpreadScanner::new(op, &devices, host.len()).expect("there is room");
        scans(&mut scanner, op, &devices, &host, tile);
    }
}

/// The words of a launch must not arrive before those of the previous launch have been read, on any
/// GPU.
fn scans_follow_each_other_without_a_wait_on_cuda() {
    with_cuda_gpus(|devices| {
        let op = Sum::<u32>::new();
        for len in [(2 << 20) + 1, (40 << 20) + 3] {
            let host = sample::<u32>(Input::Values, len, 7);
            let input = Spread::upload(devices, &host).expect("there is room");
            let mut output = Spread::<u32>::like(devices, &input).expect("there is room");
            let expected = scan_on_cpu(op, &host, Form::Inclusive);
            for design in [Design::Registers, Design::Bulk] {
                let scanner = SpreadScanner::new(op, devices, len).expect("there is room");
                let Ok(mut scanner) = scanner.with_design(design) else {
                    return skipped("the devices have no bulk copies");
                };
                for _ in 0..200 {
                    scanner.launch(&input, &mut output, Form::Inclusive).expect("it launches");
                }
                assert!(output.download().expect("it is there") == expected, "{design:?}, {len}");
            }
        }
    });
}

fn mismatched_spreads_are_refused() {
    let devices = emulated(2);
    let op = Sum::<f32>::new();
    let mut scanner = SpreadScanner::new(op, &devices, 8192).expect("there is room");
    let spread = |len, stripe| Spread::<f32>::in_stripes(&devices, len, stripe).expect("room");
    let mut launch = |input: &Spread<f32>, mut output: Spread<f32>| {
        scanner.launch(input, &mut output, Form::Inclusive).expect_err("it is refused")
    };
    let error = launch(&spread(4096, 1024), spread(4096, 2048));
    assert!(matches!(error, DeviceError::LengthMismatch { .. }), "{error}");
    let error = launch(&spread(4096, 1024), spread(4097, 1024));
    assert!(matches!(error, DeviceError::LengthMismatch { .. }), "{error}");
    let error = launch(&spread(4096, 512), spread(4096, 512));
    let short = DeviceError::ShortStripes { what: "a scan", stripe: 512, tile: 1024 };
    assert_eq!(error, short);
    let other = emulated(2);
    let elsewhere = Spread::<f32>::in_stripes(&other, 4096, 1024).expect("there is room");
    let error = launch(&elsewhere, spread(4096, 1024));
    assert!(error.to_string().contains("GPU 0"), "{error}");

    let mut sums = SpreadReducer::new(op, &devices).expect("there is room");
    let error = sums.reduce(&spread(4096, 1024)).expect_err("it is refused");
    assert_eq!(error, DeviceError::ShortStripes { what: "a reduction", stripe: 1024, tile: 4096 });
    let product = SpreadScanner::new(Product::<f32>::new(), &devices, 9).expect("there is room");
    let refused = product.with_design(Design::Bulk).map(|_| ()).expect_err("it has none");
    assert!(refused.to_string().contains("a scan by bulk copies"), "{refused}");
    let alone = Device::new(Emulator::new(EmulatorConfig::default()));
    let one = Devices::from(&alone);
    let error =
        scan_spread(op, &one, &spread(4096, 1024), &mut spread(4096, 1024), Form::Inclusive);
    assert_eq!(error.map(|_| ()), Err(DeviceError::SpreadElsewhere { parts: 2, gpus: 1 }));
}
