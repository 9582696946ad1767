//! The result of `gridsync lab atomics`.

use super::{Cost, Counted, NUMBERS, TARGETS, Target, chart, meaning};
use crate::display::svg::ChartError;
use crate::display::words::three_digits;
use crate::display::{Page, Table, table};
use crate::{Chart, Report};
use serde::{Deserialize, Serialize};

/// The result of `gridsync lab atomics`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Atomics {
    /// The name of the device.
    pub device: String,
    /// The clock of a multiprocessor in MHz, as measured. Absent in the emulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_mhz: Option<f64>,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// The cost for each type and target.
    pub costs: Vec<Cost>,
}

impl Report for Atomics {
    fn page(&self) -> Page {
        let Self { device, blocks, threads, costs, .. } = self;
        let mut page = Page::new(format!(
            "What does an atomic addition cost, and how does that depend on how many threads add \
             to one address? Each thread of {blocks} blocks of {threads} threads adds 1 to an \
             address again and again on {device}."
        ));
        if let Some(mhz) = self.clock_mhz {
            let what = "10⁹ additions per second (ns from one to the next at one address)";
            page.table(&format!("{what}, no result"), &rates(costs, false));
            page.table(&format!("{what}, result used"), &rates(costs, true));
            meaning::of_rates(&mut page, costs, mhz);
        } else {
            page.table(
                "32 additions, one of each lane (\"4 or 8\": 4 for numbers of 4 bytes, 8 for 8)",
                &counts(costs),
            );
            meaning::of_counts(&mut page, costs);
        }
        if let Some(Cost { dtype, target, with_result, .. }) = costs.iter().find(|cost| !cost.right)
        {
            let used = if *with_result { " with the result used" } else { "" };
            page.wrong(format!("a sum of {dtype}, {target}{used}, is wrong"));
        }
        page
    }

    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        if self.clock_mhz.is_some() { chart::rates(self) } else { chart::sectors(self) }
    }
}

/// The costs of one target in the order of the types. None if the target has no results.
pub(super) fn of_target(
    costs: &[Cost],
    target: Target,
    with_result: bool,
) -> impl Iterator<Item = &Cost> {
    costs.iter().filter(move |cost| cost.is_of(target, with_result))
}

fn rates(costs: &[Cost], with_result: bool) -> Table {
    let mut table = table();
    let types = NUMBERS.iter().map(|number| number.name);
    table.set_header(["addresses"].into_iter().chain(types));
    for target in TARGETS.into_iter().filter(|target| !(with_result && target.is_cure())) {
        let rates = of_target(costs, target, with_result).filter_map(Cost::rate);
        let cells = rates.map(|rate| {
            let [rate, ns] = [rate.additions_per_ns, rate.ns_at_address].map(three_digits);
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
        let counted: Vec<_> = of_target(costs, target, false).filter_map(Cost::counted).collect();
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

#[cfg(test)]
mod tests {
    use super::super::{Args, Found, Rate};
    use super::*;
    use crate::Experiment;
    use crate::bench::Spread;
    use crate::experiment::committed;

    /// Plausible costs of a GPU: the more addresses, the higher the rate.
    fn timed() -> Atomics {
        let mut costs = Vec::new();
        for with_result in [false, true] {
            for (place, target) in TARGETS.into_iter().enumerate() {
                for dtype in ["u32", "u64", "f32", "f64"] {
                    if with_result && target.is_cure() {
                        continue;
                    }
                    let bytes = if dtype.ends_with("32") { 4.0 } else { 8.0 };
                    let rate = Spread::of(vec![(place as f64 + 1.0) * 25.0 / bytes; 7]);
                    let addresses = [1, 528, 4224, 135_168, 135_168, 1, 1][place];
                    let rate = Rate::new(rate.expect("samples"), addresses, 1980.0);
                    costs.push(Cost {
                        dtype: dtype.into(),
                        target: target.name().into(),
                        with_result,
                        addresses,
                        right: true,
                        found: Found::Rate(rate),
                    });
                }
            }
        }
        let clock_mhz = Some(1980.0);
        Atomics { device: "NVIDIA H200".into(), clock_mhz, blocks: 528, threads: 256, costs }
    }

    #[test]
    fn a_committed_result_keeps_its_json() {
        let report: Atomics = committed("2026-11-23-nvidia-h200/lab-atomics.json");
        assert_eq!(report.charts().map(|charts| charts.len()), Ok(2));
    }

    #[test]
    fn rates_are_shown_drawn_and_compared() {
        let report = timed();
        let page = report.page();
        let shown = page.text(false);
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "one for all 6.25 (0.160) 3.12 (0.320) 6.25 (0.160) 3.12 (0.320)",
            "took 0.317 (u32), 0.634 (u64), 0.317 (f32) and 0.634 (f64) clocks, at a clock of 1980",
            "combined additions before they came to the address: those of u32 and f32.",
            "warp first 7.00 (u32), 7.00 (u64)",
        ] {
            assert!(text.contains(part), "{part:?}: {shown}");
        }
        assert_eq!(page.into_files_and_wrong().1, None);
        let charts = report.charts().expect("the charts are complete");
        assert!(charts.iter().map(Chart::file).eq(Args::FILES.iter().copied()));
        assert_eq!(charts[0].in_report, "atomics-integers");
    }

    #[test]
    fn a_wrong_sum_is_reported_with_its_type_and_target() {
        let mut report = timed();
        let wrong = report.costs.iter_mut().rfind(|cost| cost.is_of(Target::Warp, true));
        wrong.expect("there is one").right = false;
        let said = report.page().into_files_and_wrong().1.expect("it is wrong");
        assert!(said.contains("f64, one for each warp with the result used"), "{said}");
    }
}
