//! `gridsync verify`: every kernel on many inputs, against the reference.

use super::count::within;
use super::exit::Wrong;
use super::{Global, output};
use clap::value_parser;
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig, Schedule};
use gridsync::lab::xpx::{self, Form, Setup};
use gridsync::launch::Blocks;
use gridsync::primitives::kendall::Method;
use gridsync::report::table;
use gridsync::verify::{
    CaseError, Crossing, DESIGNS, Ties, kendall_kinds, range_sum_kinds, reduce_kinds, row_kinds,
    scan_kinds, select_kinds,
};
use serde_json::json;

/// Prove the kernels right: run each on many inputs, against the reference
///
/// Runs every reduction, of arrays and of the rows of matrices, every scan, selection, range sum and
/// rank correlation, every grid barrier and X→P→X behind the one to take, on lengths around every edge.
/// On the emulator short inputs run under a schedule drawn from each seed, which interleaves the
/// threads access by access, and data races are looked for in small grids; long ones run under the fast
/// schedule.
#[derive(clap::Args)]
pub(crate) struct Verify {
    /// Inputs of each length, differing in their seed.
    #[arg(long, default_value_t = 1, value_parser = within::<u64>(1..=u64::MAX))]
    seeds: u64,
    /// The longest input is 2 to the power of this many elements.
    #[arg(long, default_value_t = 16, value_parser = value_parser!(u32).range(0..=34))]
    max_log2: u32,
}

/// The longest input that the emulator runs access by access.
const INTERLEAVED: usize = 300;

/// The longest arrays of which the emulator compares all pairs.
const ALL_PAIRS: usize = 600;

/// The longest arrays that the emulator sorts to correlate them. It does so under the fast schedule
/// alone: even a short array is sorted by a block of 256 threads.
const SORTED: usize = 4097;

/// The most threads of a grid whose barriers the emulator judges by data races too.
const JUDGED: u32 = 600;

/// How the emulator runs a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Emulated {
    /// Under the fast schedule.
    Fast,
    /// Access by access, under the schedule of its seed.
    Interleaved,
    /// The same, looking for data races.
    Judged,
}

/// What came of the cases of one kernel.
struct Row {
    name: String,
    passed: usize,
    failed: Vec<String>,
}

impl Verify {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let device = global.device.device()?;
        let mut rows = Vec::new();
        let ended = self.cases(global, &device, &mut rows);

