//! What a device library says of its protocols, for the messages of the emulator. On the device all
//! of it is nothing.
//!
//! A race is told with what is missing between the two accesses. Where they stand in the code of
//! whoever calls a library, that is not some atomic inside the library. A library therefore names its
//! protocols: functions that are a part of one say so by `#[device(protocol = "the mail")]`
//! ([`device`](macro@crate::device)), and the members of a barrier by [`join_barrier`].

use crate::memory::{Global, Scalar};

/// Says that the calling block takes part in a barrier between blocks, which is called `name` in
/// messages, as in "the grid barrier", and lives in `words`.
///
/// Called where a block attaches to the barrier, by one of its threads or by all. A race between two
/// members is then told as a crossing of the barrier that is missing. What the barrier orders must be
/// all that its members do in memory.
#[inline(always)]
pub fn join_barrier<T: Scalar>(name: &'static str, words: Global<T>) {
    #[cfg(not(target_arch = "nvptx64"))]
    simt::join_barrier(name, words.address());
    #[cfg(target_arch = "nvptx64")]
    let _ = (name, words);
}
