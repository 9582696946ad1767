//! What lanes, warps and blocks can hand to each other: values in words of 32 bits, which is what a
//! shuffle moves, and what fits into a word beside a stamp.

use cuda_std::device;

/// The words of a value, the low one first.
pub type Words = [u32; 4];

/// A value of one to four words of 32 bits.
///
/// # Safety
///
/// `WORDS` is 1 to 4: the host makes room for so many words for each value, and kernels write them.
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_kernels::op::Carried for Mine {} // It takes `unsafe impl`.
/// ```
pub unsafe trait Carried: Copy + Send + Sync + 'static {
    /// How many words it has: 1 to 4.
    const WORDS: usize;

    /// Its words; those it does not have are 0.
    fn to_words(self) -> Words;

    /// The value of these words, to the bit; those it does not have are ignored.
    fn from_words(words: Words) -> Self;
}

macro_rules! of_one_word {
    ($($ty:ty: $to:expr, $from:expr;)*) => {$(
        // SAFETY: one word.
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
        // SAFETY: two words.
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

// Below, what is done word by word is written out: an array that is indexed by a variable would live in
// local memory.

/// What `f` makes of each word of `value`.
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

/// Calls `f` with the number of each word of `value`, and the word.
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

/// How many words an `A` and a `B` have together; more than four do not compile.
pub(super) const fn count_of_two<A: Carried, B: Carried>() -> usize {
    let count = A::WORDS + B::WORDS;
    assert!(count <= 4, "a value has four words at most");
    count
}

/// The words of `first`, and then those of `second`.
#[inline(always)]
pub(super) fn words_of_two<A: Carried, B: Carried>(first: A, second: B) -> Words {
    let ([a, b, c, _], [d, e, ..]) = (first.to_words(), second.to_words());
    match A::WORDS {
        1 => [a, d, e, 0],
        2 => [a, b, d, e],
        _ => [a, b, c, d],
    }
}

/// The two values that [`words_of_two`] put together.
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
