//! The blocks that take part in a barrier.

use cuda_std::device;
use cuda_std::thread;

/// The blocks that take part in a barrier, and the rank of this block among them.
///
/// They are all blocks of the grid, or some of them. A barrier of some blocks does not affect the
/// others, and several such barriers may run at the same time, each with separate words.
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

    /// `count` blocks, where this block has the rank `rank`, below `count`.
    ///
    /// Every block that takes part passes the same `count` and a different `rank`. A block that
    /// does not take part does not access the barrier at all.
    #[inline(always)]
    pub fn new(rank: u32, count: u32) -> Self {
        Self { rank, count }
    }

    /// The rank of this block among the members, from 0.
    #[inline(always)]
    pub fn rank(self) -> u32 {
        self.rank
    }

    /// Number of members.
    #[inline(always)]
    pub fn count(self) -> u32 {
        self.count
    }

    /// The members that share a counter with this one if the barrier has `parts` counters: their
    /// ranks equal this one's modulo `parts`.
    #[inline(always)]
    #[must_use]
    pub fn part(self, parts: u32) -> Self {
        Self::new(self.rank / parts, (self.count - self.rank % parts).div_ceil(parts))
    }

    /// The group of this member: ranks 0 to `size` − 1 are the first group, the next `size` ranks
    /// the second, and so on. The last group may be smaller.
    #[inline(always)]
    #[must_use]
    pub fn group(self, size: u32) -> Self {
        let first = self.rank / size * size;
        Self::new(self.rank - first, size.min(self.count - first))
    }

    /// The amount that this member adds to a counter. All members together add `round`: each member
    /// adds 1, and the first one the rest.
    ///
    /// So the counter needs no reset, whatever the number of members. If `round` is a power of two,
    /// the lower bits are 0 again when all have arrived, and the bits above have counted one round,
    /// modulo 2^32. The idea comes from CUDA's cooperative groups.
    #[inline(always)]
    pub fn arrival(self, round: u32) -> u32 {
        if self.rank == 0 { round - (self.count - 1) } else { 1 }
    }
}
