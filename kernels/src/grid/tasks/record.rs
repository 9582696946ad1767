//! A task as words of a plan. The host writes them, and each lane of the first warp reads one.

/// Words of 64 bits of a task: one for each lane of a warp.
pub const RECORD: usize = 32;

/// The most 32-bit arguments that a task has for its body.
pub const ARGUMENTS: usize = 12;

/// The most tasks that a task waits for.
pub const INPUTS: usize = RECORD - FIRST_INPUT;

/// The number of a block's latest task values that it keeps in shared memory.
pub const KEPT: usize = 32;

/// Indices in a record: the signal of the task's end, with its purpose; its arguments; its inputs.
pub(super) const SIGNAL: usize = 0;
pub(super) const FIRST_ARGUMENT: usize = 2;
pub(super) const FIRST_INPUT: usize = FIRST_ARGUMENT + ARGUMENTS / 2;

/// The distance in words between the words of two nodes: a sector of the L2 for each.
const APART: usize = 4;

/// How one task signals its end to another. The same link is the signal of the former and an input
/// of the latter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Link {
    /// Nothing to signal or to wait for.
    #[default]
    None,
    /// The value comes from an earlier task of the same block, through slot `slot` below [`KEPT`]
    /// of its shared memory. A task keeps its value at its position in the block, modulo [`KEPT`].
    Kept {
        /// The slot.
        slot: u32,
    },
    /// The task's word carries its value. No other memory access is made visible.
    Value {
        /// The node's word.
        word: u32,
    },
    /// The task has ended, and everything it wrote is visible: release and acquire. A node of one
    /// part sends its value too. The parts of a larger node count in their word.
    Ended {
        /// The node's word.
        word: u32,
        /// The number of tasks that count in this word, less than 2^28.
        parts: u32,
    },
}

/// The purpose of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Purpose {
    /// The task has a body.
    #[default]
    Body,
    /// The task only waits, and then signals its end: for nodes with more than [`INPUTS`] inputs.
    /// The kernel does not see it.
    Join,
    /// All blocks synchronise at a grid barrier.
    Barrier,
}

/// Kinds of encoded links.
pub(super) const KEPT_LINK: u32 = 1;
pub(super) const VALUE_LINK: u32 = 2;
pub(super) const ENDED_LINK: u32 = 3;

impl Link {
    const fn encode(self) -> u64 {
        let (kind, parts, word) = match self {
            Self::None => (0, 0, 0),
            Self::Kept { slot } => (KEPT_LINK, 0, slot),
            Self::Value { word } => (VALUE_LINK, 1, word),
            Self::Ended { word, parts } => (ENDED_LINK, parts, word),
        };
        ((kind << 30 | parts) as u64) << 32 | word as u64
    }
}

/// A link as a word of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encoded(pub(super) u64);

impl Encoded {
    /// `KEPT_LINK`, `VALUE_LINK`, `ENDED_LINK`, or 0 for none.
    #[inline(always)]
    pub(super) fn kind(self) -> u32 {
        (self.0 >> 62) as u32
    }

    /// The number of tasks that share the word.
    #[inline(always)]
    pub(super) fn parts(self) -> u32 {
        (self.0 >> 32) as u32 & (u32::MAX >> 4)
    }

    /// Whether the task of this signal has this purpose.
    #[inline(always)]
    pub(super) fn is(self, purpose: Purpose) -> bool {
        (self.0 >> 60) as u32 & 3 == purpose as u32
    }

    /// The index of the word or of the slot.
    #[inline(always)]
    pub(super) fn at(self) -> usize {
        (self.0 as u32) as usize
    }
}

/// A task: its arguments, the tasks it waits for, and how it signals its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The arguments of its body.
    pub arguments: [u32; ARGUMENTS],
    /// The tasks it waits for, at most [`INPUTS`]. Its body can get their values, in this order.
    pub inputs: &'a [Link],
    /// How it signals its end to others.
    pub signal: Link,
    /// Its purpose.
    pub purpose: Purpose,
}

impl Record<'_> {
    /// The record as the words of a plan.
    ///
    /// # Panics
    /// If `inputs` has more than [`INPUTS`] elements.
    #[must_use]
    pub fn encode(&self) -> [u64; RECORD] {
        assert!(self.inputs.len() <= INPUTS, "{} inputs, at most {INPUTS}", self.inputs.len());
        let mut words = [0; RECORD];
        words[SIGNAL] = self.signal.encode() | (self.purpose as u64) << 60;
        for (at, pair) in self.arguments.as_chunks::<2>().0.iter().enumerate() {
            words[FIRST_ARGUMENT + at] = u64::from(pair[1]) << 32 | u64::from(pair[0]);
        }
        for (at, input) in self.inputs.iter().enumerate() {
            words[FIRST_INPUT + at] = input.encode();
        }
        words
    }
}

/// The number of words before the first record of a plan for `blocks` blocks: index b holds the
/// number of the first record of block b, and index `blocks` the total number of records.
#[must_use]
pub const fn records_start(blocks: usize) -> usize {
    (blocks + 1).next_multiple_of(RECORD)
}

/// The number of 64-bit words of state, 0 before the first launch, for `blocks` blocks and `words`
/// nodes with a word.
#[must_use]
pub const fn state_words(blocks: usize, words: usize) -> usize {
    state_word(blocks, words)
}

/// The index of word `word` in the state. Before all words are the numbers of launches, one for
/// each block.
pub(super) const fn state_word(blocks: usize, word: usize) -> usize {
    blocks.next_multiple_of(APART) + APART * word
}
