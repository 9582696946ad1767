//! The predictions of the models as text, next to the measurements.

use gridsync::device::Device;
use gridsync_lab::display;
use gridsync_lab::launches::{
    Comparison, Prediction, SERIAL_CROSSING_CYCLES, SERIAL_LAUNCH_US, SERIAL_MHZ, Terms,
};
use serde_json::{Value, json};

/// The highest clock of the device, MHz.
fn mhz(device: &Device) -> f64 {
    f64::from(device.properties().clock_khz) / 1e3
}

/// The predictions and the measurements: a row for each of `compared` in which the single launch
/// ran. `None` if it never ran.
pub(super) fn table<'a>(
    device: &Device,
    compared: impl IntoIterator<Item = &'a Comparison>,
) -> Option<String> {
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
    for compared in compared {
        let Some(predicted) = Prediction::of(compared, &Terms::H200, mhz(device)) else {
            continue;
        };
        let measured = |us: Option<f64>| us.map_or(String::new(), |us| format!("{us:.2}"));
        table.add_row([
            compared.setup.blocks.to_string(),
            compared.setup.threads.to_string(),
            format!("{:.2}", predicted.crossing),
            format!("{:.1}", predicted.serial_crossing),
            measured(predicted.measured_over_launches),
            format!("{:.2}", predicted.over_launches),
            format!("{:.1}", predicted.serial_over_launches),
            measured(predicted.measured_over_graph),
            format!("{:.2}", predicted.over_graph),
        ]);
    }
    (table.row_count() > 0).then(|| table.to_string())
}

/// The models as text, with their numbers.
pub(super) fn formulas(device: &Device) -> String {
    let Terms { block_barrier, fence, seen, look, launch, gap } = Terms::H200;
    format!(
        "What one launch with the grid barrier saves per transform X→P→X of two stages, on {}

By parts, measured on an H200, µs:
  crossing = 2 · bar.sync {block_barrier} + fence {fence} + blocks / clock ({:.0} MHz) + store seen {seen} + look {look}
  over launches: 2 · (max(launch {launch}, w + gap {gap}) − w − crossing)
  over a graph:  2 · (gap {gap} − crossing)
  w, the work of a stage, is half the measured time of one launch less a crossing.

In series: crossing = blocks × {SERIAL_CROSSING_CYCLES} cycles (3 accesses of 500) at {SERIAL_MHZ} MHz; launch {SERIAL_LAUNCH_US} µs;
  over launches: 2 · (launch − crossing)
",
        device.properties().name,
        mhz(device),
    )
}

/// The prediction for one comparison, as JSON. Null if the single launch did not run.
pub(super) fn as_json(device: &Device, compared: &Comparison) -> Value {
    let predicted = Prediction::of(compared, &Terms::H200, mhz(device));
    predicted.map_or(Value::Null, |predicted| {
        json!({
            "crossing_us": predicted.crossing,
            "saved_over_launches_us": predicted.over_launches,
            "saved_over_graph_us": predicted.over_graph,
            "measured_over_launches_us": predicted.measured_over_launches,
            "measured_over_graph_us": predicted.measured_over_graph,
            "serial_crossing_us": predicted.serial_crossing,
            "serial_saved_over_launches_us": predicted.serial_over_launches,
        })
    })
}
