//! Parents whose children append their numbers to a log, one thread each.

use super::children::note;
use super::tell;
use cuda_std::device_runtime::{Block, Error, FireAndForget, Geometry, Queue, TailLaunch, launch};
use cuda_std::prelude::*;

/// One thread.
#[device]
fn one() -> Geometry {
    Geometry::new(1, 1)
}

/// Launches a [`note`] of `number`.
#[device]
fn noted(log: Global<u32>, number: u32, cycles: u32, queue: &impl Queue) -> Result<(), Error> {
    // SAFETY: the callers pass a log with enough room.
    unsafe { launch::<note>(one(), queue, (log, number, cycles)) }
}

/// 1 and 2 in two streams; 1 spins first.
#[device]
fn in_any_order(log: Global<u32>, cycles: u32) -> Result<(), Error> {
    let block = Block::this();
    let (left, right) = (block.stream()?, block.stream()?);
    noted(log, 1, cycles, &left)?;
    noted(log, 2, 0, &right)
}

/// Like [`in_any_order`], but an event makes 2 wait for 1.
#[device]
fn by_an_event(log: Global<u32>, cycles: u32) -> Result<(), Error> {
    let block = Block::this();
    let (left, right, event) = (block.stream()?, block.stream()?, block.event()?);
    noted(log, 1, cycles, &left)?;
    event.record(&left)?;
    // Launches into the left stream after the event delay nothing.
    noted(log, 3, cycles, &left)?;
    right.wait(&event)?;
    noted(log, 2, 0, &right)
}

/// 1 and 2 by a grandchild; 3 and 4 as tail launches, launched first.
#[device]
fn with_a_tail(log: Global<u32>, cycles: u32) -> Result<(), Error> {
    noted(log, 3, 0, &TailLaunch)?;
    noted(log, 4, 0, &TailLaunch)?;
    noted(log, 1, cycles, &FireAndForget)?;
    // SAFETY: the log has room.
    unsafe { launch::<delegate>(one(), &FireAndForget, (log, 2, cycles)) }
}

/// A child that launches another child, which logs `number`. If that is refused, the number of
/// entries becomes too large by 2^16, which the test detects.
///
/// # Safety
///
/// One thread; the log has room.
#[kernel(launchable, prefix = "device_launch_")]
pub unsafe fn delegate(log: Global<u32>, number: u32, cycles: u32) {
    if noted(log, number, cycles, &FireAndForget).is_err() {
        log.fetch_add(0, 1 << 16, Ordering::Relaxed, Scope::Device);
    }
}

/// Logs `left`, and launches itself with `left - 1`, as long as `left` is above 0.
///
/// # Safety
///
/// One thread; the log has room for `left + 1` entries.
#[kernel(launchable, prefix = "device_launch_")]
pub unsafe fn count_down(log: Global<u32>, left: u32, status: Global<u32>) {
    // SAFETY: only this thread writes; its child runs afterwards.
    unsafe { write_note(log, left) };
    if left > 0 {
        // SAFETY: the log has room for the rest.
        let outcome = unsafe { launch::<count_down>(one(), &TailLaunch, (log, left - 1, status)) };
        tell(status, outcome);
    }
}

/// Logs a number immediately.
///
/// # Safety
///
/// The log has room.
#[device]
unsafe fn write_note(log: Global<u32>, number: u32) {
    let at = log.fetch_add(0, 1, Ordering::Relaxed, Scope::Device);
    log.write(1 + at as usize, number);
}

/// The first thread of each block launches 2·block and 2·block + 1 into the block's default stream.
/// The child with the first number spins for `cycles`.
///
/// # Safety
///
/// `log` has one element plus two for each block, and `status` has one element for each block.
#[kernel(prefix = "device_launch_")]
pub unsafe fn block_streams(log: Global<u32>, cycles: u32, status: Global<u32>) {
    if thread::is_first_in_block() {
        let me = thread::block_idx_x();
        let block = Block::this();
        let stream = block.default_stream();
        let first = noted(log, 2 * me, cycles, &stream);
        let both = first.and_then(|()| noted(log, 2 * me + 1, 0, &stream));
        tell(status.part(me as usize, 1), both);
    }
}

/// Launches `count` notes, until one is refused.
///
/// # Safety
///
/// One thread; `log` has room for `count` entries.
#[kernel(prefix = "device_launch_")]
pub unsafe fn many(log: Global<u32>, count: u32, status: Global<u32>) {
    let mut outcome = Ok(());
    for number in 0..count {
        if outcome.is_ok() {
            outcome = noted(log, number, 0, &FireAndForget);
        }
    }
    tell(status, outcome);
}

macro_rules! orders {
    ($($(#[$doc:meta])* $name:ident: $launches:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// One thread. `log` has room for four entries, `status` has one element, and nothing else
        /// uses them until the launch has ended.
        #[kernel(prefix = "device_launch_")]
        pub unsafe fn $name(log: Global<u32>, cycles: u32, status: Global<u32>) {
            tell(status, $launches(log, cycles));
        }
    )*};
}
orders! {
    /// Launches notes of 1 and 2, unordered.
    unordered: in_any_order;
    /// Launches notes of 1 and 2, ordered by an event.
    ordered: by_an_event;
    /// Launches notes of 1 and 2, and tail launches of 3 and 4.
    tail: with_a_tail;
}
