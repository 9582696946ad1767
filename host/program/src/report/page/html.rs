//! The page.

use super::figures::Figure;
use super::headlines::{Headline, headlines, short};
use super::{Chapter, peers};
use crate::records::{Recorded, Runs, Source, Sourced};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::sync::Arc;

const STYLE: &str = include_str!("style.css");

/// The whole page.
pub(super) fn page(runs: &Runs, chapters: &[Chapter<'_>]) -> Markup {
    let devices: Vec<_> = chapters.iter().map(|chapter| shown(chapter.of.device)).collect();
    let title = format!("gridsync on {}", devices.join(" and "));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    p { (about(runs)) }
                }
                main {
                    @for chapter in chapters { (of_device(runs, chapter, chapters.len() > 1)) }
                }
                footer { (below(runs)) }
            }
        }
    }
}

/// A device as the page calls it. Experiments on the CPU have the name of `--device`.
fn shown(device: &str) -> &str {
    if device == "cpu" { "CPU" } else { device }
}

/// How many records there are, and when they were taken.
fn about(runs: &Runs) -> Markup {
    let sources = runs.records.iter().map(|record| &record.source);
    let sources = sources.chain(runs.documents.iter().map(|document| &document.source));
    let mut dates: Vec<&str> = sources.filter_map(|source| source.date.as_deref()).collect();
    dates.sort_unstable();
    let when = match (dates.first(), dates.last()) {
        (Some(first), Some(last)) if first == last => format!("Measured on {first}. "),
        (Some(first), Some(last)) => format!("Measured from {first} to {last}. "),
        _ => "No folder of these records has a date. ".into(),
    };
    html! {
        (when) (runs.records.len()) " records, " (runs.documents.len()) " experiments. "
        "Each line is the newest record of what it measures, with the folder that it is from. "
        "A peer was measured in the same run as gridsync, on the same GPU. "
        "Times are medians, in µs. A ratio is gridsync's time divided by the peer's: "
        "below 1 gridsync is faster. A word in italics is a warning of the record; the first table "
        "shows one with a warning only if no older one is without."
    }
}

fn of_device(runs: &Runs, chapter: &Chapter<'_>, is_one_of_several: bool) -> Markup {
    let summaries = peers::summaries(&chapter.of);
    let first = headlines(runs, chapter.of.device);
    html! {
        @if is_one_of_several { h2.device { (shown(chapter.of.device)) } }
        @if !summaries.is_empty() {
            section {
                h2 { "gridsync and its peers" }
                @if !first.is_empty() { (first_lines(&first)) }
                (summary(&summaries))
                (all_lines(chapter))
            }
        }
        @for (title, figures) in &chapter.groups {
            section {
                h2 { (title) }
                .figures { @for drawn in figures { (figure(drawn)) } }
            }
        }
        @if !chapter.left_out.is_empty() {
            section.left-out {
                h2 { "Left out" }
                ul {
                    @for (what, needs) in &chapter.left_out {
                        li { (what) ": there are no records of " code { (needs) } "." }
                    }
                }
            }
        }
    }
}

fn first_lines(first: &[Headline]) -> Markup {
    html! {
        .scroll { table {
            thead { tr {
                th { "µs" } th.number { "gridsync" } th.number { "peer" } th.number { "ratio" }
                th { "the peer" } th { "from" }
            } }
            tbody { @for Headline { what, peer, record } in first {
                tr {
                    th scope="row" { (what) }
                    (times(record))
                    td { (code(peer)) }
                    td.from { (record.source.folder()) (marks(record)) }
                }
            } }
        } }
    }
}

/// The cells with both times and their ratio.
fn times(record: &Recorded) -> Markup {
    let peer = record.peer.as_ref().map(|peer| short(peer.median));
    html! {
        td.number { (short(record.median)) }
        td.number { (peer.unwrap_or_default()) }
        (ratio(record.ratio()))
    }
}

/// A cell with a ratio, bold where gridsync is faster.
fn ratio(ratio: Option<f64>) -> Markup {
    let text = ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
    html! {
        td.number { @if ratio.is_some_and(|ratio| ratio < 1.0) { strong { (text) } } @else { (text) } }
    }
}

/// The kinds of the warnings of a record.
fn marks(record: &Recorded) -> Markup {
    let kinds = record.warnings.iter().filter_map(|warning| warning["kind"].as_str());
    html! { @for kind in kinds { " · " em { (kind) } } }
}

fn summary(summaries: &[peers::Summary]) -> Markup {
    html! {
        p { "All lines of what a caller gets without choosing a design, as ratios:" }
        .scroll { table {
            thead { tr {
                th { "suite" } th.number { "lines" } th.number { "faster" }
                th.number { "median" } th.number { "least" } th.number { "greatest" } th { "peer" }
            } }
            tbody { @for row in summaries {
                @let [least, greatest] = row.ends();
                tr {
                    th scope="row" { (row.suite) }
                    td.number { (row.ratios.len()) }
                    td.number { (row.faster()) }
                    (ratio(Some(row.median()))) (ratio(Some(least))) (ratio(Some(greatest)))
                    td { (row.peer) }
                }
            } }
        } }
    }
}

fn all_lines(chapter: &Chapter<'_>) -> Markup {
    let lines = peers::lines(&chapter.of);
    html! {
        details {
            summary { "All " (lines.len()) " lines beside a peer, every design" }
            .scroll { table.long {
                thead { tr {
                    th { "line" } th.number { "gridsync" } th.number { "peer" } th.number { "ratio" }
                    th { "from" }
                } }
                tbody { @for record in lines {
                    tr {
                        th scope="row" { (record.line()) }
                        (times(record))
                        td.from { (record.source.folder()) (marks(record)) }
                    }
                } }
            } }
        }
    }
}

fn figure(figure: &Figure) -> Markup {
    html! {
        figure {
            // It was drawn here, and all text in it is escaped.
            .scroll { (PreEscaped(&figure.svg)) }
            figcaption {
                @if !figure.caption.is_empty() { (figure.caption) " " }
                span.from { "From " (figure.sources) ". " a href=(figure.file) { "SVG" } }
            }
        }
    }
}

/// The files that were read past.
fn below(runs: &Runs) -> Markup {
    html! {
        @if !runs.replaced.is_empty() {
            p { "Not shown, because a change has replaced what they measured (" code { "-before" } "): "
                (names(&runs.replaced)) "." }
        }
        @if !runs.unknown.is_empty() {
            p { "No figure shows: " (names(&runs.unknown)) "." }
        }
        p { "Made by " code { "gridsync report" } "." }
    }
}

fn names(sources: &[Arc<Source>]) -> String {
    sources.iter().map(|source| source.name()).collect::<Vec<_>>().join(", ")
}

/// Text in which backquotes mark code.
fn code(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// The names of the files of these records, each once.
pub(super) fn sources<'a>(records: impl IntoIterator<Item = &'a Sourced<Recorded>>) -> String {
    let mut names: Vec<_> = records.into_iter().map(|record| record.source.name()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}
