//! The PTX of the protocols with one order, scope, fence or barrier weakened in its text: the
//! emulator's checks catch it, or this file states why it does no harm.

use super::{EMULATED_ONLY, TARGETS, kernels};
use gridsync::check::{Caught, Wrong};
use gridsync::device::cuda::{Modules, PtxImage};
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig, OrderSite, PtxKernels};
use gridsync_lab::protocols::{Protocol, protocols};
use gridsync_tests::devices::images;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::Schedule;
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread;
use std::{env, fmt};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            mutations_of_the_ptx_are_caught_or_explained,
            a_mutation_changes_one_modifier_or_removes_the_instruction;
    }
}

/// The number of protocols that are drawn, with a mutation each. Ten have no kernel in the image.
const DRAWN: usize = 53;
/// The seed of the draw.
const SEED: u64 = 1;
/// Steps after which a mutated launch is endless. The longest correct one has far fewer.
const STEP_LIMIT: u64 = 20_000_000;

/// A mutation that does no harm.
struct Harmless {
    /// The start of the kernel's name.
    kernel: &'static str,
    /// The start of the instruction, without its guard.
    instruction: &'static str,
    change: &'static str,
    reason: &'static str,
}

const HARMLESS: &[Harmless] = &[
    Harmless {
        kernel: "generation_barrier_rounds",
        instruction: "fence.sc.gpu",
        change: "acq_rel",
        reason: "as in the source: fences before and after the barrier of the block stand in for \
                 each other, and so do those before and after the counter",
    },
    Harmless {
        kernel: "ladder_scan_grid_barrier",
        instruction: "bar.warp.sync",
        change: "out",
        reason: "as in the source, speed: no lane spins before the first has arrived",
    },
    Harmless {
        kernel: "barrier_rounds",
        instruction: "bar.warp.sync",
        change: "out",
        reason: "as in the source, speed: no lane spins before the first has arrived",
    },
    Harmless {
        kernel: "dag_levels",
        instruction: "ld.relaxed.gpu.global.b64",
        change: "cta",
        reason: "the grid barriers between the levels order the words too; dag_words has none",
    },
    Harmless {
        kernel: "dag_words",
        instruction: "ld.relaxed.gpu.global.b64",
        change: "cta",
        reason: "only the load of a fourth input: one task has four, and if tasks are dealt in \
                 turns, its block has computed the fourth",
    },
    Harmless {
        kernel: "unique_",
        instruction: "bar.warp.sync",
        change: "out",
        reason: "as in the source, speed: no lane spins before the first has sent",
    },
    Harmless {
        kernel: "reduce_",
        instruction: "st.relaxed.sys.global",
        change: "cta",
        reason: "the scope is for a host that waits for the result while the kernel runs; here the \
                 host reads it after the end",
    },
];

/// A line of a kernel, and its weaker form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mutation {
    kernel: String,
    /// The line of the kernel's module, counted from 1.
    line: u32,
    instruction: String,
    mutated: String,
    change: String,
}

impl Mutation {
    /// The weaker forms of the line that a thread has reached.
    fn of(site: &OrderSite, kernel: &str, text: &str) -> Vec<Self> {
        let line = text.lines().nth(site.place.line() as usize - 1).expect("a line of the module");
        let form = |(change, mutated)| Self {
            kernel: kernel.to_owned(),
            line: site.place.line(),
            instruction: unguarded(line).to_owned(),
            mutated,
            change,
        };
        let kinship = site.kinship;
        weaker(line, kinship.on_gpus, kinship.in_clusters).into_iter().map(form).collect()
    }

    /// The kernels of all images, with this line in place of the original.
    fn kernels(&self, compute: u32) -> PtxKernels {
        let all = Modules::of(&images(), compute).expect("whole images");
        let module = all.module(&self.kernel).expect("whole images").expect("it was launched");
        let lines = module
            .text
            .lines()
            .enumerate()
            .map(|(at, line)| if at + 1 == self.line as usize { &*self.mutated } else { line });
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        // Of two images for one capability, the first has precedence.
        let mutated = PtxImage::text(module.compute, text.leak());
        let images: Vec<_> = [mutated].into_iter().chain(images()).collect();
        PtxKernels::new(&images, compute).expect("whole images")
    }

    /// Why it does no harm.
    fn excuse(&self) -> Option<&'static Harmless> {
        HARMLESS.iter().find(|it| {
            self.kernel.starts_with(it.kernel)
                && self.instruction.starts_with(it.instruction)
                && self.change == it.change
        })
    }
}

