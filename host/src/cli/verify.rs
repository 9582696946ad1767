//! `gridsync verify`: every kernel on many inputs, against the reference.

use super::exit::{Usage, Wrong};
use super::{Global, output};
use gridsync::device::Device;
use gridsync::launch::Blocks;
use gridsync::report::table;
use gridsync::verify::{CaseError, barrier_case, reduce_kinds};
use serde_json::json;

#[derive(clap::Args)]
pub(crate) struct Verify {
    /// Inputs of each length, differing in their seed.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// The longest input is 2 to the power of this many elements.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=34))]
    max_log2: u32,
}

/// What came of the cases of one kernel.
struct Row {
    name: String,
    passed: usize,
    failed: Vec<String>,
}

impl Verify {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        if self.seeds == 0 {
            return Err(Usage("0 seeds prove nothing: use --seeds 1 or more".into()).into());
        }
        let device = global.device.device()?;
        let mut rows = self.reductions(&device)?;
        rows.push(barriers(&device)?);

        let name = &device.properties().name;
        output::result(global, || text(name, &rows), || json(name, &rows))?;
        match rows.iter().map(|row| row.failed.len()).sum::<usize>() {
            0 => Ok(()),
            failed => Err(Wrong(format!("{failed} cases failed on {name}")).into()),
        }
    }

    fn reductions(&self, device: &Device) -> anyhow::Result<Vec<Row>> {
        let mut rows = Vec::new();
        for kind in reduce_kinds() {
            let name = if kind.element == kind.accumulator {
                format!("reduce {} {}", kind.op, kind.element)
            } else {
                format!(
                    "reduce {} {} in {}",
                    kind.op, kind.element, kind.accumulator
                )
            };
            let mut row = Row {
                name,
                passed: 0,
                failed: Vec::new(),
            };
            for len in lengths(self.max_log2) {
                for seed in 0..self.seeds {
                    row.count((kind.case)(device, len, seed))?;
                }
            }
            rows.push(row);
        }
        Ok(rows)
    }
}

impl Row {
    /// Counts one case. A device that failed ends everything.
    fn count(&mut self, case: Result<(), CaseError>) -> anyhow::Result<()> {
        match case {
            Ok(()) => self.passed += 1,
            Err(CaseError::Wrong(what)) => self.failed.push(what),
            Err(CaseError::Device(error)) => return Err(error.into()),
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
    edges
        .into_iter()
        .chain(powers)
        .chain([max])
        .filter(|&len| len <= max + 1)
        .collect()
}

fn barriers(device: &Device) -> anyhow::Result<Row> {
    let mut row = Row {
        name: "grid barrier".into(),
        passed: 0,
        failed: Vec::new(),
    };
    for threads in [32, 64, 96, 256] {
        for blocks in [
            Blocks::Exactly(1),
            Blocks::Exactly(2),
            Blocks::AtMost(33),
            Blocks::Fill,
        ] {
            row.count(barrier_case(device, blocks, threads, 2, 10))?;
        }
    }
    Ok(row)
}

fn text(device: &str, rows: &[Row]) -> String {
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
    format!(
        "{table}\n\n{}{}{passed} passed, {} failed, on {device}\n",
        failures.join("\n"),
        if failures.is_empty() { "" } else { "\n\n" },
        failures.len()
    )
}

fn json(device: &str, rows: &[Row]) -> serde_json::Value {
    let cases = rows
        .iter()
        .map(|row| json!({ "case": row.name, "passed": row.passed, "failed": row.failed }));
    json!({ "device": device, "cases": cases.collect::<Vec<_>>() })
}
