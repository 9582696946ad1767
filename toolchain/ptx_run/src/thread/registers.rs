//! Registers. A byte of a register that was not written is undefined. Copies keep that, and a
//! computation with an undefined operand has an undefined result. Only its use is a fault.

use super::Thread;
use crate::code::{Code, Constant, Instruction, Predicate, Slot};

/// A register.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Register {
    value: u64,
    /// The bytes that are undefined, the lowest first.
    undefined: u8,
}

impl Register {
    pub(super) const UNDEFINED: Self = Self { value: 0, undefined: ALL };
}

/// All bytes of a register.
const ALL: u8 = u8::MAX;

impl Thread<'_> {
    /// The value of a register and its undefined bytes.
    #[inline]
    pub(super) fn register(&self, slot: Slot) -> (u64, u8) {
        let at = self.registers + slot as usize;
        let Register { value, undefined } = self.values[at];
        (value, undefined)
    }

    /// Writes a register.
    #[inline]
    pub(super) fn write(&mut self, slot: Slot, value: u64, undefined: u8) {
        let at = self.registers + slot as usize;
        let register = &mut self.values[at];
        self.changes.any |= register.value != value;
        *register = Register { value, undefined };
    }

    /// Whether a predicate is true, and its undefined bytes.
    #[inline]
    pub(super) fn predicate(&self, it: Predicate) -> (bool, u8) {
        let (value, undefined) = self.register(it.slot);
        ((value != 0) != it.negated, undefined)
    }

    /// Writes the constants of a function.
    pub(super) fn write_constants(&mut self, code: &Code) {
        let first = self.registers + code.first_constant();
        for (index, constant) in code.constants.iter().enumerate() {
            let value = match *constant {
                Constant::Value(value) => value,
                Constant::Variable(index, offset) => {
                    self.program.variable(index).wrapping_add_signed(offset)
                }
                Constant::Frame(offset) => (self.frame as u64).wrapping_add_signed(offset),
                Constant::Special(value) => value(&self.position),
                Constant::SharedSize(fixed) => fixed + self.dynamic.1 as u64,
                Constant::Workspace { upper } => {
                    let address = self.program.workspace();
                    if upper { address >> 32 } else { address & u64::from(u32::MAX) }
                }
            };
            self.values[first + index] = Register { value, undefined: 0 };
        }
    }

    /// The values of operands, and whether the result is undefined.
    #[inline]
    pub(super) fn read_all<const N: usize>(&self, sources: [Slot; N]) -> ([u64; N], u8) {
        // `array::map` is not inlined here.
        let (mut values, mut undefined) = ([0; N], 0);
        for (place, slot) in values.iter_mut().zip(sources) {
            let (value, bytes) = self.register(slot);
            *place = value;
            undefined |= bytes;
        }
        (values, if undefined == 0 { 0 } else { ALL })
    }

    /// Whether a predicate that is voted is true.
    ///
    /// # Panics
    /// With a fault, if it is undefined.
    pub(super) fn voted(&self, it: Predicate, instruction: &Instruction) -> bool {
        (self.used(it.slot, 1, instruction, "voted") != 0) != it.negated
    }

    /// The value of an operand of which `bytes` bytes are used.
    ///
    /// # Panics
    /// With a fault, if one of them is undefined.
    #[inline]
    pub(super) fn used(
        &self,
        source: Slot,
        bytes: u32,
        instruction: &Instruction,
        what: &str,
    ) -> u64 {
        let (value, undefined) = self.register(source);
        if undefined << (8 - bytes) != 0 {
            self.refuse_undefined(source, instruction, what);
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
