//! Predicted cost of a grid barrier crossing and of a launch, by two models.
//!
//! **By parts.** A crossing by b blocks takes as long as the steps of its slowest path:
//!
//! `crossing = 2 · bar.sync + fence + b / clock + seen + look`
//!
//! The threads of a block synchronize with a `bar.sync` before the block arrives, and with another
//! after its wait. Its first thread releases the block's writes, which costs a fence. The blocks
//! add to one word of the L2 sequentially, one per cycle by assumption. Another multiprocessor has
//! to see the last of these additions (`seen`). With many blocks, one of them has just polled too
//! early, and needs a round trip to the L2 to poll again (`look`).
//!
//! A stage of w µs in its own launch takes the device `w + gap`, with the gap between two launches
//! of a graph. But a launch takes the host `launch`, and the longer of the two counts:
//! `max(launch, w + gap)`. w is half the measured time of a transform in one launch, minus a
//! crossing. So per transform, which is two stages, one launch saves
//!
//! `over launches: 2 · (max(launch, w + gap) − w − crossing)`,
//! `over a graph: 2 · (gap − crossing)`.
//!
//! **Serial.** A cruder model: the blocks cross sequentially, each with 3 accesses of 500 cycles at
//! 1.5 GHz, and a launch takes 10 µs. In this model 10 blocks cross in the time of a launch.

use super::compare::Comparison;
use super::form::Form;
use crate::display;
use gridsync::device::Device;
use serde::{Deserialize, Serialize};

/// Cycles of a crossing for each block in the serial model: 3 accesses of 500.
const SERIAL_CROSSING_CYCLES: f64 = 3.0 * 500.0;
/// Clock in the serial model, MHz.
const SERIAL_MHZ: f64 = 1500.0;
/// Time of a launch in the serial model, µs.
const SERIAL_LAUNCH_US: f64 = 10.0;

/// The times of the parts of a crossing and of a launch, µs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// `bar.sync` of a block.
    pub block_barrier: f64,
    /// `fence.acq_rel.gpu`.
    pub fence: f64,
    /// The time from a store until another multiprocessor sees it.
    pub seen: f64,
    /// A load from the L2 that the next load depends on.
    pub look: f64,
    /// The time from one launch to the next in a chain of empty kernels that the host launches.
    pub launch: f64,
    /// The same in a graph.
    pub gap: f64,
}

impl Terms {
    /// As measured on an H200 in November 2026, `bar.sync` with 256 threads.
    pub const H200: Self = Self {
        block_barrier: 0.019,
        fence: 0.138,
        seen: 0.283,
        look: 0.161,
        launch: 3.2,
        gap: 0.55,
    };

    /// Microseconds of a crossing by `blocks` blocks at a clock of `mhz`.
    #[must_use]
    pub fn crossing(&self, blocks: u32, mhz: f64) -> f64 {
        let additions = f64::from(blocks) / mhz;
        2.0 * self.block_barrier + self.fence + additions + self.seen + self.look
    }
}

/// Microseconds of a crossing by `blocks` blocks in the serial model.
fn serial_crossing(blocks: u32) -> f64 {
    f64::from(blocks) * SERIAL_CROSSING_CYCLES / SERIAL_MHZ
}

/// Savings of one launch with the [`GridBarrier`](gridsync_kernels::grid::barrier::GridBarrier) at
/// one shape, predicted and measured, in microseconds. What is saved is that of a transform. Below
/// 0, the one launch is slower.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Prediction {
    /// Time of a crossing, by parts.
    pub crossing_us: f64,
    /// Saved over launches, by parts.
    pub saved_over_launches_us: f64,
    /// Saved over a graph, by parts.
    pub saved_over_graph_us: f64,
    /// Saved over launches, as measured. Null if the launches were not measured.
    pub measured_over_launches_us: Option<f64>,
    /// Saved over a graph, as measured. Null if the graph was not measured.
    pub measured_over_graph_us: Option<f64>,
    /// Time of a crossing, by the serial model.
    pub serial_crossing_us: f64,
    /// Saved over launches, by the serial model.
    pub serial_saved_over_launches_us: f64,
}

impl Prediction {
    /// The prediction for `compared` on a device with a clock of `mhz`. `None` if the single launch
    /// did not run there, or if the clock is 0 (unknown).
    #[must_use]
    pub fn of(compared: &Comparison, terms: &Terms, mhz: f64) -> Option<Self> {
        let single = compared.time(Form::GRID)?;
        if mhz <= 0.0 {
            return None;
        }
        let crossing = terms.crossing(compared.blocks, mhz);
        let serial_crossing = serial_crossing(compared.blocks);
        let stage = (single / 2.0 - crossing).max(0.0);
        let launched = terms.launch.max(stage + terms.gap);
        let saved_over = |form| compared.time(form).map(|many| many - single);
        Some(Self {
            crossing_us: crossing,
            saved_over_launches_us: 2.0 * (launched - stage - crossing),
            saved_over_graph_us: 2.0 * (terms.gap - crossing),
            measured_over_launches_us: saved_over(Form::Launches),
            measured_over_graph_us: saved_over(Form::Graph),
            serial_crossing_us: serial_crossing,
            serial_saved_over_launches_us: 2.0 * (SERIAL_LAUNCH_US - serial_crossing),
        })
    }
}

