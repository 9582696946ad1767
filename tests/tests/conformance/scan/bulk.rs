//! The kernels with bulk copies: the same bits as the kernels that hold a tile in registers.

use super::{FORMS, same_bits};
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use gridsync::device::{Buffer, Device, DeviceError, Emulator, EmulatorConfig, Geometry};
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::{Design, Form, scan_on_cpu};
use gridsync::reference;
use gridsync_entries::KernelOf;
use gridsync_entries::scan::{BulkArguments, BulkCommon, Scannable};
use gridsync_kernels::grid::scan::{BULK_SHARED, BULK_THREADS, MOST_GROUP, STATE, Shape};
use gridsync_kernels::op::{Carried, Max, Min, Operation, Product, Sum};
use gridsync_tests::devices::{skipped, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::{Budget, Check, Trials};
use gridsync_verify::{Input, Sample, sample};
use simt::{Policy, Schedule};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            a_third_group_has_the_same_bits_on_cuda,
            every_schedule_gives_the_same_bits;
        on_each_hopper:
            the_stamps_wrap_after_the_last_one,
            a_scanner_of_either_design_gives_the_same_bits_in_turn,
            an_operation_without_bulk_copies_is_refused;
        thorough:
            a_second_group_has_the_same_bits_on_the_emulator,
            blocks_without_a_tile_and_late_blocks_change_nothing;
    };
    let types: [(&str, Check); 14] = [
        ("sum_f32", every_length::<Sum<f32>>),
        ("sum_f64", every_length::<Sum<f64>>),
        ("sum_i32", every_length::<Sum<i32>>),
        ("sum_u32", every_length::<Sum<u32>>),
        ("sum_i64", every_length::<Sum<i64>>),
        ("sum_u64", every_length::<Sum<u64>>),
        ("min_f32", every_length::<Min<f32>>),
        ("min_f64", every_length::<Min<f64>>),
        ("min_i32", every_length::<Min<i32>>),
        ("min_i64", every_length::<Min<i64>>),
        ("max_f32", every_length::<Max<f32>>),
        ("max_f64", every_length::<Max<f64>>),
        ("max_i32", every_length::<Max<i32>>),
        ("max_i64", every_length::<Max<i64>>),
    ];
    for (name, check) in types {
        let claim = format!("{name}::every_length_has_the_same_bits");
        // Types of the same width share their code.
        let budget = Budget::thorough_if(!matches!(name, "sum_f32" | "sum_f64" | "max_f32"));
        trials.add(format!("{claim}_on_the_emulator"), budget, move || {
            check(&emulator(2, Schedule::new(Policy::Coarse), true));
        });
        trials.test(format!("{claim}_on_cuda"), move || with_hopper(check));
    }
    trials
}

/// Checks of devices that have bulk copies.
trait OnHopper {
    /// Adds a check once for each backend.
    fn on_each_hopper(&mut self, name: &str, check: Check);
}

impl OnHopper for Trials {
    fn on_each_hopper(&mut self, name: &str, check: Check) {
        self.test(format!("{name}::on_the_emulator"), move || {
            check(&emulator(2, Schedule::new(Policy::Coarse), false));
        });
        self.test(format!("{name}::on_cuda"), move || with_hopper(check));
    }
}

/// An emulated GPU with as much shared memory per block as Hopper. Each of `multiprocessors` holds
/// one block of a bulk-copy kernel.
pub(super) fn emulator(multiprocessors: u32, schedule: Schedule, races: bool) -> Device {
    Device::new(Emulator::new(EmulatorConfig {
        multiprocessors,
        shared_per_block: 227 << 10,
        schedule,
        races,
        ..EmulatorConfig::default()
    }))
}

/// Runs `test` on CUDA, if the device can run the bulk-copy kernels.
pub(super) fn with_hopper(test: impl FnOnce(&Device)) {
    with_cuda(|cuda| {
        let device = cuda.properties();
        match device.compute >= 90 && device.shared_per_block_optin >= BULK_SHARED {
            true => test(cuda),
            false => skipped("the device has no bulk copies, or too little shared memory for them"),
        }
    });
}

