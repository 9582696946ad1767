//! What the models foretell, in words and beside what was measured.

use crate::lab::mkl::{
    Comparison, Prediction, SEED_CROSSING_CYCLES, SEED_LAUNCH_US, SEED_MHZ, Terms,
};
use crate::report;
use gridsync::device::Device;
use serde_json::{Value, json};

/// MHz of the device's clock, at its highest.
fn mhz(device: &Device) -> f64 {
    f64::from(device.properties().clock_khz) / 1e3
}

/// What the models foretell beside what was measured, a row for each of `compared` in which one
/// launch ran; none if it ran in none.
pub(super) fn table<'a>(
    device: &Device,
    compared: impl IntoIterator<Item = &'a Comparison>,
) -> Option<String> {
    let mut table = report::table();
    table.set_header([
        "blocks",
        "threads",
        "crossing µs: parts",
        "seed",
        "saved µs over launches: measured",
        "parts",
        "seed",
        "over a graph: measured",
        "parts",
    ]);
    for compared in compared {
        let Some(foretold) = Prediction::of(compared, &Terms::H200, mhz(device)) else {
            continue;
        };
        let measured = |us: Option<f64>| us.map_or(String::new(), |us| format!("{us:.2}"));
        table.add_row([
            compared.setup.blocks.to_string(),
            compared.setup.threads.to_string(),
            format!("{:.2}", foretold.crossing),
            format!("{:.1}", foretold.seed_crossing),
            measured(foretold.measured_over_launches),
            format!("{:.2}", foretold.over_launches),
            format!("{:.1}", foretold.seed_over_launches),
            measured(foretold.measured_over_graph),
            format!("{:.2}", foretold.over_graph),
        ]);
    }
    (table.row_count() > 0).then(|| table.to_string())
}

/// The models in words, with their numbers.
pub(super) fn formulas(device: &Device) -> String {
    let Terms {
        block_barrier,
        fence,
        seen,
        look,
        launch,
        gap,
    } = Terms::H200;
    format!(
        "What one launch behind the grid barrier saves per transform X→P→X of two stages, on {}

By parts, measured on an H200, µs:
  crossing = 2 · bar.sync {block_barrier} + fence {fence} + blocks / clock ({:.0} MHz) + store seen {seen} + look {look}
  over launches: 2 · (max(launch {launch}, w + gap {gap}) − w − crossing)
  over a graph:  2 · (gap {gap} − crossing)
  w, the work of a stage, is half the measured time of one launch less a crossing.

By the seed (row R7): crossing = blocks × {SEED_CROSSING_CYCLES} cycles (3 accesses of 500) at {SEED_MHZ} MHz; launch {SEED_LAUNCH_US} µs;
  over launches: 2 · (launch − crossing)
",
        device.properties().name,
        mhz(device),
    )
}

/// The same of one comparison, as JSON; null if the one launch did not run.
pub(super) fn as_json(device: &Device, compared: &Comparison) -> Value {
    let foretold = Prediction::of(compared, &Terms::H200, mhz(device));
    foretold.map_or(Value::Null, |foretold| {
        json!({
            "crossing_us": foretold.crossing,
            "saved_over_launches_us": foretold.over_launches,
            "saved_over_graph_us": foretold.over_graph,
            "measured_over_launches_us": foretold.measured_over_launches,
            "measured_over_graph_us": foretold.measured_over_graph,
            "seed_crossing_us": foretold.seed_crossing,
            "seed_saved_over_launches_us": foretold.seed_over_launches,
        })
    })
}
