//! What one instruction does.

use super::{Flow, Thread};
use crate::arithmetic::{Compute, convert, extended, low_bits};
use crate::code::{Comparing, Converting, Instruction, Op, Others, Slot};

impl Thread<'_> {
    /// Executes an instruction whose guard is true.
    #[inline]
    pub(super) fn step(&mut self, instruction: &Instruction) -> Flow {
        match &instruction.op {
            Op::Compute(compute, to, sources) => self.compute(*compute, *to, sources),
            Op::Carry(carry, to, sources) => {
                let (values, undefined) = self.read_all(*sources);
                let (value, out) = carry.compute(values, self.carry);
                self.write(*to, value, undefined);
                if carry.sets {
                    self.changes.any |= self.carry != out;
                    self.carry = out;
                }
            }
            Op::Move(to, from, width) => {
                let (value, undefined) = self.register(*from);
                self.write(*to, low_bits(value, *width), undefined);
            }
            Op::Pack(to, from, width) => self.pack(*to, from, *width),
            Op::Unpack(to, from, width) => {
                let (value, undefined) = self.register(*from);
                for (part, slot) in to.iter().enumerate() {
                    let shift = part as u32 * width;
                    let bytes = undefined >> (shift / 8);
                    self.write(*slot, low_bits(value >> shift, *width), bytes);
                }
            }
            Op::Select(to, [first, second], predicate) => {
                let (is_first, unknown) = self.predicate(*predicate);
                let (value, undefined) = self.register(if is_first { *first } else { *second });
                self.write(*to, value, if unknown == 0 { undefined } else { u8::MAX });
            }
            Op::Compare(comparing) => self.compare(comparing),
            Op::Extend { to, from, bits, signed, to_bits } => {
                let (value, undefined) = self.register(*from);
                let value = if *signed {
                    extended(value, *bits).cast_unsigned()
                } else {
                    low_bits(value, *bits)
                };
                let undefined = if undefined << (8 - bits / 8) == 0 { 0 } else { u8::MAX };
                self.write(*to, low_bits(value, *to_bits), undefined);
            }
            Op::Convert(converting) => self.convert(converting),
            Op::Float(floating) => {
                let (values, undefined) = self.read_all(floating.sources);
                self.write(floating.to, floating.general.compute(values), undefined);
            }
            Op::Branch(to) => self.jump(*to, instruction),
            Op::BranchIndexed(index, targets) => {
                let index = self.used(*index, 4, instruction, "the index of a branch");
                let Some(&to) = targets.get(index as usize) else {
                    let message =
                        format!("index {index} of a branch with {} targets", targets.len());
                    self.trap(instruction, &message);
                };
                self.jump(to, instruction);
            }
            Op::Call(call) => self.call(call, instruction),
            Op::Return => {
                if self.leave() {
                    return Flow::Exit;
                }
            }
            Op::Exit => return Flow::Exit,
            Op::Nothing => {}
            _ => {
                self.announce(instruction);
                self.effect(instruction);
            }
        }
        Flow::Next
    }

    /// An instruction that calls the emulator, which knows its line.
    fn effect(&mut self, instruction: &Instruction) {
        match &instruction.op {
            Op::Load(loading) => self.load(loading, instruction),
            Op::Store(storing) => self.store(storing, instruction),
            Op::Update(updating) => self.update(updating, instruction),
            Op::Fence(scope, order) => simt::fence(*scope, *order),
            Op::Barrier(meeting) => self.barrier(meeting, instruction),
            Op::WarpBarrier(mask) => {
                simt::warp_barrier(self.used(*mask, 4, instruction, "a mask of lanes") as u32);
            }
            Op::Shuffle(shuffling) => self.shuffle(shuffling, instruction),
            Op::Vote(vote, to, predicate, mask) => {
                self.vote(*vote, *to, *predicate, *mask, instruction);
            }
            Op::Clock(to, clock) => self.write(*to, clock(), 0),
            Op::Match(to, sources) => self.matching(*to, *sources, instruction),
            Op::MatrixProduct(product) => self.multiply(product, instruction),
            Op::MatrixMove(moving) => self.move_matrices(moving, instruction),
            Op::MatchAll(to, sources) => self.matching_all(*to, *sources, instruction),
            Op::Redux(function, to, sources) => {
                self.redux(*function, *to, *sources, instruction);
            }
            Op::ActiveMask(to) => self.write(*to, simt::active_mask().into(), 0),
            Op::ConvertAddress { to, from, space, to_space } => {
                let from = self.used(*from, 8, instruction, "an address");
                let address = if *to_space {
                    self.specific(from, *space, instruction)
                } else {
                    self.generic(from, *space)
                };
                self.write(*to, address, 0);
            }
            Op::IsInSpace(to, from, space) => {
                let address = self.used(*from, 8, instruction, "an address");
                self.write(*to, self.is_in(address, *space).into(), 0);
            }
            Op::Sleep(time) => {
                simt::nanosleep(self.used(*time, 4, instruction, "a time to sleep") as u32);
            }
            Op::Synchronise(it) => self.synchronise(it, instruction),
            Op::Trap => simt::trap("the kernel has executed `trap`"),
            Op::Unsupported(group) => {
                let group = group.map_or_else(String::new, |group| format!(" ({group})"));
                simt::trap(&format!("{}{group} is not supported", instruction.shown));
            }
            _ => unreachable!("`step` executes all others"),
        }
    }

    #[inline]
    fn compute(&mut self, compute: Compute, to: Slot, [a, b, c, d]: &[Slot; 4]) {
        let (value, undefined) = match compute {
            Compute::One(function) => {
                let ([a], undefined) = self.read_all([*a]);
                (function(a), undefined)
            }
            Compute::Two(function) => {
                let ([a, b], undefined) = self.read_all([*a, *b]);
                (function(a, b), undefined)
            }
            Compute::Three(function) => {
                let ([a, b, c], undefined) = self.read_all([*a, *b, *c]);
                (function(a, b, c), undefined)
            }
            Compute::Four(function) => {
                let ([a, b, c, d], undefined) = self.read_all([*a, *b, *c, *d]);
                (function(a, b, c, d), undefined)
            }
        };
        self.write(to, value, undefined);
    }

    fn pack(&mut self, to: Slot, from: &[Slot], width: u32) {
        let (mut value, mut undefined) = (0, 0);
        for (part, source) in from.iter().enumerate() {
            let (bits, bytes) = self.register(*source);
            let shift = part as u32 * width;
            value |= low_bits(bits, width) << shift;
            undefined |= (low_bits(bytes.into(), width / 8) << (shift / 8)) as u8;
        }
        self.write(to, value, undefined);
    }

    #[inline]
    fn compare(&mut self, it: &Comparing) {
        let ([a, b], mut undefined) = self.read_all(it.sources);
        let mut value = (it.compare)(a, b);
        let mut other = match it.others {
            Others::Opposite => !value,
            Others::Upper | Others::UpperJoined => (it.compare)(a >> 16, b >> 16),
        };
        if let Some((combine, predicate)) = it.combine {
            let (third, unknown) = self.predicate(predicate);
            (value, other) = (combine(value, third), combine(other, third));
            undefined |= unknown;
        }
        let bits = |result: bool| if result { it.truth } else { 0 };
        if it.others == Others::UpperJoined {
            return self.write(it.to, bits(value) | bits(other) << 16, undefined);
        }
        self.write(it.to, bits(value), undefined);
        self.write(it.other, bits(other), undefined);
    }

    fn convert(&mut self, it: &Converting) {
        let ([first, second], undefined) = self.read_all(it.sources);
        let to = it.convert.to;
        let value = match convert::half_of(to) {
            Some(half) => {
                let upper = convert::convert(&it.convert, half, first);
                upper << 16 | convert::convert(&it.convert, half, second)
            }
            None => convert::convert(&it.convert, to, first),
        };
        let value = match it.extend_to {
            Some(width) => low_bits(extended(value, to.bytes() * 8).cast_unsigned(), width),
            None => value,
        };
        self.write(it.to, value, undefined);
    }
}