/// The buffers for repeated scans of one input.
struct Bench<T: Pod> {
    device: Device,
    shape: Shape,
    host: Vec<T>,
    input: Buffer<T>,
    words: Buffer<u64>,
    state: Buffer<u32>,
}

impl<T: Pod + Scalar + Carried + Debug> Bench<T> {
    /// Buffers for `host`, as left by the launch with the stamp `stamp`.
    fn new(device: &Device, host: Vec<T>, stamp: u32) -> Self {
        let shape = Shape::for_bulk::<T>(host.len());
        let mut state = [0; STATE];
        state[1] = stamp;
        Self {
            device: device.clone(),
            shape,
            input: device.upload(&host).expect("the input should fit"),
            words: device.zeroed(shape.places() * T::WORDS).expect("the words should fit"),
            state: device.upload(&state).expect("the state should fit"),
            host,
        }
    }

    /// Scans in `blocks` blocks and compares the bits with the CPU's. Returns the stamp that the
    /// launch left.
    fn scan<O>(&self, op: O, blocks: u32, form: Form) -> u32
    where
        O: Scannable<Element = T, Accumulator = T, Output = T>,
    {
        let (len, tiles) = (self.host.len(), self.shape.tiles);
        let what = format!("{form:?}, {len} elements, {blocks} blocks");
        let output = self.device.alloc::<T>(len).expect("the output should fit");
        let args = op.arguments(BulkArguments {
            input: self.input.view(),
            output: output.view(),
            words: self.words.view(),
            state: self.state.view(),
            tiles,
            mode: form as u32,
        });
        let geometry = Geometry::new(blocks, BULK_THREADS).with_dynamic_shared(BULK_SHARED);
        // SAFETY: the tiles are those of the input, buffers start at multiples of 256 bytes, and no
        // word holds a stamp of a later launch. All live until the download has waited for the
        // launch.
        unsafe { self.device.launch::<KernelOf<O, BulkCommon<O>>>(&geometry, args) }
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let got = output.download().expect("the kernel should have run");
        let expected = reference::scan_in(op, self.shape, &self.host, form);
        same_bits(&what, &got, &expected);
        let [ticket, stamp, ended, ..] = self.state.download().expect("the state is there")[..]
        else {
            unreachable!("the state has three words")
        };
        assert_eq!((ticket, ended), (0, 0), "{what}");
        stamp
    }
}

/// Lengths around one tile, around a full ring of six tiles, and lengths for which the array ends
/// in the first strip of a tile.
fn lengths<T: Scalar>() -> [usize; 8] {
    let tile = Shape::for_bulk::<T>(1).tile::<T>();
    [1, T::PACK + 1, tile - 1, tile, tile + 1, 5 * tile + 3, 7 * tile - T::PACK, 2 * tile + 5]
}

fn every_length<O>(device: &Device)
where
    O: Scannable
        + Default
        + Operation<Accumulator = <O as Operation>::Element, Output = <O as Operation>::Element>,
    O::Element: Pod + Sample + Carried + Debug,
{
    for len in lengths::<O::Element>() {
        let host = sample::<O::Element>(Input::Values, len, len as u64);
        let bench = Bench::new(device, host, 0);
        for (stamp, form) in (1..).zip(FORMS) {
            assert_eq!(bench.scan::<O>(O::default(), 2, form), stamp);
        }
    }
}

/// Scans `groups` full groups and one additional tile.
fn groups<O>(device: &Device, groups: u32, blocks: u32)
where
    O: Scannable
        + Default
        + Operation<Accumulator = <O as Operation>::Element, Output = <O as Operation>::Element>,
    O::Element: Pod + Sample + Carried + Debug,
{
    let tiles = (groups * MOST_GROUP + 1) as usize;
    let len = tiles * Shape::for_bulk::<O::Element>(1).tile::<O::Element>();
    let bench = Bench::new(device, sample::<O::Element>(Input::Values, len, 6), 0);
    assert_eq!(bench.shape.groups(), groups + 1);
    bench.scan::<O>(O::default(), blocks, Form::Exclusive);
}

