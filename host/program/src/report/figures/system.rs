//! Collectives over several GPUs by number of GPUs: µs per crossing, and the speedup of sums and
//! scans.

use super::{Figure, add_point, in_charts, time};
use crate::records::{Record, Sourced};
use crate::report::Of;
use gridsync_lab::display::svg::{ChartError, Lines, Role};
use gridsync_lab::display::words::count;
use gridsync_lab::display::{Scaled, scaling_chart};

/// A figure of real GPUs, and a separate one of a GPU that counts as several.
pub(super) fn by_gpus(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let records = of.suite("system");
    let gpus = |record: &&Sourced<Record>| record.number("gpus").unwrap_or(0.0);
    let (shared, real): (Vec<_>, Vec<_>) = records.into_iter().partition(|one| is_shared(one));
    let alone = real.iter().copied().filter(|record| gpus(record) == 1.0);
    let shared: Vec<_> =
        if shared.is_empty() { Vec::new() } else { alone.chain(shared.iter().copied()).collect() };
    // A single GPU is shown in the other figure.
    let is_real = shared.is_empty() || real.iter().any(|record| gpus(record) > 1.0);
    let mut figures = Vec::new();
    if is_real {
        figures.extend(crossings(of, "several GPUs", "system", "", &real)?);
    }
    let caption = "They share the GPU: the cost of the protocol, without a link between GPUs.";
    figures.extend(crossings(of, "one GPU taken as several", "system-shared", caption, &shared)?);
    Ok(figures)
}

/// Whether a GPU is used more than once.
fn is_shared(record: &Record) -> bool {
    let ordinals = record.params.get("ordinals").and_then(|all| all.as_array());
    ordinals.is_some_and(|all| (0..all.len()).any(|number| all[..number].contains(&all[number])))
}

/// A line for each collective and grid, and one for the peer.
fn crossings(
    of: &Of<'_>,
    gpus: &str,
    file: &str,
    caption: &str,
    records: &[&Sourced<Record>],
) -> Result<Vec<Figure>, ChartError> {
    let (mut series, mut peers) = (Vec::new(), Vec::new());
    for record in records {
        let Some(gpus) = record.number("gpus") else { continue };
        let blocks = record.number("blocks").unwrap_or(f64::NAN);
        let name = format!("{}, {} each", record.variant, count(blocks, "block"));
        add_point(&mut series, name, (gpus, time(record)));
        if let Some(peer) = &record.peer {
            peers.push((peer.name.clone(), (gpus, peer.median)));
        }
    }
    // All records with the same number of GPUs have the same peer time.
    peers.sort_by(|a: &(String, (f64, f64)), b| a.0.cmp(&b.0).then(a.1.0.total_cmp(&b.1.0)));
    peers.dedup_by(|a, b| a.0 == b.0 && a.1.0 == b.1.0);
    for (name, point) in &peers {
        add_point(&mut series, Role::Peer.named(name), *point);
    }
    if series.is_empty() {
        return Ok(Vec::new());
    }
    let chart = Lines {
        title: format!("A crossing of all blocks of {gpus}"),
        x_label: "GPUs".into(),
        y_label: "µs per crossing".into(),
        log2_x: true,
        series,
    };
    let mut figures = Vec::new();
    for (number, chart) in in_charts(chart).enumerate() {
        let file = format!("{file}-{}", number + 1);
        figures.push(of.figure(
            &file,
            (chart.svg()?, chart.csv()),
            caption,
            records.iter().copied(),
        ));
    }
    Ok(figures)
}

/// A line for each primitive, with a fixed length and with a length that grows with the GPUs.
pub(super) fn scaling(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let mut records = of.suite("scaling");
    // Scaling needs several real GPUs.
    records.retain(|record| !is_shared(record));
    if records.iter().all(|record| record.number("gpus") <= Some(1.0)) {
        return Ok(Vec::new());
    }
    let scaled = |record: &&Sourced<Record>| {
        let (gpus, n) = (record.number("gpus")?, record.number("n")?);
        Some(Scaled { what: record.variant.clone(), gpus, n, us: time(record) })
    };
    let chart = scaling_chart(&records.iter().filter_map(scaled).collect::<Vec<_>>());
    if chart.series.is_empty() {
        return Ok(Vec::new());
    }
    let caption = "The array is stored in stripes, one to each GPU in turn. The value is a sum until the host has it.";
    Ok(vec![of.figure("scaling", (chart.svg()?, chart.csv()), caption, records.iter().copied())])
}
