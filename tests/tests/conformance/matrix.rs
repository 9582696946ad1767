//! Shared code of the matrices: lengths around every edge, schedules, names, and comparisons.

use bytemuck::Pod;
use gridsync::device::Device;
use gridsync_tests::devices::{emulator, emulator_under, with_cuda};
use gridsync_tests::trials::{Budget, Trials};
use gridsync_verify::{Kind, Primitive, Size, kinds};
use simt::{Policy, Schedule};
use std::collections::BTreeSet;
use std::fmt::Debug;

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

/// Runs the case of this size, or panics with its error.
pub(crate) fn run(device: &Device, kind: &Kind, size: Size, seed: usize) {
    kind.run(device, size, seed as u64).unwrap_or_else(|error| panic!("{}: {error}", kind.name));
}

/// Adds the cases of these lengths on each backend, with a different seed for each length. On the
/// emulator, lengths above `most` run only in thorough runs.
pub(crate) fn add_lengths(
    trials: &mut Trials,
    kind: &'static Kind,
    lengths: &Lengths,
    most: usize,
) {
    let row = kind.name;
    for &(ref name, len) in lengths {
        let budget = Budget::thorough_if(len > most);
        let name = format!("{row}::on_the_emulator::{name}");
        trials.add(name, budget, move || run(&emulator(), kind, Size::Array(len), len));
    }
    let large = [(1 << 20) + 7, (1 << 24) + 1];
    for &(ref name, len) in lengths.iter().chain(&exactly(&large)) {
        trials.test(format!("{row}::on_cuda::{name}"), move || {
            with_cuda(|cuda| run(cuda, kind, Size::Array(len), len));
        });
    }
}

/// Adds the cases of several groups: with each of `rows` of a warp on each backend, and with one
/// row under each schedule of the emulator.
pub(crate) fn add_groups(trials: &mut Trials, kind: &'static Kind, rows: BTreeSet<u32>) {
    let row = kind.name;
    let by_rows = move |device: &Device| {
        rows.iter().for_each(|&rows| run(device, kind, Size::Groups(rows), 9));
    };
    let on_the_emulator = by_rows.clone();
    trials.thorough(format!("{row}::on_the_emulator::in_several_groups"), move || {
        on_the_emulator(&emulator());
    });
    trials.test(format!("{row}::on_cuda::in_several_groups"), move || with_cuda(by_rows));
    add_schedules(trials, &format!("{row}::in_several_groups"), kind, (Size::Groups(1), 9));
}

/// Adds the case of this size and seed under each schedule of the emulator. All but one run only in
/// thorough runs.
pub(crate) fn add_schedules(
    trials: &mut Trials,
    group: &str,
    kind: &'static Kind,
    (size, seed): (Size, usize),
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
            run(&emulator_under(schedule), kind, size, seed);
        });
    }
}

/// Checks that the names in the catalogue match their lines, such as `sum_f16_in_f32`, and that the
/// kernels have those names, or the names for the unsigned types, in these families.
#[track_caller]
pub(crate) fn each_is_named_after_its_kernels(primitive: Primitive, families: &[&str]) {
    for kind in kinds(primitive) {
        let Kind { name, op, element, accumulator, ref kernels, .. } = *kind;
        assert_eq!(kernels.len(), families.len(), "{name}");
        let unsigned = name.replace("_i", "_u");
        // The magnitude of an unsigned element is the element.
        let sum = match name {
            "magnitudes_u32" => "sum_u32_in_u64",
            "magnitudes_u64" => "sum_u64_in_i128",
            _ => name,
        };
        for (kernel, family) in kernels.iter().zip(families) {
            let names = [name, &unsigned, sum].map(|name| format!("{family}{name}"));
            assert!(names.iter().any(|name| name == kernel), "{kernel}, not {names:?}");
        }
        let start = format!("{}_", op.replace('-', "_"));
        let types = name.strip_prefix(&start).unwrap_or(element);
        let (of, within) = types.split_once("_in_").unwrap_or((types, accumulator));
        assert!(of.ends_with(element) && accumulator.contains(within), "{name}: {element}");
    }
}

/// Checks that the kinds of a primitive differ, and that each has exactly one test with the name
/// that `test` makes of its name.
#[track_caller]
pub(crate) fn each_is_there_once(
    primitive: Primitive,
    trials: &Trials,
    test: impl Fn(&str) -> String,
) {
    let mut distinct = BTreeSet::new();
    for kind in kinds(primitive) {
        let skips_nan = kind.name.contains("_of_numbers_");
        let is_new = distinct.insert((kind.op, skips_nan, kind.element, kind.accumulator));
        assert!(is_new, "{}", kind.name);
        let test = test(kind.name);
        assert_eq!(trials.names().filter(|&name| name == test).count(), 1, "{test}");
    }
}

/// Checks that the bits are the same, or reports the first difference.
#[track_caller]
pub(crate) fn same_bits<A: Pod + Debug>(what: &str, got: &[A], expected: &[A]) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (a, b)) in got.iter().zip(expected).enumerate() {
        let same = bytemuck::bytes_of(a) == bytemuck::bytes_of(b);
        assert!(same, "{what}: {a:?} at {i}, not the bits of {b:?}");
    }
}
