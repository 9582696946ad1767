//! `gridsync lab atomics`: cost of an atomic addition, by its target.

mod chart;
mod meaning;

use super::{Experiment, Found, Page, RunsOn};
use crate::cli::exit::Usage;
use crate::cli::progress::progress;
use crate::cli::{Global, output};
use gridsync::device::Device;
use gridsync_lab::atomics::{self, Cost, Counted, MOST_THREADS, NUMBERS, STEPS, TARGETS};
use gridsync_lab::count::within;
use gridsync_lab::display::svg::ChartError;
use gridsync_lab::display::words::three_digits;
use gridsync_lab::display::{Table, table};
use gridsync_lab::{counting, fences};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Blocks in the emulator: few, but more than one, so that blocks share an address.
const EMULATED_BLOCKS: u32 = 4;

/// Blocks per multiprocessor on a GPU. With 256 threads each, they are as many threads as fit on
/// the smallest multiprocessor since compute capability 7.5.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 4;

/// Measure what an atomic addition costs by where it goes, and what helps
///
/// All threads of a grid add to one address, or each block, warp or lane has its own. Two cures
/// follow: a block adds up in shared memory first, or a warp by shuffles. For u32, u64, f32 and
/// f64, with and without the result used. On a GPU, rates by slopes over the rounds, the median of
/// 7. The emulator counts accesses, sectors and shuffles. All sums are checked, and that no two
/// additions had the same result.
#[derive(clap::Args)]
pub(super) struct Atomics {
    /// Blocks of the grid [default: 4 for each multiprocessor of a GPU, 4 in the emulator].
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=1 << 15))]
    blocks: Option<u32>,
    /// Threads of a block, a multiple of 32.
    #[arg(long, value_name = "N", default_value = "256", value_parser = within::<u32>(32..=1024))]
    threads: u32,
    /// Write atomics.svg to this folder, and on a GPU atomics-floats.svg.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Atomics {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["atomics.svg", "atomics-floats.svg"];

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        let threads = self.threads;
        if !threads.is_multiple_of(32) {
            return Err(Usage(format!("--threads {threads}: give a multiple of 32")).into());
        }
        let (emulated, counting) = (device.properties().is_emulated(), counting::emulator());
        let device = if emulated { &counting } else { device };
        let name = &device.properties().name;
        let blocks = self.blocks.unwrap_or(match emulated {
            true => EMULATED_BLOCKS,
            false => BLOCKS_PER_MULTIPROCESSOR * device.properties().multiprocessors,
        });
        if u64::from(blocks) * u64::from(threads) > MOST_THREADS {
            let message = format!(
                "{blocks} blocks of {threads} threads are more than {MOST_THREADS} threads: with \
                 those, the sums in f32 are not exact"
            );
            return Err(Usage(message).into());
        }
        let mhz = if emulated { None } else { Some(fences::clock_mhz(device)?) };
        let bar = progress(global, STEPS);
        bar.set_message("atomic additions");
        let costs = atomics::costs(device, (blocks, threads), || bar.inc(1))?;
        bar.finish_and_clear();

        Ok(page(name, (blocks, threads), &costs, mhz)?.found(global))
    }
}

/// The page about `costs` in a grid of blocks of threads. On a GPU, `mhz` is its clock.
fn page(
    device: &str,
    (blocks, threads): (u32, u32),
    costs: &[Cost],
    mhz: Option<f64>,
) -> Result<Page, ChartError> {
    let mut page = Page::new(
        device,
        format!(
            "What does an atomic addition cost, and how does that depend on how many threads add \
             to one address? Each thread of {blocks} blocks of {threads} threads adds 1 to an \
             address again and again on {device}."
        ),
    );
    match mhz {
        Some(mhz) => {
            let what = "10⁹ additions per second (ns from one to the next at one address)";
            page.table(&format!("{what}, no result"), &rates(costs, false));
            page.table(&format!("{what}, result used"), &rates(costs, true));
            meaning::of_rates(&mut page, costs, mhz);
            chart::rates(&mut page, costs)?;
            page.json("clock_mhz", output::number(mhz));
        }
        None => {
            page.table(
                "32 additions, one of each lane (\"4 or 8\": 4 for numbers of 4 bytes, 8 for 8)",
                &counts(costs),
            );
            meaning::of_counts(&mut page, costs);
            chart::sectors(&mut page, costs)?;
        }
    }
    page.json("blocks", blocks);
    page.json("threads", threads);
    page.json("costs", costs.iter().map(|cost| as_json(cost, mhz)).collect::<Vec<_>>());
    if let Some(wrong) = costs.iter().find(|cost| !cost.right) {
        let (ty, target) = (wrong.ty.name, wrong.target.name());
        let used = if wrong.with_result { " with the result used" } else { "" };
        page.wrong(format!("a sum of {ty}, {target}{used}, is wrong"));
    }
    Ok(page)
}

/// The costs of one target in the order of the types. Empty if the target has no results.
fn of_target(costs: &[Cost], target: atomics::Target, with_result: bool) -> Vec<&Cost> {
    let is_this = |cost: &&Cost| cost.target == target && cost.with_result == with_result;
    costs.iter().filter(is_this).collect()
}

