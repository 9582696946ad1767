//! Counters of a block in shared memory, and the counts of the grid in global memory.

use crate::block::ThreadPosition;
use cuda_std::launch::KernelArg;
use cuda_std::memory::dynamic_shared;
use cuda_std::prelude::*;

/// Where the elements of a block are counted.
///
/// In *columns*, each bin has a counter for each of 1 to 32 lanes: with 32, no two lanes of a warp
/// use the same bank or the same counter. In *half words*, two bins share a word. Or in no shared
/// memory: each element is added in global memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Columns as a power of two, or [`HALVES`](Self::HALVES), or [`GLOBAL`](Self::GLOBAL).
    kind: u32,
}

// SAFETY: `repr(C)` of a plain number.
unsafe impl KernelArg for Layout {}

/// Bytes of shared memory of a block for columns: such that two blocks fit on a multiprocessor, and
/// at most. On compute capability 9.0, and otherwise.
const COLUMN_BYTES: [[usize; 2]; 2] = [[64 << 10, 128 << 10], [24 << 10, 48 << 10]];

/// The most bytes for half words.
const HALF_BYTES: [usize; 2] = [192 << 10, 48 << 10];

impl Layout {
    /// Two bins in a word.
    pub const HALVES: Self = Self { kind: 6 };
    /// In global memory.
    pub const GLOBAL: Self = Self { kind: 7 };

    /// 2^`log2` columns, up to 32.
    ///
    /// # Panics
    /// If there would be more.
    #[must_use]
    pub const fn columns(log2: u32) -> Self {
        assert!(log2 <= 5, "at most one column for each lane");
        Self { kind: log2 }
    }

    /// The layout for this many bins. `is_90` says that the image is for compute capability 9.0.
    #[must_use]
    pub const fn of(bins: usize, is_90: bool) -> Self {
        let target = if is_90 { 0 } else { 1 };
        let [two, one] = COLUMN_BYTES[target];
        // The counter after the last is for elements in no bin.
        let bytes = 4 * (bins + 1);
        if 2 * bytes <= two {
            let mut log2 = 5;
            while bytes << log2 > two {
                log2 -= 1;
            }
            Self::columns(log2)
        } else if bytes <= one {
            Self::columns(0)
        } else if Self::HALVES.shared_bytes(bins) as usize <= HALF_BYTES[target] {
            Self::HALVES
        } else {
            Self::GLOBAL
        }
    }

    /// Whether each bin has at least one counter of 32 bits in shared memory.
    #[must_use]
    pub const fn has_columns(self) -> bool {
        self.kind < Self::HALVES.kind
    }

    /// The number of blocks of a histogram that fit on a multiprocessor.
    #[must_use]
    pub const fn resident(self, bins: usize) -> u32 {
        if self.shared_bytes(bins) as usize <= COLUMN_BYTES[0][0] { 2 } else { 1 }
    }

    /// Bytes of dynamic shared memory of a block.
    #[must_use]
    pub const fn shared_bytes(self, bins: usize) -> u32 {
        let words = match self {
            Self::HALVES => (bins + 1).div_ceil(2),
            Self::GLOBAL => 0,
            Self { kind } => (bins + 1) << kind,
        };
        // Zeroed by packs.
        (4 * words.next_multiple_of(4)) as u32
    }
}

/// The counts of all bins, in words of 32 or of 64 bits: the other view is empty.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Counts up to 2^32 − 1.
    pub narrow: Global<u32>,
    /// Counts up to 2^64 − 1.
    pub wide: Global<u64>,
}

// SAFETY: `repr(C)` of two views.
unsafe impl KernelArg for Counts {}

impl Counts {
    /// Adds to the count of a bin. The order does not matter: only the sum does.
    #[inline(always)]
    pub(super) fn add(self, bin: usize, count: u32) {
        if self.wide.is_empty() {
            self.narrow.add(bin, count, Ordering::Relaxed, Scope::Device);
        } else {
            self.wide.add(bin, count.into(), Ordering::Relaxed, Scope::Device);
        }
    }

    /// Sets the count of a bin.
    #[inline(always)]
    pub(super) fn write(self, bin: usize, count: u64) {
        if self.wide.is_empty() {
            self.narrow.write(bin, count as u32);
        } else {
            self.wide.write(bin, count);
        }
    }

