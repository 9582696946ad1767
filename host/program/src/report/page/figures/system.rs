//! What works over several GPUs, by their number: µs per crossing, and how much faster sums and scans are.

use super::{Figure, add_point, count, in_charts};
use crate::records::{Recorded, Sourced};
use crate::report::page::Of;
use crate::report::svg::{ChartError, Lines};
use crate::report::{Scaled, scaling_chart};

/// A line for each collective and grid, and one for the peer.
pub(super) fn by_gpus(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let records = of.suite("system");
    let (mut series, mut peers) = (Vec::new(), Vec::new());
    let mut is_shared = false;
    for record in &records {
        let Some(gpus) = record.number("gpus") else { continue };
        let blocks = record.number("blocks").unwrap_or(f64::NAN);
        let name = format!("{}, {} each", record.variant, count(blocks, "block"));
        add_point(&mut series, &name, (gpus, record.median));
        if let Some(peer) = &record.peer {
            peers.push((peer.name.clone(), (gpus, peer.median)));
        }
        if let Some(ordinals) = record.params.get("ordinals").and_then(|all| all.as_array()) {
            let twice = |number: usize| ordinals[..number].contains(&ordinals[number]);
            is_shared |= (0..ordinals.len()).any(twice);
        }
    }
    // All records of a number of GPUs have the same time of the peer.
    peers.sort_by(|a: &(String, (f64, f64)), b| a.0.cmp(&b.0).then(a.1.0.total_cmp(&b.1.0)));
    peers.dedup_by(|a, b| a.0 == b.0 && a.1.0 == b.1.0);
    for (name, point) in &peers {
        add_point(&mut series, name, *point);
    }
    if series.is_empty() {
        return Ok(Vec::new());
    }
    let chart = Lines {
        title: "A crossing of all blocks of several GPUs".into(),
        x_label: "GPUs".into(),
        y_label: "µs per crossing".into(),
        log2_x: true,
        series,
    };
    let caption = match is_shared {
        true => {
            "One GPU was taken as several, which share it: the cost of the protocol, without a \
                 link between GPUs."
        }
        false => "",
    };
    let mut figures = Vec::new();
    for (number, chart) in in_charts(chart).enumerate() {
        let file = format!("system-{}", number + 1);
        figures.push(of.figure(&file, chart.svg()?, caption, records.iter().copied()));
    }
    Ok(figures)
}

/// A line for each primitive, with a given length and with a length that grows with the GPUs.
pub(super) fn scaling(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let records = of.suite("scaling");
    let scaled = |record: &&Sourced<Recorded>| {
        let (gpus, n) = (record.number("gpus")?, record.number("n")?);
        Some(Scaled { what: record.variant.clone(), gpus, n, us: record.median })
    };
    let chart = scaling_chart(&records.iter().filter_map(scaled).collect::<Vec<_>>());
    if chart.series.is_empty() {
        return Ok(Vec::new());
    }
    let caption = "Each GPU has every so many stripes of the array. The value is a sum until the host has it.";
    Ok(vec![of.figure("scaling", chart.svg()?, caption, records.iter().copied())])
}
