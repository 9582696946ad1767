//! The figure of `bench system`: µs per crossing by the number of GPUs.

use gridsync_lab::bench::{Record, Spread};
use gridsync_lab::display::svg::{ChartError, Estimate, Lines, Role, Series};
use std::collections::HashMap;

/// The most lines in a figure, limited by the number of colours.
pub(super) const MOST_LINES: usize = 7;

/// The figure: a line for each collective and grid, and one for NCCL if it was measured.
pub(super) fn by_gpus(
    records: &[Record],
    peers: &HashMap<usize, Spread>,
) -> Result<String, ChartError> {
    let mut series: Vec<Series> = Vec::new();
    for record in records {
        let params = &record.params;
        let name = format!("{}, {} × {}", record.variant, params["blocks"], params["threads"]);
        let gpus = params["gpus"].as_f64().unwrap_or(f64::NAN);
        let time = record;
        let point = (gpus, Estimate::between(time.median, time.min, time.max));
        match series.iter_mut().find(|series| series.key.name == name) {
            Some(series) => series.points.push(point),
            None => series.push(Series::new(name, [point])),
        }
    }
    if !peers.is_empty() {
        let points = peers.iter().map(|(&gpus, time)| (gpus as f64, time.median));
        series.push(Series::new(Role::Peer.named("NCCL, all-reduce"), points));
    }
    let device = records.last().map_or("", |record| &record.device);
    Lines {
        title: format!("A crossing of all blocks of several GPUs, {device}"),
        x_label: "GPUs".into(),
        y_label: "µs per crossing".into(),
        log2_x: true,
        series,
    }
    .svg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_lab::bench::Measurement;
    use serde_json::json;

    fn record(variant: &str, gpus: usize, blocks: u32) -> Record {
        let params = json!({ "gpus": gpus, "blocks": blocks, "threads": 256 });
        let time = Spread::of(vec![gpus as f64]).expect("there is a sample");
        let measured = Measurement { time, warnings: vec![] };
        Record::new("system", variant, "a GPU", params, measured)
    }

    #[test]
    fn each_collective_and_grid_and_nccl_have_a_line() {
        let records = [1, 2, 4].map(|gpus| {
            [("barrier", 1), ("barrier", 132), ("all-reduce", 132)]
                .map(|(variant, blocks)| record(variant, gpus, blocks))
        });
        let nccl = Spread::of(vec![14.5]).expect("there is a sample");
        let svg = by_gpus(&records.concat(), &HashMap::from([(2, nccl)])).expect("it is complete");
        let names = ["barrier, 1 × 256", "barrier, 132 × 256", "all-reduce, 132 × 256"];
        for name in names {
            for gpus in [1, 2, 4] {
                assert_eq!(svg.matches(&format!("{name}: {gpus} at {gpus}")).count(), 1, "{name}");
            }
        }
        assert_eq!(svg.matches("NCCL, all-reduce: 14.5 at 2").count(), 1);
        assert!(!by_gpus(&records.concat(), &HashMap::new()).is_ok_and(|svg| svg.contains("NCCL")));
    }

    #[test]
    fn there_are_colours_for_exactly_most_lines() {
        let of = |lines: usize| {
            let records: Vec<_> =
                (1..=lines).map(|blocks| record("barrier", 1, blocks as u32)).collect();
            by_gpus(&records, &HashMap::new())
        };
        assert!(of(MOST_LINES).is_ok());
        assert!(matches!(of(MOST_LINES + 1), Err(ChartError::TooManySeries { .. })));
    }
}
