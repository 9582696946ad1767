//! The calls about events, and streams that wait for them.

use super::{INVALID_VALUE, NOT_READY, OUT_OF_MEMORY, SUCCESS};
use crate::control::{before, before_release, count};
use crate::device::{ended, state};

calls! {
    fn cuEventCreate(event: *mut usize, _flags: u32) may_fail OUT_OF_MEMORY {
        let mut state = state();
        if state.ready(0) != SUCCESS { return state.ready(0) }
        *event = state.owned_handle();
        count("event", 1);
        SUCCESS
    }
    fn cuEventDestroy_v2(event: usize) gives_back {
        let mut state = state();
        if state.disown(event) != SUCCESS { return state.mistake("an event") }
        count("event", -1);
        state.ready(0)
    }
    // An event after endless work never occurs.
    fn cuEventRecord(event: usize, stream: usize) may_fail INVALID_VALUE {
        let mut state = state();
        if state.ready(event) != SUCCESS { return state.ready(event) }
        if state.endless.contains(&stream) { state.endless.insert(event) } else { state.endless.remove(&event) };
        match state.origin(stream) {
            Some(origin) => state.captured_events.insert(event, origin),
            None => state.captured_events.remove(&event),
        };
        state.ready(stream)
    }
    fn cuStreamWaitEvent(stream: usize, event: usize, flags: u32) may_fail INVALID_VALUE {
        let mut state = state();
        if flags != 0 { return INVALID_VALUE }
        if let Some(&origin) = state.captured_events.get(&event) && origin != stream {
            state.joined.insert(stream, origin);
        }
        if state.endless.contains(&event) {
            state.endless.insert(stream);
        }
        state.ready(stream)
    }
    fn cuEventQuery(event: usize) may_fail INVALID_VALUE {
        let state = state();
        if state.ready(event) != SUCCESS { return state.ready(event) }
        if state.endless.contains(&event) { NOT_READY } else { SUCCESS }
    }
    fn cuEventSynchronize(event: usize) may_fail INVALID_VALUE {
        ended(Some(event)).ready(event)
    }
    fn cuEventElapsedTime(milliseconds: *mut f32, _start: usize, _stop: usize)
    may_fail INVALID_VALUE {
        *milliseconds = 1.5;
        state().ready(0)
    }
}
