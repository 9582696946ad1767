//! The barrier that carries data: every block brings a value, and every block leaves with all of
//! them combined.
//!
//! A barrier, a store before it and loads behind it send each value to the L2, wait until it is
//! there, announce it, wait for the announcement, and fetch it. Here the value is its own
//! announcement: each 32-bit word of it travels in one 64-bit word with the number of the crossing, which
//! no one can see without the other. So there is no fence, one way through the L2 in place of three,
//! and nothing to reset. (The idea of a flag in the word of the data is that of NCCL's LL protocol
//! and of CUB's look-back.)

mod row;

use super::{Members, STRIDE};
use crate::block::Slots;
use crate::op::{Carried, Operation, Or};
use cuda_std::prelude::*;
use cuda_std::time::clock;
use cuda_std::warp::{WARP_SIZE, lane_id};
use row::Row;

/// Members that read all others' words; more go in two steps.
// In a prototype on an H200 264 blocks took 1.08 µs directly and 1.12 in two steps, 528 took 2.35
// and 1.40.
const DIRECT: u32 = row::LONGEST;

/// Members of a group of the two steps.
const GROUP: u32 = 32;

shared_array! {
    /// What the first warp found, for the threads of its block: two words of it for odd crossings
    /// and two for even ones, so that the next crossing does not overtake a thread that still reads.
    fn gridsync_exchange() -> [u32; 4];
}

/// A crossing at which each block brings a value and each leaves with all of them combined.
///
/// It is a barrier for what is carried, and for nothing else: no block leaves before all have
/// come, but what they did to memory besides is *not* made visible. For that there are the
/// [barriers](super::Barrier).
///
/// The values are combined in an order that depends on the number of blocks alone, so that
/// floating-point sums have the same bits in every block and every run.
// Not `Copy`: two copies would not know of each other's crossings.
#[derive(Debug)]
pub struct Exchange {
    words: Global<u64>,
    members: Members,
    /// The number of the last crossing.
    crossing: u64,
}

/// What it is called in messages of the emulator.
const NAME: &str = "the exchange";

/// Where the number of the last crossing lies, and where the members' words begin. The numbers of the
/// last crossing that each other member was part of come at the end.
const CROSSING: usize = 0;
const MEMBER_WORDS: usize = STRIDE / 2;

/// Where `words` have the number of the last crossing that member `rank` was part of. Member 0 is part
/// of all.
#[inline(always)]
fn last_crossing(words: Global<u64>, rank: u32) -> usize {
    match rank {
        0 => CROSSING,
        rank => words.len() - rank as usize,
    }
}

/// Words between two rows of groups' words: a whole number of lines.
const fn row_stride(groups: usize) -> usize {
    groups.next_multiple_of(16)
}

impl Exchange {
    /// How many words of device memory the exchange of up to `blocks` blocks lives in.
    ///
    /// They are 0 before its first use, and then belong to one launch at a time, of up to so many
    /// blocks. A member that was left out for exactly 2^32 crossings in a row would be taken to
    /// have come, and so would the high word of a value if all those between were of one word;
    /// nobody else has to think of the wrap-around.
    #[must_use]
    pub const fn words(blocks: usize) -> usize {
        let rows = GROUP as usize * row_stride(blocks.div_ceil(GROUP as usize));
        MEMBER_WORDS + 4 * (blocks + rows) + blocks
    }

    /// Attaches to the exchange of the whole grid in `words`.
    ///
    /// Called by every thread of the grid, before its block first crosses: two barriers of the block.
    /// Blocks are a multiple of 32 threads, and there are at most 8192 of them. A block may attach
    /// again later in the launch, and then crosses by the new one only. It has one exchange at a time:
    /// another would pass its results on through the same shared memory.
    #[device]
    pub fn attach(words: Global<u64>) -> Self {
        Self::attach_among(words, Members::grid())
    }

    /// Attaches to the exchange of `members` in `words`; otherwise as [`attach`](Self::attach).
    #[device(protocol = NAME)]
    pub fn attach_among(words: Global<u64>, members: Members) -> Self {
        // If this block has crossed in this launch, its first thread has written so. No look comes early.
        thread::sync_threads();
        let look = |rank| words.load(last_crossing(words, rank), Ordering::Relaxed, Scope::Device);
        // The last crossing of all is that of member 0, and of earlier launches what it wrote is there.
        // Of this launch it may still be on its way; but what this block wrote itself is there, and no
        // crossing can be complete before this block has come.
        let crossing = look(0).max(look(members.rank()));
        // As soon as the first warp has come, one can be: by then all threads must have looked.
        thread::sync_threads();
        Self { words, members, crossing }
    }