fn rates(costs: &[Cost], with_result: bool) -> Table {
    let mut table = table();
    let types = NUMBERS.iter().map(|number| number.ty.name);
    table.set_header(["addresses"].into_iter().chain(types));
    for target in TARGETS.into_iter().filter(|target| !(with_result && target.is_cure())) {
        let of_target = of_target(costs, target, with_result);
        let cells = of_target.iter().map(|cost| {
            let rate = cost.rate().map_or_else(String::new, three_digits);
            let ns = cost.ns_at_address().map_or_else(String::new, three_digits);
            format!("{rate} ({ns})")
        });
        table.add_row([target.name().to_owned()].into_iter().chain(cells));
    }
    table
}

fn counts(costs: &[Cost]) -> Table {
    let mut table = table();
    table.set_header(["addresses", "accesses", "sectors", "in shared memory", "shuffles"]);
    for target in TARGETS {
        let of_target = of_target(costs, target, false);
        let counted: Vec<_> = of_target.iter().filter_map(|cost| cost.counted()).collect();
        let cell = |of: fn(&Counted) -> f64| {
            let mut different: Vec<_> =
                counted.iter().map(|counted| of(counted).to_string()).collect();
            // The integers come first: u32, u64.
            different.dedup();
            different.truncate(2);
            different.join(" or ")
        };
        table.add_row([
            target.name().to_owned(),
            cell(|counted| counted.global_accesses),
            cell(|counted| counted.sectors),
            cell(|counted| counted.shared_accesses),
            cell(|counted| counted.shuffles),
        ]);
    }
    table
}

fn as_json(cost: &Cost, mhz: Option<f64>) -> Value {
    let mut json = json!({
        "type": cost.ty.name,
        "target": cost.target.name(),
        "with_result": cost.with_result,
        "addresses": cost.addresses,
        "right": cost.right,
    });
    let more = match cost.found {
        atomics::Found::Rate(rate) => {
            let ns = f64::from(cost.addresses) / rate.median;
            json!({
                "additions_per_ns": output::number(rate.median),
                "min": output::number(rate.min),
                "max": output::number(rate.max),
                "samples": rate.samples,
                "ns_at_address": output::number(ns),
                "clocks_at_address": mhz.map(|mhz| output::number(ns * mhz / 1e3)),
            })
        }
        atomics::Found::Counted(counted) => json!({
            "per_additions": 32,
            "global_accesses": output::number(counted.global_accesses),
            "sectors": output::number(counted.sectors),
            "shared_accesses": output::number(counted.shared_accesses),
            "shuffles": output::number(counted.shuffles),
        }),
    };
    if let (Value::Object(json), Value::Object(more)) = (&mut json, more) {
        json.extend(more);
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_lab::atomics::{Target, Type};
    use gridsync_lab::bench::Spread;

    /// Plausible costs of a GPU: the more addresses, the higher the rate.
    fn timed() -> Vec<Cost> {
        let mut costs = Vec::new();
        for with_result in [false, true] {
            for (place, target) in TARGETS.into_iter().enumerate() {
                for number in NUMBERS.iter().filter(|_| !(with_result && target.is_cure())) {
                    let rate = (place as f64 + 1.0) * 25.0 / number.ty.bytes as f64;
                    let rate = Spread::of(vec![rate; 7]).expect("there are samples");
                    costs.push(Cost {
                        ty: number.ty,
                        target,
                        with_result,
                        addresses: [1, 528, 4224, 135_168, 135_168, 1, 1][place],
                        found: atomics::Found::Rate(rate),
                        right: true,
                    });
                }
            }
        }
        costs
    }

    fn shown(costs: &[Cost]) -> Found {
        let page = page("NVIDIA H200", (528, 256), costs, Some(1980.0));
        page.expect("the charts are complete").without_flags()
    }

    #[test]
    fn rates_are_shown_drawn_and_compared() {
        let found = shown(&timed());
        assert!(found.text.lines().all(|line| line.chars().count() <= 80), "{}", found.text);
        let text = found.text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "one for all 6.25 (0.160) 3.12 (0.320) 6.25 (0.160) 3.12 (0.320)",
            "took 0.317 (u32), 0.634 (u64), 0.317 (f32) and 0.634 (f64) clocks, at a clock of 1980",
            "combined additions before they came to the address: those of u32 and f32.",
            "warp first 7.00 (u32), 7.00 (u64)",
        ] {
            assert!(text.contains(part), "{part:?}: {}", found.text);
        }
        assert_eq!(found.wrong, None);
        let names: Vec<_> = found.files.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(names, Atomics::FILES);
        let one = &found.json["costs"][0];
        assert_eq!((&one["type"], &one["ns_at_address"]), (&"u32".into(), &0.16.into()));
    }

    #[test]
    fn a_wrong_sum_is_reported_with_its_type_and_target() {
        let mut costs = timed();
        let wrong = costs.iter_mut().rfind(|cost| cost.target == Target::Warp);
        let wrong = wrong.expect("there is one");
        wrong.right = false;
        assert_eq!(wrong.ty, Type { name: "f64", bytes: 8 });
        let said = shown(&costs).wrong.expect("it is wrong");
        assert!(said.contains("f64, one for each warp with the result used"), "{said}");
    }
}
