//! Library calls: a fault in a library names the line that calls the library, and the location
//! inside it.
//!
//! `#[track_caller]` does the same for plain functions, but not for closures: an access in a
//! library's closure would be reported at the library's own line.

use core::marker::PhantomData;
use core::panic::Location;

use crate::dim::Spot;
use crate::here::{Here, try_with};
use crate::place::Place;

/// The library call that a thread is in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LibraryCall {
    /// The line that calls it; `None` outside of libraries.
    pub(crate) caller: Option<&'static Location<'static>>,
    /// The number of the protocol that the call is part of; 0 for none.
    pub(crate) protocol: u8,
}

/// A library call, which ends when this is dropped: see [`library_call`].
#[derive(Debug)]
#[must_use = "the call ends when this is dropped"]
pub struct Calling {
    /// The previous library call, if this call replaced it.
    before: Option<LibraryCall>,
    /// It belongs to the thread that created it.
    here: PhantomData<*const ()>,
}

/// Begins a library call. Until the result is dropped, faults of this thread name the location that
/// called the function calling this one. That function therefore needs `#[track_caller]`. For
/// nested calls, the outermost is named.
///
/// Does nothing outside an emulated thread.
#[track_caller]
pub fn library_call() -> Calling {
    library_call_from(Location::caller())
}

/// Like [`library_call`], for a call that began at `caller`: a destructor has no caller, so it
/// names the line that created the value.
pub fn library_call_from(caller: &'static Location<'static>) -> Calling {
    Calling::begin(|_, before| LibraryCall { caller: before.caller.or(Some(caller)), ..before })
}

/// The line that called the current library; outside of libraries, the line of the caller.
#[track_caller]
pub fn caller() -> &'static Location<'static> {
    let own = Location::caller();
    try_with(|here| here.library.get().caller).flatten().unwrap_or(own)
}

/// Like [`library_call`], for a part of a protocol. Messages use `name`, for example "the
/// exchange".
///
/// Declares that the accesses within the call are ordered as the protocol needs, so no race is
/// blamed on them. For nested protocols, the outermost counts.
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

/// From now on, all in-thread calls of this thread are at `place`, a location in a program that the
/// kernel interprets: for faults, races, sites, and the comparison of calls by lanes of a warp. The
/// lines of the interpreter are not named. `inside` is the location in a library of that program, or
/// the same.
///
/// Does nothing outside an emulated thread.
pub fn interpret_at(place: Place, inside: Place) {
    try_with(|here| here.interpreted.set(Some(Spot { place, call: inside })));
}

/// Declares that the block of the calling thread takes part in a barrier between blocks. Messages
/// use `name`, for example "the grid barrier". Its words begin at the address `words`. A race
/// between two members is then reported as a missing crossing.
///
/// Does nothing outside an emulated thread or without race detection.
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
        Self { before, here: PhantomData }
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            try_with(|here| here.library.set(before));
        }
    }
}
