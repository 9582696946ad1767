//! Operands as registers, constants and addresses.

use ptx::decode::Rounding;
use ptx::{Base, Body, Linkage, Module, Operand, Register, Space, Symbol, Type};

use crate::arithmetic::low_bits;
use crate::arithmetic::round::Format;
use crate::code::{Address, Slot, Source};
use crate::layout::{Frame, Window};
use crate::special::special;
use crate::thread::function_address;

/// What the names of a function's operands refer to.
pub(super) struct Operands<'a> {
    pub(super) module: &'a Module,
    pub(super) window: &'a Window,
    /// The index of the function.
    pub(super) function: usize,
    pub(super) frame: &'a Frame,
    pub(super) body: &'a Body,
}

impl Operands<'_> {
    /// The register that is only written.
    pub(super) fn sink(&self) -> Slot {
        self.body.registers.count()
    }

    /// A register, unless it is a vector or has more than 64 bits.
    fn register(&self, register: Register) -> Option<Slot> {
        let family = self.body.registers.family(register);
        (family.vector == 1 && family.ty.bytes() <= 8).then_some(register.0)
    }

    /// The bits of a register.
    pub(super) fn width(&self, slot: Slot) -> u32 {
        if slot == self.sink() { 64 } else { self.body.registers.ty(Register(slot)).bytes() * 8 }
    }

    /// A destination.
    pub(super) fn slot(&self, operand: &Operand) -> Option<Slot> {
        match operand {
            Operand::Register(register) => self.register(*register),
            Operand::Sink => Some(self.sink()),
            _ => None,
        }
    }

    /// One or two destinations. Without a second one it is the sink.
    pub(super) fn pair(&self, operand: &Operand) -> Option<(Slot, Slot)> {
        match operand {
            Operand::Pair(both) => Some((self.slot(&both[0])?, self.slot(&both[1])?)),
            one => Some((self.slot(one)?, self.sink())),
        }
    }

    /// The elements of a vector, or one operand.
    pub(super) fn elements<'o>(&self, operand: &'o Operand) -> &'o [Operand] {
        match operand {
            Operand::Vector(elements) => elements,
            one => std::slice::from_ref(one),
        }
    }

    /// A value of this type.
    pub(super) fn source(&self, operand: &Operand, ty: Type) -> Option<Source> {
        let width = ty.bytes() * 8;
        Some(match operand {
            Operand::Register(register) => Source::Register(self.register(*register)?),
            Operand::Not(register) => Source::Not(register.0),
            Operand::Integer(value) if ty == Type::Pred => Source::Constant((*value != 0).into()),
            Operand::Integer(value) => Source::Constant(low_bits(value.cast_unsigned(), width)),
            Operand::Single(bits) => Source::Constant((*bits).into()),
            // A decimal number may stand for an `f32` too.
            Operand::Double(bits) if ty == Type::F32 => {
                let value = f64::from_bits(*bits);
                Source::Constant(Format::of(ty)?.round(value, Rounding::Nearest))
            }
            Operand::Double(bits) => Source::Constant(*bits),
            Operand::Special(name) => Source::Special(special(*name)?),
            Operand::Symbol(symbol, offset) => self.address_of(*symbol, *offset)?,
            _ => return None,
        })
    }

    /// A value of the type at this index of the operands.
    pub(super) fn source_at(&self, operands: &[Operand], at: usize, ty: Type) -> Option<Source> {
        self.source(operands.get(at)?, ty)
    }

    /// An address in brackets.
    pub(super) fn address(&self, operand: &Operand) -> Option<Address> {
        let Operand::Memory(address) = operand else { return None };
        let base = match address.base {
            Base::Register(register) => Source::Register(self.register(register)?),
            Base::Symbol(symbol) => self.address_of(symbol, 0)?,
            Base::Zero => Source::Constant(0),
        };
        Some(Address { base, offset: address.offset })
    }

    /// The address of a variable in its space, or of a function.
    fn address_of(&self, symbol: Symbol, offset: i64) -> Option<Source> {
        if let Some(address) = self.window.address(self.function, symbol) {
            return Some(Source::Constant((address as u64).wrapping_add_signed(offset)));
        }
        Some(match symbol {
            Symbol::Global(index) => {
                let variable = &self.module.variables[index as usize];
                let is_memory = matches!(variable.space, Space::Global | Space::Constant);
                if !is_memory || variable.linkage == Linkage::Extern {
                    return None;
                }
                Source::Variable(index, offset)
            }
            Symbol::Function(index) => Source::Constant(function_address(index)),
            Symbol::Parameter(index) => frame(self.frame.parameters[index as usize].0, offset),
            Symbol::Result(index) => frame(self.frame.results[index as usize].0, offset),
            Symbol::Local(index) => frame(self.frame.variables[index as usize]?, offset),
        })
    }
}

fn frame(at: usize, offset: i64) -> Source {
    Source::Frame((at as i64).wrapping_add(offset))
}
