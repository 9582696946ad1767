//! A short description of a run.

use core::fmt;

use super::deed::{Deed, Done, Touch};
use super::line::Line;
use super::matters::Matters;
use crate::fault::Fault;
use crate::place::Place;
use crate::race::Race;

/// Maximum number of steps in a story: the last ones are kept.
const MOST: usize = 14;

/// A deed can join at most this many preceding lines.
const RECENT: usize = 64;

/// The part of a run that is relevant to its failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// In chronological order.
    pub steps: Vec<StoryStep>,
    /// Number of omitted steps before these.
    pub left_out: usize,
}

/// An action of a thread, or of several threads of a block, perhaps repeated. Or the end of a
/// launch before the first step of a later one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryStep {
    /// The launch if there are several, the block, and the threads if its block has several. Only
    /// the launch when it ends.
    pub who: String,
    /// The action.
    pub what: String,
    /// Its source location. `None` when a launch ends.
    pub place: Option<Place>,
}

impl StoryStep {
    fn end_of(launch: usize) -> Self {
        Self { who: format!("launch {launch}"), what: "ends".to_owned(), place: None }
    }
}

impl fmt::Display for StoryStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { who, what, place } = self;
        write!(f, "{who} {what}")?;
        match place {
            Some(place) => write!(f, ", at {}:{}", place.file(), place.line()),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.left_out > 0 {
            writeln!(f, "  … after {} other steps:", self.left_out)?;
        }
        for (at, step) in self.steps.iter().enumerate() {
            let end = if at + 1 < self.steps.len() { "\n" } else { "" };
            write!(f, "  {}. {step}{end}", at + 1)?;
        }
        Ok(())
    }
}

impl Story {
    /// The story of some deeds.
    pub(super) fn of(deeds: &[Deed], fault: Option<&Fault>, cause: Option<&Race>) -> Self {
        let matters = Matters::of(deeds, fault, cause);
        let mut lines: Vec<Line<'_>> = Vec::new();
        for deed in deeds {
            if matches!(deed.what, Done::Spin) {
                let last = lines.iter_mut().rev().take(RECENT).find(|line| line.has(deed));
                if let Some(line) = last.filter(|line| line.reads_only()) {
                    line.polls = true;
                }
            } else if matters.has(deed) && !joins(&mut lines, deed) {
                lines.push(Line::of(deed));
            }
        }
        let left_out = lines.len().saturating_sub(MOST);
        for at in left_out..lines.len() {
            lines[at].from_launch = writer_before(&lines[..at], lines[at].first);
        }
        let launches = deeds.last().map_or(0, |deed| deed.launch);
        let mut steps: Vec<StoryStep> = Vec::new();
        let mut last = None;
        for line in &lines[left_out..] {
            let launch = line.first.launch;
            let ended = last.replace(launch).filter(|&last| last != launch);
            steps.extend(ended.map(StoryStep::end_of));
            steps.push(line.step(launches > 1));
        }
        Self { steps, left_out }
    }
}

/// Adds a deed to a line with a similar one, if this preserves the order of relevant deeds.
fn joins<'d>(lines: &mut [Line<'d>], deed: &'d Deed) -> bool {
    let old = lines.len().saturating_sub(RECENT);
    let lines = &mut lines[old..];
    let again = lines.iter().rposition(|line| line.has(deed) && line.repeats(deed));
    if let Some(at) = again
        && !lines[at + 1..].iter().any(|line| line.has(deed) || line.writes_over(deed))
    {
        lines[at].again(deed);
        return true;
    }
    let of_block = lines.iter().rposition(|line| line.first.block() == deed.block());
    if let Some(at) = of_block
        && lines[at].is_alike(deed)
        && !lines[at + 1..].iter().any(|line| line.meets(deed))
    {
        lines[at].join(deed);
        return true;
    }
    false
}

/// The launch that wrote the value that a deed reads, if it is an earlier one.
fn writer_before(lines: &[Line<'_>], deed: &Deed) -> Option<usize> {
    let touch = deed.touch().filter(|touch| touch.read.is_some() && !touch.is_old)?;
    let wrote = |line: &&Line<'_>| {
        let overlaps = |other: &Touch| !other.reads_only() && other.overlaps(touch);
        line.last.touch().is_some_and(overlaps)
    };
    let launch = lines.iter().rev().find(wrote)?.first.launch;
    (launch < deed.launch).then_some(launch)
}
