//! Finds loops that poll although they change registers: that count their polls, or read a clock.

/// Strong loads, and atomics that changed nothing, in a row that returned what their registers held
/// already.
#[derive(Debug, Default)]
pub(super) struct Polls {
    loads: u32,
    /// How many of them were of this address.
    same: u32,
    address: u64,
}

/// So many loads in a row are looked at together,
const LOADS: u32 = 64;
/// and are polls if so many are of one address. A loop may poll up to 16 words.
const SAME: u32 = 4;

impl Polls {
    /// The thread has changed memory, or read something new.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Another such access. Returns whether the thread should let others run.
    pub(super) fn add(&mut self, address: u64) -> bool {
        self.loads += 1;
        self.same += u32::from(self.address == address);
        if self.loads < LOADS {
            return false;
        }
        let polls = self.same >= SAME;
        *self = Self { address, ..Self::default() };
        polls
    }
}
