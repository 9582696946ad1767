//! Files of `--output`.

use super::model;
use gridsync::device::Device;
use gridsync_lab::bench::Record;
use gridsync_lab::launches::{Comparison, Form, Sweep};

/// File names.
pub(super) const NAMES: [&str; 5] =
    ["fig5-launches.svg", "fig5-graph.svg", "fig6.svg", "launches.jsonl", "cost-model.txt"];

/// The files: each of [`NAMES`] and its content.
pub(super) fn contents(
    device: &Device,
    compared: &Comparison,
    swept: &Sweep,
) -> anyhow::Result<Vec<(&'static str, String)>> {
    let name = &device.properties().name;
    let records: Vec<_> =
        compared.records(name, None).into_iter().chain(swept.records(name)).collect();
    let all = swept.points.iter().map(|(_, point)| point);
    let model = model::table(device, [compared].into_iter().chain(all)).unwrap_or_default();
    let contents = [
        swept.fig5(Form::Launches).svg()?,
        swept.fig5(Form::Graph).svg()?,
        swept.fig6().svg()?,
        Record::lines_made_now(&records),
        format!("{}\n{model}\n", model::formulas(device)),
    ];
    Ok(NAMES.into_iter().zip(contents).collect())
}
