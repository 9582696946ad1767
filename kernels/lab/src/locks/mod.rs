//! Locks that threads of a whole grid contend for: each guards a counter, and a linked list.
//!
//! * [`TextbookLock`]: the textbook lock, as a baseline for the locks of the library.
//! * [`lockstep`]: two lanes of one warp, one of which waits for the other forever.

pub mod lockstep;
mod textbook;

pub use textbook::TextbookLock;

use cuda_std::prelude::*;
use cuda_std::time::global_timer;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_index, warp_vote_any};
use gridsync_kernels::grid::lock::{Lock, QueueLock, SpinLock, TicketLock};

/// The words of a node of the list: the index of the next node plus 1, or 0 at the end; and the
/// thread that pushed it.
pub const NODE: usize = 2;

/// Iterations of a waiting thread between two checks of the time.
const TURNS_PER_LOOK: u32 = 64;

macro_rules! kernels {
    ($($what:literal $count:ident $push:ident: |$words:ident| $lock:expr, $counts:ident, $pushes:ident;)*) => {$(
        #[doc = concat!("Counts under ", $what, ".")]
        ///
        /// Each thread acquires the lock, adds one to `counter` by a plain load and a plain store,
        /// and releases the lock, until the counter is at `sections`. `taken` gets the number of
        /// additions of each thread. A thread that has waited for `patience_ns` nanoseconds ends,
        /// and counts itself in `gave_up`.
        ///
        /// # Safety
        ///
        /// `lock` has the words of the lock, with a node for each thread of the grid if it has
        /// nodes; `counter` and `gave_up` have one element each, both 0; `taken` has one element
        /// per thread. Grid and blocks extend along x.
        #[kernel]
        pub unsafe fn $count(
            lock: Global<u32>,
            counter: Global<u32>,
            taken: Global<u32>,
            gave_up: Global<u32>,
            sections: u32,
            patience_ns: u64,
        ) {
            let $words = lock;
            $counts($lock, counter, taken, gave_up, sections, patience_ns);
        }

        #[doc = concat!("Pushes nodes to a linked list under ", $what, ".")]
        ///
        /// Each thread pushes `each` separate nodes onto the head of the list. A thread that has
        /// waited for `patience_ns` nanoseconds ends, and counts itself in `gave_up`.
        ///
        /// # Safety
        ///
        /// Same as for the counting kernel of this lock; `head` has one element, 0; `nodes` has
        /// `each` times [`NODE`] elements per thread.
        #[kernel]
        pub unsafe fn $push(
            lock: Global<u32>,
            head: Global<u32>,
            nodes: Global<u32>,
            gave_up: Global<u32>,
            each: u32,
            patience_ns: u64,
        ) {
            let $words = lock;
            $pushes($lock, head, nodes, gave_up, each, patience_ns);
        }
    )*};
}
kernels! {
    "the lock of the textbooks" locks_textbook_count locks_textbook_push:
        |words| TextbookLock::attach(words), count, push;
    "a spin lock" locks_spin_count locks_spin_push:
        |words| SpinLock::attach(words), count, push;
    "a ticket lock" locks_ticket_count locks_ticket_push:
        |words| TicketLock::attach(words), count, push;
    "a queue lock" locks_queue_count locks_queue_push:
        // SAFETY: each thread of the grid has its own node.
        |words| unsafe { QueueLock::attach(words, thread::index()) }, count, push;
    "a spin lock that one lane takes for its warp" locks_warp_count locks_warp_push:
        |words| SpinLock::attach(words), count_by_warps, push_by_warps;
}

/// A closure that makes a waiting thread give up after `patience_ns` nanoseconds.
#[device]
fn impatient(patience_ns: u64) -> impl FnMut() -> bool {
    let (mut turns, mut start) = (0u32, 0);
    move || {
        turns += 1;
        if !turns.is_multiple_of(TURNS_PER_LOOK) {
            return false;
        }
        let now = global_timer();
        if turns == TURNS_PER_LOOK {
            start = now;
        }
        now.wrapping_sub(start) >= patience_ns
    }
}

#[device]
fn give_up(gave_up: Global<u32>) {
    gave_up.add(0, 1, Ordering::Relaxed, Scope::Device);
}

/// The critical section: adds one to the counter unless it is at `sections`. Returns whether it
/// did.
#[device]
fn add_one(counter: Global<u32>, sections: u32) -> bool {
    let now = counter.read(0);
    if now < sections {
        counter.write(0, now + 1);
    }
    now < sections
}

/// The critical section: pushes node `node` onto the head of the list.
#[device]
fn put(head: Global<u32>, nodes: Global<u32>, node: usize) {
    nodes.write(node * NODE, head.read(0));
    nodes.write(node * NODE + 1, thread::index() as u32);
    head.write(0, node as u32 + 1);
}

#[device]
fn count(
    mut lock: impl Lock,
    counter: Global<u32>,
    taken: Global<u32>,
    gave_up: Global<u32>,
    sections: u32,
    patience_ns: u64,
) {
    let mut mine = 0;
    loop {
        let Some(guard) = lock.lock_unless(impatient(patience_ns)) else {
            give_up(gave_up);
            break;
        };
        let added = add_one(counter, sections);
        drop(guard);
        if !added {
            break;
        }
        mine += 1;
    }
    taken.write(thread::index(), mine);
}

#[device]
fn push(
    mut lock: impl Lock,
    head: Global<u32>,
    nodes: Global<u32>,
    gave_up: Global<u32>,
    each: u32,
    patience_ns: u64,
) {
    let first = thread::index() * each as usize;
    for node in first..first + each as usize {
        let Some(guard) = lock.lock_unless(impatient(patience_ns)) else {
            give_up(gave_up);
            break;
        };
        put(head, nodes, node);
        drop(guard);
    }
}

/// The lanes of the caller's warp that exist.
#[device]
fn lanes_of_warp() -> u32 {
    let left = thread::in_32_bits::threads_per_block() - warp_index() * WARP_SIZE;
    if left < WARP_SIZE { (1 << left) - 1 } else { FULL_MASK }
}

#[device]
fn count_by_warps(
    mut lock: impl Lock,
    counter: Global<u32>,
    taken: Global<u32>,
    gave_up: Global<u32>,
    sections: u32,
    patience_ns: u64,
) {
    let lanes = lanes_of_warp();
    let mut mine = 0;
    loop {
        let Some(guard) = lock.warp_lock_unless(lanes, impatient(patience_ns)) else {
            give_up(gave_up);
            break;
        };
        let mut added = false;
        guard.in_turn(|| added = add_one(counter, sections));
        drop(guard);
        mine += u32::from(added);
        // The lanes stay together, because each of them is in the mask.
        if !warp_vote_any(lanes, added) {
            break;
        }
    }
    taken.write(thread::index(), mine);
}

#[device]
fn push_by_warps(
    mut lock: impl Lock,
    head: Global<u32>,
    nodes: Global<u32>,
    gave_up: Global<u32>,
    each: u32,
    patience_ns: u64,
) {
    let lanes = lanes_of_warp();
    let first = thread::index() * each as usize;
    for node in first..first + each as usize {
        let Some(guard) = lock.warp_lock_unless(lanes, impatient(patience_ns)) else {
            give_up(gave_up);
            break;
        };
        guard.in_turn(|| put(head, nodes, node));
        drop(guard);
    }
}
