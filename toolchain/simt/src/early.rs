//! Waits for blocks that have not started, in a launch that is not cooperative.
//!
//! On hardware such a launch can hang, even if it ends here: a waiting block may occupy the slot
//! that the other one needs. A block that has started keeps running, so it is fine to wait for it.
//!
//! A wait begins when a thread spins, and is for the word of device memory that it has read last.
//! It ends when the thread reads another value by the same call and does not spin again before its
//! next access. It is reported if the value comes from a block of the same grid that had not started
//! when the wait began. Between two polls, a block that had started may have written a value that
//! the thread never saw but that may have been enough; then the wait is not reported. Blocks of a
//! cluster start together.

use core::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::access::AccessKind;
use crate::dim::{Dim3, Position, Spot};
use crate::here::Here;
use crate::last_access::bits;
use crate::place::Place;

/// The widest access. It is aligned, so it does not cross a multiple of this.
const WIDEST: usize = size_of::<u128>();

/// A block waited for one that had not started, in a launch that was not cooperative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyWait {
    /// The waiting block.
    pub block: Dim3,
    /// The location of the spin.
    pub place: Place,
    /// The block that ends the wait, and that had not started when the wait began.
    pub other: Dim3,
    /// The location of the write that ends the wait.
    pub written: Place,
}

/// An access of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) kind: AccessKind,
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) spot: Spot,
}

impl Look {
    /// Whether it reads the same bytes again by the same call.
    fn repeats(&self, wait: &Wait) -> bool {
        let Self { kind, address, bytes, spot } = *self;
        kind != AccessKind::Write
            && (address, bytes, spot.call) == (wait.address, wait.bytes, wait.call)
    }
}

/// The block and the thread in it.
type Thread = (u64, u32);

/// A thread that polls a word.
#[derive(Debug)]
struct Wait {
    thread: Thread,
    grid: u32,
    block: Dim3,
    address: usize,
    bytes: usize,
    /// Where it reads the word, and where it spins.
    call: Place,
    place: Place,
    /// Number of clusters that had started when it began.
    begun: u64,
    /// The last value read.
    seen: u128,
    /// The last write since then by a block that had not started.
    late: Option<(Dim3, Place)>,
    /// Whether the last write since then is by a block that had started, or may be.
    is_in_time: bool,
    /// Whether such a write was overwritten before the thread saw it.
    missed: bool,
    end: End,
}

/// Whether a wait has ended, unless its thread spins again.
#[derive(Clone, Copy, Debug)]
enum End {
    NotYet,
    InTime,
    Early(EarlyWait),
}

impl Wait {
    /// Its thread reads the word again. `is_old`: the value is not the last one.
    fn look(&mut self, value: u128, is_old: bool) {
        if value != self.seen {
            let Self { block, place, .. } = *self;
            let late = self.late.filter(|_| !self.is_in_time && !self.missed);
            self.end = late.map_or(End::InTime, |(other, written)| {
                End::Early(EarlyWait { block, place, other, written })
            });
        }
        if !is_old {
            (self.late, self.is_in_time) = (None, false);
        }
        self.seen = value;
    }
}

/// The waits of a launch.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// Clusters that have started.
    started: Cell<u64>,
    /// Number of waiting threads.
    count: Cell<usize>,
    /// By the aligned [`WIDEST`] bytes that contain their words.
    of: RefCell<HashMap<usize, Vec<Wait>>>,
    found: Cell<Option<EarlyWait>>,
}

impl Waits {
    /// A cluster starts. Returns how many had started before.
    pub(crate) fn start(&self) -> u64 {
        let before = self.started.get();
        self.started.set(before + 1);
        before
    }

    /// The first wait that began before the block that ended it had started.
    pub(crate) fn found(&self) -> Option<EarlyWait> {
        self.found.get()
    }

    fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    fn begin(&self, wait: Wait) {
        self.count.set(self.count.get() + 1);
        self.of.borrow_mut().entry(wait.address / WIDEST).or_default().push(wait);
    }

