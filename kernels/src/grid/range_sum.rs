//! Sums of ranges of an array, from its prefix sums.

use crate::op::Number;
use cuda_std::prelude::*;

/// Subtraction. Integers wrap around.
pub trait Subtract: Number {
    /// This minus `other`.
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

/// Whether `from..to` is a valid range of an array of `len` elements.
#[inline(always)]
#[must_use]
pub const fn is_range(from: u64, to: u64, len: usize) -> bool {
    from <= to && to <= len as u64
}

/// The sum of the [valid range](is_range) `from..to`, where `prefix(i)` is the sum of elements 0 to
/// i: two reads and one subtraction. An empty range gives 0, or −0 in floating point.
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

/// Sets `sums` to the sums of the ranges in `queries`, of two words each, `from` and `to`.
/// `prefixes` is the inclusive scan of the array. An invalid query gets 0. The index i of the first
/// one is stored as 2^64 − 1 − i in word 0 of `bad`, which is 0 before.
///
/// Called by at least one thread per query, in a grid of any shape. `queries` begin at a multiple
/// of 16 bytes. Each query reads 16 bytes and two prefix sums, and writes one sum.
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
        // Relaxed: the host reads it after the launch.
        bad.fetch_max(0, !(query as u64), Ordering::Relaxed, Scope::Device);
        A::ZERO
    };
    sums.write(query, sum);
}
