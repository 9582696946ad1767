//! Registers. A byte of a register that was not written is undefined. Copies keep that, and a
//! computation with an undefined operand has an undefined result. Only its use is a fault.

use super::Thread;
use crate::code::{Instruction, Slot, Source};

/// All bytes of a register.
const ALL: u8 = u8::MAX;

impl Thread<'_> {
    /// The value of a register and its undefined bytes.
    #[inline]
    pub(super) fn register(&self, slot: Slot) -> (u64, u8) {
        let at = self.registers + slot as usize;
        (self.values[at], self.undefined[at])
    }

    /// Writes a register.
    #[inline]
    pub(super) fn write(&mut self, slot: Slot, value: u64, undefined: u8) {
        let at = self.registers + slot as usize;
        self.changed |= self.values[at] != value;
        self.values[at] = value;
        self.undefined[at] = undefined;
    }

    /// The value of an operand and its undefined bytes.
    #[inline]
    pub(super) fn read(&self, source: Source) -> (u64, u8) {
        match source {
            Source::Register(slot) => self.register(slot),
            Source::Constant(value) => (value, 0),
            Source::Not(slot) => {
                let (value, undefined) = self.register(slot);
                (value ^ 1, undefined)
            }
            Source::Variable(index, offset) => {
                (self.kernel.variable(index).wrapping_add_signed(offset), 0)
            }
            Source::Frame(offset) => ((self.frame as u64).wrapping_add_signed(offset), 0),
            Source::Special(value) => (value(&self.position), 0),
        }
    }

    /// The values of operands, and whether the result is undefined.
    #[inline]
    pub(super) fn read_all<const N: usize>(&self, sources: [Source; N]) -> ([u64; N], u8) {
        let mut undefined = 0;
        let values = sources.map(|source| {
            let (value, bytes) = self.read(source);
            undefined |= bytes;
            value
        });
        (values, if undefined == 0 { 0 } else { ALL })
    }

    /// The value of an operand of which `bytes` bytes are used.
    ///
    /// # Panics
    /// With a fault, if one of them is undefined.
    #[inline]
    pub(super) fn used(
        &self,
        source: Source,
        bytes: u32,
        instruction: &Instruction,
        what: &str,
    ) -> u64 {
        let (value, undefined) = self.read(source);
        if undefined << (8 - bytes) != 0
            && let Source::Register(slot) | Source::Not(slot) = source
        {
            self.refuse_undefined(slot, instruction, what);
        }
        value
    }

    #[cold]
    pub(super) fn refuse_undefined(&self, slot: Slot, instruction: &Instruction, what: &str) -> ! {
        let name = self.code.registers.name(ptx::Register(slot));
        let message = format!(
            "register {name} of {} is {what}, but was not written on this path, or was computed from \
             one that was not",
            self.code.name
        );
        self.trap(instruction, &message)
    }
}
