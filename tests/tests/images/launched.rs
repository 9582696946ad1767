//! Every kernel of the images gives the results of its source, from its instructions.

use crate::{EMULATED_ONLY, TARGETS, forms, kernels, others};
use gridsync::check::Wrong;
use gridsync::device::cuda::Modules;
use gridsync::device::{Device, DeviceError, Devices, Emulator, EmulatorConfig};
use gridsync_lab::protocols::protocols;
use gridsync_tests::devices::images;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Keys, Kind, Primitive, Size, Ties, kinds};
use simt::Schedule;
use std::sync::{Arc, OnceLock};

const PRIMITIVES: [Primitive; 9] = [
    Primitive::Reduce,
    Primitive::Rows,
    Primitive::Scan,
    Primitive::Select,
    Primitive::Ranges,
    Primitive::Kendall,
    Primitive::Sort,
    Primitive::Histogram,
    Primitive::Rank,
];

/// Kernels that do not run from the images, each with the reason.
const NOT_RUN: [(&str, &str); 2] = [
    (
        "compact_above",
        "`and.pred` of false and a comparison with a register that was not written is false, but \
         undefined for the interpreter",
    ),
    (
        "bounded_system_barrier_rounds",
        "a wait with a time limit does not yield under `Policy::Coarse`",
    ),
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
        trials.test(format!("compute_{compute}::every_kernel_runs"), move || {
            // From the end, because the other tests begin at the start.
            cases.iter().rev().for_each(Case::pass);
            let modules = Modules::of(&images(), compute).expect("whole images");
            let loaded = kernels(compute).loaded().into_iter();
            // A kernel that launches others has them in its module.
            let modules = loaded.map(|name| modules.module(name).expect("whole images"));
            let run: String = modules.flatten().map(|module| module.text).collect();
            let missing: Vec<_> = kernels(compute)
                .names()
                .filter(|name| !run.contains(&format!(".entry {name}(")))
                .filter(|name| {
                    !NOT_RUN.iter().any(|(kernel, reason)| kernel == name && !reason.is_empty())
                })
                .collect();
            assert!(missing.is_empty(), "no case launches {missing:?}");
        });
    }
    trials
}

/// All runs with the PTX for this compute capability.
fn cases(compute: u32) -> Vec<Case> {
    let of_primitives = PRIMITIVES.into_iter().map(|primitive| {
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

fn one_case(compute: u32, kind: &Kind, seed: u64) {
    let number = seed as usize;
    let keys = Keys::ALL[number % Keys::ALL.len()];
    let order = gridsync::primitives::sort::Order::ALL[number % 4];
    let size = match kind.primitive {
        Primitive::Rows => Size::Matrix(5, 19),
        Primitive::Kendall => {
            use gridsync::primitives::kendall::Method;
            Size::Pairs(LEN, Ties::ALL[number % Ties::ALL.len()], &[Method::Pairs, Method::Sort])
        }
        Primitive::Sort => Size::Keys(1, LEN, keys, order),
        Primitive::Histogram => Size::Bins(LEN, 10),
        Primitive::Rank => Size::Ranks(1, LEN, keys, order, 5),
        _ => Size::Array(LEN),
    };
    let config = EmulatorConfig { races: false, ..config(compute, EmulatorConfig::default()) };
    let device = Device::new(Emulator::new(config));
    kind.run(&device, size, seed).unwrap_or_else(|wrong| panic!("{} {size}: {wrong}", kind.op));
}
