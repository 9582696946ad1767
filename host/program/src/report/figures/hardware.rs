//! Results of the hardware experiments.

use super::{Figure, add_point};
use crate::records::{Document, Ends, Lock, Point};
use crate::report::Of;
use gridsync_lab::display::svg::{Bars, ChartError, Estimate, Lines, Row};

/// A value with the range of its samples, if both ends are known.
fn estimate(value: f64, min: Option<f64>, max: Option<f64>) -> Estimate {
    min.zip(max).map_or(value.into(), |(min, max)| Estimate::between(value, min, max))
}

/// A measured value with the range of its samples.
fn within(value: Option<f64>, ends: &Ends) -> Option<Estimate> {
    Some(estimate(value?, ends.min, ends.max))
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
