//! Removes unfinished files when a signal ends the program.

use crate::data;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::thread;

/// Makes the signals that end a program remove its partial files first. A signal that was ignored
/// when the program started, as with nohup, stays ignored.
///
/// # Errors
/// If the system cannot start a thread.
pub(super) fn clean_up() -> io::Result<()> {
    let ends = [SIGINT, SIGTERM, SIGHUP].into_iter();
    // Without a handler, a signal still ends the program.
    let Ok(mut signals) = Signals::new(ends.filter(|&signal| !is_ignored(signal))) else {
        return Ok(());
    };
    let handler = thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            data::discard_partials();
            let _ended = emulate_default_handler(signal);
        }
    });
    handler.map(drop)
}

#[cfg(target_os = "linux")]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action, the call only writes the current action to `action`, which has
    // room for it.
    let told = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) } == 0;
    // SAFETY: all zeros are a valid action, and so is what the call has written.
    let action = unsafe { action.assume_init() };
    told && action.sa_sigaction == libc::SIG_IGN
}

#[cfg(not(target_os = "linux"))]
fn is_ignored(_signal: i32) -> bool {
    false
}
