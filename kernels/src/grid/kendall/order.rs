//! Elements as ranks: 32 bits in the order of the elements.

use super::{Side, report_nan};
use crate::op::Number;
use cuda_std::prelude::*;

/// A number with an order-preserving map to unsigned integers.
pub trait Ordered: Number {
    /// The integer type, as wide as the number.
    type Bits: Scalar + Ord;

    /// The lesser of two numbers has the lesser integer, and equal numbers have the same, including
    /// −0 and +0. Meaningless for NaN.
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

            // Sign and magnitude: negative numbers are inverted, and the others sort after them.
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

/// The integer of element `index`. A NaN records its index in the counts.
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

/// Sets one half of key `index`.
#[device]
fn set_half(keys: Global<u64>, index: usize, side: Side, rank: u32) {
    // The lower half comes first in memory.
    let half = match side {
        Side::X => 1,
        Side::Y => 0,
    };
    keys.cast::<u32>().write(2 * index + half, rank);
}

/// Sets the halves of `keys` for `side` to the elements themselves: their 32 bits, mapped to
/// preserve the order, serve as ranks. Called by at least one thread per element, in a grid of any
/// shape.
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

/// Sets `bits` to the integers of the elements, to be sorted for [`rank`]. Called like [`place`].
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

/// Sets the halves of `keys` for `side` to the ranks of the elements: the number of elements less
/// than each. A binary search in `sorted`, the sorted result of [`order`], finds them. Called like
/// [`place`]; the array has fewer than 2^32 elements.
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
