//! Values that lanes, warps and blocks pass to each other, as 32-bit words. A shuffle moves one
//! word, and one word fits next to a stamp.

use cuda_std::device;

/// The words of a value, lowest first.
pub type Words = [u32; 4];

/// A value of one to four 32-bit words.
///
/// # Safety
///
/// `WORDS` is 1 to 4: the host allocates that many words per value, and kernels write that many.
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_kernels::op::Carried for Mine {} // It needs `unsafe impl`.
/// ```
pub unsafe trait Carried: Copy + Send + Sync + 'static {
    /// The number of words, 1 to 4.
    const WORDS: usize;

    /// The words of the value. Unused words are 0.
    fn to_words(self) -> Words;

    /// The value with exactly these bits. Unused words are ignored.
    fn from_words(words: Words) -> Self;
}

macro_rules! of_one_word {
    ($($ty:ty: $to:expr, $from:expr;)*) => {$(
        // SAFETY: it has one word.
        unsafe impl Carried for $ty {
            const WORDS: usize = 1;

            #[inline(always)]
            fn to_words(self) -> Words {
                let to: fn($ty) -> u32 = $to;
                [to(self), 0, 0, 0]
            }

            #[inline(always)]
            fn from_words([low, ..]: Words) -> Self {
                let from: fn(u32) -> $ty = $from;
                from(low)
            }
        }
    )*};
}
of_one_word! {
    u32: |x| x, |bits| bits;
    i32: |x| x as u32, |bits| bits as i32;
    f32: f32::to_bits, f32::from_bits;
}

macro_rules! of_two_words {
    ($($ty:ty: $to:expr, $from:expr;)*) => {$(
        // SAFETY: it has two words.
        unsafe impl Carried for $ty {
            const WORDS: usize = 2;

            #[inline(always)]
            fn to_words(self) -> Words {
                let to: fn($ty) -> u64 = $to;
                let bits = to(self);
                [bits as u32, (bits >> 32) as u32, 0, 0]
            }

            #[inline(always)]
            fn from_words([low, high, ..]: Words) -> Self {
                let from: fn(u64) -> $ty = $from;
                from(u64::from(high) << 32 | u64::from(low))
            }
        }
    )*};
}
of_two_words! {
    u64: |x| x, |bits| bits;
    i64: |x| x as u64, |bits| bits as i64;
    f64: f64::to_bits, f64::from_bits;
}

// The loops over words below are written out, because an array indexed by a variable would be in
// local memory.

/// Applies `f` to each word of `value`.
#[device]
pub(crate) fn map_words<T: Carried>(value: T, mut f: impl FnMut(u32) -> u32) -> Words {
    let mut words = value.to_words();
    words[0] = f(words[0]);
    if T::WORDS > 1 {
        words[1] = f(words[1]);
    }
    if T::WORDS > 2 {
        words[2] = f(words[2]);
    }
    if T::WORDS > 3 {
        words[3] = f(words[3]);
    }
    words
}

/// Calls `f` with the index of each word of `value` and the word.
#[device]
pub(crate) fn for_each_word<T: Carried>(value: T, mut f: impl FnMut(usize, u32)) {
    let words = value.to_words();
    f(0, words[0]);
    if T::WORDS > 1 {
        f(1, words[1]);
    }
    if T::WORDS > 2 {
        f(2, words[2]);
    }
    if T::WORDS > 3 {
        f(3, words[3]);
    }
}

/// The value whose word i is `f(i)`.
#[device]
pub(crate) fn from_each_word<T: Carried>(mut f: impl FnMut(usize) -> u32) -> T {
    let words = [
        f(0),
        if T::WORDS > 1 { f(1) } else { 0 },
        if T::WORDS > 2 { f(2) } else { 0 },
        if T::WORDS > 3 { f(3) } else { 0 },
    ];
    T::from_words(words)
}

/// The words of an `A` and a `B` together. More than four do not compile.
pub(super) const fn count_of_two<A: Carried, B: Carried>() -> usize {
    let count = A::WORDS + B::WORDS;
    assert!(count <= 4, "a value has four words at most");
    count
}

/// The words of `first`, then those of `second`.
#[inline(always)]
pub(super) fn words_of_two<A: Carried, B: Carried>(first: A, second: B) -> Words {
    let ([a, b, c, _], [d, e, ..]) = (first.to_words(), second.to_words());
    match A::WORDS {
        1 => [a, d, e, 0],
        2 => [a, b, d, e],
        _ => [a, b, c, d],
    }
}

/// Undoes [`words_of_two`].
#[inline(always)]
pub(super) fn two_of_words<A: Carried, B: Carried>(words: Words) -> (A, B) {
    let [_, b, c, d] = words;
    let second = match A::WORDS {
        1 => [b, c, d, 0],
        2 => [c, d, 0, 0],
        _ => [d, 0, 0, 0],
    };
    (A::from_words(words), B::from_words(second))
}
