//! Declarations of a library's protocols, for the emulator's messages. They do nothing on the
//! device.
//!
//! A race report says what is missing between the two accesses. If the accesses are in code that
//! calls a library, no atomic inside the library is missing. So a library names its protocols: a
//! function that is part of one has `#[device(protocol = "the mail")]`
//! ([`device`](macro@crate::device)), and members of a barrier call [`join_barrier`].

use crate::memory::{Global, Scalar};
use cuda_std_macros::instruction;

/// Declares that the calling block takes part in a barrier between blocks, whose state is in
/// `words`. Messages call it `name`, for example "the grid barrier".
///
/// Called where a block attaches to the barrier, by one or all of its threads. A race between two
/// members is then reported as a missing crossing of the barrier. So the barrier must order
/// everything that its members do in memory.
#[inline(always)]
pub fn join_barrier<T: Scalar>(name: &'static str, words: Global<T>) {
    #[cfg(not(target_arch = "nvptx64"))]
    simt::join_barrier(name, words.address());
    #[cfg(target_arch = "nvptx64")]
    let _ = (name, words);
}

/// The line of a kernel that called a library function, stored for a destructor. A destructor has
/// no caller, so without this a fault in it would name a line of the library.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    #[cfg(not(target_arch = "nvptx64"))]
    place: &'static core::panic::Location<'static>,
}

impl Caller {
    /// The line of the kernel that called into the library.
    #[instruction]
    pub fn here() -> Self {
        Self {
            #[cfg(not(target_arch = "nvptx64"))]
            place: simt::caller(),
        }
    }

    /// Runs `work`. A fault in it names this line. Called by a destructor.
    #[inline(always)]
    pub fn within<R>(self, work: impl FnOnce() -> R) -> R {
        #[cfg(not(target_arch = "nvptx64"))]
        let _call = simt::library_call_from(self.place);
        work()
    }
}
