//! The device: its memory, its streams, what they capture, and graphs.

use crate::launch::Launch;
use simt::Memory;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// The handle of the one context.
pub(crate) const CONTEXT: usize = 0xc0;

/// Bytes of device memory.
pub(crate) const BYTES: usize = 1 << 30;

/// Multiprocessors, and how many blocks of any kernel fit on each.
pub(crate) const MULTIPROCESSORS: u32 = 4;
pub(crate) const BLOCKS: u32 = 2;

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// Makes a context current on this thread.
pub(crate) fn enter(context: usize) {
    CURRENT.set(context);
}

/// Work that was put into a stream.
#[derive(Clone)]
pub(crate) enum Step {
    Launch(Launch),
    Zero(u64, usize),
}

/// The state of the device.
pub(crate) struct State {
    pub(crate) memory: Memory,
    /// The streams that a fault has broken.
    pub(crate) broken: HashSet<usize>,
    /// The streams that capture, with their steps; none if the capture has been broken.
    pub(crate) captures: HashMap<usize, Option<Vec<Step>>>,
    /// The streams that take part in another stream's capture, and events of that capture.
    pub(crate) joined: HashMap<usize, usize>,
    pub(crate) captured_events: HashMap<usize, usize>,
    /// The steps of each graph, executable or not.
    pub(crate) graphs: HashMap<usize, Vec<Step>>,
    handles: usize,
}

/// The state, for one call.
pub(crate) fn state() -> MutexGuard<'static, State> {
    static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::after(0x1000)));
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// A new device, whose handles come after this one.
    fn after(handles: usize) -> Self {
        Self {
            memory: Memory::new(BYTES),
            broken: HashSet::new(),
            captures: HashMap::new(),
            joined: HashMap::new(),
            captured_events: HashMap::new(),
            graphs: HashMap::new(),
            handles,
        }
    }

    /// Makes the device a new one.
    pub(crate) fn reset(&mut self) {
        *self = Self::after(self.handles);
    }

    /// A new handle.
    pub(crate) fn handle(&mut self) -> usize {
        self.handles += 1;
        self.handles
    }

    /// The first check of every call that needs a context and an unbroken stream. Returns the
    /// error, or 0.
    pub(crate) fn ready(&self, stream: usize) -> u32 {
        if CURRENT.get() != CONTEXT {
            201
        } else if self.broken.contains(&stream) {
            700
        } else {
            0
        }
    }

    /// The stream whose capture this stream takes part in.
    pub(crate) fn origin(&self, stream: usize) -> Option<usize> {
        let origin = self.joined.get(&stream).copied().unwrap_or(stream);
        self.captures.contains_key(&origin).then_some(origin)
    }

    /// Keeps the step if the stream captures. Returns whether it does.
    pub(crate) fn captured(&mut self, stream: usize, step: &Step) -> bool {
        let origin = self.origin(stream).unwrap_or(stream);
        let Some(capture) = self.captures.get_mut(&origin) else {
            return false;
        };
        if let Some(steps) = capture {
            steps.push(step.clone());
        }
        true
    }

    /// The first check of a call that cannot be captured; it breaks a capture. Returns the error,
    /// or 0.
    pub(crate) fn uncapturable(&mut self, stream: usize) -> u32 {
        match self.captures.get_mut(&stream) {
            Some(capture) => {
                *capture = None;
                900
            }
            None => self.ready(stream),
        }
    }

    /// Runs a step in a stream.
    pub(crate) fn run(&mut self, stream: usize, step: &Step) {
        let runs = match step {
            Step::Launch(launch) => launch.run(&mut self.memory),
            Step::Zero(at, bytes) => self.memory.zero(*at, *bytes).is_ok(),
        };
        if !runs {
            self.broken.insert(stream);
        }
    }
}
