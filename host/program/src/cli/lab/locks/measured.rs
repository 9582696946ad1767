//! The locks on a GPU.

use super::{Locks, Page, add_locks, question};
use crate::cli::progress::progress;
use crate::cli::{Global, output};
use gridsync::device::Device;
use gridsync_lab::display::svg::{Bars, ChartError, Lines, Row, Series};
use gridsync_lab::display::{Table, table};
use gridsync_lab::locks::LOCKS;
use gridsync_lab::locks::measure::{Point, grids, jain, measure};
use serde_json::{Value, json};

/// The points of a lock: one thread of each block, and whole blocks.
struct Sweep {
    name: &'static str,
    points: [Vec<Point>; 2],
}

/// Measures each lock by the number of contending threads.
pub(super) fn page(locks: &Locks, global: &Global, device: &Device) -> anyhow::Result<Page> {
    let properties = device.properties();
    let multiprocessors = properties.multiprocessors;
    let blocks = locks.blocks.unwrap_or(4 * multiprocessors);
    let threads = locks.threads.unwrap_or(32);
    let sections = locks.sections.unwrap_or(8192);
    let grids = grids(multiprocessors, blocks, threads);
    let mut page = Page::new(
        &properties.name,
        question(&format!(
            "{} measures launches of {sections} sections and of a quarter of them.",
            properties.name
        )),
    );

    let bar = progress(global, LOCKS.len() * (grids[0].len() + grids[1].len()));
    let mut sweeps = Vec::new();
    for tried in LOCKS {
        bar.set_message(tried.name);
        let mut sweep = Sweep { name: tried.name, points: [vec![], vec![]] };
        for (points, grids) in sweep.points.iter_mut().zip(&grids) {
            for &grid in grids {
                let point = measure(device, tried, grid, sections)?;
                bar.inc(1);
                if let Some(wrong) = &point.wrong {
                    page.wrong(format!("the {} lock, {grid}: {wrong}", tried.name));
                }
                let ends = !point.is_sound();
                points.push(point);
                if ends {
                    break;
                }
            }
        }
        sweeps.push(sweep);
    }
    bar.finish_and_clear();

    page.json("multiprocessors", multiprocessors);
    page.json("sections", sections);
    show(&mut page, &sweeps, threads, multiprocessors)?;
    Ok(page)
}

/// Adds the measurements to the page.
fn show(
    page: &mut Page,
    sweeps: &[Sweep],
    threads: u32,
    multiprocessors: u32,
) -> Result<(), ChartError> {
    add_locks(page);
    page.table("Million sections per second, one thread of each block", &rates(sweeps, 0));
    let blocks = format!("blocks of {threads} threads");
    page.table(&format!("Million sections per second, {blocks}"), &rates(sweeps, 1));
    page.table(
        "Sections of each block, with one block on each multiprocessor at most",
        &fairness(sweeps, multiprocessors),
    );
    page.json("locks", sweeps.iter().map(as_json).collect::<Value>());
    page.file("locks.svg", chart(sweeps, 0, "one thread of each block"))?;
    page.file("locks-warps.svg", chart(sweeps, 1, &blocks))?;
    page.file("locks-fairness.svg", bars(sweeps, multiprocessors))?;
    means(page, sweeps);
    Ok(())
}

/// The rates of all locks, a row for each grid. `form` is 0 for one thread per block.
fn rates(sweeps: &[Sweep], form: usize) -> Table {
    let mut table = table();
    let heads = sweeps.iter().map(|sweep| sweep.name);
    table.set_header(["contenders"].into_iter().chain(heads));
    let longest = sweeps.iter().map(|sweep| &sweep.points[form]).max_by_key(|points| points.len());
    for (at, point) in longest.into_iter().flatten().enumerate() {
        let rates = sweeps.iter().map(|sweep| match sweep.points[form].get(at) {
            Some(point) => match point.rate() {
                Some(rate) => format!("{rate:.3}"),
                None if point.gave_up > 0 => "GAVE UP".to_owned(),
                None => "-".to_owned(),
            },
            None => String::new(),
        });
        let contenders = point.grid.contenders().to_string();
        table.add_row([contenders].into_iter().chain(rates));
    }
    table
}

/// The sections of each block in the largest grid with at most one block per multiprocessor, with
/// one thread each (`form` 0) or whole blocks. `None` if the grid was not measured, or a thread
/// gave up.
fn by_block(sweep: &Sweep, form: usize, multiprocessors: u32) -> Option<Vec<u32>> {
    let fits = |point: &&Point| point.grid.blocks <= multiprocessors && point.us.is_some();
    let mut taken = sweep.points[form].iter().rfind(fits)?.by_block.clone();
    taken.sort_unstable();
    Some(taken)
}

fn fairness(sweeps: &[Sweep], multiprocessors: u32) -> Table {
    let mut table = table();
    table.set_header(["lock", "contend", "least", "median", "most", "Jain's index"]);
    for sweep in sweeps {
        for (form, what) in ["one thread", "whole block"].into_iter().enumerate() {
            let Some(taken) = by_block(sweep, form, multiprocessors) else { continue };
            let [least, median, most] = [0, taken.len() / 2, taken.len() - 1].map(|at| taken[at]);
            table.add_row([
                sweep.name.to_owned(),
                what.to_owned(),
                least.to_string(),
                median.to_string(),
                most.to_string(),
                format!("{:.3}", jain(&taken)),
            ]);
        }
    }
    table
}

