//! Barriers, and exchanges between lanes.

use ptx::decode::{BarrierAction, Shuffle, Vote};
use simt::Meet;

use super::Thread;
use crate::arithmetic::Join;
use crate::code::{Instruction, Meeting, Predicate, Shuffling, Slot};

const MASK: &str = "a mask of lanes";

impl Thread<'_> {
    pub(super) fn barrier(&mut self, it: &Meeting, instruction: &Instruction) {
        let number = self.used(it.barrier, 4, instruction, "the number of a barrier") as u32;
        let threads = it.threads.map(|it| self.used(it, 4, instruction, "a count") as u32);
        let meet = match it.action {
            BarrierAction::Arrive => Meet::Arrive,
            BarrierAction::Sync => Meet::Wait,
            _ => Meet::Vote(self.voted(it.predicate, instruction)),
        };
        if (number, threads, meet, it.aligned) == (0, None, Meet::Wait, true) {
            return simt::block_barrier();
        }
        let votes = simt::named_barrier(number, threads, meet, it.aligned);
        let result = match it.action {
            BarrierAction::And => votes.all.into(),
            BarrierAction::Or => votes.any.into(),
            BarrierAction::Count => votes.count,
            BarrierAction::Sync | BarrierAction::Arrive => return,
        };
        self.write(it.to, result.into(), 0);
    }

    pub(super) fn shuffle(&mut self, it: &Shuffling, instruction: &Instruction) {
        let [value, by, control, mask] = it.sources;
        let by = self.used(by, 4, instruction, "the lane of a shuffle") as u32 & 31;
        let control = self.used(control, 4, instruction, "the clamp of a shuffle") as u32;
        let mask = self.used(mask, 4, instruction, MASK) as u32;
        let (value, undefined) = self.register(value);
        // PTX ISA, "shfl.sync": bits 8..13 are the mask of segments, bits 0..5 the clamp.
        let (segment, clamp) = (control >> 8 & 31, control & 31);
        let lane = self.position.lane();
        let (first, last) = (lane & segment, lane & segment | clamp & !segment);
        let (kind, from, found) = match it.mode {
            Shuffle::Up => {
                let from = lane.wrapping_sub(by);
                ("shfl.sync.up", from, from.cast_signed() >= last.cast_signed())
            }
            Shuffle::Down => ("shfl.sync.down", lane + by, lane + by <= last),
            Shuffle::Butterfly => ("shfl.sync.bfly", lane ^ by, lane ^ by <= last),
            Shuffle::Index => {
                let from = first | by & !segment & 31;
                ("shfl.sync.idx", from, from <= last)
            }
        };
        let given = u128::from(value) | u128::from(undefined) << 64;
        let brought = simt::warp_exchange(mask, kind, given);
        let from = if found { from } else { lane };
        if brought.mask >> from & 1 == 0 {
            let message = format!(
                "{kind} reads lane {from}, which does not take part (lanes {:#010x} do)",
                brought.mask
            );
            self.trap(instruction, &message);
        }
        let got = brought.values[from as usize];
        self.write(it.to, got as u64, (got >> 64) as u8);
        self.write(it.found, found.into(), 0);
    }

    pub(super) fn vote(
        &mut self,
        vote: Vote,
        to: Slot,
        predicate: Predicate,
        mask: Slot,
        instruction: &Instruction,
    ) {
        let predicate = self.voted(predicate, instruction).into();
        let mask = self.used(mask, 4, instruction, MASK) as u32;
        let kind = match vote {
            Vote::All => "vote.sync.all",
            Vote::Any => "vote.sync.any",
            Vote::Uniform => "vote.sync.uni",
            Vote::Ballot => "vote.sync.ballot",
        };
        let (present, voted) = lanes(mask, kind, predicate, |other| other != 0);
        let result = match vote {
            Vote::All => u32::from(voted == present),
            Vote::Any => u32::from(voted != 0),
            Vote::Uniform => u32::from(voted == present || voted == 0),
            Vote::Ballot => voted,
        };
        self.write(to, result.into(), 0);
    }

    pub(super) fn matching(
        &mut self,
        to: Slot,
        [value, mask]: [Slot; 2],
        instruction: &Instruction,
    ) {
        let value = self.used(value, 8, instruction, "compared with other lanes");
        let mask = self.used(mask, 4, instruction, MASK) as u32;
        let (_, equal) = lanes(mask, "match.any.sync", value, |other| other == value);
        self.write(to, equal.into(), 0);
    }

    /// `match.all.sync`
    pub(super) fn matching_all(
        &mut self,
        [to, found]: [Slot; 2],
        [value, mask]: [Slot; 2],
        instruction: &Instruction,
    ) {
        let value = self.used(value, 8, instruction, "compared with other lanes");
        let mask = self.used(mask, 4, instruction, MASK) as u32;
        let (present, equal) = lanes(mask, "match.all.sync", value, |other| other == value);
        let all = present == equal;
        self.write(to, if all { present.into() } else { 0 }, 0);
        self.write(found, all.into(), 0);
    }

    /// `elect.sync`: the lowest lane.
    pub(super) fn elect(
        &mut self,
        (to, found): (Slot, Slot),
        mask: Slot,
        instruction: &Instruction,
    ) {
        let mask = self.used(mask, 4, instruction, MASK) as u32;
        let (present, _) = lanes(mask, "elect.sync", 0, |_| true);
        let leader = present.trailing_zeros();
        self.write(to, leader.into(), 0);
        self.write(found, (leader == self.position.lane()).into(), 0);
    }

    pub(super) fn redux(
        &mut self,
        function: Join,
        to: Slot,
        [value, mask]: [Slot; 2],
        instruction: &Instruction,
    ) {
        let value = self.used(value, 4, instruction, "reduced");
        let mask = self.used(mask, 4, instruction, MASK) as u32;
        let brought = simt::warp_exchange(mask, "redux.sync", value.into());
        let values = (0..32).filter(|lane| brought.mask >> lane & 1 == 1);
        let values = values.map(|lane: usize| brought.values[lane] as u64);
        let result = values.reduce(|a, b| function.of(a, b)).unwrap_or(value);
        let result = match function {
            Join::Plain(_) => result,
            // Of one lane too: `.abs` applies to each value.
            Join::Float(_) => function.of(result, result),
        };
        self.write(to, result, 0);
    }
}

/// The lanes that take part, and those whose value satisfies a condition.
fn lanes(mask: u32, kind: &'static str, value: u64, select: impl Fn(u64) -> bool) -> (u32, u32) {
    let brought = simt::warp_exchange(mask, kind, value.into());
    let chosen = (0..32)
        .filter(|&lane| brought.mask >> lane & 1 == 1 && select(brought.values[lane] as u64))
        .fold(0, |lanes, lane| lanes | 1 << lane);
    (brought.mask, chosen)
}
