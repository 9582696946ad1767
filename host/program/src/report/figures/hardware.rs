//! Results of the hardware experiments.

use super::{Figure, add_point};
use crate::records::{Curve, Dealt, Document, Ends, Latency, Lock, Point};
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

/// Rates of atomic additions: of integers, and of floating-point numbers.
pub(super) fn atomics(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let found = of.document(|document| match document {
        Document::Atomics(atomics) => Some(atomics),
        _ => None,
    });
    let Some((atomics, source)) = found else { return Ok(Vec::new()) };
    let mut figures = Vec::new();
    for (file, types) in [("atomics-integers", ["u32", "u64"]), ("atomics-floats", ["f32", "f64"])]
    {
        let mut rows: Vec<Row> = Vec::new();
        for cost in atomics.costs.iter().filter(|cost| !cost.with_result) {
            let Some(column) = types.iter().position(|name| *name == cost.dtype) else { continue };
            let place = rows.iter().position(|row| row.name == cost.target).unwrap_or(rows.len());
            if place == rows.len() {
                rows.push(Row { name: cost.target.clone(), values: vec![None; types.len()] });
            }
            rows[place].values[column] = within(cost.additions_per_ns, &cost.ends);
        }
        if rows.iter().all(|row| row.values.iter().all(Option::is_none)) {
            continue;
        }
        let chart = Bars {
            title: format!("Atomic additions of {} and {}", types[0], types[1]),
            x_label: "10⁹ additions per second".into(),
            note: String::new(),
            series: types.map(Into::into).to_vec(),
            rows,
            roof: None,
        };
        let caption =
            format!("{} blocks of {} threads, no result.", atomics.blocks, atomics.threads);
        figures.push(of.figure_from(file, (chart.svg()?, chart.csv()), caption, source.clone()));
    }
    Ok(figures)
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

/// The cost of paths, relative to one path.
pub(super) fn divergence(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let found = of.document(|document| match document {
        Document::Divergence(divergence) => Some(divergence),
        _ => None,
    });
    let Some((divergence, source)) = found else { return Ok(Vec::new()) };
    let mut series = Vec::new();
    for (dealt, name) in [(Dealt::Lanes, "lanes take the paths"), (Dealt::Warps, "warps take them")]
    {
        let of_these = divergence.paths.iter().filter(|paths| paths.dealt_to == dealt);
        let times = of_these.filter_map(|paths| {
            let cycles = paths.cycles.as_ref()?;
            Some((paths.paths, within(Some(cycles.median), &cycles.ends)?))
        });
        let times: Vec<_> = times.collect();
        let Some((_, one)) = times.iter().find(|(paths, _)| *paths == 1) else { continue };
        for (paths, cycles) in &times {
            let relative = cycles.map(|cycles| cycles / one.value);
            add_point(&mut series, name, (f64::from(*paths), relative));
        }
    }
    if series.is_empty() {
        return Ok(Vec::new());
    }
    let chart = Lines {
        title: "The cost of paths that a warp takes".into(),
        x_label: "paths".into(),
        y_label: "time, of that of one path".into(),
        log2_x: true,
        series,
    };
    Ok(vec![of.figure_from("divergence", (chart.svg()?, chart.csv()), "", source)])
}
