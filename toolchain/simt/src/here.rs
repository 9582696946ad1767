//! The context of an in-thread call: the calling thread, its block and its launch.

use core::cell::{Cell, RefCell};
use core::ptr::NonNull;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::panicking;

use corosensei::Yielder;

use crate::access::{Access, AccessKind, Order, Space};
use crate::bulk::{Copying, Element, Store};
use crate::count::{Act, What};
use crate::dim::{Position, Spot};
use crate::early::Look;
use crate::fault::{Fault, Phase, Site};
use crate::fiber::{Reply, Request, Stop};
use crate::grid::GridInfo;
use crate::last_access::{self, LastAccess};
use crate::library::LibraryCall;
use crate::looks::{Looks, QUIET};
use crate::memory::Proxy;
use crate::panics::Note;
use crate::peers::{Life, Peers};
use crate::place::Place;
use crate::race::{Act as RacingAct, Found, RacingAccess, Span};
use crate::shared::SharedMemory;
use crate::weaken::{Change, Orders};
use crate::world::{World, bump};

/// Why an access is refused.
enum Flaw {
    OutOfBounds,
    Misaligned,
    Uninitialised,
    /// Written by this launch, and read through the read-only path.
    Stored,
    /// In the shared memory of the block of this rank, which is not running.
    Absent(usize, Life),
    Races(Box<Found>),
}

/// One emulated thread.
pub(crate) struct Here<'a> {
    pub(crate) world: &'a World<'a>,
    pub(crate) shared: Rc<RefCell<SharedMemory>>,
    /// The shared memories of the blocks of its cluster, including its own.
    pub(crate) peers: Rc<Peers>,
    pub(crate) position: Position,
    /// Lowest stack address that the thread may use.
    pub(crate) floor: usize,
    /// The fiber's way back to the scheduler, once the fiber has started.
    pub(crate) yielder: Cell<Option<NonNull<Yielder<Reply, Stop>>>>,
    /// The last in-thread call.
    pub(crate) spot: Cell<Spot>,
    /// The library call that the thread is in, if any.
    pub(crate) library: Cell<LibraryCall>,
    /// The location in the program that the thread interprets, if it does.
    pub(crate) interpreted: Cell<Option<Spot>>,
    /// The last panic of this thread that the hook saw.
    pub(crate) note: Cell<Option<Note>>,
    /// The thread's result is no longer needed: it is only being unwound.
    pub(crate) dropping: Cell<bool>,
    /// Bulk stores that it has not waited for, oldest first.
    pub(crate) stores: RefCell<Vec<Store>>,
    /// Its other asynchronous copies that it has not waited for, oldest first.
    pub(crate) elements: RefCell<Vec<Element>>,
    /// The copy that is making accesses now.
    pub(crate) copying: Cell<Option<Copying>>,
    /// Its last access, until its next call.
    pub(crate) last: LastAccess,
    /// Its accesses since its last spin.
    pub(crate) looks: Looks,
    /// Its last access and where it waits, if the launch tracks waits.
    pub(crate) looked: Cell<Option<Look>>,
    pub(crate) waits_at: Cell<Option<usize>>,
    /// Whether its access is to a floating-point number. Only a recorder reads and resets it.
    pub(crate) is_float: Cell<bool>,
    /// The phase that it waits for, of a barrier in shared memory.
    pub(crate) phase: Cell<Option<Phase>>,
}

thread_local! {
    /// The emulated thread that is running on this OS thread.
    static CURRENT: Cell<Option<NonNull<Here<'static>>>> = const { Cell::new(None) };
}

/// Whether an emulated thread is running on this OS thread.
pub(crate) fn active() -> bool {
    CURRENT.get().is_some()
}

/// Makes `here` the running thread until the guard is dropped.
pub(crate) fn enter<'h>(here: &'h Here<'_>) -> Entered<'h> {
    CURRENT.set(Some(NonNull::from(here).cast()));
    Entered(core::marker::PhantomData)
}

/// The guard returned by [`enter`].
pub(crate) struct Entered<'h>(core::marker::PhantomData<&'h ()>);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