    /// Updates the wait of a thread in these bytes. It ends if `goes_on` returns `false`.
    fn update(&self, at: usize, thread: Thread, goes_on: impl FnOnce(&mut Wait) -> bool) -> bool {
        let mut of = self.of.borrow_mut();
        let waits = of.get_mut(&at).expect("a wait is noted until it is over");
        let number = waits.iter().position(|wait| wait.thread == thread);
        let number = number.expect("a wait is noted until it is over");
        if goes_on(&mut waits[number]) {
            return true;
        }
        let over = waits.swap_remove(number);
        if waits.is_empty() {
            of.remove(&at);
        }
        self.count.set(self.count.get() - 1);
        if let End::Early(early) = over.end
            && self.found.get().is_none()
        {
            self.found.set(Some(early));
        }
        false
    }

    /// A thread of the cluster that was the n-th to start has written another value.
    fn wrote(&self, thread: Thread, at: &Position, order: u64, look: &Look) {
        let mut of = self.of.borrow_mut();
        let Some(waits) = of.get_mut(&(look.address / WIDEST)) else { return };
        let overlaps = |wait: &Wait| {
            wait.address < look.address + look.bytes && look.address < wait.address + wait.bytes
        };
        for wait in waits.iter_mut().filter(|wait| wait.thread != thread && overlaps(wait)) {
            wait.missed |= wait.is_in_time;
            if order >= wait.begun && wait.grid == at.grid {
                wait.late = Some((at.block_idx, look.spot.place));
            } else {
                wait.is_in_time = true;
            }
        }
    }
}

impl Here<'_> {
    fn thread(&self) -> Thread {
        (self.position.block_number(), self.position.linear_thread())
    }

    /// The thread accesses memory.
    pub(crate) fn look(&self, waits: &Waits, look: Look) {
        self.looked.set(Some(look));
        if let Some(at) = self.waits_at.get() {
            self.look_again(waits, at, &look);
        }
    }

    /// The thread may read the word that it waits for, or move on to something else.
    #[cold]
    fn look_again(&self, waits: &Waits, at: usize, look: &Look) {
        let goes_on = waits.update(at, self.thread(), |wait| {
            if !matches!(wait.end, End::NotYet) {
                return false;
            }
            if look.repeats(wait) {
                wait.look(self.held(look).unwrap_or(wait.seen), self.last.is_old());
                return true;
            }
            // An iteration of a polling loop may read more words, but does not write any.
            look.kind == AccessKind::Read
        });
        self.waits_at.set(Some(at).filter(|_| goes_on));
    }

    /// The value in device memory at the address of this access.
    fn held(&self, look: &Look) -> Option<u128> {
        let found = self.world.memory.arena().find(look.address, look.bytes);
        found.map(|(region, offset)| bits(region, offset, look.bytes))
    }

    /// The thread spins, so it waits for the word that it has read last.
    pub(crate) fn begin_wait(&self, spot: Spot) {
        let Some(waits) = &self.world.waits else { return };
        if !self.grid().may_wait_early() {
            return;
        }
        // If it has synchronised with other lanes since then, the word may have been written in
        // between.
        let has_seen_last = |look: &Look| !self.last.is_old() && self.spot.get() == look.spot;
        let looked = self.looked.get().map(|look| (look, has_seen_last(&look)));
        self.settle();
        self.looked.set(None);
        let Some((look, has_seen_last)) = looked else { return };
        if let Some(at) = self.waits_at.take() {
            let goes_on = waits.update(at, self.thread(), |wait| {
                wait.end = End::NotYet;
                look.repeats(wait)
            });
            if goes_on {
                return self.waits_at.set(Some(at));
            }
        }
        if look.kind == AccessKind::Write || look.bytes > WIDEST {
            return;
        }
        let Some(seen) = self.held(&look) else { return };
        waits.begin(Wait {
            thread: self.thread(),
            grid: self.position.grid,
            block: self.position.block_idx,
            address: look.address,
            bytes: look.bytes,
            call: look.spot.call,
            place: spot.place,
            begun: waits.started.get(),
            seen,
            late: None,
            is_in_time: !has_seen_last,
            missed: false,
            end: End::NotYet,
        });
        self.waits_at.set(Some(look.address / WIDEST));
    }

    /// The thread exits.
    pub(crate) fn end_wait(&self) {
        if let (Some(waits), Some(at)) = (&self.world.waits, self.waits_at.take()) {
            waits.update(at, self.thread(), |_| false);
        }
    }

    /// The last access of the thread has changed memory.
    pub(crate) fn wake(&self, waits: &Waits) {
        if !waits.is_empty()
            && let (Some(look), Some(order)) = (self.looked.get(), self.peers.order())
        {
            waits.wrote(self.thread(), &self.position, order, &look);
        }
    }
}
