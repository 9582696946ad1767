//! `cvt.pack`: two integers, bounded to a smaller type and joined.

use super::{Ternary, extended, low_bits};

/// The function for parts of these bits, signed or not. The third operand is shifted up, and the
/// parts go below it; parts of 16 bits leave no room for it.
pub(crate) fn pack(bits: u32, signed: bool) -> Option<Ternary> {
    Some(match (bits, signed) {
        (16, false) => join::<16, false>,
        (16, true) => join::<16, true>,
        (8, false) => join::<8, false>,
        (8, true) => join::<8, true>,
        (4, false) => join::<4, false>,
        (4, true) => join::<4, true>,
        (2, false) => join::<2, false>,
        (2, true) => join::<2, true>,
        _ => return None,
    })
}

fn join<const BITS: u32, const SIGNED: bool>(a: u64, b: u64, c: u64) -> u64 {
    let (low, high) =
        if SIGNED { (-1 << (BITS - 1), (1 << (BITS - 1)) - 1) } else { (0, (1 << BITS) - 1) };
    let bounded = |value| low_bits(extended(value, 32).clamp(low, high).cast_unsigned(), BITS);
    low_bits(c << (2 * BITS) | bounded(a) << BITS | bounded(b), 32)
}
