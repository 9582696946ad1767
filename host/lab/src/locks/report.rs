//! The result of `gridsync lab locks`.

use super::emulated::{Emulated, Lockstep, SEEDS};
use super::lock::Grid;
use super::measured::Measured;
use super::{chart, meaning, tables};
use crate::display::Page;
use crate::display::svg::ChartError;
use crate::{Chart, Report};
use serde::{Deserialize, Serialize};

/// The result of `gridsync lab locks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Locks {
    /// The name of the device.
    pub device: String,
    /// Sections of a launch, by all its threads together.
    pub sections: u32,
    /// What was found about each lock.
    #[serde(flatten)]
    pub found: Found,
    /// The deadlock of lanes in lockstep, as the emulator reports it. Absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lockstep: Option<String>,
    /// The lanes in lockstep.
    #[serde(skip)]
    pub lanes: Lockstep,
}

/// Findings about the locks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Found {
    /// On a GPU.
    Measured(Measured),
    /// In the emulator.
    Emulated(Emulated),
}

impl Report for Locks {
    fn page(&self) -> Page {
        let mut page = match &self.found {
            Found::Measured(measured) => self.measured(measured),
            Found::Emulated(emulated) => self.emulated(emulated),
        };
        self.add_lockstep(&mut page);
        page
    }

    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        let Found::Measured(measured) = &self.found else { return Ok(Vec::new()) };
        let charts = [
            chart::rates("locks", &measured.locks, 0, "one thread of each block")?,
            chart::rates("locks-warps", &measured.locks, 1, &whole_blocks(measured))?,
            chart::fairness(measured)?,
        ];
        Ok(charts.into_iter().flatten().collect())
    }
}

impl Locks {
    /// The page about a GPU.
    fn measured(&self, measured: &Measured) -> Page {
        let Self { device, sections, .. } = self;
        let mut page = Page::new(question(&format!(
            "{device} measures launches of {sections} sections and of a quarter of them."
        )));
        let locks = &measured.locks;
        page.table("The locks", &tables::locks());
        page.table(
            "Million sections per second, one thread of each block",
            &tables::rates(locks, 0),
        );
        let blocks = whole_blocks(measured);
        page.table(&format!("Million sections per second, {blocks}"), &tables::rates(locks, 1));
        page.table(
            "Sections of each block, with one block on each multiprocessor at most",
            &tables::fairness(measured),
        );
        meaning::of_rates(&mut page, locks);
        for lock in locks {
            for point in &lock.points {
                if let Some(wrong) = &point.wrong {
                    page.wrong(format!("the {} lock, {}: {wrong}", lock.lock, point.grid()));
                }
            }
        }
        page
    }

    /// The page about the emulator.
    fn emulated(&self, emulated: &Emulated) -> Page {
        let Emulated { blocks, threads, locks } = emulated;
        let mut page = Page::new(question(&format!(
            "The emulator runs up to {blocks} blocks of {threads} threads under {SEEDS} schedules \
             each, and looks for data races."
        )));
        page.table("The locks", &tables::locks());
        let largest = Grid { blocks: *blocks, threads: *threads };
        page.table(
            &format!("{} sections a launch; the accesses are those of {largest}", self.sections),
            &tables::checked(locks),
        );
        meaning::of_checks(&mut page, locks);
        for wrong in locks.iter().filter_map(|lock| lock.wrong.as_ref()) {
            page.wrong(wrong);
        }
        page
    }

    /// Adds the deadlock of lanes in lockstep, as the emulator reports it.
    fn add_lockstep(&self, page: &mut Page) {
        let Lockstep { fault, counter } = &self.lanes;
        match (&self.lockstep, fault) {
            (Some(report), _) => {
                page.drawing("Lanes of one warp in lockstep, in the emulator", &in_lines(report));
            }
            (None, Some(fault)) => page.wrong(format!("lanes in lockstep: {fault}")),
            (None, None) => page.wrong("lanes in lockstep did not deadlock in the emulator"),
        }
        if *counter != 32 {
            page.wrong(format!("the cured form counted {counter} of 32 lanes"));
        }
        meaning::of_lockstep(page, *counter);
    }
}

/// The question of the page, with the tested locks.
fn question(how: &str) -> String {
    format!(
        "A section of the program that one thread at a time may enter: what does the lock around it \
         cost, and who has to wait? Each thread takes the lock, adds 1 to a counter by a plain load \
         and a plain store, and releases it. Then each pushes nodes to a linked list. {how}"
    )
}

/// `blocks of 32 threads`.
fn whole_blocks(measured: &Measured) -> String {
    let last = measured.locks.iter().find_map(|lock| lock.points.last());
    format!("blocks of {} threads", last.map_or(0, |point| point.threads))
}

/// A fault's message, wrapped for a terminal: each part, and below it the source location.
fn in_lines(message: &str) -> String {
    let mut lines = Vec::new();
    for part in message.split("; ") {
        match part.rsplit_once(", at ").or_else(|| part.rsplit_once(": ")) {
            Some((what, rest)) => lines.extend([what.to_owned(), format!("  {rest}")]),
            None => lines.push(part.to_owned()),
        }
    }
    lines.join("\n")
}
