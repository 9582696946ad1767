//! Operands as registers, constants and addresses.

use std::cell::RefCell;
use std::collections::HashMap;

use ptx::decode::Rounding;
use ptx::{Base, Body, Linkage, Module, Operand, Register, Space, Symbol, Type};

use crate::arithmetic::low_bits;
use crate::arithmetic::round::Format;
use crate::code::{Address, Constant, Predicate, Slot};
use crate::layout::{Frame, Window};
use crate::special::special;
use crate::thread::function_address;
use crate::uses::RESERVED;

/// What the names of a function's operands refer to.
pub(super) struct Operands<'a> {
    pub(super) module: &'a Module,
    pub(super) window: &'a Window,
    /// The index of the function.
    pub(super) function: usize,
    pub(super) frame: &'a Frame,
    pub(super) body: &'a Body,
    pub(super) constants: RefCell<Constants>,
}

/// The constants of a function, each once.
#[derive(Debug, Default)]
pub(super) struct Constants {
    pub(super) all: Vec<Constant>,
    values: HashMap<u64, Slot>,
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

    /// The register of a constant.
    fn constant(&self, constant: Constant) -> Slot {
        let constants = &mut *self.constants.borrow_mut();
        let next = self.sink() + 1 + constants.all.len() as u32;
        let slot = match constant {
            Constant::Value(value) => *constants.values.entry(value).or_insert(next),
            _ => next,
        };
        if slot == next {
            constants.all.push(constant);
        }
        slot
    }

    /// The register of a number.
    pub(super) fn value(&self, value: u64) -> Slot {
        self.constant(Constant::Value(value))
    }

    /// A value of this type.
    pub(super) fn source(&self, operand: &Operand, ty: Type) -> Option<Slot> {
        let width = ty.bytes() * 8;
        let bits = match operand {
            Operand::Register(register) => return self.register(*register),
            Operand::Special(register) => {
                let constant = match register.name {
                    "%total_smem_size" | "%aggr_smem_size" => {
                        Constant::SharedSize(self.window.bytes() as u64)
                    }
                    // Of cooperative groups.
                    "%envreg1" => Constant::Workspace { upper: true },
                    "%envreg2" => Constant::Workspace { upper: false },
                    name if let Some(ending) = name.strip_prefix(RESERVED) => {
                        Constant::Value(self.window.reserved(ending)? as u64)
                    }
                    _ => Constant::Special(special(*register)?),
                };
                return Some(self.constant(constant));
            }
            Operand::Symbol(symbol, offset) => {
                return Some(self.constant(self.address_of(*symbol, *offset)?));
            }
            Operand::Integer(value) if ty == Type::Pred => (*value != 0).into(),
            Operand::Integer(value) => low_bits(value.cast_unsigned(), width),
            Operand::Single(bits) => (*bits).into(),
            // A decimal number may stand for a smaller float too.
            Operand::Double(bits) => match Format::of(ty) {
                Some(format) => format.round(f64::from_bits(*bits), Rounding::Nearest),
                None => *bits,
            },
            _ => return None,
        };
        Some(self.value(bits))
    }

    /// A value of the type at this index of the operands.
    pub(super) fn source_at(&self, operands: &[Operand], at: usize, ty: Type) -> Option<Slot> {
        self.source(operands.get(at)?, ty)
    }

    /// A predicate.
    pub(super) fn predicate(&self, operand: &Operand) -> Option<Predicate> {
        match operand {
            Operand::Not(register) => {
                Some(Predicate { slot: self.register(*register)?, negated: true })
            }
            other => Some(Predicate { slot: self.source(other, Type::Pred)?, negated: false }),
        }
    }

    /// The offset in the frame of a parameter or local variable.
    pub(super) fn offset(&self, operand: &Operand) -> Option<usize> {
        let Operand::Symbol(symbol, offset) = operand else { return None };
        match self.address_of(*symbol, *offset)? {
            Constant::Frame(offset) => usize::try_from(offset).ok(),
            _ => None,
        }
    }

    /// An address in brackets.
    pub(super) fn address(&self, operand: &Operand) -> Option<Address> {
        let Operand::Memory(address) = operand else { return None };
        let base = match address.base {
            Base::Register(register) => self.register(register)?,
            Base::Symbol(symbol) => self.constant(self.address_of(symbol, 0)?),
            Base::Zero => self.value(0),
        };
        Some(Address { base, offset: address.offset })
    }

    /// The address of a variable in its space, or of a function.
    fn address_of(&self, symbol: Symbol, offset: i64) -> Option<Constant> {
        if let Some(address) = self.window.address(self.function, symbol) {
            return Some(Constant::Value((address as u64).wrapping_add_signed(offset)));
        }
        Some(match symbol {
            Symbol::Global(index) => {
                let variable = &self.module.variables[index as usize];
                let is_memory = matches!(variable.space, Space::Global | Space::Constant);
                if !is_memory || variable.linkage == Linkage::Extern {
                    return None;
                }
                Constant::Variable(index, offset)
            }
            Symbol::Function(index) => Constant::Value(function_address(index)),
            Symbol::Parameter(index) => frame(self.frame.parameters[index as usize].0, offset),
            Symbol::Result(index) => frame(self.frame.results[index as usize].0, offset),
            Symbol::Local(index) => frame(self.frame.variables[index as usize]?, offset),
        })
    }
}

fn frame(at: usize, offset: i64) -> Constant {
    Constant::Frame((at as i64).wrapping_add(offset))
}