/// The highest clock of the device, MHz.
pub(super) fn mhz(device: &Device) -> f64 {
    f64::from(device.properties().clock_khz) / 1e3
}

/// The predictions and the measurements: a row for each of `compared` in which the single launch
/// ran. `None` if it never ran.
pub(super) fn table<'a>(compared: impl IntoIterator<Item = &'a Comparison>) -> Option<String> {
    let mut table = display::table();
    table.set_header([
        "blocks",
        "threads",
        "crossing µs: parts",
        "serial",
        "saved µs over launches: measured",
        "parts",
        "serial",
        "over a graph: measured",
        "parts",
    ]);
    for Comparison { blocks, threads, cost_model, .. } in compared {
        let Some(predicted) = cost_model else { continue };
        let measured = |us: Option<f64>| us.map_or(String::new(), |us| format!("{us:.2}"));
        table.add_row([
            blocks.to_string(),
            threads.to_string(),
            format!("{:.2}", predicted.crossing_us),
            format!("{:.1}", predicted.serial_crossing_us),
            measured(predicted.measured_over_launches_us),
            format!("{:.2}", predicted.saved_over_launches_us),
            format!("{:.1}", predicted.serial_saved_over_launches_us),
            measured(predicted.measured_over_graph_us),
            format!("{:.2}", predicted.saved_over_graph_us),
        ]);
    }
    (table.row_count() > 0).then(|| table.to_string())
}

/// The models as text, with their numbers, on `device` with a clock of `mhz`.
pub(super) fn formulas(device: &str, mhz: f64) -> String {
    let Terms { block_barrier, fence, seen, look, launch, gap } = Terms::H200;
    format!(
        "What one launch with the grid barrier saves per transform X→P→X of two stages, on {device}

By parts, measured on an H200, µs:
  crossing = 2 · bar.sync {block_barrier} + fence {fence} + blocks / clock ({mhz:.0} MHz) + store seen {seen} + look {look}
  over launches: 2 · (max(launch {launch}, w + gap {gap}) − w − crossing)
  over a graph:  2 · (gap {gap} − crossing)
  w, the work of a stage, is half the measured time of one launch less a crossing.

In series: crossing = blocks × {SERIAL_CROSSING_CYCLES} cycles (3 accesses of 500) at {SERIAL_MHZ} MHz; launch {SERIAL_LAUNCH_US} µs;
  over launches: 2 · (launch − crossing)
"
    )
}

#[cfg(test)]
mod tests {
    use super::super::compare::made;
    use super::*;
    use crate::xpx::Setup;

    /// The prediction for `blocks` blocks if the single launch takes `single` µs per transform.
    fn predicted(blocks: u32, single: f64) -> Prediction {
        let setup = Setup { elements: 64, blocks, threads: 64 };
        let compared = made(&setup, &[(Form::Launches, 7.0), (Form::GRID, single)]);
        compared.cost_model.expect("the one launch is there")
    }

    #[test]
    fn in_the_serial_model_ten_blocks_cross_in_the_time_of_a_launch() {
        let ten = predicted(10, 4.0);
        assert!((ten.serial_crossing_us - SERIAL_LAUNCH_US).abs() < 1e-9);
        assert!(ten.serial_saved_over_launches_us.abs() < 1e-9);
    }

    #[test]
    fn a_long_stage_hides_a_host_launch_and_a_short_one_does_not() {
        let crossing = Terms::H200.crossing(100, 1000.0);
        assert!((crossing - (2.0 * 0.019 + 0.138 + 0.1 + 0.283 + 0.161)).abs() < 1e-9);
        let short = predicted(100, 2.0 * (1.0 + crossing));
        assert!((short.saved_over_launches_us - 2.0 * (3.2 - 1.0 - crossing)).abs() < 1e-9);
        let long = predicted(100, 2.0 * (50.0 + crossing));
        assert!((long.saved_over_launches_us - 2.0 * (0.55 - crossing)).abs() < 1e-9);
        assert!((long.saved_over_launches_us - long.saved_over_graph_us).abs() < 1e-9);
        assert_eq!(long.measured_over_graph_us, None);
        let measured = long.measured_over_launches_us.expect("both were measured");
        assert!((measured - (7.0 - 2.0 * (50.0 + crossing))).abs() < 1e-9);
    }
}