fn chart(sweeps: &[Sweep], form: usize, who: &str) -> Result<String, ChartError> {
    let series = sweeps.iter().map(|sweep| {
        let points = sweep.points[form].iter();
        let at = |point: &Point| Some((point.grid.contenders() as f64, point.rate()?));
        Series::new(sweep.name, points.filter_map(at))
    });
    Lines {
        title: format!("Sections under a lock, {who}"),
        x_label: "threads that contend".into(),
        y_label: "million sections/s".into(),
        log2_x: true,
        series: series.collect(),
    }
    .svg()
}

fn bars(sweeps: &[Sweep], multiprocessors: u32) -> Result<String, ChartError> {
    let rows = sweeps.iter().map(|sweep| {
        let taken = by_block(sweep, 0, multiprocessors);
        let of =
            |at: fn(usize) -> usize| taken.as_ref().map(|taken| f64::from(taken[at(taken.len())]));
        Row::new(sweep.name, [of(|_| 0), of(|blocks| blocks / 2), of(|blocks| blocks - 1)])
    });
    Bars {
        title: "Who gets the lock: sections of each block".into(),
        x_label: "sections of a block while all blocks contend".into(),
        note: "One thread of a block on each multiprocessor.".into(),
        series: ["least", "median", "most"].map(Into::into).to_vec(),
        rows: rows.collect(),
        roof: None,
    }
    .svg()
}

fn means(page: &mut Page, sweeps: &[Sweep]) {
    for sweep in sweeps {
        for Point { grid, gave_up, .. } in sweep.points.iter().flatten() {
            if *gave_up > 0 {
                page.means(format!(
                    "GAVE UP: {gave_up} of {} threads waited too long for the {} lock in a grid of \
                     {grid}, so no larger grid was tried. Either they starved, or the thread with \
                     the lock did not go on.",
                    grid.contenders(),
                    sweep.name
                ));
            }
        }
    }
    let last = |sweep: &Sweep, form: usize| sweep.points[form].last().and_then(Point::rate);
    for (form, who) in ["one thread of each block", "whole blocks"].into_iter().enumerate() {
        let mut best: Vec<_> =
            sweeps.iter().filter_map(|sweep| Some((last(sweep, form)?, sweep.name))).collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0));
        if let (Some(first), Some(last)) = (best.first(), best.last())
            && best.len() > 1
        {
            page.means(format!(
                "Most threads, {who}: the {} lock is {:.1} times as fast as the {} lock.",
                first.1,
                first.0 / last.0,
                last.1
            ));
        }
    }
    page.means(
        "A lock lets one thread in at a time, so more threads do not get more done: they wait. To \
         hand a lock over takes at least a trip to the L2, and the counter that the other \
         multiprocessor has written takes another one.",
    );
    page.means(
        "Textbook: every waiting thread tries to write the word all the time, and the release \
         queues up among these attempts. Backoff: threads that sleep leave the word alone. But \
         whoever looks at the right time wins, not whoever has waited longest: compare the least \
         and the most sections of a block. Ticket and queue: in order of arrival, so every block \
         gets its share. By warp: one hand-over serves all lanes of a warp, and the lanes after \
         the first one find the counter in the L1.",
    );
}

fn as_json(sweep: &Sweep) -> Value {
    let points = sweep.points.iter().flatten().map(|point| {
        let mut taken = point.by_block.clone();
        taken.sort_unstable();
        json!({
            "blocks": point.grid.blocks,
            "threads": point.grid.threads,
            "contenders": point.grid.contenders(),
            "million_per_s": point.rate().map(output::number),
            "us": point.us.map(|us| output::number(us.median)),
            "min": point.us.map(|us| output::number(us.min)),
            "max": point.us.map(|us| output::number(us.max)),
            "gave_up": point.gave_up,
            "wrong": point.wrong,
            "least_of_a_block": taken.first(),
            "median_of_a_block": taken.get(taken.len() / 2),
            "most_of_a_block": taken.last(),
            "jain": output::number(jain(&taken)),
        })
    });
    json!({ "lock": sweep.name, "points": points.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use gridsync_lab::bench::Spread;
    use gridsync_lab::locks::Grid;

    /// A point of `blocks` blocks, with a time or a thread that gave up.
    fn point(blocks: u32, threads: u32, us: Option<f64>) -> Point {
        Point {
            grid: Grid { blocks, threads },
            us: us.and_then(|us| Spread::of(vec![us])),
            by_block: (0..blocks).map(|block| block + 10).collect(),
            gave_up: u32::from(us.is_none()),
            wrong: None,
        }
    }

    #[test]
    fn a_page_fits_in_a_terminal_and_reports_who_gave_up() {
        let sweeps = LOCKS.map(|tried| {
            let last = (tried.name != "textbook").then_some(0.25);
            let points = |threads| {
                let us = Some(1234.567);
                vec![point(1, threads, us), point(132, threads, us), point(528, threads, last)]
            };
            Sweep { name: tried.name, points: [points(1), points(32)] }
        });
        let mut page = Page::new("a GPU", "What?");
        show(&mut page, &sweeps, 32, 132).expect("there is something to draw");
        let global = crate::cli::Cli::try_parse_from(["gridsync", "devices"]).expect("a call");
        let found = page.found(&global.global);
        assert!(found.text.lines().all(|line| line.chars().count() <= 80), "{}", found.text);
        for part in ["16896", "4.000", "GAVE UP", "1 of 16896 threads", "141"] {
            assert!(found.text.contains(part), "{part:?}: {}", found.text);
        }
        let names: Vec<_> = found.files.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(names, ["locks.svg", "locks-warps.svg", "locks-fairness.svg"]);
        assert_eq!(found.json["locks"][0]["points"][2]["gave_up"], 1);
        assert!(found.json["locks"][0]["points"][2]["million_per_s"].is_null());
    }
}
