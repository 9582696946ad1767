//! The memory that the launches of one sort share, and the plan of its passes.

use crate::block::ranks::DIGITS;
use cuda_std::memory::Scalar;
use cuda_std::prelude::*;

/// The most passes: digits of a key of 8 bytes.
pub(super) const PASSES: usize = 8;

/// The index of the ticket of the count. Those of the passes follow, then their plans.
const OF_COUNT: usize = 0;
const TICKETS: usize = 1;
const PLANS: usize = TICKETS + PASSES;

/// The index of the word in which the blocks that count rows join what [`State::plan`] needs.
const VARIED: usize = PLANS + PASSES;

/// Words of [`State::words`].
pub const WORDS: usize = VARIED + 1;

/// The bit of a carry that says that it has been sent.
const IS_SENT: u64 = 1 << 63;

/// The memory of a sort in addition to its arrays and rows. Zero `counts` and `words` before the
/// first sort; each leaves them ready for the next. One sort at a time may use them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// For each pass and digit, the number of keys: [`counts_len`] words. Zero between sorts.
    pub counts: Global<u64>,
    /// For each pass, portion and digit, the index in the output of the portion's first key:
    /// [`carries_len`] words.
    pub carries: Global<u64>,
    /// Tickets, and the plan of each pass: [`WORDS`] words.
    pub words: Global<u32>,
}

/// Passes of a sort of keys of `word` bytes: one for each digit, and at least two.
///
/// A sort in place needs an even number. So keys of one byte have another pass, by a digit that is
/// always 0. It is launched only if the output is the input.
#[must_use]
pub const fn passes(word: usize) -> usize {
    if word < 2 { 2 } else { word }
}

/// Elements of [`State::counts`] for keys of `word` bytes.
#[must_use]
pub const fn counts_len(word: usize) -> usize {
    word * DIGITS
}

/// Elements of [`State::carries`] for keys of `word` bytes in this many portions.
#[must_use]
pub const fn carries_len(word: usize, portions: usize) -> usize {
    passes(word) * portions * DIGITS
}

/// The arrays of a sort: passes read the first or what an earlier one wrote, and write the others
/// in turn, the last pass the output.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arrays<T> {
    /// What is sorted.
    pub input: Global<T>,
    /// Overwritten.
    pub spare: Global<T>,
    /// The result. It may be the input.
    pub output: Global<T>,
}

/// Indices of the arrays.
const INPUT: u32 = 0;
const SPARE: u32 = 1;
const OUTPUT: u32 = 2;

impl<T: Scalar> Arrays<T> {
    /// The same bytes as elements of another type.
    #[must_use]
    pub fn cast<U: Scalar>(self) -> Arrays<U> {
        let Self { input, spare, output } = self;
        Arrays { input: input.cast(), spare: spare.cast(), output: output.cast() }
    }

    #[inline(always)]
    pub(super) fn array(self, index: u32) -> Global<T> {
        match index {
            INPUT => self.input,
            SPARE => self.spare,
            _ => self.output,
        }
    }
}

/// What a pass does.
#[derive(Clone, Copy)]
pub(super) struct Plan(pub(super) u32);

impl Plan {
    const RUNS: u32 = 1;
    const IS_FIRST: u32 = 2;

    /// Whether it runs. If not, all keys have the same digit.
    pub(super) fn runs(self) -> bool {
        self.0 & Self::RUNS != 0
    }

    /// Whether it reads the input.
    pub(super) fn is_first(self) -> bool {
        self.0 & Self::IS_FIRST != 0
    }

    /// The array that it reads.
    pub(super) fn from(self) -> u32 {
        self.0 >> 2 & 3
    }

    /// The array that it writes.
    pub(super) fn to(self) -> u32 {
        self.0 >> 4 & 3
    }

    /// The half of the rows that it uses. It zeroes the other for the next pass.
    pub(super) fn half(self) -> usize {
        (self.0 >> 6 & 1) as usize
    }
}

impl State {
    /// The number of the next tile of a pass. Called by one thread of a block.
    #[device]
    pub(super) fn tile(self, pass: u32) -> u32 {
        // Relaxed: the number publishes no data. Tiles wait only for smaller numbers, which were
        // drawn by blocks that have started.
        self.words.fetch_add(TICKETS + pass as usize, 1, Ordering::Relaxed, Scope::Device)
    }

