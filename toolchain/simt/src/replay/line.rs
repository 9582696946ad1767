//! A step of a story under construction: an action of one thread, or of several threads of a block.

use super::deed::{Deed, Done, Touch};
use super::story::StoryStep;
use crate::access::{AccessKind, Order, Scope};
use crate::dim::{Dim3, Position, WARP_LANES};
use crate::fault::Phase;
use crate::memory::Label;

/// A step under construction.
pub(super) struct Line<'d> {
    pub(super) first: &'d Deed,
    pub(super) last: &'d Deed,
    /// The threads of the block that did it.
    threads: Vec<u32>,
    /// How often the first of them did it.
    times: u32,
    /// Whether all read and wrote the same values.
    same: bool,
    /// Whether a thread has spun after it.
    pub(super) polls: bool,
    /// The earlier launch that wrote the value that it reads.
    pub(super) from_launch: Option<usize>,
}

impl<'d> Line<'d> {
    pub(super) fn of(deed: &'d Deed) -> Self {
        Self {
            first: deed,
            last: deed,
            threads: vec![deed.position.linear_thread()],
            times: 1,
            same: true,
            polls: false,
            from_launch: None,
        }
    }

    /// Whether the thread of a deed is among its threads.
    pub(super) fn has(&self, deed: &Deed) -> bool {
        self.first.block() == deed.block() && self.threads.contains(&deed.position.linear_thread())
    }

    pub(super) fn reads_only(&self) -> bool {
        self.first.touch().is_some_and(Touch::reads_only)
    }

    /// Whether it writes memory that a deed reads.
    pub(super) fn writes_over(&self, deed: &Deed) -> bool {
        let writes = |touch: &Touch, read: &Touch| !touch.reads_only() && touch.overlaps(read);
        [self.first, self.last]
            .into_iter()
            .any(|own| own.touch().zip(deed.touch()).is_some_and(|(own, read)| writes(own, read)))
    }

    /// Whether it and a deed touch the same memory, and one of the two writes.
    pub(super) fn meets(&self, deed: &Deed) -> bool {
        let meet = |own: &Touch, other: &Touch| {
            own.overlaps(other) && !(own.reads_only() && other.reads_only())
        };
        [self.first, self.last]
            .into_iter()
            .any(|own| own.touch().zip(deed.touch()).is_some_and(|(own, other)| meet(own, other)))
    }

    /// Whether one of its threads reads the same again.
    pub(super) fn repeats(&self, again: &Deed) -> bool {
        let (Some(old), Some(new)) = (self.first.touch(), again.touch()) else { return false };
        new.reads_only()
            && self.first.place == again.place
            && (old.label, old.owner, old.offset) == (new.label, new.owner, new.offset)
            && (old.read, old.is_old) == (new.read, new.is_old)
    }

    /// One of its threads does it again.
    pub(super) fn again(&mut self, deed: &Deed) {
        self.times += u32::from(self.threads[0] == deed.position.linear_thread());
    }

    /// Whether a deed of another thread of the block is of the same kind, at the same line, and on
    /// the same or the next words.
    pub(super) fn is_alike(&self, deed: &Deed) -> bool {
        if self.has(deed) || self.first.place != deed.place || self.times > 1 {
            return false;
        }
        match (&self.last.what, &deed.what) {
            (Done::Access(last), Done::Access(new)) => {
                let same_memory = (last.access, last.label, last.owner, last.bytes, last.is_old)
                    == (new.access, new.label, new.owner, new.bytes, new.is_old);
                let is_next = last.offset + last.bytes == new.offset;
                let one_word = self.first.touch().is_some_and(|it| it.offset == last.offset);
                let is_same = one_word
                    && last.offset == new.offset
                    && match last.access.kind {
                        AccessKind::Atomic => last.wrote == new.read,
                        AccessKind::Read => last.read == new.read,
                        AccessKind::Write => last.wrote == new.wrote,
                    };
                let is_row = is_next && last.access.kind != AccessKind::Atomic;
                same_memory && (is_same || is_row && (self.threads.len() == 1 || !one_word))
            }
            (Done::Fence(scope, order), Done::Fence(new_scope, new_order)) => {
                (scope, order) == (new_scope, new_order)
            }
            (Done::BlockBarrier, Done::BlockBarrier)
            | (Done::ClusterArrival, Done::ClusterArrival)
            | (Done::ClusterWait, Done::ClusterWait) => true,
            _ => false,
        }
    }

    /// Adds a similar deed of another thread.
    pub(super) fn join(&mut self, deed: &'d Deed) {
        if let (Some(last), Some(new)) = (self.last.touch(), deed.touch()) {
            self.same &= match last.access.kind {
                AccessKind::Read => last.read == new.read,
                AccessKind::Write => last.wrote == new.wrote,
                AccessKind::Atomic => true,
            };
        }
        self.threads.push(deed.position.linear_thread());
        self.last = deed;
    }

    pub(super) fn step(&self, names_launch: bool) -> StoryStep {
        let many = self.threads.len() > 1;
        let s = if many { "" } else { "s" };
        let what = match &self.first.what {
            Done::Access(touch) => self.accessed(touch, s),
            Done::Fence(scope, order) => format!("make{s} a fence ({})", ordering(*order, *scope)),
            Done::BlockBarrier if many => "come to the barrier of their block".to_owned(),
            Done::BlockBarrier => "comes to the barrier of its block".to_owned(),
            Done::ClusterArrival if many => "arrive at the barrier of their cluster".to_owned(),
            Done::ClusterArrival => "arrives at the barrier of its cluster".to_owned(),
            Done::ClusterWait if many => "wait at the barrier of their cluster".to_owned(),
            Done::ClusterWait => "waits at the barrier of its cluster".to_owned(),
            Done::Spin => "spins".to_owned(),
        };
        let launch = self.first.launch;
        let launch = if names_launch { format!("launch {launch}, ") } else { String::new() };
        let kernel = self.first.kernel.as_ref();
        let kernel = kernel.map_or_else(String::new, |kernel| format!("kernel {kernel}, "));
        let who = format!("{launch}{kernel}{}", self.who());
        StoryStep { who, what, place: Some(self.first.place) }
    }

