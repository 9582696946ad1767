//! Calls of a library: faults in them name the line that calls the library, and say where inside.
//!
//! `#[track_caller]` does the same for plain functions, but not for closures: what a library does in
//! one would be told by the library's own lines.

use core::marker::PhantomData;
use core::panic::Location;

use crate::dim::Place;
use crate::here::{Here, try_with};

/// The call of a library that a thread is in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LibraryCall {
    /// The line that calls it; none outside of libraries.
    pub(crate) caller: Option<Place>,
    /// The number of the protocol that the call is a part of; 0 for none.
    pub(crate) protocol: u8,
}

/// A call of a library, which ends when this is dropped: see [`library_call`].
#[derive(Debug)]
#[must_use = "the call ends when this is dropped"]
pub struct Calling {
    /// What the thread was in before, if this made a difference.
    before: Option<LibraryCall>,
    /// It belongs to the thread that it was made in.
    here: PhantomData<*const ()>,
}

/// Begins a call of a library: until the result is dropped, faults of this thread name the place that
/// called the function which calls this. That function is `#[track_caller]` therefore. Of calls within
/// calls the outermost is named.
///
/// Outside an emulated thread it does nothing.
#[track_caller]
pub fn library_call() -> Calling {
    let caller = Location::caller();
    Calling::begin(|_, before| LibraryCall {
        caller: before.caller.or(Some(caller)),
        ..before
    })
}

/// [`library_call`], of a part of a protocol that is called `name` in messages, as in "the exchange".
///
/// It says that the accesses made meanwhile are ordered as the protocol needs it, so that no race is
/// blamed on them. Of protocols within protocols the outermost counts.
#[track_caller]
pub fn protocol_call(name: &'static str) -> Calling {
    let caller = Location::caller();
    Calling::begin(|here, before| LibraryCall {
        caller: before.caller.or(Some(caller)),
        protocol: match (before.protocol, &here.world.races) {
            (0, Some(races)) => races.protocol(name),
            (number, _) => number,
        },
    })
}

/// Says that the block of the calling thread takes part in a barrier between blocks, which is called
/// `name` in messages, as in "the grid barrier", and whose words begin at the address `words`. A race
/// between two members is then told as a crossing that is missing.
///
/// Outside an emulated thread, and where races are not looked for, it does nothing.
pub fn join_barrier(name: &'static str, words: u64) {
    try_with(|here| {
        if let Some(races) = &here.world.races {
            races.join(here.world.thread_number(&here.position), name, words);
        }
    });
}

impl Calling {
    fn begin(next: impl FnOnce(&Here<'_>, LibraryCall) -> LibraryCall) -> Self {
        let before = try_with(|here| here.library.replace(next(here, here.library.get())));
        Self {
            before,
            here: PhantomData,
        }
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            try_with(|here| here.library.set(before));
        }
    }
}
