//! Sums with a carry, for integers of several registers.

use ptx::Type;
use ptx::decode::{Arithmetic, Function, Variant};

/// A sum with a carry in and out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carry {
    function: Function,
    variant: Option<Variant>,
    width: u32,
    signed: bool,
    /// Whether the carry out is kept.
    pub(crate) sets: bool,
}

impl Carry {
    /// The computation, if it reads or sets the carry.
    pub(crate) fn of(it: &Arithmetic) -> Option<Self> {
        use Function::{Add, AddCarry, Mad, MadCarry, Sub, SubCarry};
        let reads = matches!(it.function, AddCarry | SubCarry | MadCarry);
        let sets = it.sets_carry;
        let known = reads || sets && matches!(it.function, Add | Sub | Mad);
        let width = match it.ty {
            Type::U32 | Type::S32 | Type::B32 => 32,
            Type::U64 | Type::S64 | Type::B64 => 64,
            _ => return None,
        };
        let products = !matches!(it.variant, Some(Variant::Wide));
        let signed = it.ty.is_signed();
        (known && products && !it.saturate).then_some(Self {
            function: it.function,
            variant: it.variant,
            width,
            signed,
            sets,
        })
    }

    /// The number of operands.
    pub(crate) fn operands(self) -> usize {
        if matches!(self.function, Function::Mad | Function::MadCarry) { 3 } else { 2 }
    }

    /// The result and the carry. For a difference, the carry is the borrow.
    pub(crate) fn compute(self, [a, b, c]: [u64; 3], carry: bool) -> (u64, bool) {
        use Function::{AddCarry, Mad, MadCarry, Sub, SubCarry};
        let carry = carry && matches!(self.function, AddCarry | SubCarry | MadCarry);
        let (a, b) = match self.function {
            Mad | MadCarry => (self.product(a, b), c),
            _ => (a, b),
        };
        let (a, b, carry) = (u128::from(a), u128::from(b), u128::from(carry));
        let result = match self.function {
            Sub | SubCarry => a.wrapping_sub(b).wrapping_sub(carry),
            _ => a + b + carry,
        };
        (super::low_bits(result as u64, self.width), result >> self.width & 1 == 1)
    }

    /// The lower or upper half of a product.
    fn product(self, a: u64, b: u64) -> u64 {
        let of = |value: u64| {
            if self.signed {
                i128::from(super::extended(value, self.width))
            } else {
                i128::from(value)
            }
        };
        let product = of(a).wrapping_mul(of(b));
        let shift = if self.variant == Some(Variant::High) { self.width } else { 0 };
        super::low_bits((product >> shift) as u64, self.width)
    }
}
