//! Shared code of the matrices: lengths around every edge, schedules, and the selection that every
//! run tests.

use gridsync::device::Device;
use gridsync_tests::devices::{emulator, emulator_under, with_cuda};
use gridsync_tests::trials::{Budget, Trials};
use gridsync_verify::CaseError;
use simt::{Policy, Schedule};

/// Lengths by name.
pub(crate) type Lengths = Vec<(String, usize)>;

/// Lengths that are the same for every row.
pub(crate) fn exactly(lens: &[usize]) -> Lengths {
    lens.iter().map(|&len| (format!("len_{len}"), len)).collect()
}

/// The lengths around `len`, with names that start with `what`.
pub(crate) fn around(what: &str, len: usize) -> Lengths {
    vec![
        (format!("{what}_less_one"), len - 1),
        (what.to_owned(), len),
        (format!("{what}_and_one"), len + 1),
    ]
}

/// A case of a row of a matrix.
pub(crate) type Case = fn(&Device, usize, u64) -> Result<(), CaseError>;

/// Adds `case` on each backend, with a different seed for each length. On the emulator, lengths
/// above `most` run only in thorough runs.
pub(crate) fn add_lengths(
    trials: &mut Trials,
    row: &str,
    case: Case,
    lengths: &Lengths,
    most: usize,
) {
    let run = move |device: &Device, len: usize| {
        case(device, len, len as u64).unwrap_or_else(|error| panic!("{error}"));
    };
    for &(ref name, len) in lengths {
        let budget = Budget::thorough_if(len > most);
        let name = format!("{row}::on_the_emulator::{name}");
        trials.add(name, budget, move || run(&emulator(), len));
    }
    let large = [(1 << 20) + 7, (1 << 24) + 1];
    for &(ref name, len) in lengths.iter().chain(&exactly(&large)) {
        trials.test(format!("{row}::on_cuda::{name}"), move || {
            with_cuda(|cuda| run(cuda, len));
        });
    }
}

/// Adds `by_rows`, which processes several groups with several numbers of rows per tile, on each
/// backend, and `by_one_row` under each schedule of the emulator.
pub(crate) fn add_groups(
    trials: &mut Trials,
    row: &str,
    by_rows: impl Fn(&Device) + Copy + Send + 'static,
    by_one_row: impl Fn(&Device) + Copy + Send + 'static,
) {
    trials.thorough(format!("{row}::on_the_emulator::in_several_groups"), move || {
        by_rows(&emulator());
    });
    trials.test(format!("{row}::on_cuda::in_several_groups"), move || with_cuda(by_rows));
    add_schedules(trials, &format!("{row}::in_several_groups"), by_one_row);
}

/// Adds `check` under each schedule of the emulator. All but one run only in thorough runs.
pub(crate) fn add_schedules(
    trials: &mut Trials,
    group: &str,
    check: impl Fn(&Device) + Copy + Send + 'static,
) {
    let random = |seed, quantum| Schedule::seeded(Policy::Random { quantum }, seed);
    let schedules = [
        ("under_round_robin", Schedule::new(Policy::RoundRobin)),
        ("under_run_ahead", Schedule::new(Policy::RunAhead)),
        ("under_reverse", Schedule::new(Policy::Reverse)),
        ("under_random_steps", random(1, 1)),
        ("under_random_turns", random(2, 50)),
    ];
    for (name, schedule) in schedules {
        let budget = Budget::thorough_if(name != "under_random_turns");
        trials.add(format!("{group}::{name}"), budget, move || {
            check(&emulator_under(schedule));
        });
    }
}

/// Whether the catalogue's name matches the line, such as `sum_f16_in_f32`, and the kernel has that
/// name or the name for the unsigned type.
pub(crate) fn is_named(
    [name, kernel]: [&str; 2],
    family: &str,
    op: &str,
    [element, accumulator]: [&str; 2],
) -> bool {
    let unsigned = name.replace("_i", "_u");
    let of_line = [name, unsigned.as_str()].iter().any(|name| kernel == format!("{family}_{name}"));
    let start = format!("{}_", op.replace('-', "_"));
    let types = name.strip_prefix(&start).unwrap_or(element);
    let (of, within) = types.split_once("_in_").unwrap_or((types, accumulator));
    of_line && of.ends_with(element) && accumulator.contains(within)
}

/// Checks that exactly one test has that name.
#[track_caller]
pub(crate) fn is_there_once(trials: &Trials, test: &str) {
    let there = trials.names().filter(|&name| name == test).count();
    assert_eq!(there, 1, "{test}");
}
