//! What lanes, warps and blocks can hand to each other: values in halves of 32 bits, which is what a
//! shuffle moves, and what fits into a word beside a stamp.

/// The halves of a value, the low one first.
pub type Halves = [u32; 4];

/// A value of one to four halves of 32 bits.
///
/// # Safety
///
/// `HALVES` is 1 to 4: the host makes room for so many words for each value, and kernels write them.
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_kernels::op::Carried for Mine {} // It takes `unsafe impl`.
/// ```
pub unsafe trait Carried: Copy + Send + Sync + 'static {
    /// How many halves it has: 1 to 4.
    const HALVES: usize;

    /// Its halves; those it does not have are 0.
    fn to_halves(self) -> Halves;

    /// The value of these halves, to the bit; those it does not have are ignored.
    fn from_halves(halves: Halves) -> Self;
}

macro_rules! of_one_half {
    ($($ty:ty: $to:expr, $from:expr;)*) => {$(
        // SAFETY: one half.
        unsafe impl Carried for $ty {
            const HALVES: usize = 1;

            #[inline(always)]
            fn to_halves(self) -> Halves {
                let to: fn($ty) -> u32 = $to;
                [to(self), 0, 0, 0]
            }

            #[inline(always)]
            fn from_halves([low, ..]: Halves) -> Self {
                let from: fn(u32) -> $ty = $from;
                from(low)
            }
        }
    )*};
}
of_one_half! {
    u32: |x| x, |bits| bits;
    i32: |x| x as u32, |bits| bits as i32;
    f32: f32::to_bits, f32::from_bits;
}

macro_rules! of_two_halves {
    ($($ty:ty: $to:expr, $from:expr;)*) => {$(
        // SAFETY: two halves.
        unsafe impl Carried for $ty {
            const HALVES: usize = 2;

            #[inline(always)]
            fn to_halves(self) -> Halves {
                let to: fn($ty) -> u64 = $to;
                let bits = to(self);
                [bits as u32, (bits >> 32) as u32, 0, 0]
            }

            #[inline(always)]
            fn from_halves([low, high, ..]: Halves) -> Self {
                let from: fn(u64) -> $ty = $from;
                from(u64::from(high) << 32 | u64::from(low))
            }
        }
    )*};
}
of_two_halves! {
    u64: |x| x, |bits| bits;
    i64: |x| x as u64, |bits| bits as i64;
    f64: f64::to_bits, f64::from_bits;
}

/// How many halves an `A` and a `B` have together; more than four do not compile.
pub(super) const fn count_of_two<A: Carried, B: Carried>() -> usize {
    let count = A::HALVES + B::HALVES;
    assert!(count <= 4, "a value has four halves at most");
    count
}

/// The halves of `first`, and then those of `second`.
#[inline(always)]
pub(super) fn halves_of_two<A: Carried, B: Carried>(first: A, second: B) -> Halves {
    let ([a, b, c, _], [d, e, ..]) = (first.to_halves(), second.to_halves());
    match A::HALVES {
        1 => [a, d, e, 0],
        2 => [a, b, d, e],
        _ => [a, b, c, d],
    }
}

/// The two values that [`halves_of_two`] put together.
#[inline(always)]
pub(super) fn two_of_halves<A: Carried, B: Carried>(halves: Halves) -> (A, B) {
    let [_, b, c, d] = halves;
    let second = match A::HALVES {
        1 => [b, c, d, 0],
        2 => [c, d, 0, 0],
        _ => [d, 0, 0, 0],
    };
    (A::from_halves(halves), B::from_halves(second))
}
