//! The kernels of the images give the results of their source, from their instructions.

use super::{EMULATED_ONLY, TARGETS, forms, kernels, others};
use gridsync::check::Wrong;
use gridsync::device::cuda::Modules;
use gridsync::device::{Device, DeviceError, Devices, Emulator, EmulatorConfig};
use gridsync::primitives::kendall::Method;
use gridsync::primitives::sort::Order;
use gridsync_lab::protocols::protocols;
use gridsync_tests::devices::images;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Keys, Kind, Lens, Primitive, Size, Ties, kinds};
use simt::Schedule;
use std::sync::{Arc, OnceLock};

/// The beginnings of the names of kernels that these small cases do not launch: kernels for several
/// tiles, long rows and stripes on several GPUs, and bulk copies of scans, of which one takes the
/// interpreter two minutes.
const OF_LARGE_ARRAYS: [&str; 9] = [
    "bounded_system_barrier_rounds",
    "histogram_narrow_f32",
    "ladder_scan_copy",
    "rank_",
    "reduce_long_rows_",
    "scan_bulk",
    "scan_delayed",
    "scan_spread_",
    "sort_",
];

/// A run of some kernels, which two tests share.
struct Case {
    name: String,
    run: Box<dyn Fn() + Send + Sync>,
    done: OnceLock<()>,
}

impl Case {
    fn new(name: String, run: impl Fn() + Send + Sync + 'static) -> Self {
        Self { name, run: Box::new(run), done: OnceLock::new() }
    }

    /// Runs it, unless it has passed already.
    fn pass(&self) {
        self.done.get_or_init(&self.run);
    }
}

pub(crate) fn trials() -> Trials {
    let mut trials = Trials::of(module_path!());
    for compute in TARGETS {
        let cases: Arc<[Case]> = cases(compute).into();
        for at in 0..cases.len() {
            let (name, cases) = (cases[at].name.clone(), cases.clone());
            trials.test(format!("compute_{compute}::{name}"), move || cases[at].pass());
        }
        trials.test(format!("compute_{compute}::every_kernel_for_small_arrays_runs"), move || {
            // From the end, because the other tests begin at the start.
            cases.iter().rev().for_each(Case::pass);
            let modules = Modules::of(&images(), compute).expect("whole images");
            let loaded = kernels(compute).loaded().into_iter();
            // A kernel that launches others has them in its module.
            let modules = loaded.map(|name| modules.module(name).expect("whole images"));
            let run: String = modules.flatten().map(|module| module.text).collect();
            let is_large = |name: &str| OF_LARGE_ARRAYS.iter().any(|start| name.starts_with(start));
            let missing: Vec<_> = kernels(compute)
                .names()
                .filter(|&name| !is_large(name) && !run.contains(&format!(".entry {name}(")))
                .collect();
            assert!(missing.is_empty(), "no case launches {missing:?}");
        });
    }
    trials
}

/// All runs with the PTX for this compute capability.
fn cases(compute: u32) -> Vec<Case> {
    let of_primitives = Primitive::ALL.into_iter().map(|primitive| {
        Case::new(format!("{primitive:?}"), move || {
            for (seed, kind) in kinds(primitive).enumerate() {
                one_case(compute, kind, seed as u64);
            }
        })
    });
    let of_protocols = protocols().into_iter().enumerate().map(|(seed, protocol)| {
        Case::new(format!("protocol::{}", protocol.name), move || {
            let schedule = Schedule::from_seed(seed as u64);
            let config = EmulatorConfig { schedule, ..config(compute, protocol.config) };
            let device = Device::new(Emulator::new(config));
            match protocol.run(&device) {
                // The lab has kernels that only the emulator runs, and 7.5 has no clusters.
                Err(Wrong::Device(DeviceError::UnknownKernel { name, .. }))
                    if EMULATED_ONLY.contains(&name) || is_newer(compute, name) => {}
                Err(Wrong::Device(DeviceError::Unsupported { .. })) if compute < 90 => {}
                done => done.unwrap_or_else(|wrong| panic!("{wrong}")),
            }
        })
    });
    let of_others = others::all().into_iter().chain(forms::all(compute)).map(|other| {
        Case::new(other.name.to_owned(), move || {
            // As much shared memory as a block on Hopper has. Some experiments count.
            let base = EmulatorConfig {
                gpus: other.gpus,
                shared_per_block: 227 << 10,
                count: true,
                ..EmulatorConfig::default()
            };
            let config = EmulatorConfig { races: false, ..config(compute, base) };
            (other.run)(&Devices::emulated(config).expect("there may be so many"));
        })
    });
    of_primitives.chain(of_protocols).chain(of_others).collect()
}

/// Whether only a newer image has this kernel.
fn is_newer(compute: u32, kernel: &str) -> bool {
    compute < 90 && kernels(90).names().any(|name| name == kernel)
}

/// The same machine, which runs the PTX and checks for races.
fn config(compute: u32, base: EmulatorConfig) -> EmulatorConfig {
    EmulatorConfig { ptx: Some(kernels(compute)), races: true, ..base }
}

/// Elements of the arrays: past a warp, and not a multiple of anything.
const LEN: usize = 71;
/// Elements of a row that a whole block reduces, whatever the element.
const LONG_ROW: usize = 8193;

fn one_case(compute: u32, kind: &Kind, seed: u64) {
    let number = seed as usize;
    let keys = Keys::ALL[number % Keys::ALL.len()];
    let order = Order::ALL[number % Order::ALL.len()];
    let ties = Ties::ALL[number % Ties::ALL.len()];
    let sizes = match kind.primitive {
        Primitive::Rows => vec![Size::Matrix(5, 19), Size::Matrix(2, LONG_ROW)],
        Primitive::Softmax => {
            let middle = kind.tile / 8 + 1;
            vec![Size::Matrix(5, 19), Size::Matrix(2, middle), Size::Matrix(1, kind.tile + 1)]
        }
        Primitive::Kendall => vec![Size::Pairs(LEN, ties, &[Method::Pairs, Method::Sort])],
        Primitive::Sort => {
            [(1, LEN), (5, 19)].map(|(rows, len)| Size::Keys(rows, len, keys, order)).into()
        }
        Primitive::Histogram => vec![Size::Bins(LEN, 10)],
        Primitive::Rank => vec![Size::Ranks(1, LEN, keys, order, 5)],
        Primitive::Segments => vec![Size::Ragged(LEN, Lens::Mixed)],
        Primitive::ByKey => vec![Size::Ragged(LEN, Lens::Of(3))],
        _ => vec![Size::Array(LEN)],
    };
    let config = EmulatorConfig { races: false, ..config(compute, EmulatorConfig::default()) };
    let device = Device::new(Emulator::new(config));
    for size in sizes {
        kind.run(&device, size, seed).unwrap_or_else(|wrong| panic!("{} {size}: {wrong}", kind.op));
    }
}
