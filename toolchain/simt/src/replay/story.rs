//! What happened, in a few lines.

use core::fmt;
use std::collections::HashMap;

use super::deed::{Deed, Done, Touch};
use crate::access::{Access, AccessKind, Order, Scope};
use crate::dim::{Dim3, Place, Position};
use crate::fault::Fault;
use crate::memory::Label;

/// Most steps of a story: the last ones.
const MOST: usize = 14;

/// What happened in a run, as far as it has to do with its failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// In the order in which it happened.
    pub steps: Vec<StoryStep>,
    /// How many steps before these are left out.
    pub left_out: usize,
}

/// Something that a thread did, perhaps several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryStep {
    /// The block, and the thread if its block has several.
    pub who: String,
    /// What it did.
    pub what: String,
    /// Where in the source.
    pub place: Place,
}

impl fmt::Display for StoryStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { who, what, place } = self;
        write!(f, "{who} {what}, at {}:{}", place.file(), place.line())
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

/// A step while it is put together.
struct Line<'d> {
    deed: &'d Deed,
    times: u32,
    /// Whether its thread has spun after it.
    polls: bool,
}

impl Story {
    /// The story of some deeds.
    pub(super) fn of(deeds: &[Deed], fault: Option<&Fault>) -> Self {
        let matters = Matters::of(deeds, fault);
        let mut lines: Vec<Line<'_>> = Vec::new();
        for deed in deeds {
            if matches!(deed.what, Done::Spin) {
                let last = lines.iter_mut().rev().find(|line| line.deed.thread() == deed.thread());
                if let Some(line) = last.filter(|line| is_read(line.deed)) {
                    line.polls = true;
                }
                continue;
            }
            if !matters.has(deed) {
                continue;
            }
            match lines.iter().rposition(|line| repeats(line.deed, deed)) {
                Some(at) if !lines[at + 1..].iter().any(|line| separates(line.deed, deed)) => {
                    lines[at].times += 1;
                }
                _ => lines.push(Line { deed, times: 1, polls: false }),
            }
        }
        let left_out = lines.len().saturating_sub(MOST);
        Self { steps: lines[left_out..].iter().map(Line::told).collect(), left_out }
    }
}

fn is_read(deed: &Deed) -> bool {
    deed.touch().is_some_and(|touch| touch.access.kind == AccessKind::Read)
}

/// Whether a thread reads the same again.
fn repeats(first: &Deed, again: &Deed) -> bool {
    let (Some(old), Some(new)) = (first.touch(), again.touch()) else { return false };
    is_read(again)
        && (first.thread(), first.place) == (again.thread(), again.place)
        && (old.label, old.owner, old.offset) == (new.label, new.owner, new.offset)
        && (old.read, old.is_old) == (new.read, new.is_old)
}

/// Whether something between two reads makes them two steps: a write of what they read, or another
/// deed of their thread.
fn separates(between: &Deed, read: &Deed) -> bool {
    let writes = |touch: &Touch| touch.access.kind != AccessKind::Read;
    between.thread() == read.thread()
        || between.touch().zip(read.touch()).is_some_and(|(a, b)| writes(a) && a.overlaps(b))
}

/// What has to do with a failure.
struct Matters<'d> {
    /// Accesses to the memory in question.
    touches: Vec<&'d Touch>,
    /// The threads that access it.
    threads: Vec<u64>,
    /// Accesses by which these threads tell each other something.
    signals: Vec<&'d Touch>,
}

impl<'d> Matters<'d> {
    fn of(deeds: &'d [Deed], fault: Option<&Fault>) -> Self {
        let all = || deeds.iter().filter_map(|deed| Some((deed.thread(), deed.touch()?)));
        let mut touches: Vec<&Touch> = match fault {
            // The later access of a race is the last one.
            Some(Fault::Race(_)) => deeds.iter().rev().find_map(Deed::touch).into_iter().collect(),
            Some(Fault::Deadlock(_)) => polled(deeds),
            _ => distinct(all().map(|(_, touch)| touch).filter(|touch| touch.is_old)),
        };
        if touches.is_empty() {
            touches = shared(all());
        }
        let is_one = |touch: &Touch| touches.iter().any(|other| other.overlaps(touch));
        let mut threads: Vec<u64> =
            all().filter(|(_, touch)| is_one(touch)).map(|(thread, _)| thread).collect();
        threads.sort_unstable();
        threads.dedup();
        let involved = all().filter(|(thread, _)| threads.contains(thread));
        let signals = shared(involved.filter(|(_, touch)| is_strong(touch.access)));
        Self { touches, threads, signals }
    }

    fn has(&self, deed: &Deed) -> bool {
        let is_one =
            |touches: &[&Touch], touch: &Touch| touches.iter().any(|it| it.overlaps(touch));
        self.threads.contains(&deed.thread())
            && match &deed.what {
                Done::Access(touch) => {
                    is_one(&self.touches, touch)
                        || is_strong(touch.access) && is_one(&self.signals, touch)
                }
                Done::Fence(..) | Done::ClusterArrival | Done::ClusterWait => true,
                Done::BlockBarrier => deed.position.block_dim.count() > 1,
                Done::Spin => false,
            }
    }
}

