//! Elements as ranks: 32 bits that stand in the order of the elements.

use super::{Side, report_nan};
use crate::op::Number;
use cuda_std::prelude::*;

/// A number whose order that of unsigned integers can stand for.
pub trait Ordered: Number {
    /// The integers, as wide as the number.
    type Bits: Scalar + Ord;

    /// Of two numbers the lesser has the lesser integer, and equal ones have the same: −0 that of +0.
    /// Means nothing for NaN.
    fn ordered(self) -> Self::Bits;
}

macro_rules! unsigned {
    ($($ty:ty),*) => {$(
        impl Ordered for $ty {
            type Bits = Self;

            #[inline(always)]
            fn ordered(self) -> Self {
                self
            }
        }
    )*};
}
unsigned!(u32, u64);

macro_rules! signed {
    ($($ty:ty => $bits:ty),*) => {$(
        impl Ordered for $ty {
            type Bits = $bits;

            #[inline(always)]
            fn ordered(self) -> $bits {
                (self ^ <$ty>::MIN) as $bits
            }
        }
    )*};
}
signed!(i32 => u32, i64 => u64);

macro_rules! floats {
    ($($ty:ty => $bits:ty),*) => {$(
        impl Ordered for $ty {
            type Bits = $bits;

            // As integers with a sign apart: negative ones are turned over, the others go above them.
            #[inline(always)]
            fn ordered(self) -> $bits {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let bits = if self == 0.0 { 0 } else { self.to_bits() };
                if bits & SIGN == 0 { bits | SIGN } else { !bits }
            }
        }
    )*};
}
floats!(f32 => u32, f64 => u64);

/// The integer of element `index`; a NaN leaves its index in the counts.
#[device]
fn ordered<T: Ordered>(
    values: Global<T>,
    index: usize,
    counts: Global<u64>,
    side: Side,
) -> T::Bits {
    let value = values.read(index);
    if value.is_nan() {
        report_nan(counts, side, index);
    }
    value.ordered()
}

/// Sets a half of key `index`.
#[device]
fn set_half(keys: Global<u64>, index: usize, side: Side, rank: u32) {
    // The lower half lies first.
    let half = match side {
        Side::X => 1,
        Side::Y => 0,
    };
    keys.cast::<u32>().write(2 * index + half, rank);
}

/// Sets the halves of `keys` that are of `side` to the elements themselves, whose 32 bits are rank
/// enough. Called by a thread at least for each element, of a grid of any shape.
#[device]
pub fn place<T: Ordered<Bits = u32>>(
    values: Global<T>,
    keys: Global<u64>,
    counts: Global<u64>,
    side: Side,
) {
    let index = thread::index();
    if index < values.len() {
        set_half(keys, index, side, ordered(values, index, counts, side));
    }
}

/// Sets `bits` to the integers of the elements, to be sorted for [`rank`]. Called as [`place`].
#[device]
pub fn order<T: Ordered<Bits = u64>>(
    values: Global<T>,
    bits: Global<u64>,
    counts: Global<u64>,
    side: Side,
) {
    let index = thread::index();
    if index < values.len() {
        bits.write(index, ordered(values, index, counts, side));
    }
}

/// Sets the halves of `keys` that are of `side` to the ranks of the elements: how many are less than
/// each, found by halving in `sorted`, what [`order`] gave, in order. Called as [`place`]; there are
/// fewer than 2^32 elements.
#[device]
pub fn rank<T: Ordered<Bits = u64>>(
    values: Global<T>,
    sorted: Global<u64>,
    keys: Global<u64>,
    side: Side,
) {
    let index = thread::index();
    if index >= values.len() {
        return;
    }
    let bits = values.read(index).ordered();
    let (mut low, mut high) = (0, values.len());
    while low < high {
        let at = low.midpoint(high);
        if sorted.read(at) < bits {
            low = at + 1;
        } else {
            high = at;
        }
    }
    set_half(keys, index, side, low as u32);
}
