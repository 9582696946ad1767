//! The result of `gridsync lab stress`.

use super::{Found, Run, Tally};
use crate::Report;
use crate::display::{Page, table};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The result of `gridsync lab stress`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Stress {
    /// The name of the device.
    pub device: String,
    /// Settings in which barriers are crossed.
    pub settings: usize,
    /// The correct barriers.
    pub designs: Vec<Tally>,
    /// The barriers that are wrong on purpose.
    pub mutants: Vec<Tally>,
    /// How many of these were caught.
    pub caught: usize,
    /// Barriers that the device cannot run.
    pub absent: Vec<Absent>,
}

/// A barrier that was not crossed: the device lacks the kernel or a feature that it needs, or no
/// grid fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Absent {
    /// The barrier.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "leaving out {}: {}", self.name, self.why)
    }
}

impl Stress {
    /// The result of crossing the correct and the broken barriers in this many settings.
    pub(super) fn of(device: &str, settings: usize, designs: Run, mutants: Run) -> Self {
        Self {
            device: device.to_owned(),
            settings,
            caught: mutants.tallies.iter().filter(|tally| !tally.held).count(),
            designs: designs.tallies,
            mutants: mutants.tallies,
            absent: [designs.absent, mutants.absent].concat(),
        }
    }
}

impl Report for Stress {
    fn page(&self) -> Page {
        let Self { device, settings, designs, mutants, caught, absent } = self;
        let mut page =
            Page::new(format!("Grid barriers crossed in {settings} settings on {device}"));
        let mut right = table();
        right.set_header(["barrier", "crossings", "settings", ""]);
        for tally in designs {
            let counts = [tally.crossings.to_string(), tally.settings.to_string()];
            let cells = [tally.name.clone()].into_iter().chain(counts);
            right.add_row(cells.chain([verdict(tally)]));
            if !tally.held {
                let first = tally.first.as_deref().unwrap_or_default();
                page.wrong(format!("the {} barrier did not hold: {first}", tally.name));
            }
        }
        page.table("", &right);
        if !mutants.is_empty() {
            let mut wrong = table();
            wrong.set_header(["what is wrong", "crossings", "settings", "caught in", "by"]);
            for tally in mutants {
                let counts = [tally.crossings, tally.settings.into(), tally.wrong_in().into()];
                let cells = [tally.name.clone()].into_iter().chain(counts.map(|n| n.to_string()));
                wrong.add_row(cells.chain([caught_by(tally)]));
            }
            page.table("", &wrong);
            page.drawing("", &format!("{caught} of {} broken barriers caught", mutants.len()));
        }
        for absent in absent {
            page.note(absent.to_string());
        }
        page
    }
}

/// `held`, or the error in capital letters.
fn verdict(tally: &Tally) -> String {
    if tally.held {
        return "held".into();
    }
    let names = ["STALE", "GAVE UP", "RACES", "STOPPED"];
    errors(tally, names, |name, found| format!("{name} {}", found.times))
}

/// How a mutant was caught, and in how many settings in each way.
fn caught_by(tally: &Tally) -> String {
    let names = ["stale words", "waits given up", "data races", "the emulator"];
    errors(tally, names, |name, found| format!("{name} ({})", found.settings))
}

/// The kinds of errors that were found, by these names, in the words of `shown`.
fn errors(tally: &Tally, names: [&str; 4], shown: impl Fn(&str, Found) -> String) -> String {
    let found = [tally.stale, tally.given_up, tally.races, tally.stopped];
    let found = names.into_iter().zip(found).filter(|(_, found)| found.settings > 0);
    found.map(|(name, found)| shown(name, found)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_design_is_in_capitals_with_every_kind_of_error() {
        let mut tally = Tally::new("phase");
        assert_eq!((verdict(&tally).as_str(), tally.wrong_in()), ("held", 0));
        tally.stale = Found { settings: 2, times: 70 };
        tally.given_up = Found { settings: 1, times: 3 };
        tally.held = false;
        assert_eq!(tally.wrong_in(), 3);
        assert_eq!(verdict(&tally), "STALE 70, GAVE UP 3");
        assert_eq!(caught_by(&tally), "stale words (2), waits given up (1)");
    }
}
