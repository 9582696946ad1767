//! The tables of a device: its machines, and gridsync compared with its peers.

use super::headlines::{Headline, headlines, short};
use super::table::{Cell, FROM, Table};
use super::{Of, peers};
use crate::records::{Fact, Record, Runs, Sourced};
use gridsync_lab::bench::Warning;
use maud::{Markup, html};

/// All tables of a device that have rows.
pub(super) fn of(runs: &Runs, of: &Of<'_>) -> Vec<Table> {
    let mut tables = vec![first_lines(of, headlines(runs, of.device)), summary(of), all_lines(of)];
    // Experiments alone, as on the CPU, come without facts about a machine.
    let facts = runs.facts(of.device);
    if facts.iter().any(|fact| !fact.values.is_empty()) {
        tables.insert(0, machine(of, facts));
    }
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn machine(of: &Of<'_>, facts: Vec<Fact>) -> Table {
    let value = |fact: &Fact| {
        let is_one = fact.values.len() == 1;
        let value = |(value, folders): &(String, Vec<String>)| {
            if is_one { value.clone() } else { format!("{value} ({})", folders.join(", ")) }
        };
        let values: Vec<_> = fact.values.iter().map(value).collect();
        if values.is_empty() { "not recorded".to_owned() } else { values.join("; ") }
    };
    let folders = |fact: &Fact| {
        let mut folders: Vec<_> = fact.values.iter().flat_map(|(_, of)| of.clone()).collect();
        folders.sort_unstable();
        let shown = match &folders[..] {
            [others @ .., last] if others.len() > 1 => {
                format!("{last} and {} others", others.len())
            }
            all => all.join(", "),
        };
        Cell::new(html! { (shown) }, folders.join(", "))
    };
    let row = |fact: &Fact| vec![Cell::text(fact.name), Cell::text(value(fact)), folders(fact)];
    Table {
        file: of.file("machine"),
        title: "Machines and versions of the records:".into(),
        is_long: false,
        columns: vec![("", false), ("value", false), (FROM, false)],
        rows: facts.iter().map(row).collect(),
    }
}

/// The columns of both times, their ratio and the range of gridsync's samples.
const TIMES: [(&str, bool); 4] =
    [("gridsync", true), ("its samples", true), ("peer", true), ("ratio", true)];

/// The cells of these columns.
fn times(record: &Record) -> Vec<Cell> {
    let range = html! { (short(record.min)) "–" (short(record.max)) };
    vec![
        Cell::number(Some(record.median), short),
        Cell::new(range, format!("{}–{}", record.min, record.max)),
        Cell::number(record.peer.as_ref().map(|peer| peer.median), short),
        Cell::ratio(record.ratio()),
    ]
}

fn first_lines(of: &Of<'_>, first: Vec<Headline>) -> Table {
    let row = |Headline { what, peer, record }: &Headline| {
        let peer = Cell::new(code(peer), peer.replace('`', ""));
        [Cell::text(*what)].into_iter().chain(times(record)).chain([peer, from(record)]).collect()
    };
    Table {
        file: of.file("headlines"),
        title: "The main results:".into(),
        is_long: false,
        columns: [&[("µs", false)][..], &TIMES, &[("the peer", false), (FROM, false)]].concat(),
        rows: first.iter().map(row).collect(),
    }
}

/// The folder of a record, and the kinds of its warnings.
fn from(record: &Sourced<Record>) -> Cell {
    let folder = record.source.folder();
    let kinds: Vec<_> = record.warnings.iter().map(Warning::kind).collect();
    let shown = html! { (folder) @for kind in &kinds { " · " em { (kind) } } };
    let value: Vec<_> = [folder.as_str()].into_iter().chain(kinds).collect();
    Cell::new(shown, value.join(" · "))
}

fn summary(of: &Of<'_>) -> Table {
    let row = |row: peers::Summary| {
        let [least, greatest] = row.ends();
        let count = |count: usize| Cell::text(count.to_string());
        vec![
            Cell::text(&row.suite),
            count(row.ratios.len()),
            count(row.faster()),
            Cell::ratio(Some(row.median())),
            Cell::ratio(Some(least)),
            Cell::ratio(Some(greatest)),
            Cell::text(&row.peer),
        ]
    };
    Table {
        file: of.file("peers"),
        title: "All lines of what a caller gets without choosing a design, as ratios:".into(),
        is_long: false,
        columns: vec![
            ("suite", false),
            ("lines", true),
            ("faster", true),
            ("median", true),
            ("least", true),
            ("greatest", true),
            ("peer", false),
        ],
        rows: peers::summaries(of).into_iter().map(row).collect(),
    }
}

fn all_lines(of: &Of<'_>) -> Table {
    let lines = peers::lines(of);
    let row = |record: &&Sourced<Record>| {
        let line = Cell::text(record.line().to_string());
        [line].into_iter().chain(times(record)).chain([from(record)]).collect()
    };
    Table {
        file: of.file("lines"),
        title: format!("All {} lines with a peer, every design", lines.len()),
        is_long: true,
        columns: [&[("line", false)][..], &TIMES, &[(FROM, false)]].concat(),
        rows: lines.iter().map(row).collect(),
    }
}

/// Text in which backquotes mark code.
fn code(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
