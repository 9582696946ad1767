//! One page with all results of some runs: gridsync and its peers, then figures.
//!
//! The page is one HTML file without scripts, fonts or network access. It follows the reader's
//! choice of light or dark, fits a phone, and prints. Each figure is in the page, and also in a
//! separate SVG file. The numbers of each figure and table are in a CSV file.

mod figures;
mod headlines;
mod html;
mod peers;
mod table;
mod tables;

pub use headlines::{Headline, headlines, markdown};

use crate::records::{Document, Record, Runs, Sourced};
use figures::{Figure, GROUPS};
use gridsync_lab::display::svg::ChartError;
use std::collections::HashSet;
use table::Table;

/// The file name of the page.
pub const INDEX: &str = "index.html";

/// The results of one device: the newest of each line.
struct Of<'a> {
    device: &'a str,
    /// The records.
    newest: Vec<&'a Sourced<Record>>,
    /// The newest records with a peer in the same run: for some lines older than in `newest`.
    compared: Vec<&'a Sourced<Record>>,
    /// The results of experiments, newest first.
    documents: Vec<&'a Sourced<Document>>,
}

/// The words of a name in lower case, joined by hyphens, for files and links.
fn slug(name: &str) -> String {
    let name = name.to_lowercase();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// The part of the page about one device.
struct Chapter<'a> {
    of: Of<'a>,
    /// The tables.
    tables: Vec<Table>,
    /// Figures in groups, each with its title. A group without figures is left out.
    groups: Vec<(&'static str, Vec<Figure>)>,
    /// Descriptions of the drawn figures.
    drawn: Vec<&'static str>,
    /// Descriptions of figures that no device has, and of the missing records.
    left_out: Vec<(&'static str, &'static str)>,
}

/// The files of the page, names and contents: [`INDEX`], an SVG and a CSV for each figure, and a
/// CSV for each table.
///
/// # Errors
/// [`ChartError`] if a record has a value that a chart cannot show.
pub fn files(runs: &Runs) -> Result<Vec<(String, String)>, ChartError> {
    let devices = runs.devices();
    let chapters = devices.iter().map(|device| Chapter::of(runs, device));
    let mut chapters = chapters.collect::<Result<Vec<_>, _>>()?;
    // Peers on the CPU have separate records, which no figure shows.
    let is_shown =
        |chapter: &Chapter<'_>| !chapter.groups.is_empty() || !chapter.of.compared.is_empty();
    if chapters.iter().any(is_shown) {
        chapters.retain(is_shown);
    }
    // A figure that one device lacks is not missing if another device has it.
    let drawn_somewhere: HashSet<&str> =
        chapters.iter().flat_map(|chapter| chapter.drawn.iter().copied()).collect();
    for chapter in &mut chapters {
        chapter.left_out.retain(|(what, _)| !drawn_somewhere.contains(what));
    }
    let mut files = vec![(INDEX.to_owned(), html::page(runs, &chapters).into_string())];
    for chapter in chapters {
        files.extend(chapter.tables.iter().map(|table| (table.csv_file(), table.csv())));
        for Figure { file, svg, csv, .. } in chapter.groups.into_iter().flat_map(|group| group.1) {
            files.extend([(format!("{file}.svg"), svg), (format!("{file}.csv"), csv)]);
        }
    }
    Ok(files)
}

impl<'a> Chapter<'a> {
    fn of(runs: &'a Runs, device: &'a str) -> Result<Self, ChartError> {
        let of_device = |record: &Record| record.device == device;
        let of = Of {
            device,
            newest: runs.newest(of_device),
            compared: runs.newest(|record| of_device(record) && record.peer.is_some()),
            documents: runs.documents.iter().rev().filter(|one| one.device() == device).collect(),
        };
        let (mut groups, mut shown, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for group in GROUPS {
            let mut figures = Vec::new();
            for wanted in group.figures {
                let drawn = match (wanted.draw)(&of) {
                    // Records without the parameters of the axes.
                    Err(ChartError::Empty { .. }) => Vec::new(),
                    drawn => drawn?,
                };
                if drawn.is_empty() {
                    left_out.push((wanted.what, wanted.needs))
                } else {
                    shown.push(wanted.what)
                }
                figures.extend(drawn);
            }
            if !figures.is_empty() {
                groups.push((group.title, figures));
            }
        }
        let tables = tables::of(runs, &of);
        Ok(Self { of, tables, groups, drawn: shown, left_out })
    }
}

impl<'a> Of<'a> {
    /// The name of a file of this device, without its extension.
    fn file(&self, name: &str) -> String {
        format!("{}-{name}", slug(self.device))
    }

    /// The newest records of a suite.
    fn suite(&self, suite: &str) -> Vec<&'a Sourced<Record>> {
        self.newest.iter().copied().filter(|record| record.suite == suite).collect()
    }

    /// The newest records of a suite that have a peer.
    fn compared(&self, suite: &str) -> Vec<&'a Sourced<Record>> {
        self.compared.iter().copied().filter(|record| record.suite == suite).collect()
    }

    /// The newest result of an experiment that `choose` accepts.
    fn document<T>(
        &self,
        choose: impl Fn(&'a Document) -> Option<&'a T>,
    ) -> Option<(&'a T, String)> {
        self.documents
            .iter()
            .find_map(|document| Some((choose(&document.what)?, document.source.name())))
    }
}

#[cfg(test)]
mod tests;
