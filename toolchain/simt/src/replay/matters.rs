//! The deeds of a run that are relevant to its failure.

use std::collections::{HashMap, HashSet};

use super::deed::{Deed, Done, Thread, Touch};
use crate::access::{Access, AccessKind, Order};
use crate::fault::Fault;
use crate::memory::Label;
use crate::race::Race;

/// Four bytes of memory: the region, which block has it, and the number of the word.
type Word = (Label, u64, usize);
type Words = HashSet<Word>;

fn words(touch: &Touch) -> impl Iterator<Item = Word> + use<> {
    let (label, owner) = (touch.label, touch.owner);
    let last = touch.offset + touch.bytes.max(1) - 1;
    (touch.offset / 4..=last / 4).map(move |word| (label, owner, word))
}

fn is_among(touch: &Touch, all: &Words) -> bool {
    words(touch).any(|word| all.contains(&word))
}

/// The memory and threads that are relevant to a failure.
pub(super) struct Matters {
    /// The memory in question.
    words: Words,
    /// Whether reads of it are relevant only if they returned old values.
    only_old: bool,
    /// The threads that access it.
    threads: HashSet<Thread>,
    /// Words by which these threads communicate.
    signals: Words,
}

impl Matters {
    pub(super) fn of(deeds: &[Deed], fault: Option<&Fault>, cause: Option<&Race>) -> Self {
        let all = || deeds.iter().filter_map(|deed| Some((deed.thread(), deed.touch()?)));
        let is_old = |deed: &Deed| deed.touch().is_some_and(|touch| touch.is_old);
        let mut only_old = false;
        let mut matter: Words = match fault {
            // The later access of a race is the last one.
            Some(Fault::Race(_)) => {
                deeds.iter().rev().find_map(Deed::touch).into_iter().flat_map(words).collect()
            }
            Some(Fault::Deadlock(_)) => polled(deeds),
            _ => {
                only_old = deeds.iter().any(is_old);
                if only_old {
                    let old = all().filter(|(_, touch)| touch.is_old);
                    old.flat_map(|(_, touch)| words(touch)).collect()
                } else {
                    raced(all().map(|(_, touch)| touch), cause)
                }
            }
        };
        if matter.is_empty() {
            matter = shared(all());
        }
        let is_shown = |touch: &Touch| !only_old || touch.is_old || !touch.reads_only();
        let of_these = all().filter(|(_, touch)| is_shown(touch) && is_among(touch, &matter));
        let threads: HashSet<Thread> = of_these.map(|(thread, _)| thread).collect();
        let involved = all().filter(|(thread, _)| threads.contains(thread));
        let signals = shared(involved.filter(|(_, touch)| is_strong(touch.access)));
        Self { words: matter, only_old, threads, signals }
    }

    pub(super) fn has(&self, deed: &Deed) -> bool {
        self.threads.contains(&deed.thread())
            && match &deed.what {
                Done::Access(touch) => {
                    let is_shown = !self.only_old || touch.is_old || !touch.reads_only();
                    is_shown && is_among(touch, &self.words)
                        || is_strong(touch.access) && is_among(touch, &self.signals)
                }
                Done::Fence(..) | Done::ClusterArrival | Done::ClusterWait => true,
                Done::BlockBarrier => deed.position.block_dim.count() > 1,
                Done::Spin => false,
            }
    }
}

/// The words of the first touch at the address of the race, if known.
fn raced<'d>(mut touches: impl Iterator<Item = &'d Touch>, cause: Option<&Race>) -> Words {
    let Some((label, offset)) = cause.and_then(|race| race.target.region) else {
        return Words::new();
    };
    let at = offset as usize;
    let is_there = |touch: &&Touch| {
        touch.label == label && (touch.offset..touch.offset + touch.bytes).contains(&at)
    };
    touches.find(is_there).into_iter().flat_map(words).collect()
}

/// The words last read by the threads that are stuck.
fn polled(deeds: &[Deed]) -> Words {
    let mut last: HashMap<Thread, &Touch> = HashMap::new();
    let mut polled: HashMap<Thread, &Touch> = HashMap::new();
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
        // A thread that moves on to something else was not stuck.
        if let (Some(touch), Some(before)) = (deed.touch(), polled.get(&deed.thread()))
            && !touch.overlaps(before)
        {
            polled.remove(&deed.thread());
        }
    }
    polled.into_values().flat_map(words).collect()
}

/// The words that several threads touch and at least one writes.
fn shared<'d>(touches: impl Iterator<Item = (Thread, &'d Touch)>) -> Words {
    let mut found: HashMap<Word, (Thread, bool, bool)> = HashMap::new();
    for (thread, touch) in touches {
        for word in words(touch) {
            let (first, is_shared, is_written) =
                found.entry(word).or_insert((thread, false, false));
            *is_shared |= *first != thread;
            *is_written |= !touch.reads_only();
        }
    }
    let both = |(word, (_, is_shared, is_written))| (is_shared && is_written).then_some(word);
    found.into_iter().filter_map(both).collect()
}

fn is_strong(access: Access) -> bool {
    access.order != Order::Weak || access.kind == AccessKind::Atomic
}
