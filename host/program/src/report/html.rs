//! The HTML of the page.

use super::figures::Figure;
use super::{Chapter, slug};
use crate::records::{Record, Runs, Source, Sourced};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::sync::Arc;

const STYLE: &str = include_str!("style.css");

/// The whole page.
pub(super) fn page(runs: &Runs, chapters: &[Chapter<'_>]) -> Markup {
    let devices: Vec<_> = chapters.iter().map(|chapter| shown(chapter.of.device)).collect();
    let devices = match &devices[..] {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        all => all.concat(),
    };
    let title = format!("gridsync on {devices}");
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
                (contents(chapters))
                main {
                    @for chapter in chapters { (of_device(chapter, chapters.len() > 1)) }
                }
                footer { (below(runs)) }
            }
        }
    }
}

/// The name of a device on the page. For experiments on the CPU, the name in the records is the
/// value of `--device`.
fn shown(device: &str) -> &str {
    if device == "cpu" { "CPU" } else { device }
}

/// The number of records, and their dates.
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
        "below 1 gridsync is faster. A word in italics is a warning of the record; the main results "
        "have one with a warning only if no older one is without. In figures blue is gridsync, or where "
        "it is faster; vermillion is its peer, or where gridsync is slower; grey is a roof or a bound. An "
        "error bar spans all samples, and is hidden by its point if they differ by little. For peers only "
        "medians are recorded."
    }
}

/// Links to all chapters and their sections.
fn contents(chapters: &[Chapter<'_>]) -> Markup {
    let is_one_of_several = chapters.len() > 1;
    html! {
        nav aria-label="Contents" {
            @for chapter in chapters {
                ul {
                    @if is_one_of_several {
                        li { a href=(format!("#{}", anchor(chapter, ""))) { strong { (shown(chapter.of.device)) } } }
                    }
                    @for title in titles(chapter) {
                        li { a href=(format!("#{}", anchor(chapter, title))) { (title) } }
                    }
                }
            }
        }
    }
}

/// The titles of the sections of a chapter.
fn titles<'a>(chapter: &'a Chapter<'_>) -> impl Iterator<Item = &'a str> {
    let tables = (!chapter.tables.is_empty()).then_some(PEERS);
    let left_out = (!chapter.left_out.is_empty()).then_some(LEFT_OUT);
    tables.into_iter().chain(chapter.groups.iter().map(|(title, _)| *title)).chain(left_out)
}

/// The title of the tables.
const PEERS: &str = "gridsync and its peers";
/// The title of the section about missing records.
const LEFT_OUT: &str = "Left out";

/// The anchor of a section of a chapter.
fn anchor(chapter: &Chapter<'_>, title: &str) -> String {
    slug(&format!("{} {title}", chapter.of.device))
}

fn of_device(chapter: &Chapter<'_>, is_one_of_several: bool) -> Markup {
    html! {
        @if is_one_of_several {
            h2.device id=(anchor(chapter, "")) { (shown(chapter.of.device)) }
        }
        @if !chapter.tables.is_empty() {
            section {
                h2 id=(anchor(chapter, PEERS)) { (PEERS) }
                @for table in &chapter.tables { (table.html()) }
            }
        }
        @for (title, figures) in &chapter.groups {
            section {
                h2 id=(anchor(chapter, title)) { (title) }
                .figures { @for drawn in figures { (figure(drawn)) } }
            }
        }
        @if !chapter.left_out.is_empty() {
            section.left-out {
                h2 id=(anchor(chapter, LEFT_OUT)) { (LEFT_OUT) }
                ul {
                    @for (what, needs) in &chapter.left_out {
                        li { (what) ": there are no records of " code { (needs) } "." }
                    }
                }
            }
        }
    }
}

fn figure(figure: &Figure) -> Markup {
    html! {
        figure {
            // It was drawn by this program, and all text in it is escaped.
            .scroll { (PreEscaped(&figure.svg)) }
            figcaption {
                @if !figure.caption.is_empty() { (figure.caption) " " }
                span.from {
                    "From " (figure.sources) ". "
                    a href=(format!("{}.svg", figure.file)) { "SVG" } " "
                    a href=(format!("{}.csv", figure.file)) { "CSV" }
                }
            }
        }
    }
}

/// The files that were skipped.
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

/// The names of the files of these records, without duplicates.
pub(super) fn sources<'a>(records: impl IntoIterator<Item = &'a Sourced<Record>>) -> String {
    let mut names: Vec<_> = records.into_iter().map(|record| record.source.name()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}
