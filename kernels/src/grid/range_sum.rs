//! Sums of ranges of an array, from the sums of all its elements up to each one.

use crate::op::Number;
use cuda_std::prelude::*;

/// Subtracts: integers wrap around.
pub trait Subtract: Number {
    /// This less `other`.
    fn subtract(self, other: Self) -> Self;
}

macro_rules! subtract {
    ($($ty:ty: $by:expr;)*) => {$(
        impl Subtract for $ty {
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                let by: fn(Self, Self) -> Self = $by;
                by(self, other)
            }
        }
    )*};
}
subtract! {
    f32: |a, b| a - b;
    f64: |a, b| a - b;
    i64: i64::wrapping_sub;
    u64: u64::wrapping_sub;
}

/// Whether `from..to` is a range of `len` elements.
#[inline(always)]
#[must_use]
pub const fn is_range(from: u64, to: u64, len: usize) -> bool {
    from <= to && to <= len as u64
}

/// The sum of the elements `from..to`, which [`is_range`], where `prefix(i)` is the sum of elements 0
/// to i: two reads and one subtraction. That of no elements is 0, −0 in floating point.
#[inline(always)]
#[must_use]
pub fn range_sum<A: Subtract>(from: u64, to: u64, prefix: impl Fn(usize) -> A) -> A {
    if from == to {
        return A::ZERO;
    }
    let up_to = prefix(to as usize - 1);
    if from == 0 {
        return up_to;
    }
    up_to.subtract(prefix(from as usize - 1))
}

/// Answers `queries`, of two words each, `from` and `to`: sets `sums` to the sums of these ranges, where
/// `prefixes` is the inclusive scan of the array. A query that is no range gets 0, and the first such
/// leaves 2^64 − 1 less its number in word 0 of `bad`, which is 0 before.
///
/// Called by a thread at least for each query, of a grid of any shape. `queries` begin at a multiple of
/// 16 bytes. Moves 16 bytes in for each query, two sums, and one out.
#[device]
pub fn range_sums<A: Subtract>(
    prefixes: Global<A>,
    queries: Global<u64>,
    sums: Global<A>,
    bad: Global<u64>,
) {
    let query = thread::index();
    if query >= sums.len() {
        return;
    }
    let [from, to] = queries.read_pack(2 * query, CacheHint::ReadOnly);
    let sum = if is_range(from, to, prefixes.len()) {
        range_sum(from, to, |i| prefixes.read(i))
    } else {
        // Relaxed: it is read after the launch.
        bad.fetch_max(0, !(query as u64), Ordering::Relaxed, Scope::Device);
        A::ZERO
    };
    sums.write(query, sum);
}
