//! The result of `gridsync lab fences`.

use super::{Cost, OPERATIONS, STORES};
use crate::display::svg::{Bars, ChartError, Row};
use crate::display::{Page, table};
use crate::{Chart, Cycles, Report, number};
use serde::{Deserialize, Serialize};

/// The result of `gridsync lab fences`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Fences {
    /// The name of the device.
    pub device: String,
    /// The clock of a multiprocessor, MHz, as measured.
    #[serde(with = "number")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub clock_mhz: f64,
    /// The cost of each operation, after each number of stores, in each grid.
    pub costs: Vec<Measured>,
}

/// The cost of an operation in addition to the stores before it, which may be less than 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Measured {
    /// The instruction.
    pub instruction: String,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block: one, or a warp.
    pub threads: u32,
    /// Lines that each thread stores to before the operation.
    pub stores: u32,
    /// Cycles in addition to those of the stores alone.
    #[serde(flatten)]
    pub cycles: Cycles,
    /// The median in ns.
    #[serde(with = "number")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub ns: f64,
}

impl Measured {
    /// `cost` in a grid of this shape, on a multiprocessor with this clock.
    pub(super) fn of(cost: &Cost, blocks: u32, threads: u32, clock_mhz: f64) -> Self {
        Self {
            instruction: cost.instruction.to_owned(),
            blocks,
            threads,
            stores: cost.stores,
            cycles: cost.cycles.into(),
            ns: cost.cycles.median * 1e3 / clock_mhz,
        }
    }
}

/// The grid with blocks of this size, in words.
pub(super) const fn grid(threads: u32) -> &'static str {
    if threads == 1 { "one thread" } else { "a warp on every multiprocessor" }
}

/// The number of stores before the operation, in words.
fn after(stores: u32) -> String {
    match stores {
        0 => "idle".to_owned(),
        1 => "after 1 store".to_owned(),
        stores => format!("after {stores} stores"),
    }
}

impl Fences {
    /// The median cycles and ns of `instruction` after this many stores, in blocks of this size.
    fn cost(&self, threads: u32, instruction: &str, stores: u32) -> (f64, f64) {
        let is_it = |cost: &&Measured| {
            (cost.threads, cost.stores) == (threads, stores) && cost.instruction == instruction
        };
        let cost = self.costs.iter().find(is_it);
        cost.and_then(|cost| Some((cost.cycles.cycles?, cost.ns))).unwrap_or((f64::NAN, f64::NAN))
    }

    /// The median cycles of `instruction` with a warp on every multiprocessor.
    fn cycles(&self, instruction: &str, stores: u32) -> f64 {
        self.cost(32, instruction, stores).0
    }

    /// Explains the costs of a warp on every multiprocessor.
    fn meaning(&self, page: &mut Page) {
        let most = STORES[2];
        let [idle, behind] = [0, most].map(|stores| self.cycles("fence.acq_rel.gpu", stores));
        page.means(format!(
            "A fence of the device's scope waits until the stores before it can be seen by the \
             whole device: {idle:.0} cycles with none in flight, {behind:.0} after {most}. A fence \
             of the block's scope took {:.0}: threads of a block share the L1.",
            self.cycles("fence.acq_rel.cta", most),
        ));
        let strong = self.cycles("fence.sc.gpu", most);
        page.means(if (strong - behind).abs() < 0.05 * behind {
            "fence.sc cost no more than fence.acq_rel.".to_owned()
        } else {
            format!("fence.sc.gpu took {strong:.0} cycles, fence.acq_rel.gpu {behind:.0}.")
        });
        page.means(format!(
            "Across the system's scope, where the CPU and other GPUs look, a fence took {:.0} \
             cycles. A release is such a fence and then the operation: red.release took {:.0} \
             cycles, and red.relaxed {:.0}, because nobody waits for it.",
            self.cycles("fence.acq_rel.sys", most),
            self.cycles("red.release.gpu.global.add.u32", most),
            self.cycles("red.relaxed.gpu.global.add.u32", most).max(0.0),
        ));
    }
}

impl Report for Fences {
    fn page(&self) -> Page {
        let Self { device, clock_mhz, .. } = self;
        let mut page = Page::new(format!(
            "What does a fence cost on {device}, and what do the other steps of a barrier cost? \
             Cycles (ns) beyond the stores alone; the clock was {clock_mhz:.0} MHz."
        ));
        for threads in [1, 32] {
            let mut table = table();
            table.set_header([String::new()].into_iter().chain(STORES.map(after)));
            for operation in OPERATIONS {
                let costs = STORES.map(|stores| {
                    let (cycles, ns) = self.cost(threads, operation.instruction, stores);
                    format!("{cycles:.0} ({ns:.0})")
                });
                table.add_row([operation.instruction.to_owned()].into_iter().chain(costs));
            }
            page.table(&format!("In {}", grid(threads)), &table);
        }
        self.meaning(&mut page);
        page
    }

    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        let row = |instruction: &str| {
            // A slope can be a little less than that of the stores alone.
            let cycles = |stores| Some(self.cycles(instruction, stores).max(0.0));
            Row::new(instruction, STORES.map(cycles))
        };
        let bars = Bars {
            title: format!("What fences cost on {}, {}", self.device, grid(32)),
            x_label: "cycles beyond the stores alone".into(),
            note: String::new(),
            series: STORES.map(|stores| after(stores).into()).into(),
            rows: OPERATIONS.iter().map(|operation| row(operation.instruction)).collect(),
            roof: None,
        };
        Ok(vec![Chart::bars("fences", "", &bars)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Spread;

    #[test]
    fn the_page_has_each_cost_in_both_units_and_its_meaning() {
        // Each operation costs 100 cycles and 10 more for each store.
        let cost = |threads, instruction, stores| {
            let cycles = Spread::of(vec![100.0 + 10.0 * f64::from(stores)]).expect("a sample");
            Measured::of(&Cost { instruction, stores, cycles }, 1, threads, 2000.0)
        };
        let costs = [1, 32].into_iter().flat_map(|threads| {
            OPERATIONS.into_iter().flat_map(move |operation| {
                STORES.map(|stores| cost(threads, operation.instruction, stores))
            })
        });
        let fences = Fences { device: "a GPU".into(), clock_mhz: 2000.0, costs: costs.collect() };
        let text = fences.page().text(false).split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "100 (50) 110 (55) 180 (90)",
            "In one thread",
            "In a warp on every multiprocessor",
            "100 cycles with none in flight, 180 after 8",
            "fence.sc cost no more",
        ] {
            assert!(text.contains(part), "{part:?}: {text}");
        }
        assert!(fences.charts().is_ok());
    }
}
