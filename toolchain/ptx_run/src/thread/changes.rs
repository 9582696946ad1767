//! What a thread has changed, to find loops that only wait.

/// The changes of the current function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changes {
    /// Whether it has changed a register or memory since its last jump backwards.
    pub(super) any: bool,
    /// Whether it has changed memory since then.
    pub(super) stored: bool,
    /// Whether it has read memory that other threads may change since then, by other than weak loads.
    pub(super) polled: bool,
    /// The lowest address of private memory that it has changed; 0 after a change of other memory.
    /// Its own frame ends with it, and what is below does not.
    lowest: usize,
}

impl Default for Changes {
    /// At the start of a function, whose first jump backwards does not end an iteration.
    fn default() -> Self {
        Self { any: true, stored: true, polled: false, lowest: usize::MAX }
    }
}

impl Changes {
    /// Memory that other threads can read may have changed.
    pub(super) fn memory(&mut self) {
        *self = Self { any: true, stored: true, lowest: 0, ..*self };
    }

    /// Private memory at this address has been written, and may have changed.
    pub(super) fn private(&mut self, at: usize, changed: bool) {
        if changed {
            *self = Self { any: true, stored: true, lowest: self.lowest.min(at), ..*self };
        }
    }

    /// A jump backwards ends an iteration.
    pub(super) fn begin_iteration(&mut self) {
        (self.any, self.stored, self.polled) = (false, false, false);
    }

    /// The changes of a caller, after a call of a function with these changes and this frame.
    pub(super) fn after_call(self, callee: Self, frame: usize) -> Self {
        let remains = callee.lowest < frame;
        let lowest = if remains { callee.lowest } else { usize::MAX };
        Self {
            any: self.any || remains,
            stored: self.stored || remains,
            polled: self.polled || callee.polled,
            lowest: self.lowest.min(lowest),
        }
    }
}