fn a_second_group_has_the_same_bits_on_the_emulator() {
    // Without race checks: the code is the same, and they would take too long.
    let device = emulator(2, Schedule::new(Policy::Coarse), false);
    groups::<Sum<f64>>(&device, 1, 2);
}

fn a_third_group_has_the_same_bits_on_cuda() {
    with_hopper(|cuda| {
        for blocks in [1, 7, cuda.properties().multiprocessors] {
            groups::<Sum<f32>>(cuda, 2, blocks);
            groups::<Sum<f64>>(cuda, 2, blocks);
        }
    });
}

fn blocks_without_a_tile_and_late_blocks_change_nothing() {
    let host = sample::<f32>(Input::Values, 3 * 8192 + 1, 8);
    for policy in [Policy::RunAhead, Policy::Reverse, Policy::Coarse] {
        // Only one block fits at a time.
        let device = emulator(1, Schedule::new(policy), true);
        let bench = Bench::new(&device, host.clone(), 0);
        for (stamp, blocks) in (1..).zip([1, 4, 7]) {
            let left = bench.scan(Sum::<f32>::new(), blocks, Form::Inclusive);
            assert_eq!(left, stamp, "{policy:?}");
        }
    }
}

fn every_schedule_gives_the_same_bits() {
    let host = sample::<u64>(Input::Values, 2 * 4096 + 77, 9);
    let random = [(1, 1), (2, 7), (3, 128)]
        .map(|(seed, quantum)| Schedule::seeded(Policy::Random { quantum }, seed));
    for schedule in random {
        let bench = Bench::new(&emulator(2, schedule, true), host.clone(), 0);
        bench.scan(Sum::<u64>::new(), 2, Form::Exclusive);
    }
}

fn the_stamps_wrap_after_the_last_one(device: &Device) {
    let host = sample::<f32>(Input::Values, 3 * 8192 + 1, 4);
    // With six blocks, some have no tile.
    for blocks in [2, 6] {
        let bench = Bench::new(device, host.clone(), u32::MAX - 2);
        for stamp in [u32::MAX - 1, 0, 1, 2] {
            let left = bench.scan(Sum::<f32>::new(), blocks, Form::Inclusive);
            assert_eq!(left, stamp);
            if stamp == 0 {
                let words = bench.words.download().expect("the words are there");
                assert!(words.iter().all(|&word| word == 0), "an old stamp was left");
            }
        }
    }
}

fn a_scanner_of_either_design_gives_the_same_bits_in_turn(device: &Device) {
    // More than 1 MiB; in the same workspace as the other design; also in place.
    let host = sample::<f32>(Input::Values, (1 << 18) + 4, 3);
    let scanner =
        Scanner::new(Sum::<f32>::new(), device, host.len()).expect("a scanner should fit");
    let mut scanner = Some(scanner);
    for design in [Design::Registers, Design::Bulk, Design::Registers, Design::Bulk] {
        let mut by_design = scanner
            .take()
            .and_then(|scanner| scanner.with_design(design).ok())
            .expect("there are both designs");
        for form in FORMS {
            let mut array = device.upload(&host).expect("the array should fit");
            by_design.launch_in_place(&mut array, form).expect("it should launch");
            let got = array.download().expect("the kernel should have run");
            let expected = scan_on_cpu(Sum::<f32>::new(), &host, form);
            same_bits(&format!("{design:?}, {form:?}"), &got, &expected);
        }
        scanner = Some(by_design);
    }
}

fn an_operation_without_bulk_copies_is_refused(device: &Device) {
    let scanner = Scanner::new(Product::<f32>::new(), device, 9).expect("a scanner should fit");
    let refused = scanner.with_design(Design::Bulk).map(|_| ());
    assert!(matches!(refused, Err(DeviceError::Unsupported { .. })), "{refused:?}");
}
