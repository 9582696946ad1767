//! Runs a kernel under many schedules and judges each run.

use std::fmt;

use ptx_run::{Error, Excuse, Kernel, Program};
use simt::{Fault, LaunchConfig, Memory, Place, Schedule};

use crate::problem::{Argument, Problem, Verdict};
use crate::source::Expected;

/// The schedules that each kernel runs under.
pub(crate) const SEEDS: u64 = 40;
/// An error that those do not find is looked for under so many.
const MOST_SEEDS: u64 = 400;

/// How many schedules have found what.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The fault of the verdict in the marked lines, or another result if that is the verdict.
    pub(crate) found: u64,
    /// Another consequence of a race.
    symptoms: u64,
    /// All schedules.
    schedules: u64,
    /// The excuses of the races.
    pub(crate) excuses: Vec<Option<Excuse>>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, symptoms, schedules, .. } = self;
        write!(f, "{found} of {schedules} schedules, and {symptoms} more with a symptom")
    }
}

/// Runs a kernel of a module under all schedules. Every other run checks for races, and memory is
/// weak, but not in half of those.
///
/// # Errors
/// The first run that contradicts the verdict, in words.
pub(crate) fn check(
    module: &ptx::Module,
    problem: &Problem,
    (name, verdict): (&str, Verdict),
    expected: &Expected<'_>,
) -> Result<Tally, String> {
    let mut memory = Memory::new(1 << 20);
    let program = Program::new(module, name).map_err(|error| error.to_string())?;
    let kernel = program.load(&mut memory).map_err(|error| error.to_string())?;
    let mut tally = Tally::default();
    for seed in 0..MOST_SEEDS {
        if seed >= SEEDS && (verdict == Verdict::Right || tally.found > 0) {
            break;
        }
        tally.schedules += 1;
        let races = seed % 2 == 1;
        let config = LaunchConfig {
            schedule: Schedule::from_seed(seed),
            races,
            // An early read of shared memory shows as a race.
            zeroed: races && verdict != Verdict::Uninitialised,
            // With weak memory, the order of two `fence.sc` is part of causality, and hides races of
            // runs in which that order is accidental. `__threadfence` is such a fence.
            weak_memory: seed % 4 != 3,
            max_resident_blocks: problem.resident,
            ..LaunchConfig::new(name, problem.shape.0, problem.shape.1)
        };
        let outcome = run(&kernel, &mut memory, problem, &config);
        let contradiction = |what: &dyn fmt::Display| Err(format!("seed {seed}: {what}"));
        match outcome {
            Ok(result) if result == problem.result => {}
            Ok(_) if verdict == Verdict::Wrong => tally.found += 1,
            Ok(_) if verdict == Verdict::Race => tally.symptoms += 1,
            Ok(result) => return contradiction(&format_args!("the result is {result:?}")),
            Err(fault) if is_of(&fault, verdict, expected) => {
                tally.found += 1;
                if let Fault::Race(race) = &fault {
                    tally.excuses.push(Excuse::of(module, name, race));
                }
            }
            Err(_) if verdict == Verdict::Race && !races => tally.symptoms += 1,
            Err(fault) => return contradiction(&fault),
        }
    }
    Ok(tally)
}

/// The words of the result, or the fault.
fn run(
    kernel: &Kernel,
    memory: &mut Memory,
    problem: &Problem,
    config: &LaunchConfig<'_>,
) -> Result<Vec<u32>, Fault> {
    let arrays: Vec<Option<u64>> =
        problem.arguments.iter().map(|argument| array(memory, argument)).collect();
    let bytes = arguments(problem, &arrays);
    let launched = kernel.launch(memory, config, &bytes);
    let mut result = vec![0; problem.result.len() * 4];
    let read = memory.read(arrays[0].expect("the first argument is an array"), &mut result);
    for address in arrays.into_iter().flatten() {
        memory.free(address).expect("it was allocated");
    }
    match launched {
        Ok(_) => read.expect("the kernel writes its result"),
        Err(Error::Fault(fault)) => return Err(*fault),
        Err(error) => panic!("{}: {error}", config.kernel),
    }
    let words = result.chunks_exact(4);
    Ok(words.map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect())
}

/// The address of an argument that is an array.
fn array(memory: &mut Memory, argument: &Argument) -> Option<u64> {
    match argument {
        Argument::Words(words) => {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let address = memory.alloc(bytes.len(), 16).expect("it fits");
            memory.write(address, &bytes).expect("it is in bounds");
            Some(address)
        }
        Argument::Unwritten(words) => Some(memory.alloc(words * 4, 16).expect("it fits")),
        Argument::Number(_) => None,
    }
}

/// The bytes of the parameters.
fn arguments(problem: &Problem, arrays: &[Option<u64>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (argument, array) in problem.arguments.iter().zip(arrays) {
        match (argument, array) {
            (Argument::Number(number), _) => bytes.extend(number.to_le_bytes()),
            (_, Some(address)) => {
                bytes.resize(bytes.len().next_multiple_of(8), 0);
                bytes.extend(address.to_le_bytes());
            }
            (_, None) => unreachable!("all others are arrays"),
        }
    }
    // A solution may need fewer of them.
    bytes
}

/// Whether a fault is that of the verdict and names only marked lines: both accesses of a race, or
/// any of the threads that wait. One access of a race may have no line of the source, because the
/// compiler has moved it; then its file is the PTX.
fn is_of(fault: &Fault, verdict: Verdict, expected: &Expected<'_>) -> bool {
    let message = fault.to_string();
    if !expected.causes.iter().all(|cause| message.contains(cause)) {
        return false;
    }
    let is_marked = |place: Place| expected.lines.contains(&place.line());
    let is_moved = |place: Place| place.file().ends_with(".ptx");
    match (verdict, fault) {
        (Verdict::Race, Fault::Race(race)) => {
            let places = [&race.earlier, &race.later].map(|it| it.site.place);
            places.into_iter().any(is_marked)
                && places.into_iter().all(|it| is_marked(it) || is_moved(it))
        }
        (Verdict::Deadlock | Verdict::Barrier, Fault::Deadlock(stuck)) => {
            stuck.waiting.iter().any(|it| is_marked(it.place))
        }
        // An address far from all shared memory is a trap.
        (Verdict::OutOfBounds, Fault::OutOfBounds { .. } | Fault::Trap { .. })
        | (Verdict::Uninitialised, Fault::Uninitialised { .. })
        | (
            Verdict::Barrier,
            Fault::BarrierSkipped { .. }
            | Fault::BarrierDiverged { .. }
            | Fault::WarpMismatch { .. }
            | Fault::LaneExited { .. },
        ) => fault.site().is_some_and(|site| is_marked(site.place)),
        _ => false,
    }
}