        let name = &device.properties().name;
        output::result(global, || text(global, name, &rows), || json(name, &rows))?;
        ended?;
        match rows.iter().map(|row| row.failed.len()).sum::<usize>() {
            0 => Ok(()),
            failed => Err(Wrong(format!("{failed} cases failed on {name}")).into()),
        }
    }

    /// Runs all cases into `rows`, which hold what was done if the device fails on the way.
    fn cases(&self, global: &Global, device: &Device, rows: &mut Vec<Row>) -> anyhow::Result<()> {
        let reductions = reduce_kinds()
            .into_iter()
            .map(|kind| ("reduce", kind.op, kind.element, kind.accumulator, kind.case));
        let scans = scan_kinds()
            .into_iter()
            .map(|kind| ("scan", kind.op, kind.element, kind.accumulator, kind.case));
        let selections = select_kinds()
            .into_iter()
            .map(|kind| ("select", kind.op, kind.element, kind.element, kind.case));
        let kinds = reductions.chain(scans).chain(selections);
        for (primitive, op, element, accumulator, case_of) in kinds {
            let of = of(op, element, accumulator);
            let row = start(global, rows, format!("{primitive} {of}"));
            for len in lengths(self.max_log2) {
                for seed in 0..self.seeds {
                    let device = scheduled(device, emulated(len), seed);
                    let case = || format!("{len} elements, seed {seed}");
                    row.count(case, case_of(&device, len, seed))?;
                }
            }
        }
        for kind in row_kinds() {
            let of = of(kind.op, kind.element, kind.accumulator);
            let row = start(global, rows, format!("reduce rows, {of}"));
            for (height, width) in matrices(self.max_log2) {
                for seed in 0..self.seeds {
                    let device = scheduled(device, emulated(height * width), seed);
                    let case = || format!("{height} rows of {width}, seed {seed}");
                    row.count(case, (kind.case)(&device, height, width, seed))?;
                }
            }
        }
        self.ranges_and_ranks(global, device, rows)?;
        self.barriers(global, device, rows)
    }

    /// The range sums, and the rank correlations.
    fn ranges_and_ranks(
        &self,
        global: &Global,
        device: &Device,
        rows: &mut Vec<Row>,
    ) -> anyhow::Result<()> {
        for kind in range_sum_kinds() {
            let of = of("sum", kind.element, kind.accumulator);
            let row = start(global, rows, format!("ranges, {of}"));
            for len in lengths(self.max_log2) {
                for seed in 0..self.seeds {
                    let device = scheduled(device, emulated(len), seed);
                    let case = || format!("{len} elements, seed {seed}");
                    row.count(case, (kind.case)(&device, len, seed))?;
                }
            }
        }
        let is_emulated = device.properties().is_emulated();
        for kind in kendall_kinds() {
            let row = start(global, rows, format!("kendall {}", kind.element));
            let lengths = lengths(self.max_log2).into_iter();
            for len in lengths.filter(|&len| !is_emulated || len <= SORTED) {
                let methods: &[Method] = match len {
                    ..=ALL_PAIRS => &[Method::Pairs, Method::Sort],
                    _ => &[Method::Sort],
                };
                for seed in 0..self.seeds {
                    let ties = Ties::ALL[(len + seed as usize) % Ties::ALL.len()];
                    let case = || format!("{ties:?} ties of {len} places, seed {seed}");
                    row.count(case, (kind.case)(device, ties, methods, len, seed))?;
                }
            }
        }
        Ok(())
    }

    fn barriers(
        &self,
        global: &Global,
        device: &Device,
        rows: &mut Vec<Row>,
    ) -> anyhow::Result<()> {
        for design in DESIGNS {
            let row = start(global, rows, format!("barrier, {}", design.name));
            for threads in [1, 32, 33, 96, 256] {
                for blocks in [
                    Blocks::Exactly(1),
                    Blocks::Exactly(2),
                    Blocks::AtMost(33),
                    Blocks::Fill,
                ] {
                    for seed in 0..self.seeds {
                        let emulated = match blocks {
                            Blocks::Exactly(blocks) | Blocks::AtMost(blocks)
                                if blocks * threads <= JUDGED =>
                            {
                                Emulated::Judged
                            }
                            Blocks::Fill => Emulated::Fast,
                            _ => Emulated::Interleaved,
                        };
                        let device = scheduled(device, emulated, seed);
                        let crossing = Crossing::of(blocks, threads);
                        let case = || format!("{crossing:?}, seed {seed}");
                        row.count(case, design.case(&device, &crossing))?;
                    }
                }
            }
        }
        let row = start(global, rows, "X→P→X, grid barrier".into());
        for (elements, blocks, threads) in [(128, 2, 64), (1, 1, 1), (77, 3, 33), (1000, 4, 96)] {
            let setup = Setup {
                elements,
                blocks,
                threads,
            };
            for seed in 0..self.seeds {
                let device = scheduled(device, Emulated::Judged, seed);
                let wrong = xpx::run(&device, Form::GridBarrier, &setup, 0);
                let done = match wrong {
                    Ok(None) => Ok(()),
                    Ok(Some(wrong)) => Err(CaseError::Wrong(format!("{wrong:?}"))),
                    Err(error) => Err(error.into()),
                };
                row.count(|| format!("{setup:?}, seed {seed}"), done)?;
            }
        }
        Ok(())
    }
}

/// The device for a case: on the emulator one of its own, unless it is to be the fast one.
fn scheduled(device: &Device, emulated: Emulated, seed: u64) -> Device {
    if !device.properties().is_emulated() || emulated == Emulated::Fast {
        return device.clone();
    }
    Device::new(Emulator::new(EmulatorConfig {
        schedule: Schedule::from_seed(seed),
        races: emulated == Emulated::Judged,
        ..EmulatorConfig::default()
    }))
}

