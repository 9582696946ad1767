//! The queue lock: threads queue up, and each polls a separate line.

use super::{LINE, Lock};
use cuda_std::prelude::*;

/// The index of the tail: the node at the end of the queue, or [`NOBODY`] if the lock is free.
const TAIL: usize = 0;

/// No node. In the words, nodes count from 1.
const NOBODY: u32 = 0;

/// A lock that threads acquire in the order in which they arrive: **fair**. It is the lock of
/// Mellor-Crummey and Scott ("Algorithms for scalable synchronization on shared-memory
/// multiprocessors", ACM TOCS 1991).
///
/// Each thread contributes a **node**, a separate line. It polls that line, and only the thread
/// before it in the queue writes there. So a release disturbs one waiting thread, not all of them.
#[derive(Debug)]
pub struct QueueLock {
    words: Global<u32>,
    /// The number of this thread's node, from 1.
    me: u32,
}

/// The index of the word that the thread of `node` polls: 1 while it has to wait.
#[inline(always)]
const fn waits(node: u32) -> usize {
    node as usize * LINE
}

/// The index of the word that holds the node behind `node` in the queue.
#[inline(always)]
const fn behind(node: u32) -> usize {
    node as usize * LINE + 1
}

impl QueueLock {
    /// The number of words of device memory for a lock with `nodes` nodes.
    #[must_use]
    pub const fn words(nodes: usize) -> usize {
        LINE * (1 + nodes)
    }

    /// Attaches to the lock in `words`, with node number `node`, from 0. Called by every thread
    /// that wants to acquire it.
    ///
    /// # Safety
    ///
    /// `words` has the [`words`](Self::words) of more than `node` nodes. As long as this handle is
    /// used, no other thread uses the node, except lanes of the same warp that always acquire the
    /// lock together ([`Lock::warp_lock`]). Two threads with one node would hold the lock at the
    /// same time.
    #[device]
    pub unsafe fn attach(words: Global<u32>, node: usize) -> Self {
        Self { words, me: node as u32 + 1 }
    }
}

impl Lock for QueueLock {
    /// The words, and the node.
    type Held = (Global<u32>, u32);

    #[device]
    fn acquire_unless(&mut self, mut give_up: impl FnMut() -> bool) -> Option<Self::Held> {
        let Self { words, me } = *self;
        words.store(behind(me), NOBODY, Ordering::Relaxed, Scope::Device);
        words.store(waits(me), 1, Ordering::Relaxed, Scope::Device);
        let before = words.exchange(TAIL, me, Ordering::AcqRel, Scope::Device);
        if before == NOBODY {
            return Some((words, me));
        }
        words.store(behind(before), me, Ordering::Release, Scope::Device);
        let mut first = false;
        spin::until(|| {
            first = words.load(waits(me), Ordering::Acquire, Scope::Device) == 0;
            first || give_up()
        });
        if first { Some((words, me)) } else { None }
    }

    #[device]
    unsafe fn release((words, me): Self::Held) {
        let mut next = words.load(behind(me), Ordering::Acquire, Scope::Device);
        if next == NOBODY {
            let last = words.compare_exchange(TAIL, me, NOBODY, Ordering::Release, Scope::Device);
            if last == me {
                return;
            }
            // Another thread is already at the tail, and about to link its node behind this one.
            spin::until(|| {
                next = words.load(behind(me), Ordering::Acquire, Scope::Device);
                next != NOBODY
            });
        }
        words.store(waits(next), 0, Ordering::Release, Scope::Device);
    }
}
