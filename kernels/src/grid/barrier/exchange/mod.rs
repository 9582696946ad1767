//! The barrier that carries data: every block brings a value, and gets all values combined.
//!
//! With a store, a barrier and loads, a block sends its value to the L2, waits until it is there,
//! announces it, waits for the other announcements, and loads the other values. Here the value is
//! its own announcement: each 32-bit word of it travels in one 64-bit word with the number of the
//! crossing, so a reader that sees the number sees the value. This needs no fence, no reset, and
//! one trip through the L2 instead of three. (NCCL's LL protocol and CUB's look-back also put a
//! flag into the word of the data.)

mod row;

use super::{Members, STRIDE};
use crate::block::Slots;
use crate::op::{Carried, Operation, Or};
use cuda_std::prelude::*;
use cuda_std::time::clock;
use cuda_std::warp::{WARP_SIZE, lane_id};
use row::Row;

/// Up to this many members, each reads the words of all others. More cross in two steps.
// In a prototype on an H200, 264 blocks took 1.08 µs in one step and 1.12 in two; 528 took 2.35 and
// 1.40.
const DIRECT: u32 = row::LONGEST;

/// The number of members in a group of the two steps.
const GROUP: u32 = 32;

shared_array! {
    /// The result, from the first warp to the threads of its block. Odd and even crossings have two
    /// words each, so the next crossing does not overwrite a result that a thread still reads.
    fn gridsync_exchange() -> [u32; 4];
}

/// A barrier at which each block brings a value and gets all values combined.
///
/// No block leaves before all have arrived. But only the values are carried: other memory accesses
/// of the blocks are *not* made visible. The [barriers](super::Barrier) do that.
///
/// The order of combining depends only on the number of blocks, so floating-point sums have the
/// same bits in every block and every run.
// Not `Copy`: each copy would count crossings on its own.
#[derive(Debug)]
pub struct Exchange {
    words: Global<u64>,
    members: Members,
    /// The number of the last crossing.
    crossing: u64,
}

/// The name of the exchange in messages of the emulator.
const NAME: &str = "the exchange";

/// Indices of the number of member 0's last crossing, and of the first of the members' words. At
/// the end are the numbers of the last crossings of the other members.
const CROSSING: usize = 0;
const MEMBER_WORDS: usize = STRIDE / 2;

/// The index of the number of the last crossing that member `rank` was part of. Member 0 is part of
/// every crossing.
#[inline(always)]
fn last_crossing(words: Global<u64>, rank: u32) -> usize {
    match rank {
        0 => CROSSING,
        rank => words.len() - rank as usize,
    }
}

/// The distance in words between two rows of groups' words: a whole number of lines.
const fn row_stride(groups: usize) -> usize {
    groups.next_multiple_of(16)
}

impl Exchange {
    /// The number of words of device memory for an exchange of up to `blocks` blocks.
    ///
    /// They are 0 before the first use, and belong to one launch at a time, of up to `blocks`
    /// blocks. A word that was not written for exactly 2^32 crossings in a row would count as new:
    /// that of a member that was left out, or the high word if all values in between had one word.
    /// Any other use is safe from wrap-around.
    #[must_use]
    pub const fn words(blocks: usize) -> usize {
        let rows = GROUP as usize * row_stride(blocks.div_ceil(GROUP as usize));
        MEMBER_WORDS + 4 * (blocks + rows) + blocks
    }

    /// Attaches to the exchange of the whole grid in `words`.
    ///
    /// Called by every thread of the grid, before its block first crosses. It has two barriers of
    /// the block. Blocks are a multiple of 32 threads, and there are at most 8192 of them. A block
    /// may attach again later in the launch, and then uses only the new exchange. It cannot use two
    /// at a time, because both would pass their results through the same shared memory.
    #[device]
    pub fn attach(words: Global<u64>) -> Self {
        Self::attach_among(words, Members::grid())
    }

    /// Like [`attach`](Self::attach), for the exchange of `members`.
    #[device(protocol = NAME)]
    pub fn attach_among(words: Global<u64>, members: Members) -> Self {
        // If this block has crossed in this launch, its first thread has now written the number.
        thread::sync_threads();
        let look = |rank| words.load(last_crossing(words, rank), Ordering::Relaxed, Scope::Device);
        // Member 0 is part of every crossing, so it has the last number. Its writes in earlier
        // launches are visible, those in this launch may not be. But this block sees its own
        // number, and no crossing completes without this block.
        let crossing = look(0).max(look(members.rank()));
        // A crossing can complete once the first warp has sent. All threads must look before that.
        thread::sync_threads();
        Self { words, members, crossing }
    }

    /// Combines one value per block by `op`, and returns the result to every thread of every block.
    /// `op` is commutative, and its accumulator has one or two words.
    ///
    /// Called by every thread of each block that takes part. Only the `value` of the block's first
    /// thread counts. It has one barrier of the block inside, but none at its start.
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

    /// Returns the value of the member of rank `root`, of one or two words, to every thread of
    /// every block.
    ///
    /// Called like [`all_reduce`](Self::all_reduce). It is a crossing, so `root` waits too.
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

    /// Crosses in one step: every member sends its value, and reads the values of all.
    #[device]
    fn cross<O: Operation>(&self, op: O, value: O::Accumulator) -> O::Accumulator {
        let count = self.members.count();
        let row = self.row(0, count as usize);
        if lane_id() == 0 {
            row.send(self.members.rank() as usize, value);
        }
        row.gather(op, count)
    }

    /// Crosses in two steps: every member reads the values of its group and sends the group's
    /// result. Then it reads the result of each group. The member at place p of a group sends to
    /// row p, and reads row p.
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
        // The last group may be smaller. Its members then also send for the missing places.
        let place = group.rank() + lane_id() * group.count();
        if place < GROUP {
            row(place).send((rank / GROUP) as usize, value);
        }
        row(group.rank()).gather(op, groups)
    }

    /// The row of words from `start` on. The second word of a value is `apart` words after the
    /// first, and the words of odd crossings are `2 * apart` words after those of even ones.
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