impl fmt::Display for Mutation {
    /// `xpx_grid_barrier:61, ld.acquire.gpu.global.b32 → relaxed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opcode = self.instruction.split_whitespace().next().unwrap_or_default();
        write!(f, "{}:{}, {} → {}", self.kernel, self.line, opcode, self.change)
    }
}

/// An instruction without white space before it and without its guard.
fn unguarded(line: &str) -> &str {
    let line = line.trim();
    match line.split_once(char::is_whitespace) {
        Some((guard, rest)) if guard.starts_with('@') => rest.trim_start(),
        _ => line,
    }
}

/// The weaker forms of a line, each with the name of the change. On one GPU, system scope counts as
/// device scope.
fn weaker(line: &str, on_gpus: bool, in_clusters: bool) -> Vec<(String, String)> {
    let instruction = unguarded(line);
    let opcode = instruction.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or("");
    let modifiers: Vec<&str> = opcode.split('.').collect();
    let with = |from: &str, to: &str| {
        let changed = modifiers.iter().map(|it| if *it == from { to } else { it });
        let changed = changed.collect::<Vec<_>>().join(".");
        (to.to_owned(), line.replacen(opcode, &changed, 1))
    };
    let has = |modifier: &str| modifiers.contains(&modifier);
    let mut forms = Vec::new();
    let is_fence = modifiers[0] == "fence" || modifiers[0] == "membar";
    let is_barrier = ["bar.sync", "bar.warp.sync", "barrier.sync"];
    if is_fence || is_barrier.iter().any(|barrier| opcode.starts_with(barrier)) {
        forms.push(("out".to_owned(), String::new()));
    }
    let device = if in_clusters { "cluster" } else { "cta" };
    let narrower =
        [("sys", if on_gpus { "gpu" } else { device }), ("gpu", device), ("cluster", "cta")];
    if !has("shared") {
        forms
            .extend(narrower.iter().filter(|(wide, _)| has(wide)).map(|(wide, to)| with(wide, to)));
    }
    if is_fence {
        forms.extend(has("sc").then(|| with("sc", "acq_rel")));
    } else {
        let orders = ["acquire", "release", "acq_rel"];
        forms.extend(orders.iter().filter(|it| has(it)).map(|order| with(order, "relaxed")));
    }
    forms
}

/// What became of a mutation.
struct Verdict {
    protocol: String,
    compute: u32,
    mutation: Mutation,
    caught: Option<Caught>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { protocol, compute, mutation, caught } = self;
        write!(f, "{protocol}, compute_{compute}, {mutation}: ")?;
        match (caught, mutation.excuse()) {
            (Some(caught), _) => write!(f, "{}, seed {}", caught.by(), caught.seed),
            (None, Some(harmless)) => write!(f, "harmless: {}", harmless.reason),
            (None, None) => f.write_str("not caught"),
        }
    }
}

/// A number drawn from two others.
fn drawn(seed: u64, number: usize) -> usize {
    let mixed = (seed ^ (number as u64) << 20).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33) as usize
}

/// The emulator for the schedule of this seed. As in a [`Check`](gridsync::check::Check), memory is
/// weak, and every other schedule checks for races.
fn device(protocol: &Protocol, ptx: &'static PtxKernels, seed: u64, sites: bool) -> Device {
    Device::new(Emulator::new(EmulatorConfig {
        ptx: Some(ptx),
        schedule: Schedule::from_seed(seed),
        races: seed % 2 == 1,
        weak_memory: true,
        concurrent: true,
        sites,
        step_limit: STEP_LIMIT,
        ..protocol.config
    }))
}

fn run(protocol: &Protocol, device: &Device) -> Result<(), Wrong> {
    protocol.run(device)?;
    Ok(device.synchronize()?)
}

/// The mutations of the lines that a run of the protocol reaches. The list is empty if the target
/// has no such kernels.
fn mutations(protocol: &Protocol, ptx: &'static PtxKernels) -> Vec<Mutation> {
    let device = device(protocol, ptx, 1, true);
    match run(protocol, &device) {
        Err(Wrong::Device(DeviceError::UnknownKernel { name, .. }))
            if EMULATED_ONLY.contains(&name) || ptx.compute() < 90 =>
        {
            return Vec::new();
        }
        Err(Wrong::Device(DeviceError::Unsupported { .. })) if ptx.compute() < 90 => {
            return Vec::new();
        }
        done => done.unwrap_or_else(|wrong| panic!("{}: {wrong}", protocol.name)),
    }
    let modules = Modules::of(&images(), ptx.compute()).expect("whole images");
    let sites = device.order_sites();
    let all: BTreeSet<Mutation> = sites
        .iter()
        .filter_map(|site| Some((site, site.place.file().strip_suffix(".ptx")?)))
        .flat_map(|(site, kernel)| {
            let module = modules.module(kernel).expect("whole images").expect("it was launched");
            Mutation::of(site, kernel, &module.text)
        })
        .collect();
    all.into_iter().collect()
}

