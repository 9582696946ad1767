//! What one instruction does.

use super::{Flow, Thread};
use crate::arithmetic::{Binary, Compute, convert, extended, low_bits};
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
            Compute::Masking(function) => self.mask(function, *a, *b),
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

    /// The value of `and` or `or`, and its undefined bytes: those that depend on undefined ones.
    fn mask(&self, function: Binary, a: Slot, b: Slot) -> (u64, u8) {
        let ((a, unknown_a), (b, unknown_b)) = (self.register(a), self.register(b));
        let value = function(a, b);
        if unknown_a | unknown_b == 0 {
            return (value, 0);
        }
        let (all_a, all_b) = (bits_of(unknown_a), bits_of(unknown_b));
        // Each bit of the result is at its least for the least operands.
        let depends = function(a & !all_a, b & !all_b) ^ function(a | all_a, b | all_b);
        let bytes = depends.to_le_bytes().into_iter().rev();
        (value, bytes.fold(0, |all, byte| all << 1 | u8::from(byte != 0)))
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
        let ([a, b], undefined) = self.read_all(it.sources);
        let value = (it.compare)(a, b);
        let other = match it.others {
            Others::Opposite => !value,
            Others::Upper | Others::UpperJoined => (it.compare)(a >> 16, b >> 16),
        };
        let [(value, unknown), (other, unknown_other)] = match it.combine {
            None => [(value, undefined), (other, undefined)],
            Some((combine, predicate)) => {
                let third = self.predicate(predicate);
                [value, other].map(|value| combined(combine, (value, undefined), third))
            }
        };
        let bits = |result: bool| if result { it.truth } else { 0 };
        if it.others == Others::UpperJoined {
            let both = bits(value) | bits(other) << 16;
            return self.write(it.to, both, unknown | unknown_other);
        }
        self.write(it.to, bits(value), unknown);
        self.write(it.other, bits(other), unknown_other);
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

/// All bits of these bytes.
fn bits_of(bytes: u8) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| if bytes >> byte & 1 == 1 { u8::MAX } else { 0 }))
}

/// A combination of two predicates with their undefined bytes. It is defined if it is the same for
/// each value of an undefined one.
fn combined(
    combine: fn(bool, bool) -> bool,
    (a, unknown_a): (bool, u8),
    (b, unknown_b): (bool, u8),
) -> (bool, u8) {
    let value = combine(a, b);
    let others = |known: bool, unknown: u8| if unknown == 0 { known } else { !known };
    let (other_a, other_b) = (others(a, unknown_a), others(b, unknown_b));
    let all = [combine(other_a, b), combine(a, other_b), combine(other_a, other_b)];
    let is_fixed = all.into_iter().all(|other| other == value);
    (value, if is_fixed { 0 } else { u8::MAX })
}
