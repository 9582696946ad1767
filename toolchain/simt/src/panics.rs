//! Panics of kernel code: noted for the fault, kept off stderr.

use core::cell::RefCell;
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::Once;

use crate::here;

/// What a panic in an emulated thread said.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) message: String,
    /// `file:line:column`
    pub(crate) at: String,
}

thread_local! {
    static NOTE: RefCell<Option<Note>> = const { RefCell::new(None) };
}

/// Puts a hook before the process's panic hook, once, that notes panics of emulated threads and
/// passes on all others.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            // A second panic while the first unwinds ends the process: let it be seen.
            if !here::active() || !note(info) {
                previous(info);
            }
        }));
    });
}

/// The note of the panic that was just caught.
pub(crate) fn take() -> Option<Note> {
    NOTE.take()
}

fn note(info: &PanicHookInfo<'_>) -> bool {
    NOTE.with_borrow_mut(|slot| {
        let first = slot.is_none();
        slot.get_or_insert_with(|| Note {
            message: info
                .payload_as_str()
                .unwrap_or("a payload that is no string")
                .to_owned(),
            at: info.location().map(ToString::to_string).unwrap_or_default(),
        });
        first
    })
}