/// Schedules of a protocol, fewer where a run takes long. Those that check for races come first,
/// because a race ends a run early.
fn seeds(protocol: &Protocol) -> impl Iterator<Item = u64> {
    let count = match protocol.name.split_once('/') {
        Some(("sort" | "rank" | "ladder" | "kendall", _)) => 4,
        Some((_, name)) if name.contains("bulk") => 4,
        _ => 40,
    };
    (0..count).filter(|seed| seed % 2 == 1).chain((0..count).filter(|seed| seed % 2 == 0))
}

/// Draws a mutation of the protocol, and runs it until a schedule catches it.
fn judge(protocol: &Protocol, number: usize) -> Option<Verdict> {
    let compute = TARGETS[number % TARGETS.len()];
    let as_built = kernels(compute);
    let all = mutations(protocol, as_built);
    if all.is_empty() {
        return None;
    }
    let mutation = all[drawn(SEED, number) % all.len()].clone();
    let ptx: &'static PtxKernels = Box::leak(Box::new(mutation.kernels(compute)));
    let caught = seeds(protocol).find_map(|seed| {
        let what = run(protocol, &device(protocol, ptx, seed, false)).err()?;
        Some(Caught { seed, what })
    });
    if let Some(Caught { seed, what }) = &caught {
        // The mutation is the cause: no launch is refused, and the same run of the original passes.
        assert!(
            !matches!(what, Wrong::Device(error) if !matches!(error, DeviceError::Fault(_))),
            "{mutation}: {what}"
        );
        let original = run(protocol, &device(protocol, as_built, *seed, false));
        original.unwrap_or_else(|wrong| panic!("{} without {mutation}: {wrong}", protocol.name));
    }
    Some(Verdict { protocol: protocol.name.clone(), compute, mutation, caught })
}

fn mutations_of_the_ptx_are_caught_or_explained() {
    let mut order: Vec<Protocol> = protocols();
    order.sort_by_cached_key(|protocol| {
        protocol.name.bytes().fold(SEED, |mixed, byte| drawn(mixed, byte.into()) as u64)
    });
    order.truncate(DRAWN);
    let is_shown = env::args().any(|argument| argument == "--nocapture");
    let next = Mutex::new(order.iter().enumerate());
    let judging = || {
        let mut verdicts = Vec::new();
        loop {
            let drawn = next.lock().expect("no panic").next();
            let Some((number, protocol)) = drawn else { break verdicts };
            let verdict = judge(protocol, number);
            if let Some(verdict) = &verdict
                && is_shown
            {
                println!("{verdict}");
            }
            verdicts.extend(verdict);
        }
    };
    let verdicts: Vec<Verdict> = thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(judging)).collect();
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.flatten().collect()
    });
    assert!(verdicts.len() >= 40, "only {} protocols have kernels in the images", verdicts.len());
    let is_open = |it: &&Verdict| it.caught.is_none() && it.mutation.excuse().is_none();
    let open: Vec<String> = verdicts.iter().filter(is_open).map(ToString::to_string).collect();
    assert!(open.is_empty(), "no run needs these:\n{}", open.join("\n"));
}

fn a_mutation_changes_one_modifier_or_removes_the_instruction() {
    let forms = |line: &str| -> Vec<String> {
        weaker(line, false, false).into_iter().map(|(_, mutated)| mutated).collect()
    };
    assert_eq!(
        forms("\t@%p1 ld.acquire.gpu.global.b32 %r1, [%rd1];"),
        [
            "\t@%p1 ld.acquire.cta.global.b32 %r1, [%rd1];",
            "\t@%p1 ld.relaxed.gpu.global.b32 %r1, [%rd1];",
        ]
    );
    assert_eq!(forms("fence.sc.sys;"), ["", "fence.sc.cta;", "fence.acq_rel.sys;"]);
    assert_eq!(forms("\tbar.sync \t0;"), [""]);
    assert_eq!(forms("\tadd.s32 %r1, %r2, %r3;"), [""; 0]);
    assert_eq!(weaker("red.relaxed.sys.global.add.u32 [%rd1], 1;", true, false)[0].0, "gpu");
}