    /// Whether the block is the last of `blocks` to call this. Called by one thread of each, after
    /// the others. What they did before is then visible.
    #[device]
    pub(super) fn counted_last(self, blocks: u32) -> bool {
        self.words.fetch_inc(OF_COUNT, blocks - 1, Ordering::AcqRel, Scope::Device) == blocks - 1
    }

    /// The plan of a pass.
    #[device]
    pub(super) fn pass(self, pass: u32) -> Plan {
        Plan(self.words.read(PLANS + pass as usize))
    }

    /// Adds passes whose keys have different digits in some row. Called by one thread of each block
    /// that counts rows, before [`counted_last`](Self::counted_last).
    #[device]
    pub(super) fn vary(self, passes: u32) {
        // Relaxed: read by the last block, after the others have counted.
        self.words.fetch_or(VARIED, passes, Ordering::Relaxed, Scope::Device);
    }

    /// All passes that were added, and none from now on. Called by one thread of the last block.
    #[device]
    pub(super) fn varied(self) -> u32 {
        let varied = self.words.read(VARIED);
        self.words.write(VARIED, 0);
        varied
    }

    /// Plans `passes` passes, and resets their tickets. Bit i of `varied` says that keys have
    /// different digits i. `flags` are those of [`Task`](super::Task). Called by one thread.
    #[device]
    pub(super) fn plan(self, passes: u32, varied: u32, flags: u32) {
        let (in_place, must_move) = (flags & 1 != 0, flags & 2 != 0);
        let mut runs = varied & ((1 << passes) - 1);
        if runs == 0 && must_move {
            runs = 1;
        }
        // A pass cannot write what it reads, so the first of an even number writes the spare array.
        // `passes` is even, so if the number of those that run is not, one is left. It copies.
        if in_place && runs.count_ones() % 2 == 1 {
            runs |= !runs & (runs + 1);
        }
        let mut after = runs.count_ones();
        let (mut from, mut half, mut first) = (INPUT, 0, Plan::IS_FIRST);
        for pass in 0..passes {
            let mut plan = 0;
            if runs >> pass & 1 != 0 {
                after -= 1;
                let to = if after.is_multiple_of(2) { OUTPUT } else { SPARE };
                plan = Plan::RUNS | first | from << 2 | to << 4 | half << 6;
                (from, half, first) = (to, 1 - half, 0);
            }
            self.words.write(PLANS + pass as usize, plan);
            self.words.write(TICKETS + pass as usize, 0);
        }
    }

    /// The index of a carry.
    #[inline(always)]
    fn carry(self, portions: usize, pass: u32, portion: usize, digit: usize) -> usize {
        (pass as usize * portions + portion) * DIGITS + digit
    }

    /// Stores where the keys of a portion with this digit start.
    #[device]
    pub(super) fn start(
        self,
        portions: usize,
        pass: u32,
        portion: usize,
        digit: usize,
        start: u64,
    ) {
        self.carries.write(self.carry(portions, pass, portion, digit), IS_SENT | start);
    }

    /// Notes that this is to come.
    #[device]
    pub(super) fn starts_later(self, portions: usize, pass: u32, portion: usize, digit: usize) {
        self.carries.write(self.carry(portions, pass, portion, digit), 0);
    }

    /// The carry of a digit for a portion, if it has been sent: see [`carried`](Self::carried).
    #[device]
    pub(super) fn carry_so_far(
        self,
        portions: usize,
        pass: u32,
        portion: usize,
        digit: usize,
    ) -> u64 {
        // Relaxed here and below: a word is all that is sent.
        let at = self.carry(portions, pass, portion, digit);
        self.carries.load(at, Ordering::Relaxed, Scope::Device)
    }

    /// The index in the output of the first key of a portion with this digit. Waits for it, if
    /// `carry` was loaded before it had been sent.
    #[device]
    pub(super) fn carried(
        self,
        portions: usize,
        pass: u32,
        portion: usize,
        digit: usize,
        mut carry: u64,
    ) -> u64 {
        spin::until(|| {
            let is_sent = carry & IS_SENT != 0;
            if !is_sent {
                carry = self.carry_so_far(portions, pass, portion, digit);
            }
            is_sent
        });
        carry & !IS_SENT
    }

    /// Sends that index for a portion, if there is one.
    #[device]
    pub(super) fn carry_on(
        self,
        portions: usize,
        pass: u32,
        portion: usize,
        digit: usize,
        start: u64,
    ) {
        if portion < portions {
            let at = self.carry(portions, pass, portion, digit);
            self.carries.store(at, IS_SENT | start, Ordering::Relaxed, Scope::Device);
        }
    }
}
