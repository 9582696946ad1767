//! Barriers and collectives: µs per crossing by blocks.

use super::{Figure, MOST_LINES, add_point, ticks, time};
use crate::records::{Record, Sourced};
use crate::report::Of;
use gridsync_lab::display::svg::{Axis, ChartError, Faster, HeatMap, Lines, Role, Series};

/// The barriers: the default one, its peer, and the fastest others.
pub(super) fn barrier(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    by_blocks(of, "barrier", "grid", "A barrier of all blocks")
}

/// Combines one number from each block, in every block.
pub(super) fn all_reduce(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    by_blocks(of, "all-reduce", "exchange", "All-reduce over all blocks")
}

/// Scans one number from each thread.
pub(super) fn scan_threads(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    by_blocks(of, "scan-threads", "exchange", "Scan over the threads of all blocks")
}

fn by_blocks(of: &Of<'_>, suite: &str, ours: &str, title: &str) -> Result<Vec<Figure>, ChartError> {
    let (records, compared) = (of.suite(suite), of.compared(suite));
    let common = most_common_threads(&compared).or_else(|| most_common_threads(&records));
    let Some(threads) = common else { return Ok(Vec::new()) };
    let at_threads = |record: &&&Sourced<Record>| record.number("threads") == Some(threads);
    let (mut series, mut peers) = (Vec::new(), Vec::new());
    for record in records.iter().filter(at_threads) {
        if let Some(blocks) = record.number("blocks") {
            let role = if record.variant == ours { Role::Ours } else { Role::Other };
            add_point(&mut series, role.named(&record.variant), (blocks, time(record)));
        }
    }
    for record in compared.iter().filter(at_threads).filter(|record| record.variant == ours) {
        if let (Some(blocks), Some(peer)) = (record.number("blocks"), &record.peer) {
            add_point(&mut peers, Role::Peer.named(&peer.name), (blocks, peer.median));
        }
    }
    let all = series.len();
    series.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    // The default design comes first, its peer second.
    series.sort_by_key(|series| series.key.name != ours);
    let second = series.len().min(1);
    series.splice(second..second, peers);
    series.truncate(MOST_LINES);
    let shown: Vec<_> = series.iter().map(|series| series.key.name.clone()).collect();
    let chart = Lines {
        title: format!("{title}, {threads} threads each"),
        x_label: "blocks".into(),
        y_label: "µs per crossing".into(),
        log2_x: true,
        series,
    };
    let left = records.iter().map(|record| record.variant.as_str());
    let left = left.filter(|name| !shown.iter().any(|shown| shown == name)).count();
    let caption = match left {
        0 => String::new(),
        _ => format!("The fastest of {all} designs."),
    };
    let used = records.into_iter().chain(compared).filter(|record| at_threads(&record));
    Ok(vec![of.figure(suite, (chart.svg()?, chart.csv()), caption, used)])
}

/// The mean of the logarithms of the times, by which designs are ordered over all shapes.
fn mean(series: &Series) -> f64 {
    let logs: f64 = series.points.iter().map(|(_, us)| us.value.ln()).sum();
    logs / series.points.len() as f64
}

/// The threads per block with the most records, or the larger of two equally common.
fn most_common_threads(records: &[&Sourced<Record>]) -> Option<f64> {
    let count = |threads: f64| {
        records.iter().filter(|record| record.number("threads") == Some(threads)).count()
    };
    let threads = records.iter().filter_map(|record| record.number("threads"));
    threads.max_by(|&a, &b| count(a).cmp(&count(b)).then(a.total_cmp(&b)))
}

/// The grid barrier and its peer at each shape.
pub(super) fn barrier_beside_peer(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let mut records = of.compared("barrier");
    records.retain(|record| record.variant == "grid");
    let Some(peer) = records.first().and_then(|record| record.peer.as_ref()) else {
        return Ok(Vec::new());
    };
    let (blocks, threads) = (ticks(&records, "blocks"), ticks(&records, "threads"));
    let value = |blocks: f64, threads: f64| {
        let at = |record: &&&Sourced<Record>| {
            record.number("blocks") == Some(blocks) && record.number("threads") == Some(threads)
        };
        Some(100.0 * (records.iter().find(at)?.ratio()? - 1.0))
    };
    let texts = |ticks: &[f64]| ticks.iter().map(ToString::to_string).collect();
    let chart = HeatMap {
        title: format!("The grid barrier compared with {}", peer.name),
        x: Axis { label: "blocks".into(), ticks: texts(&blocks) },
        y: Axis { label: "threads of a block".into(), ticks: texts(&threads) },
        values: threads
            .iter()
            .map(|&threads| blocks.iter().map(|&blocks| value(blocks, threads)).collect())
            .collect(),
        unit: "%".into(),
        faster: Faster::Below,
    };
    let caption = format!(
        "By how many percent a crossing takes longer than {}: below 0 gridsync is faster. An empty \
         cell is a grid whose blocks cannot all be resident, or that was not measured.",
        peer.name
    );
    Ok(vec![of.figure("barrier-beside-peer", (chart.svg()?, chart.csv()), caption, records)])
}