/// One touch for each place in memory.
fn distinct<'d>(touches: impl Iterator<Item = &'d Touch>) -> Vec<&'d Touch> {
    let mut found: Vec<&Touch> = Vec::new();
    for touch in touches {
        if !found.iter().any(|other| other.overlaps(touch)) {
            found.push(touch);
        }
    }
    found
}

/// What the threads that are stuck have read last.
fn polled(deeds: &[Deed]) -> Vec<&Touch> {
    let mut last: HashMap<u64, &Touch> = HashMap::new();
    let mut polled: HashMap<u64, &Touch> = HashMap::new();
    for deed in deeds {
        match (&deed.what, deed.touch()) {
            (_, Some(touch)) => _ = last.insert(deed.thread(), touch),
            (Done::Spin, _) => {
                if let Some(touch) = last.get(&deed.thread()) {
                    polled.insert(deed.thread(), touch);
                }
            }
            _ => {}
        }
        // Whoever goes on to something else was not stuck.
        if let (Some(touch), Some(before)) = (deed.touch(), polled.get(&deed.thread()))
            && !touch.overlaps(before)
        {
            polled.remove(&deed.thread());
        }
    }
    distinct(polled.into_values())
}

/// What several threads touch, and at least one writes.
fn shared<'d>(touches: impl Iterator<Item = (u64, &'d Touch)>) -> Vec<&'d Touch> {
    let mut found: Vec<(&Touch, u64, bool, bool)> = Vec::new();
    for (thread, touch) in touches {
        let writes = touch.access.kind != AccessKind::Read;
        match found.iter_mut().find(|(other, ..)| other.overlaps(touch)) {
            Some((_, first, is_shared, is_written)) => {
                *is_shared |= *first != thread;
                *is_written |= writes;
            }
            None => found.push((touch, thread, false, writes)),
        }
    }
    let both = |(touch, _, is_shared, is_written)| (is_shared && is_written).then_some(touch);
    found.into_iter().filter_map(both).collect()
}

fn is_strong(access: Access) -> bool {
    access.order != Order::Weak || access.kind == AccessKind::Atomic
}

impl Line<'_> {
    fn told(&self) -> StoryStep {
        let Self { deed, times, polls } = self;
        let what = match &deed.what {
            Done::Access(touch) => accessed(touch, *times, *polls),
            Done::Fence(scope, order) => format!("makes a fence ({})", ordering(*order, *scope)),
            Done::BlockBarrier => "comes to the barrier of its block".to_owned(),
            Done::ClusterArrival => "arrives at the barrier of its cluster".to_owned(),
            Done::ClusterWait => "waits at the barrier of its cluster".to_owned(),
            Done::Spin => "spins".to_owned(),
        };
        StoryStep { who: who(&deed.position), what, place: deed.place }
    }
}

fn who(at: &Position) -> String {
    let index = |at: Dim3, of: Dim3| match (of.y, of.z) {
        (1, 1) => at.x.to_string(),
        _ => at.to_string(),
    };
    let gpu = at.named_gpu().map_or_else(String::new, |gpu| format!("GPU {gpu}, "));
    let block = format!("{gpu}block {}", index(at.block_idx, at.grid_dim));
    match at.block_dim.count() {
        1 => block,
        _ => format!("{block}, thread {}", index(at.thread_idx, at.block_dim)),
    }
}

fn accessed(touch: &Touch, times: u32, polls: bool) -> String {
    let place = located(touch);
    let value = |bits: Option<u128>| bits.map_or_else(|| "something".to_owned(), number);
    let (read, wrote) = (value(touch.read), value(touch.wrote));
    let order = match touch.access.order {
        Order::Weak => String::new(),
        order => format!(" ({})", ordering(order, touch.access.scope)),
    };
    let seen = if touch.is_old { format!("the old {read}") } else { read.clone() };
    match touch.access.kind {
        AccessKind::Read if polls && times > 1 => {
            format!("polls {place}{order} {times} times and sees {seen}")
        }
        AccessKind::Read if polls => format!("polls {place}{order} and sees {seen}"),
        AccessKind::Read if touch.is_old => format!("sees {seen} in {place}{order}"),
        AccessKind::Read if times > 1 => format!("reads {seen} from {place}{order} {times} times"),
        AccessKind::Read => format!("reads {seen} from {place}{order}"),
        AccessKind::Write if touch.is_old => {
            format!("writes {wrote} to {place}{order}, before its last value")
        }
        AccessKind::Write => format!("writes {wrote} to {place}{order}"),
        AccessKind::Atomic if read == wrote => format!("leaves {place} at {read}{order}"),
        AccessKind::Atomic => format!("changes {place} from {read} to {wrote}{order}"),
    }
}

fn located(touch: &Touch) -> String {
    let Touch { label, offset, bytes, .. } = touch;
    let label = match label {
        Label::StaticShared(name) => (*name).to_owned(),
        label => label.to_string(),
    };
    match bytes {
        4 if offset % 4 == 0 => format!("word {} of {label}", offset / 4),
        _ => format!("bytes {offset} to {} of {label}", offset + bytes - 1),
    }
}

fn number(bits: u128) -> String {
    match u64::try_from(bits) {
        Ok(number) => number.to_string(),
        Err(_) => format!("{bits:#x}"),
    }
}

fn ordering(order: Order, scope: Scope) -> String {
    match order {
        Order::Volatile => order.to_string(),
        _ => format!("{order}, {scope}"),
    }
}