    /// Combines one value per block by `op`, which is commutative and accumulates in one word or
    /// two; every thread of every block has the result.
    ///
    /// Called by every thread of each block that takes part. `value` is that of the block's first
    /// thread; the others' are ignored. One barrier of the block inside, none before.
    #[device(protocol = NAME)]
    pub fn all_reduce<O: Operation>(&mut self, op: O, value: O::Accumulator) -> O::Accumulator {
        const {
            assert!(O::COMMUTATIVE, "members are combined out of order");
            assert!(O::Accumulator::WORDS <= 2, "a member sends two words at most");
        }
        self.crossing += 1;
        let result = Slots::new(gridsync_exchange(), 2);
        let place = (self.crossing % 2) as usize;
        if thread::index_in_block() < WARP_SIZE {
            let all = if self.members.count() <= DIRECT {
                self.cross(op, value)
            } else {
                self.cross_in_two_steps(op, value)
            };
            if lane_id() == 0 {
                result.write(place, all);
                let last = last_crossing(self.words, self.members.rank());
                self.words.store(last, self.crossing, Ordering::Relaxed, Scope::Device);
            }
        }
        thread::sync_threads();
        result.read(place)
    }

    /// The value that the member of rank `root` brought, of one word or two, in every thread of
    /// every block.
    ///
    /// Called as [`all_reduce`](Self::all_reduce) is. It is a crossing: `root` too waits for all.
    #[device]
    pub fn broadcast<T: Carried>(&mut self, root: u32, value: T) -> T {
        const { assert!(T::WORDS <= 2, "a member sends two words at most") };
        let [low, high, ..] = match self.members.rank() == root {
            true => value.to_words(),
            false => [0; 4],
        };
        T::from_words(match T::WORDS {
            1 => self.all_reduce(Or::new(), low).to_words(),
            _ => {
                let both = u64::from_words([low, high, 0, 0]);
                self.all_reduce(Or::new(), both).to_words()
            }
        })
    }

    /// Every member sends one word, and reads all.
    #[device]
    fn cross<O: Operation>(&self, op: O, value: O::Accumulator) -> O::Accumulator {
        let count = self.members.count();
        let row = self.row(0, count as usize);
        if lane_id() == 0 {
            row.send(self.members.rank() as usize, value);
        }
        row.gather(op, count)
    }

    /// Every member reads the words of its group, and sends on what the group makes; then it reads
    /// one such word of each group. Word p of a group goes to row p, for the members of that place
    /// in their groups.
    #[device]
    fn cross_in_two_steps<O: Operation>(&self, op: O, value: O::Accumulator) -> O::Accumulator {
        let (rank, count) = (self.members.rank(), self.members.count());
        let group = self.members.group(GROUP);
        let first = (rank - group.rank()) as usize;
        let own = self.row(first, count as usize);
        if lane_id() == 0 {
            own.send(group.rank() as usize, value);
        }
        let value = own.gather_by::<O, 1>(op, group.count());

        let groups = count.div_ceil(GROUP);
        let stride = row_stride(groups as usize);
        let row = |place: u32| {
            self.row(4 * count as usize + place as usize * stride, GROUP as usize * stride)
        };
        // The last group may be too small to have a member at each place: those it has stand in.
        let place = group.rank() + lane_id() * group.count();
        if place < GROUP {
            row(place).send((rank / GROUP) as usize, value);
        }
        row(group.rank()).gather(op, groups)
    }

    /// The words from `start` on. The second word of a value lies `apart` further on, and the words of
    /// odd crossings twice as far.
    #[device]
    fn row(&self, start: usize, apart: usize) -> Row {
        let odd = (self.crossing % 2) as usize;
        Row {
            words: self.words,
            low: MEMBER_WORDS + start + 2 * odd * apart,
            apart,
            crossing: self.crossing as u32,
            began: clock(),
        }
    }
}
