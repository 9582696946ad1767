//! The PTX that ships, in the emulator: each kernel's instructions give the results of its source.

use gridsync::check::Wrong;
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig, PtxKernels};
use gridsync_lab::protocols::protocols;
use gridsync_tests::devices::images;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Keys, Kind, Primitive, Size, Ties, kinds};
use simt::Schedule;
use std::sync::OnceLock;

/// The targets of the images, each with its kernels.
const TARGETS: [u32; 2] = [75, 90];

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

pub(crate) fn trials() -> Trials {
    let mut trials = Trials::of(module_path!());
    for compute in TARGETS {
        for primitive in PRIMITIVES {
            trials.test(format!("compute_{compute}::{primitive:?}"), move || {
                for (seed, kind) in kinds(primitive).enumerate() {
                    one_case(compute, kind, seed as u64);
                }
            });
        }
        for (seed, protocol) in protocols().into_iter().enumerate() {
            let name = format!("compute_{compute}::protocol::{}", protocol.name);
            trials.test(name, move || {
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
            });
        }
    }
    trials
}

/// Kernels of protocols that are in no image.
const EMULATED_ONLY: [&str; 5] =
    ["block_ranks", "block_sorts", "bounded_rounds", "bounded_system_rounds", "warps_add"];

/// Whether only a newer image has this kernel.
fn is_newer(compute: u32, kernel: &str) -> bool {
    compute < 90 && kernels(90).names().any(|name| name == kernel)
}

/// The kernels that a device of this compute capability runs, parsed once for all tests.
fn kernels(compute: u32) -> &'static PtxKernels {
    static KERNELS: [OnceLock<PtxKernels>; 2] = [const { OnceLock::new() }; 2];
    let at = TARGETS.iter().position(|&target| target == compute).expect("a target");
    KERNELS[at].get_or_init(|| PtxKernels::new(&images(), compute).expect("whole images"))
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