/// Calls `body` with the running thread and the caller's location. `name` is the in-thread
/// function, for the message.
///
/// # Panics
/// Outside a launch.
#[track_caller]
pub(crate) fn with<R>(name: &str, body: impl FnOnce(&Here<'_>, Spot) -> R) -> R {
    let call = Place::caller();
    let Some(current) = CURRENT.get() else {
        panic!(
            "simt::{name} called outside an emulated thread: call it in a kernel run by simt::launch"
        );
    };
    // SAFETY: `enter` set the pointer from a reference that its guard keeps alive, and only that
    // thread's fiber runs while it is set. `body` cannot keep the reference, because its lifetime
    // is limited to that call.
    let here = unsafe { current.as_ref() };
    if let Some(spot) = here.interpreted.get() {
        return body(here, spot);
    }
    // A call in the file that calls the library is in one of the caller's closures.
    let caller = here.library.get().caller.map(Place::from);
    let caller = caller.filter(|caller| caller.file() != call.file());
    body(here, Spot { place: caller.unwrap_or(call), call })
}

/// Calls `body` with the running thread, if there is one.
pub(crate) fn try_with<R>(body: impl FnOnce(&Here<'_>) -> R) -> Option<R> {
    let current = CURRENT.get()?;
    // SAFETY: `enter` set the pointer from a reference that its guard keeps alive, and `body`
    // cannot keep the reference, because its lifetime is limited to that call.
    Some(body(unsafe { current.as_ref() }))
}

impl<'a> Here<'a> {
    pub(crate) fn new(
        world: &'a World<'a>,
        (shared, peers): (Rc<RefCell<SharedMemory>>, Rc<Peers>),
        position: Position,
        floor: usize,
        spot: Spot,
    ) -> Self {
        Self {
            world,
            shared,
            peers,
            position,
            floor,
            yielder: Cell::new(None),
            spot: Cell::new(spot),
            library: Cell::default(),
            interpreted: Cell::new(None),
            note: Cell::new(None),
            dropping: Cell::new(false),
            stores: RefCell::default(),
            elements: RefCell::default(),
            copying: Cell::new(None),
            last: LastAccess::default(),
            looks: Looks::default(),
            looked: Cell::new(None),
            waits_at: Cell::new(None),
            is_float: Cell::new(false),
            phase: Cell::new(None),
        }
    }

    /// The thread's grid.
    pub(crate) fn grid(&self) -> &'a GridInfo {
        &self.world.grids[self.position.grid as usize]
    }

    /// Hands a request to the scheduler and returns its reply. Returns `None` at once if the thread
    /// is being unwound, because its destructors must not be scheduled.
    pub(crate) fn stop(&self, request: Request, spot: Spot) -> Option<Reply> {
        if panicking() {
            return None;
        }
        self.arrive(spot);
        let yielder = self.yielder.get().expect("a running fiber should have its yielder");
        // SAFETY: the yielder is in the root frame of the fiber that is running.
        Some(unsafe { yielder.as_ref() }.suspend(Stop { request, spot }))
    }

    /// The common first part of every in-thread call.
    fn arrive(&self, spot: Spot) {
        self.spot.set(spot);
        self.settle();
        let marker = 0u8;
        if (&raw const marker).addr() < self.floor {
            // The stack may be too full to unwind on.
            self.suspend(Request::Overflow, spot);
            unreachable!("a thread that overflowed its stack is abandoned");
        }
    }

    fn suspend(&self, request: Request, spot: Spot) -> Reply {
        let yielder = self.yielder.get().expect("a running fiber should have its yielder");
        // SAFETY: the yielder is in the root frame of the fiber that is running.
        unsafe { yielder.as_ref() }.suspend(Stop { request, spot })
    }

    /// A thread has reached a site. Returns how the launch weakens it, if it does.
    pub(crate) fn meet(&self, does: Orders, spot: Spot) -> Option<Change> {
        self.world.referee.as_ref()?.meet(spot.call, does)
    }

    /// A scheduling point, followed by the checks: see [`crate::access`].
    pub(crate) fn access(&self, address: usize, bytes: usize, access: Access, spot: Spot) -> bool {
        if panicking() {
            return self.check(address, bytes, access, spot);
        }
        let access = match &self.world.referee {
            Some(referee) => referee.access(access, spot.call),
            None => access,
        };
        let accesses = &self.world.counters.accesses;
        bump(accesses);
        let splits = match access.order {
            Order::Weak => self.world.splits_weak,
            _ => self.world.splits_strong,
        };
        if splits {
            self.stop(Request::Step, spot);
        } else {
            self.arrive(spot);
        }
        if accesses.get() >= self.world.alarm.get() {
            self.alarm(address, spot);
        }
        self.count(address, bytes, access, spot);
        let is_good = self.check(address, bytes, access, spot);
        if let Some(waits) = &self.world.waits {
            self.look(waits, Look { kind: access.kind, address, bytes, spot });
        }
        is_good
    }

    /// Checks an access, without a scheduling point. Returns whether the caller must perform it. If
    /// not, the thread is being unwound.
    pub(crate) fn check(&self, address: usize, bytes: usize, access: Access, spot: Spot) -> bool {
        match self.verify(address, bytes, access, spot) {
            Ok(()) => true,
            Err(_) if panicking() => false,
            Err(flaw) => self.refuse(flaw, address, bytes, access, spot),
        }
    }

    /// Periodically checks whether the launch makes progress: see [`crate::looks`].
    #[cold]
    fn alarm(&self, address: usize, spot: Spot) {
        let world = self.world;
        let accesses = world.counters.accesses.get();
        if !world.splits_weak && accesses >= world.step_limit {
            self.fail(Fault::StepLimit {
                kernel: Arc::clone(&self.grid().kernel),
                limit: world.step_limit,
                site: Some(self.site(spot)),
            });
        }
        let changes = world.changes.get();
        let watched = world.changes_at_alarm.replace(changes) == changes;
        let next = accesses + if watched { 1 } else { QUIET };
        world.alarm.set(if world.splits_weak { next } else { next.min(world.step_limit) });
        if watched && let Some(looks) = self.looks.look(address, spot.call, changes) {
            let site = self.site(spot);
            self.fail(Fault::NoProgress { site, looks });
        }
    }

    /// Counts an access to shared or device memory, if this launch counts.
    fn count(&self, address: usize, bytes: usize, access: Access, spot: Spot) {
        let Some(counter) = &self.world.counter else {
            return;
        };
        if access.space != Space::Generic {
            let Access { space, kind, .. } = access;
            counter.act(self.act(What::Access { space, kind, address, bytes }, spot));
        }
    }

    /// A branch that this thread takes or not: a scheduling point, if this launch counts.
    pub(crate) fn branch(&self, taken: bool, spot: Spot) {
        if let Some(counter) = &self.world.counter
            && self.stop(Request::Step, spot).is_some()
        {
            counter.act(self.act(What::Branch(taken), spot));
        }
    }

    fn act(&self, what: What, spot: Spot) -> Act {
        let at = &self.position;
        Act {
            block: at.block_number(),
            thread: at.linear_thread(),
            lane: at.lane(),
            place: (spot.call, self.library.get().caller.map(Place::from)),
            what,
        }
    }

    fn verify(&self, address: usize, bytes: usize, access: Access, spot: Spot) -> Result<(), Flaw> {
        let global = self.world.memory.arena();
        let shared;
        let found = match access.space {
            Space::Global | Space::ReadOnly => global.find(address, bytes),
            Space::Shared => {
                shared = self.shared.borrow();
                shared.arena().find(address, bytes)
            }
            Space::Cluster => {
                let rank = self.peers.holder(address, bytes).ok_or(Flaw::OutOfBounds)?;
                let life = self.peers.life(rank);
                if life != Life::Running {
                    return Err(Flaw::Absent(rank, life));
                }
                shared = self.peers.made(rank).borrow();
                shared.arena().find(address, bytes)
            }
            Space::Generic => {
                shared = self.shared.borrow();
                global.find(address, bytes).or_else(|| shared.arena().find(address, bytes))
            }
        };
        let (region, offset) = found.ok_or(Flaw::OutOfBounds)?;
        // The largest power of two that divides the width: 12 bytes are aligned as one word.
        let width = bytes & bytes.wrapping_neg();
        if address & width.saturating_sub(1) != 0 {
            return Err(Flaw::Misaligned);
        }
        if access.kind != AccessKind::Write
            && region.first_unwritten(offset, bytes).is_some()
            && !self.world.zeroed
        {
            self.guide(access, (region.label(), offset, bytes), false);
            return Err(Flaw::Uninitialised);
        }
        if let Some(races) = &self.world.races {
            let span = Span { region: region.number(), offset, bytes };
            let thread = self.number();
            let act =
                RacingAct { access, place: spot.place, protocol: self.library.get().protocol };
            // A bulk copy makes several accesses without a call in between.
            self.settle();
            let is_held = races.is_weak() && region.first_unwritten(offset, bytes).is_none();
            let held = is_held.then(|| last_access::bits(region, offset, bytes));
            let old = races.access(thread, span, act, held);
            if self.world.watched {
                self.guide(access, (region.label(), offset, bytes), matches!(old, Ok(Some(_))));
                if old.is_err() {
                    self.tell_access(access, region, (offset, bytes), spot);
                }
            }
            if let Some(old) = old.map_err(Flaw::Races)? {
                self.last.show(self.world, region, (offset, bytes), old);
            }
        } else if self.world.watched {
            self.guide(access, (region.label(), offset, bytes), false);
        }
        if access.space == Space::ReadOnly && region.is_stored(offset, bytes) {
            return Err(Flaw::Stored);
        }
        if self.world.watched {
            self.tell_access(access, region, (offset, bytes), spot);
        }
        if access.kind != AccessKind::Read {
            region.mark(offset, bytes);
            if self.world.races.is_none() {
                region.store(offset, bytes, self.proxy());
            }
            self.last.watch(self.world, region, (offset, bytes));
        }
        Ok(())
    }

    /// The race detector's number for whatever is making an access now: the thread or a bulk copy.
    fn number(&self) -> u32 {
        let copy = self.copying.get().and_then(|copying| copying.number);
        copy.unwrap_or_else(|| self.world.thread_number(&self.position))
    }

    /// The proxy of the current access.
    fn proxy(&self) -> Proxy {
        let is_bulk = self.copying.get().is_some_and(|copying| copying.is_bulk);
        if is_bulk { Proxy::Async } else { Proxy::Generic }
    }

    #[cold]
    fn refuse(&self, flaw: Flaw, address: usize, bytes: usize, access: Access, spot: Spot) -> ! {
        let site = self.site(spot);
        let in_shared = self.shared.borrow().arena().describe(address);
        let in_global = || self.world.memory.target(address);
        let target = Box::new(match access.space {
            Space::Global | Space::ReadOnly => in_global(),
            Space::Cluster => self.peers.describe(address).unwrap_or_else(in_global),
            Space::Shared | Space::Generic => in_shared.unwrap_or_else(in_global),
        });
        self.fail(match flaw {
            Flaw::OutOfBounds => Fault::OutOfBounds { site, access, bytes, target },
            Flaw::Misaligned => Fault::Misaligned { site, access, bytes, target },
            Flaw::Uninitialised => Fault::Uninitialised { site, access, bytes, target },
            Flaw::Stored => {
                let message = format!(
                    "a {bytes}-byte {access} at {target} reads through the read-only path what this \
                     launch wrote: read it with another `CacheHint`"
                );
                Fault::Trap { site, message }
            }
            Flaw::Absent(rank, life) => {
                let ended = life == Life::Ended;
                Fault::ClusterBlockAbsent { site, access, rank, ended }
            }
            Flaw::Races(found) => {
                let later = RacingAccess { site, access, bytes };
                Fault::Race(Box::new(self.world.race(*target, later, *found)))
            }
        })
    }

    /// Ends the last access of this thread.
    pub(crate) fn settle(&self) {
        if self.last.settle(self.world)
            && let Some(waits) = &self.world.waits
        {
            self.wake(waits);
        }
    }

    /// Unwinds the thread with a fault; the panic hook does not run.
    pub(crate) fn fail(&self, fault: Fault) -> ! {
        resume_unwind(Box::new(fault))
    }

    pub(crate) fn site(&self, spot: Spot) -> Site {
        Site {
            kernel: Arc::clone(&self.grid().kernel),
            gpu: self.position.named_gpu(),
            block: self.position.block_idx,
            thread: self.position.thread_idx,
            place: spot.place,
            inside: spot.inside(),
        }
    }
}
