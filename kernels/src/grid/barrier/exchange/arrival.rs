//! The second half of a crossing: waits for the values of the other members.

use super::row::Row;
use super::{DIRECT, Exchange, GROUP, row_stride};
use crate::block::{Prefix, Slots};
use crate::op::Operation;
use cuda_std::prelude::*;
use cuda_std::time::clock;
use cuda_std::warp::{WARP_SIZE, lane_id};

/// A value that a block has sent to an [`Exchange`] with [`Exchange::arrive`]. The exchange is in
/// use until the block waits.
#[must_use = "the other members wait until this block has waited too"]
#[derive(Debug)]
pub struct Arrival<'a, O> {
    pub(super) exchange: &'a mut Exchange,
    pub(super) op: O,
    /// The clock when the block sent its value.
    pub(super) began: u64,
}

impl<O: Operation> Arrival<'_, O> {
    /// Waits until all members have arrived, and returns their values combined in the order of
    /// their ranks.
    ///
    /// Called by every thread of the block; all get the result. It has one block barrier.
    #[device]
    pub fn wait(self) -> O::Accumulator {
        let (results, place) = self.wait_for_results::<false>();
        results.read(place)
    }

    /// Like [`wait`](Self::wait), and also returns the values of the members of lower rank
    /// combined.
    #[device]
    pub fn wait_prefix(self) -> Prefix<O::Accumulator> {
        let (results, place) = self.wait_for_results::<true>();
        Prefix { before: results.read(place + 1), all: results.read(place) }
    }

    /// Waits until the results are in shared memory: in the returned slot the values of all members
    /// combined, and if `PREFIX`, in the next slot those of the members before this one.
    #[device]
    fn wait_for_results<const PREFIX: bool>(self) -> (Slots, usize) {
        let Self { exchange, op, began } = self;
        let results = exchange.results();
        let place = 2 * (exchange.crossing % 2) as usize;
        if thread::in_32_bits::index_in_block() < WARP_SIZE {
            let Prefix { before, all } = if exchange.members.count() <= DIRECT {
                exchange.cross::<O, PREFIX>(op, began)
            } else {
                exchange.cross_in_two_steps::<O, PREFIX>(op, began)
            };
            if lane_id() == 0 {
                results.write(place, all);
                if PREFIX {
                    results.write(place + 1, before);
                }
                exchange.has_crossed();
            }
        }
        thread::sync_threads();
        (results, place)
    }
}

impl Exchange {
    /// Crosses in one step: every member reads the values of all.
    #[device]
    fn cross<O: Operation, const PREFIX: bool>(&self, op: O, began: u64) -> Prefix<O::Accumulator> {
        let (rank, count) = (self.members.rank(), self.members.count());
        self.row(0, count as usize).gather::<O, PREFIX>(op, rank, count, began)
    }

    /// Crosses in two steps: every member reads the values of its group and sends the group's
    /// result. Then it reads the result of each group. The member at position p of a group sends to
    /// row p, and reads row p.
    #[device]
    fn cross_in_two_steps<O: Operation, const PREFIX: bool>(
        &self,
        op: O,
        began: u64,
    ) -> Prefix<O::Accumulator> {
        let (rank, count) = (self.members.rank(), self.members.count());
        let group = self.members.group(GROUP);
        let own = self.row((rank - group.rank()) as usize, count as usize);
        let in_group = own.gather_by::<O, 1, PREFIX>(op, group.rank(), group.count(), began);

        let groups = count.div_ceil(GROUP);
        let stride = row_stride(groups as usize);
        let row = |place: u32| {
            let start = 8 * count as usize + place as usize * stride;
            self.row(start, GROUP as usize * stride)
        };
        // The last group may be smaller. Its members then also send for the missing positions.
        let place = group.rank() + lane_id() * group.count();
        if place < GROUP {
            row(place).send((rank / GROUP) as usize, in_group.all);
        }
        let began = clock();
        let groups = row(group.rank()).gather::<O, PREFIX>(op, rank / GROUP, groups, began);
        Prefix { before: op.combine(groups.before, in_group.before), all: groups.all }
    }

    /// The row of words that begins at `start`. Each further word of a value is `apart` words after
    /// the one before, and the words of odd crossings are `4 * apart` words after those of even
    /// ones.
    #[device]
    pub(super) fn row(&self, start: usize, apart: usize) -> Row {
        let odd = (self.crossing % 2) as usize;
        Row {
            words: self.words,
            first: super::MEMBER_WORDS + start + 4 * odd * apart,
            apart,
            crossing: self.crossing as u32,
        }
    }
}