    /// The count of a bin, which becomes zero.
    #[inline(always)]
    pub(super) fn take(self, bin: usize) -> u64 {
        let count =
            if self.wide.is_empty() { self.narrow.read(bin).into() } else { self.wide.read(bin) };
        self.write(bin, 0);
        count
    }
}

/// The counters of a block.
#[derive(Clone, Copy)]
pub(super) struct Counters {
    words: Shared<u32>,
    bins: u32,
}

/// A half word that has reached this is emptied. Until it is, the block counts fewer elements than
/// the other half of its range.
const FULL: u32 = 1 << 15;

/// The most elements of a thread between two barriers of its block, when it counts in half words.
pub(super) const HALVES_EACH: usize = (FULL as usize - 1) / THREADS as usize;

/// Threads of a block.
pub const THREADS: u32 = 768;

impl Counters {
    /// The counters for this many bins in dynamic shared memory, which become zero. Called by all
    /// threads of the block, which then wait for each other.
    #[device]
    pub(super) fn zeroed(layout: Layout, bins: u32, at: ThreadPosition) -> Self {
        let len = layout.shared_bytes(bins as usize) as usize / 4;
        let words = dynamic_shared::<u32>().part(0, len);
        let mut word = 4 * at.thread as usize;
        while word < len {
            words.write_pack(word, [0; 4], CacheHint::Default);
            word += 4 * THREADS as usize;
        }
        thread::sync_threads();
        Self { words, bins }
    }

    /// The counters of a lane.
    #[inline(always)]
    pub(super) fn column(self, layout: Layout, lane: u32) -> Column {
        let columns = 1 << layout.kind;
        let first = (lane % columns) as usize;
        Column { words: self.words.part(first, self.words.len() - first), columns, bins: self.bins }
    }

    /// Counts an element of `bin` in a half word. If that reaches [`FULL`], it is emptied into
    /// `counts`.
    #[inline(always)]
    pub(super) fn add_in_half(self, bin: u32, counts: Counts) {
        let bin = bin.min(self.bins);
        // In the lower or in the upper half.
        let one = 1 + bin % 2 * 0xFFFF;
        let word = (bin / 2) as usize;
        let before = self.words.fetch_add(word, one, Ordering::Relaxed, Scope::Block);
        // No carry leaves a half, so only its own highest bit changes, when it becomes `FULL`.
        if ((before + one) ^ before) & (FULL << 16 | FULL) != 0 {
            self.words.add(word, (one * FULL).wrapping_neg(), Ordering::Relaxed, Scope::Block);
            if bin < self.bins {
                counts.add(bin as usize, FULL);
            }
        }
    }

    /// Calls `each` with the bins of one thread and their counts. Called by all threads of the
    /// block, after they have waited for each other.
    #[device]
    pub(super) fn each(self, layout: Layout, at: ThreadPosition, each: impl Fn(usize, u32)) {
        let mut bin = at.thread;
        while bin < self.bins {
            let count = if layout == Layout::HALVES {
                self.words.read((bin / 2) as usize) >> (16 * (bin % 2)) & 0xffff
            } else {
                self.sum_of_columns(layout.kind, bin, at.lane)
            };
            each(bin as usize, count);
            bin += THREADS;
        }
    }

    /// The sum of the columns of a bin. Each lane starts at its own, so that no two use the same
    /// bank.
    #[inline(always)]
    fn sum_of_columns(self, log2: u32, bin: u32, lane: u32) -> u32 {
        let mut sum = 0;
        for offset in 0..1 << log2 {
            let column = (lane + offset) & ((1 << log2) - 1);
            sum += self.words.read((bin << log2 | column) as usize);
        }
        sum
    }
}

/// The counters of one lane: one for each bin, in a [`Layout`] of columns.
#[derive(Clone, Copy)]
pub(super) struct Column {
    /// From the one of the first bin.
    words: Shared<u32>,
    columns: u32,
    bins: u32,
}

impl Column {
    /// Counts an element of `bin`.
    ///
    /// A multiplication, because it does not use the unit that finds the bin. With a shift, and a
    /// second comparison, 32 bytes took 4.1 cycles of a multiprocessor, of which their additions take
    /// 2.0 (H200, 2026-11-27).
    #[inline(always)]
    pub(super) fn add(self, bin: u32) {
        let word = bin.min(self.bins) * self.columns;
        self.words.add(word as usize, 1, Ordering::Relaxed, Scope::Block);
    }
}
