//! Panics of kernel code: recorded for the fault, and kept off stderr.

use core::any::Any;
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::Once;

use crate::here;

/// The location of a panic that the hook did not see.
const NOWHERE: &str = "an unknown place";
/// The message for a payload that is not a string.
const NO_TEXT: &str = "a payload that is not a string";

/// A panic in an emulated thread.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) message: String,
    /// `file:line:column`
    pub(crate) at: String,
}

/// Installs a panic hook, once. It records panics of emulated threads and passes all others to the
/// previous hook.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            // A second panic while the first unwinds aborts the process, so it must be shown. A
            // panic after one that the kernel caught is shown too, because the two cases look the
            // same here.
            if !here::active() || !note(info) {
                previous(info);
            }
        }));
    });
}

/// Stores the note in the emulated thread. Returns whether it is the thread's first.
fn note(info: &PanicHookInfo<'_>) -> bool {
    let note = Note {
        message: info.payload_as_str().unwrap_or(NO_TEXT).to_owned(),
        at: info.location().map_or(NOWHERE.into(), ToString::to_string),
    };
    here::with("note", |here, _| here.note.replace(Some(note)).is_none())
}

/// The panic that unwound a thread: `note`, if its message equals `payload`. Otherwise the note is
/// about a panic that the kernel caught, or the hook did not run because it was replaced or the
/// kernel called `resume_unwind`.
pub(crate) fn explain(payload: &(dyn Any + Send), note: Option<Note>) -> Note {
    let message = text(payload);
    note.filter(|note| note.message == message)
        .unwrap_or_else(|| Note { message: message.to_owned(), at: NOWHERE.to_owned() })
}

fn text(payload: &(dyn Any + Send)) -> &str {
    let string = || payload.downcast_ref::<String>().map(String::as_str);
    let literal = payload.downcast_ref::<&'static str>().copied();
    literal.or_else(string).unwrap_or(NO_TEXT)
}
