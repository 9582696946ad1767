//! The charts of `gridsync lab locks` on a GPU.

use super::measured::{Lock, Measured, Point};
use super::tables::one_on_each;
use crate::Chart;
use crate::display::svg::{Bars, ChartError, Lines, Row, Series};

/// The rates of all locks. `form` is 0 for one thread of each block. `None` if nothing was timed.
pub(super) fn rates(
    name: &'static str,
    locks: &[Lock],
    form: usize,
    who: &str,
) -> Result<Option<Chart>, ChartError> {
    let series = locks.iter().map(|lock| {
        let at = |point: &Point| Some((point.contenders as f64, point.rates()?));
        Series::new(&*lock.lock, lock.forms()[form].iter().filter_map(at))
    });
    let series: Vec<_> = series.filter(|series| !series.points.is_empty()).collect();
    if series.is_empty() {
        return Ok(None);
    }
    let chart = Lines {
        title: format!("Sections under a lock, {who}"),
        x_label: "threads that contend".into(),
        y_label: "million sections/s".into(),
        log2_x: true,
        series,
    };
    Chart::lines(name, "", &chart).map(Some)
}

/// How the lock is distributed among the blocks. `None` if nothing was timed.
pub(super) fn fairness(measured: &Measured) -> Result<Option<Chart>, ChartError> {
    let rows = measured.locks.iter().filter_map(|lock| {
        let point = one_on_each(lock.forms()[0], measured.multiprocessors)?;
        let sections = [point.least_of_a_block, point.median_of_a_block, point.most_of_a_block];
        Some(Row::new(&*lock.lock, sections.map(|sections| sections.map(f64::from))))
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let chart = Bars {
        title: "Who gets the lock: sections of each block".into(),
        x_label: "sections of a block while all blocks contend".into(),
        note: "One thread of a block on each multiprocessor.".into(),
        series: ["least", "median", "most"].map(Into::into).to_vec(),
        rows,
        roof: None,
    };
    Chart::bars("locks-fairness", "", &chart).map(Some)
}
