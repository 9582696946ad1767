//! Makes calls fail, and counts what has not been given back. Tests call these functions by their
//! names in the library. For a program, `GRIDSYNC_FAKE_FAIL` says what fails: for example `12` or
//! `12 sticky`.

use crate::device::state;
use crate::log::log;
use std::collections::BTreeMap;
use std::env;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The answer of a broken context: an illegal address.
pub(crate) const STICKY: u32 = 700;

/// Which call fails, and what has been counted.
#[derive(Default)]
struct Control {
    /// The number of the call that fails, from 1 on; 0 for none.
    fail_at: u64,
    is_sticky: bool,
    /// Calls so far that may fail.
    calls: u64,
    /// The name of the call that failed.
    failed: Option<&'static str>,
    /// How many things were made and not given back, by kind.
    live: BTreeMap<&'static str, i64>,
}

static CONTROL: LazyLock<Mutex<Control>> = LazyLock::new(|| {
    let told = env::var("GRIDSYNC_FAKE_FAIL").unwrap_or_default();
    let (number, sticky) = told.split_once(' ').unwrap_or((&told, ""));
    Mutex::new(Control {
        fail_at: number.parse().unwrap_or(0),
        is_sticky: sticky == "sticky",
        ..Control::default()
    })
});

fn control() -> MutexGuard<'static, Control> {
    CONTROL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called first in each call that may fail. Returns the error, or 0 if the call goes on.
/// `by_itself` is the error when only this call fails.
pub(crate) fn before(call: &'static str, by_itself: u32) -> u32 {
    let mut control = control();
    if control.is_sticky && control.failed.is_some() {
        return STICKY;
    }
    control.calls += 1;
    if control.calls != control.fail_at {
        return 0;
    }
    control.failed = Some(call);
    log(&format!("failed {call}"));
    if control.is_sticky { STICKY } else { by_itself }
}

/// Called first in each call that gives something back. Returns the error, or 0 if the call goes
/// on.
pub(crate) fn before_release() -> u32 {
    let control = control();
    if control.is_sticky && control.failed.is_some() { STICKY } else { 0 }
}

/// Counts something that is made or given back.
pub(crate) fn count(kind: &'static str, change: i64) {
    *control().live.entry(kind).or_default() += change;
}

/// Makes call number `at` of the calls that may fail return its error; the first is 1, and 0 means
/// none. If `sticky`, all later ones fail too. Restarts the count of calls, but not that of live
/// things.
#[unsafe(no_mangle)]
pub extern "C" fn gridsync_fake_fail(at: u64, sticky: bool) {
    let mut control = control();
    *control = Control {
        fail_at: at,
        is_sticky: sticky,
        live: std::mem::take(&mut control.live),
        ..Control::default()
    };
}

/// Forgets all live things, as a driver does when the process of a broken context ends.
#[unsafe(no_mangle)]
pub extern "C" fn gridsync_fake_forget() {
    control().live.clear();
    state().reset();
}

/// Writes the name of the failed call into `text`, which has room for `room` bytes; nothing if no
/// call failed. Returns the number of bytes written.
///
/// # Safety
///
/// `text` points to `room` bytes that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gridsync_fake_failed(text: *mut u8, room: usize) -> usize {
    let name = control().failed.unwrap_or_default();
    // SAFETY: the caller's promise.
    unsafe { write(name, text, room) }
}

/// Writes the live things into `text`, such as `2 module, 1 stream`. Otherwise like
/// [`gridsync_fake_failed`].
///
/// # Safety
///
/// As for [`gridsync_fake_failed`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gridsync_fake_live(text: *mut u8, room: usize) -> usize {
    let live: Vec<_> = (control().live.iter())
        .filter(|(_, count)| **count != 0)
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    // SAFETY: the caller's promise.
    unsafe { write(&live.join(", "), text, room) }
}

/// # Safety
///
/// As for [`gridsync_fake_failed`].
unsafe fn write(what: &str, text: *mut u8, room: usize) -> usize {
    let bytes = what.len().min(room);
    // SAFETY: the caller's promise, and the two do not overlap.
    unsafe { text.copy_from_nonoverlapping(what.as_ptr(), bytes) };
    bytes
}
