//! One emulated thread as a coroutine. It runs to its next scheduling point, makes a request there,
//! and continues with the scheduler's reply.

use core::ptr::NonNull;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use corosensei::{Coroutine, CoroutineResult};

use crate::access::Order;
use crate::dim::Spot;
use crate::fault::{Fault, Phase};
use crate::here::{Here, enter};
use crate::named::Meeting;
use crate::panics::{self, Note};
use crate::stack::{Canary, Slot};
use crate::thread::{BarrierVotes, WarpValues};

/// Request of a thread at a scheduling point.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request {
    /// Continue at the warp's next step.
    Step,
    /// Let others run first: the thread waits for memory to change.
    Spin,
    /// Let others run first, for this many cycles.
    Sleep(u32),
    /// Wait at the block barrier, with a predicate. It orders accesses unless it is weakened. If it is
    /// aligned, all lanes of a warp make the same call.
    Barrier { vote: bool, orders: bool, aligned: bool },
    /// Come to a barrier of some warps.
    Meet(Meeting),
    /// Arrive at the cluster barrier without waiting. If it is aligned, all lanes of a warp make the same
    /// call.
    ClusterArrive { order: Order, aligned: bool },
    /// Wait for the cluster barrier, after an arrival.
    ClusterWait { aligned: bool },
    /// Let the grids that overlap this one start, as far as the block is concerned.
    LaunchDependents,
    /// Wait for the end of the grids that this one overlaps.
    DependencyWait,
    /// Join a warp collective.
    Collective(Call),
    /// Get the lanes that are at the same call.
    ActiveMask,
    /// Be abandoned: its frames are below the floor of its stack.
    Overflow,
}

/// A lane's call of a warp collective.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) kind: &'static str,
    pub(crate) mask: u32,
    pub(crate) value: u128,
    /// Whether it orders the lanes' memory accesses.
    pub(crate) orders: bool,
}

/// A request and the call that makes it.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) request: Request,
    pub(crate) spot: Spot,
}

/// Reply of the scheduler.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Go,
    Votes(BarrierVotes),
    Values(Rc<WarpValues>),
    Mask(u32),
}

/// How a turn of a fiber ended.
pub(crate) enum Turn {
    Stopped(Stop),
    Exited(Result<(), Fault>),
}

type Routine = Coroutine<Reply, Stop, Result<(), Fault>, Slot>;

/// An emulated thread that has not exited.
pub(crate) struct Fiber<'a> {
    /// `None` only after [`Fiber::into_stack`].
    routine: Option<Routine>,
    here: Rc<Here<'a>>,
    /// The stack's canary, readable while the routine owns the stack.
    canary: Canary,
}

impl<'a> Fiber<'a> {
    /// A thread that will run `body`.
    ///
    /// # Safety
    /// The pool of `stack`, and all that `body` and `here` borrow, must outlive the fiber. The
    /// fiber must be dropped, not forgotten.
    pub(crate) unsafe fn new(stack: Slot, here: Here<'a>, body: &'a dyn Fn()) -> Self {
        let here = Rc::new(here);
        let inside = Rc::clone(&here);
        let canary = stack.canary();
        let root = move |yielder: &corosensei::Yielder<Reply, Stop>, _: Reply| {
            inside.yielder.set(Some(NonNull::from(yielder)));
            let ended = catch_unwind(AssertUnwindSafe(|| {
                body();
                inside.end_stores();
                inside.end_elements();
            }));
            inside.settle();
            inside.end_wait();
            ended.or_else(|payload| {
                if inside.dropping.get() {
                    return Ok(());
                }
                Err(match payload.downcast::<Fault>() {
                    Ok(fault) => *fault,
                    Err(payload) => {
                        let site = inside.site(inside.spot.get());
                        let Note { message, at } = panics::explain(&*payload, inside.note.take());
                        Fault::Panicked { site, message, at }
                    }
                })
            })
        };
        // SAFETY: the caller keeps alive what the closure borrows until the fiber is dropped, and
        // the drop ends the routine.
        let routine = unsafe { Routine::with_stack_unchecked(stack, root) };
        Self { routine: Some(routine), here, canary }
    }

    /// Runs to the next scheduling point.
    pub(crate) fn resume(&mut self, reply: Reply) -> Turn {
        let routine = self.routine.as_mut().expect("an exited fiber should not be resumed");
        let _running = enter(&self.here);
        match routine.resume(reply) {
            CoroutineResult::Yield(stop) => Turn::Stopped(stop),
            CoroutineResult::Return(ended) => Turn::Exited(ended),
        }
    }

    /// The phase that the thread waits for, of a barrier in shared memory.
    pub(crate) fn phase(&self) -> Option<Phase> {
        self.here.phase.get()
    }

    /// Whether a frame of this thread overflowed its stack.
    pub(crate) fn overflowed(&self) -> bool {
        self.canary.overflowed()
    }

    /// The stack of a thread that has exited.
    pub(crate) fn into_stack(mut self) -> Slot {
        self.routine.take().expect("taken only here").into_stack()
    }

    /// Ends the thread where it is, without running its destructors. Used for stacks that may be
    /// damaged, or are too full to unwind on.
    pub(crate) fn abandon(&mut self) {
        if let Some(routine) = &mut self.routine {
            // SAFETY: the fiber never runs again, and nothing outside the stack then refers into
            // it: only the fiber itself reads `here.yielder`. What its frames own is leaked.
            unsafe { routine.force_reset() };
        }
    }
}

impl Drop for Fiber<'_> {
    fn drop(&mut self) {
        // Dropping a suspended routine unwinds it, and its destructors may make in-thread calls.
        if let Some(routine) = self.routine.take() {
            self.here.dropping.set(true);
            let _running = enter(&self.here);
            drop(routine);
        }
    }
}
