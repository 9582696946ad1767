//! Makes calls fail, and counts everything not yet released. Tests call these functions by their
//! names in the library. For a program, `GRIDSYNC_FAKE_FAIL` selects the failure, for example `12`
//! or `12 sticky`, and `GRIDSYNC_FAKE_DEVICES` is the number of devices.

use crate::device::state;
use crate::log::log;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The error of a broken context: an illegal address.
pub(crate) const STICKY: u32 = 700;

/// Behavior of launches on a device.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Launches {
    /// They run.
    #[default]
    Run,
    /// They start and never end, like a grid that waits for another one that never starts.
    Endless,
    /// They are refused.
    Refused,
    /// They run, and the call that launches them lasts [`LATE`].
    Late,
}

/// Duration of a late launch.
pub(crate) const LATE: Duration = Duration::from_millis(20);

/// The configuration of the machine, the call that fails, and the counts.
#[derive(Default)]
struct Control {
    machine: Machine,
    /// The number of the call that fails, starting at 1; 0 for none.
    fail_at: u64,
    is_sticky: bool,
    /// Calls so far that may fail.
    calls: u64,
    /// The name of the call that failed.
    failed: Option<&'static str>,
    /// Number of live objects, by kind.
    live: BTreeMap<&'static str, i64>,
}

/// The devices.
#[derive(Default)]
struct Machine {
    devices: u32,
    /// Pairs of devices of which the first cannot access the memory of the second.
    apart: Vec<(u32, u32)>,
    /// Behavior of launches, where it is not the default.
    launches: BTreeMap<u32, Launches>,
    /// The devices whose copies wait for [`gridsync_fake_end`].
    held_copies: BTreeSet<u32>,
    /// Whether they have no memory pools, as with an old driver.
    lacks_pools: bool,
}

impl Machine {
    fn of(devices: u32) -> Self {
        Self { devices, ..Self::default() }
    }
}

static CONTROL: LazyLock<Mutex<Control>> = LazyLock::new(|| {
    let devices = env::var("GRIDSYNC_FAKE_DEVICES").map_or(1, |count| count.parse().unwrap_or(1));
    let told = env::var("GRIDSYNC_FAKE_FAIL").unwrap_or_default();
    let (number, sticky) = told.split_once(' ').unwrap_or((&told, ""));
    Mutex::new(Control {
        machine: Machine::of(devices),
        fail_at: number.parse().unwrap_or(0),
        is_sticky: sticky == "sticky",
        ..Control::default()
    })
});

fn control() -> MutexGuard<'static, Control> {
    CONTROL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called first in each call that may fail. Returns the error, or 0 if the call continues.
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

/// Called first in each call that releases something. Returns the error, or 0 if the call
/// continues.
pub(crate) fn before_release() -> u32 {
    let control = control();
    if control.is_sticky && control.failed.is_some() { STICKY } else { 0 }
}

/// Counts something that is created or released.
pub(crate) fn count(kind: &'static str, change: i64) {
    *control().live.entry(kind).or_default() += change;
}

/// Number of devices.
pub(crate) fn devices() -> u32 {
    control().machine.devices
}

/// Whether a device can reach the memory of another one.
pub(crate) fn can_access(from: u32, to: u32) -> bool {
    !control().machine.apart.contains(&(from, to))
}

/// Behavior of launches on a device.
pub(crate) fn launches_on(device: usize) -> Launches {
    let device = device as u32;
    control().machine.launches.get(&device).copied().unwrap_or_default()
}

/// Whether copies between the host and a device wait for [`gridsync_fake_end`].
pub(crate) fn holds_copies(device: usize) -> bool {
    control().machine.held_copies.contains(&(device as u32))
}

/// Whether the devices have memory pools.
pub(crate) fn has_pools() -> bool {
    !control().machine.lacks_pools
}

/// Removes the memory pools of all devices.
#[unsafe(no_mangle)]
pub extern "C" fn gridsync_fake_without_pools() {
    control().machine.lacks_pools = true;
}

/// Creates a machine of `count` devices, which can access each other's memory and run launches.
/// Nothing of the previous machine may still be in use.
#[unsafe(no_mangle)]
pub extern "C" fn gridsync_fake_devices(count: u32) {
    control().machine = Machine::of(count);
}

/// Removes the access of `from` to the memory of `to`, but not the reverse.
#[unsafe(no_mangle)]
pub extern "C" fn gridsync_fake_apart(from: u32, to: u32) {
    control().machine.apart.push((from, to));
}

/// Sets the behavior of later launches on `device`: 0, they run; 1, they start and never end; 3,
/// they run, and the call lasts 20 ms; otherwise, they are refused.
#[unsafe(no_mangle)]
pub extern "C" fn gridsync_fake_launches(device: u32, become_of_them: u32) {
    let launches = match become_of_them {
        0 => Launches::Run,
        1 => Launches::Endless,
        3 => Launches::Late,
        _ => Launches::Refused,
    };
    control().machine.launches.insert(device, launches);
}

/// Delays later copies between the host and `device` until [`gridsync_fake_end`], after the call
/// that starts them has returned, as can happen with pinned memory.
#[unsafe(no_mangle)]
pub extern "C" fn gridsync_fake_hold_copies(device: u32) {
    control().machine.held_copies.insert(device);
}

/// Ends endless work on all devices, and runs the work behind it.
#[unsafe(no_mangle)]
pub extern "C" fn gridsync_fake_end() {
    state().end();
}

/// Makes call number `at` of the calls that may fail return its error; the first is 1, and 0 means
/// none. If `sticky`, all later ones fail too. Restarts the count of calls, but not that of live
/// objects.
#[unsafe(no_mangle)]
pub extern "C" fn gridsync_fake_fail(at: u64, sticky: bool) {
    let mut control = control();
    *control = Control {
        fail_at: at,
        is_sticky: sticky,
        live: std::mem::take(&mut control.live),
        machine: std::mem::take(&mut control.machine),
        ..Control::default()
    };
}

/// Forgets all live objects, as a driver does when the process of a broken context ends.
#[unsafe(no_mangle)]
pub extern "C" fn gridsync_fake_forget() {
    control().live.clear();
    state().reset();
}

/// Writes the name of the failed call into `text`, which has room for `room` bytes, or nothing if
/// no call failed. Returns the number of bytes written.
///
/// # Safety
///
/// `text` points to `room` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gridsync_fake_failed(text: *mut u8, room: usize) -> usize {
    let name = control().failed.unwrap_or_default();
    // SAFETY: the caller upholds this function's contract.
    unsafe { write(name, text, room) }
}

/// Writes the live objects into `text`, such as `2 module, 1 stream`. Otherwise like
/// [`gridsync_fake_failed`].
///
/// # Safety
///
/// Same as [`gridsync_fake_failed`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gridsync_fake_live(text: *mut u8, room: usize) -> usize {
    let live: Vec<_> = (control().live.iter())
        .filter(|(_, count)| **count != 0)
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    // SAFETY: the caller upholds this function's contract.
    unsafe { write(&live.join(", "), text, room) }
}

/// # Safety
///
/// Same as [`gridsync_fake_failed`].
unsafe fn write(what: &str, text: *mut u8, room: usize) -> usize {
    let bytes = what.len().min(room);
    // SAFETY: the caller provides `room` bytes, and the two ranges do not overlap.
    unsafe { text.copy_from_nonoverlapping(what.as_ptr(), bytes) };
    bytes
}
