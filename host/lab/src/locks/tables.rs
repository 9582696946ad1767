//! The tables of `gridsync lab locks`.

use super::emulated::Checked;
use super::lock::LOCKS;
use super::measured::{Lock, Measured, Point};
use crate::display::{Table, table};

/// The locks.
pub(super) fn locks() -> Table {
    let mut locks = table();
    for tried in LOCKS {
        locks.add_row([tried.name, tried.how]);
    }
    locks
}

/// The results in the emulator.
pub(super) fn checked(locks: &[Checked]) -> Table {
    let mut table = table();
    table.set_header(["lock", "launches", "results", "accesses each time it is taken"]);
    for Checked { lock, launches, wrong, accesses } in locks {
        table.add_row([
            lock.clone(),
            launches.to_string(),
            if wrong.is_none() { "right, no race" } else { "WRONG" }.to_owned(),
            accesses.map_or_else(String::new, |each| format!("{each:.1}")),
        ]);
    }
    table
}

/// The rates of all locks, a row for each grid. `form` is 0 for one thread of each block.
pub(super) fn rates(locks: &[Lock], form: usize) -> Table {
    let mut table = table();
    table.set_header(["contenders"].into_iter().chain(locks.iter().map(|lock| &*lock.lock)));
    let longest = locks.iter().map(|lock| lock.forms()[form]).max_by_key(|points| points.len());
    for (at, point) in longest.into_iter().flatten().enumerate() {
        let rates = locks.iter().map(|lock| match lock.forms()[form].get(at) {
            Some(Point { million_per_s: Some(rate), .. }) => format!("{rate:.3}"),
            Some(point) if point.gave_up > 0 => "GAVE UP".to_owned(),
            Some(_) => "-".to_owned(),
            None => String::new(),
        });
        table.add_row([point.contenders.to_string()].into_iter().chain(rates));
    }
    table
}

/// The largest grid with at most one block on each multiprocessor. `None` if none was measured, or
/// a thread gave up.
pub(super) fn one_on_each(points: &[Point], multiprocessors: u32) -> Option<&Point> {
    points.iter().rfind(|point| point.blocks <= multiprocessors && point.us.is_some())
}

/// The sections of each block in that grid.
pub(super) fn fairness(measured: &Measured) -> Table {
    let mut table = table();
    table.set_header(["lock", "contend", "least", "median", "most", "Jain's index"]);
    for lock in &measured.locks {
        for (points, what) in lock.forms().into_iter().zip(["one thread", "whole block"]) {
            let Some(point) = one_on_each(points, measured.multiprocessors) else { continue };
            let Point { least_of_a_block, median_of_a_block, most_of_a_block, jain, .. } = point;
            let sections = [least_of_a_block, median_of_a_block, most_of_a_block]
                .map(|taken| taken.map_or_else(String::new, |taken| taken.to_string()));
            let cells = [lock.lock.clone(), what.to_owned()].into_iter().chain(sections);
            table.add_row(cells.chain([format!("{jain:.3}")]));
        }
    }
    table
}
