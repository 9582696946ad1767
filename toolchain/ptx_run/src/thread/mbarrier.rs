//! Barriers in shared memory. Their word is that of the emulator, and each operation updates it
//! atomically.

use ptx::decode::{AddressSpace, MbarrierAction, Order};
use simt::{Access, Phase, Space};

use super::{Thread, number};
use crate::code::{Address, Instruction, Slot};
use crate::resolve::{order_of, scope_of};
use crate::synchronise::Mbarrier;

/// Bytes of a barrier.
const BYTES: usize = 8;

impl Thread<'_> {
    pub(super) fn mbarrier(&mut self, it: &Mbarrier, at: &Instruction) {
        let address = self.address(it.address, at);
        let operand = |bytes| self.used(it.operand, bytes, at, "an operand of `mbarrier`");
        let count = operand(4) as u32;
        match it.action {
            MbarrierAction::Init => self.init_barrier(it, count, at),
            MbarrierAction::Invalidate => self.invalidate_barrier(it, at),
            MbarrierAction::ExpectBytes => {
                self.update_barrier(it, at, |phase| phase.expect(count.into()));
            }
            MbarrierAction::CompleteBytes => {
                self.update_barrier(it, at, |phase| phase.expect(-i64::from(count)));
            }
            MbarrierAction::Arrive { drops, expects_bytes, completes } => {
                self.update_barrier(it, at, |phase| {
                    let (bytes, arrivals) = if expects_bytes { (count, 1) } else { (0, count) };
                    let phase = phase.expect(bytes.into())?.arrive(arrivals)?;
                    if !completes && phase.settled() != phase {
                        return Err("`mbarrier.arrive.noComplete` completes the phase".to_owned());
                    }
                    if drops { phase.drop_arrivals(arrivals) } else { Ok(phase) }
                });
            }
            MbarrierAction::Test { parity, .. } => {
                let parity = if parity {
                    count
                } else {
                    match Phase::of_word(operand(8)) {
                        Ok(phase) => phase.parity,
                        Err(_) => self.trap(at, "a state that no `mbarrier.arrive` has returned"),
                    }
                };
                self.test_barrier(it, address, parity, at);
            }
            MbarrierAction::PendingCount => unreachable!("it has no address"),
        }
    }

    /// `mbarrier.pending_count`
    pub(super) fn pending_count(&mut self, to: Slot, state: Slot, at: &Instruction) {
        match Phase::of_word(self.used(state, 8, at, "a state of a barrier")) {
            Ok(phase) => self.write(to, phase.pending.into(), 0),
            Err(_) => self.trap(at, "a state that no `mbarrier.arrive` has returned"),
        }
    }

    /// The pointer to a barrier.
    pub(super) fn barrier_at(
        &self,
        space: AddressSpace,
        address: Address,
        at: &Instruction,
    ) -> (*mut u8, Space) {
        let address = self.address(address, at);
        self.shared_at(space, address, BYTES, at)
    }

    /// The pointer to a barrier of the own block.
    pub(super) fn own_barrier_at(
        &self,
        space: AddressSpace,
        address: Address,
        at: &Instruction,
    ) -> *mut u8 {
        let (pointer, space) = self.barrier_at(space, address, at);
        if space == Space::Cluster {
            self.trap(
                at,
                "a barrier of another block of the cluster: a block can only arrive there",
            );
        }
        pointer
    }

    fn init_barrier(&mut self, it: &Mbarrier, arrivals: u32, at: &Instruction) {
        let pointer = self.own_barrier_at(it.space, it.address, at);
        if let Some(place) = simt::mbarrier_at(pointer, BYTES) {
            let message = format!(
                "the barrier was initialised at {place} already: `mbarrier.inval` must come first"
            );
            self.trap(at, &message);
        }
        match Phase::first(arrivals) {
            Ok(first) => self.write_barrier(pointer, first.word()),
            Err(why) => self.trap(at, &why),
        }
        simt::mbarrier_init(pointer);
    }

    fn invalidate_barrier(&mut self, it: &Mbarrier, at: &Instruction) {
        let pointer = self.own_barrier_at(it.space, it.address, at);
        if simt::mbarrier_at(pointer, BYTES).is_none() {
            self.trap(at, "`mbarrier.inval` of a word that is not a barrier");
        }
        simt::mbarrier_invalidate(pointer);
        // Any later operation finds that it is no longer one.
        self.write_barrier(pointer, 0);
    }

    /// An ordinary store.
    fn write_barrier(&mut self, pointer: *mut u8, word: u64) {
        if simt::access(pointer, BYTES, Access::write(Space::Shared)) {
            // SAFETY: the emulator found these bytes live and aligned.
            unsafe { number::write(pointer, BYTES, word) };
            self.changes.memory();
        }
    }

    /// Updates a barrier. An arrival also returns the state before it.
    fn update_barrier(
        &mut self,
        it: &Mbarrier,
        at: &Instruction,
        update: impl FnOnce(Phase) -> Result<Phase, String>,
    ) {
        let (pointer, space) = self.barrier_at(it.space, it.address, at);
        let access = Access::atomic(space, order_of(it.order), scope_of(it.scope));
        if !simt::access(pointer, BYTES, access) {
            return;
        }
        // SAFETY: the emulator found these bytes live, aligned and written.
        let before = unsafe { number::read(pointer, BYTES) };
        let after =
            Phase::of_word(before).and_then(update).unwrap_or_else(|why| self.trap(at, &why));
        // SAFETY: as above; no other thread runs before the next call of the emulator.
        unsafe { number::write(pointer, BYTES, after.settled().word()) };
        self.changes.memory();
        self.polls.reset();
        self.write(it.to, before, 0);
    }

    /// Whether the phase of this parity is complete.
    fn test_barrier(&mut self, it: &Mbarrier, address: u64, parity: u32, at: &Instruction) {
        if parity > 1 {
            self.trap(at, &format!("the parity of a phase is 0 or 1, not {parity}"));
        }
        let pointer = self.own_barrier_at(it.space, it.address, at);
        let read = Access::read(Space::Shared).ordered(order_of(it.order), scope_of(it.scope));
        if !simt::access(pointer, BYTES, read) {
            return;
        }
        let before = std::mem::take(&mut self.changes.any);
        // SAFETY: the emulator found these bytes live, aligned and written.
        let word = unsafe { number::read(pointer, BYTES) };
        let phase = Phase::of_word(word).unwrap_or_else(|why| self.trap(at, &why));
        let is_complete = phase.parity != parity;
        self.awaited = (!is_complete).then_some(phase);
        self.write(it.to, is_complete.into(), 0);
        self.poll(Order::Acquire, address, before);
    }
}
