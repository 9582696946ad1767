//! Results of the hardware experiments.

use super::{Figure, add_point};
use crate::records::{Curve, Document, Ends, Latency, Lock, Point};
use crate::report::Of;
use gridsync_lab::display::svg::{Bars, ChartError, Estimate, Lines, Row, Series};

/// A value with the range of its samples, if both ends are known.
fn estimate(value: f64, min: Option<f64>, max: Option<f64>) -> Estimate {
    min.zip(max).map_or(value.into(), |(min, max)| Estimate::between(value, min, max))
}

/// A measured value with the range of its samples.
fn within(value: Option<f64>, ends: &Ends) -> Option<Estimate> {
    Some(estimate(value?, ends.min, ends.max))
}

/// The latencies of operations, and the rate of reading by the bytes in flight.
pub(super) fn memory(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let found = of.document(|document| match document {
        Document::Memory(memory) => Some(memory),
        _ => None,
    });
    let Some((memory, source)) = found else { return Ok(Vec::new()) };
    let row = |latency: &Latency| {
        // In the JSON, the median is in ns, but the least and greatest samples are in cycles.
        let ns = latency.cycles.filter(|cycles| *cycles != 0.0).map(|cycles| latency.ns / cycles);
        let ends = |cycles: Option<f64>| Some(cycles? * ns?);
        let time = estimate(latency.ns, ends(latency.cycles_min), ends(latency.cycles_max));
        // The measured time of an operation may be negative, because it is a difference of two
        // loops.
        Row::new(&latency.of, [Some(time.map(|ns| ns.max(0.0)))])
    };
    let latencies = Bars {
        title: "One operation after the other".into(),
        x_label: "ns".into(),
        note: String::new(),
        series: vec!["latency".into()],
        rows: memory.latencies.iter().map(row).collect(),
        roof: None,
    };
    let rates = Lines {
        title: "Reading by the bytes in flight".into(),
        x_label: "bytes in flight on each multiprocessor".into(),
        y_label: "GB/s".into(),
        log2_x: true,
        series: vec![best("device memory", &memory.device_memory), best("L2", &memory.l2)],
    };
    let caption = "Nothing else at work.";
    Ok(vec![
        of.figure_from(
            "memory-latency",
            (latencies.svg()?, latencies.csv()),
            caption,
            source.clone(),
        ),
        of.figure_from("memory-bandwidth", (rates.svg()?, rates.csv()), "", source),
    ])
}

/// The best rate for each number of bytes in flight.
fn best(name: &str, curve: &Curve) -> Series {
    let mut points: Vec<_> = curve.points.iter().collect();
    points.sort_by(|a, b| {
        a.bytes_in_flight.cmp(&b.bytes_in_flight).then(b.gb_per_s.total_cmp(&a.gb_per_s))
    });
    points.dedup_by_key(|point| point.bytes_in_flight);
    let points = points.into_iter().map(|point| {
        let rate = estimate(point.gb_per_s, point.gb_per_s_min, point.gb_per_s_max);
        (point.bytes_in_flight as f64, rate)
    });
    Series::new(name, points)
}

/// Sections under each lock by the number of contending threads, and how they are distributed.
pub(super) fn locks(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let found = of.document(|document| match document {
        Document::Locks(locks) => Some(locks),
        _ => None,
    });
    let Some((locks, source)) = found else { return Ok(Vec::new()) };
    let mut figures = Vec::new();
    for (file, threads, who) in
        [("locks", 1, "one thread of each block"), ("locks-warps", 32, "whole warps")]
    {
        let mut series = Vec::new();
        for lock in &locks.locks {
            for point in lock.points.iter().filter(|point| point.threads == threads) {
                let Some(rate) = point.million_per_s else { continue };
                // The rate falls as the time grows.
                let rates = within(point.us, &point.ends)
                    .map_or(rate.into(), |time| time.map(|us| rate * time.value / us));
                add_point(&mut series, lock.lock.as_str(), (point.contenders as f64, rates));
            }
        }
        if series.is_empty() {
            continue;
        }
        let chart = Lines {
            title: format!("Sections under a lock, {who}"),
            x_label: "threads that contend".into(),
            y_label: "million sections per second".into(),
            log2_x: true,
            series,
        };
        figures.push(of.figure_from(file, (chart.svg()?, chart.csv()), "", source.clone()));
    }
    let row = |lock: &Lock| {
        let fits = |point: &&Point| {
            point.threads == 1
                && point.blocks <= locks.multiprocessors
                && point.million_per_s.is_some()
        };
        let point = lock.points.iter().rfind(fits)?;
        let values = [point.least_of_a_block, point.median_of_a_block, point.most_of_a_block];
        Some(Row::new(&lock.lock, values))
    };
    let rows: Vec<_> = locks.locks.iter().filter_map(row).collect();
    if !rows.is_empty() {
        let chart = Bars {
            title: "Who gets the lock".into(),
            x_label: "sections of a block while all blocks contend".into(),
            note: String::new(),
            series: ["least", "median", "most"].map(Into::into).to_vec(),
            rows,
            roof: None,
        };
        let caption = "One thread of a block on each multiprocessor.";
        figures.push(of.figure_from(
            "locks-fairness",
            (chart.svg()?, chart.csv()),
            caption,
            source,
        ));
    }
    Ok(figures)
}