    fn who(&self) -> String {
        let at = &self.first.position;
        let block = block(at);
        let mut threads = self.threads.clone();
        threads.sort_unstable();
        let (first, last) = (threads[0], threads[threads.len() - 1]);
        let is_row = last - first + 1 == threads.len() as u32;
        let (warp, lane) = (first / WARP_LANES, first % WARP_LANES);
        match threads.len() {
            _ if at.block_dim.count() == 1 => block,
            1 => format!("{block}, thread {}", index(at.thread_idx, at.block_dim)),
            all if all as u64 == at.block_dim.count() => format!("{block}, all {all} threads"),
            _ if is_row && last / WARP_LANES == warp => {
                format!("{block}, lanes {lane} to {} of warp {warp}", last % WARP_LANES)
            }
            count if last / WARP_LANES == warp => format!("{block}, {count} lanes of warp {warp}"),
            _ if is_row => format!("{block}, threads {first} to {last}"),
            count => format!("{block}, {count} threads from {first} to {last}"),
        }
    }

    fn accessed(&self, touch: &Touch, s: &str) -> String {
        let Self { times, polls, .. } = *self;
        let last = self.last.touch().unwrap_or(touch);
        let place = located(touch, last);
        let value = |bits: Option<u128>| match bits {
            Some(bits) if self.same => number(bits, touch),
            Some(_) => "different values".to_owned(),
            None => "something".to_owned(),
        };
        let (read, wrote) = (value(touch.read), value(last.wrote));
        let from = self.from_launch.map(|launch| format!(", which launch {launch} wrote"));
        let from = from.unwrap_or_default();
        let order = match touch.access.order {
            Order::Weak => String::new(),
            order => format!(" ({})", ordering(order, touch.access.scope)),
        };
        let seen = if touch.is_old { format!("the old {read}") } else { format!("{read}{from}") };
        match touch.access.kind {
            AccessKind::Read if polls && times > 1 => {
                format!("poll{s} {place}{order} {times} times and see{s} {seen}")
            }
            AccessKind::Read if polls => format!("poll{s} {place}{order} and see{s} {seen}"),
            AccessKind::Read if touch.is_old => format!("see{s} {seen} in {place}{order}"),
            AccessKind::Read if times > 1 => {
                format!("read{s} {read} from {place}{order} {times} times{from}")
            }
            AccessKind::Read => format!("read{s} {read} from {place}{order}{from}"),
            AccessKind::Write if touch.is_old => {
                format!("write{s} {wrote} to {place}{order}, before its last value")
            }
            AccessKind::Write => format!("write{s} {wrote} to {place}{order}"),
            AccessKind::Atomic if touch.read == last.wrote => {
                format!("leave{s} {place} at {read}{order}{from}")
            }
            AccessKind::Atomic => format!("change{s} {place} from {read} to {wrote}{order}{from}"),
        }
    }
}

fn index(at: Dim3, of: Dim3) -> String {
    match (of.y, of.z) {
        (1, 1) => at.x.to_string(),
        _ => at.to_string(),
    }
}

fn block(at: &Position) -> String {
    let gpu = at.named_gpu().map_or_else(String::new, |gpu| format!("GPU {gpu}, "));
    format!("{gpu}block {}", index(at.block_idx, at.grid_dim))
}

/// The words from those of `touch` to those of `last`.
fn located(touch: &Touch, last: &Touch) -> String {
    let Touch { label, name, offset, bytes, .. } = touch;
    let memory = match (name, label) {
        (Some(name), _) | (None, Label::StaticShared(name)) => (*name).to_owned(),
        (None, label) => label.to_string(),
    };
    match bytes {
        4 if offset % 4 == 0 && last.offset > *offset => {
            format!("words {} to {} of {memory}", offset / 4, last.offset / 4)
        }
        4 if offset % 4 == 0 => format!("word {} of {memory}", offset / 4),
        _ => format!("bytes {offset} to {} of {memory}", last.offset + bytes - 1),
    }
}

/// Describes the word of a barrier in shared memory.
fn in_phase(Phase { parity, arrivals, pending, bytes }: Phase) -> String {
    let bytes = if bytes == 0 { String::new() } else { format!(" and {bytes} bytes") };
    format!("a phase of parity {parity} ({pending} of {arrivals} arrivals{bytes} pending)")
}

/// A value: as a floating-point number or the phase of a barrier if it is one.
fn number(bits: u128, touch: &Touch) -> String {
    if let Some(phase) =
        Some(bits as u64).filter(|_| touch.is_barrier).and_then(|word| Phase::of_word(word).ok())
    {
        return in_phase(phase);
    }
    match (touch.bytes, touch.is_float) {
        (4, true) => format!("{:?}", f32::from_bits(bits as u32)),
        (8, true) => format!("{:?}", f64::from_bits(bits as u64)),
        _ => match u64::try_from(bits) {
            Ok(number) => number.to_string(),
            Err(_) => format!("{bits:#x}"),
        },
    }
}

fn ordering(order: Order, scope: Scope) -> String {
    match order {
        Order::Volatile => order.to_string(),
        _ => format!("{order}, {scope}"),
    }
}