/// How the emulator runs a case of so many elements.
fn emulated(elements: usize) -> Emulated {
    match elements {
        ..=INTERLEAVED => Emulated::Judged,
        _ => Emulated::Fast,
    }
}

/// An operation on elements of a type, with its accumulator where that is another.
fn of(op: &str, element: &str, accumulator: &str) -> String {
    match element == accumulator {
        true => format!("{op} {element}"),
        false => format!("{op} {element} in {accumulator}"),
    }
}

/// Begins the row of one kernel.
fn start<'a>(global: &Global, rows: &'a mut Vec<Row>, name: String) -> &'a mut Row {
    if global.verbose {
        eprintln!("{name}");
    }
    rows.push(Row {
        name,
        passed: 0,
        failed: Vec::new(),
    });
    let last = rows.len() - 1;
    &mut rows[last]
}

impl Row {
    /// Counts one case. A kernel that faults in the emulator has failed; any other failure of a
    /// device ends everything.
    fn count(
        &mut self,
        case: impl Fn() -> String,
        done: Result<(), CaseError>,
    ) -> anyhow::Result<()> {
        match done {
            Ok(()) => self.passed += 1,
            Err(CaseError::Wrong(what)) => self.failed.push(what),
            Err(CaseError::Device(error @ DeviceError::Fault(_))) => {
                self.failed
                    .push(format!("{}, {}: {error}", self.name, case()));
            }
            Err(CaseError::Device(error)) => {
                let what = format!("{}, {}", self.name, case());
                return Err(anyhow::Error::from(error).context(what));
            }
        }
        Ok(())
    }
}

/// Lengths around every edge: of a warp, a pack, a block's turn, and powers of two.
fn lengths(max_log2: u32) -> Vec<usize> {
    let max = 1usize << max_log2;
    let edges = [
        0, 1, 7, 8, 9, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 8193,
    ];
    let powers = (13..=max_log2).flat_map(|log2| [(1 << log2) - 1, (1 << log2) + 1]);
    let mut lengths: Vec<usize> = edges
        .into_iter()
        .chain(powers)
        .chain([max])
        .filter(|&len| len <= max + 1)
        .collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Rows and columns around every edge: of a pack, a batch, a run, a tile, and none at all.
fn matrices(max_log2: u32) -> Vec<(usize, usize)> {
    let edges = [
        (1, 1),
        (0, 5),
        (5, 0),
        (257, 1),
        (70, 3),
        (65, 4),
        (33, 16),
        (17, 17),
        (9, 130),
        (5, 512),
        (3, 1024),
        (3, 1025),
        (3, 2049),
        (2, 8193),
        (3, 20_000),
        (2, 100_001),
    ];
    let fits = |&(rows, columns): &(usize, usize)| rows * columns <= 1 << max_log2;
    edges.into_iter().filter(fits).collect()
}

fn text(global: &Global, device: &str, rows: &[Row]) -> String {
    let mut table = table();
    table.set_header(["", "passed", "failed"]);
    for row in rows {
        table.add_row([
            row.name.clone(),
            row.passed.to_string(),
            row.failed.len().to_string(),
        ]);
    }
    let passed: usize = rows.iter().map(|row| row.passed).sum();
    let failures: Vec<_> = rows
        .iter()
        .flat_map(|row| &row.failed)
        .map(String::as_str)
        .collect();
    let summary = format!("{passed} passed, {} failed, on {device}", failures.len());
    let parts = [table.to_string(), failures.join("\n"), summary];
    let shown = if global.quiet {
        &parts[2..]
    } else {
        &parts[..]
    };
    let shown: Vec<&str> = shown
        .iter()
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    shown.join("\n\n")
}

fn json(device: &str, rows: &[Row]) -> serde_json::Value {
    let cases = rows
        .iter()
        .map(|row| json!({ "case": row.name, "passed": row.passed, "failed": row.failed }));
    json!({ "device": device, "cases": cases.collect::<Vec<_>>() })
}
