//! Who takes part in a barrier.

use cuda_std::device;
use cuda_std::thread;

/// The blocks that a barrier is for, and which of them this one is.
///
/// All blocks of the grid, or some of them: a barrier over a subset lets the others go their way,
/// and several may run side by side, each in words of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Members {
    rank: u32,
    count: u32,
}

impl Members {
    /// All blocks of the grid, in linear order.
    #[device]
    pub fn grid() -> Self {
        Self::new(thread::block_index() as u32, thread::block_count() as u32)
    }

    /// `count` blocks, of which this one has the number `rank`, below `count`.
    ///
    /// Every block that takes part says the same `count` and a `rank` of its own. A block that does
    /// not take part does not touch the barrier at all.
    #[inline(always)]
    pub fn new(rank: u32, count: u32) -> Self {
        Self { rank, count }
    }

    /// The number of this block among the members, from 0.
    #[inline(always)]
    pub fn rank(self) -> u32 {
        self.rank
    }

    /// How many blocks take part.
    #[inline(always)]
    pub fn count(self) -> u32 {
        self.count
    }

    /// Those members whose rank is this one's modulo `parts`: what this one shares the counter with
    /// where there are `parts` counters.
    #[inline(always)]
    #[must_use]
    pub fn part(self, parts: u32) -> Self {
        Self::new(self.rank / parts, (self.count - self.rank % parts).div_ceil(parts))
    }

    /// The `size` members, or fewer at the end, that this one stands among: ranks 0 to `size` − 1,
    /// then the next `size`, and so on.
    #[inline(always)]
    #[must_use]
    pub fn group(self, size: u32) -> Self {
        let first = self.rank / size * size;
        Self::new(self.rank - first, size.min(self.count - first))
    }

    /// What this member adds to a counter that all members arrive at, so that together they add
    /// `round`: 1 each, and the first one the rest.
    ///
    /// So a counter need not be reset when all have arrived, whatever their number: with `round` a
    /// power of two its lower bits are 0 again, and the bits above have counted one round, modulo
    /// 2^32. The idea is that of CUDA's cooperative groups.
    #[inline(always)]
    pub fn arrival(self, round: u32) -> u32 {
        if self.rank == 0 { round - (self.count - 1) } else { 1 }
    }
}
