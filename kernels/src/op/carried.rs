//! Values that lanes, warps and blocks pass to each other, as 32-bit words. A shuffle moves one
//! word, and one word fits next to a stamp.

use cuda_std::device;

/// The most words of a value.
pub const MOST_WORDS: usize = 16;

/// The words of a value, lowest first.
pub type Words = [u32; MOST_WORDS];

/// A value of one to [`MOST_WORDS`] 32-bit words. Scans and exchanges carry at most four.
///
/// # Safety
///
/// `WORDS` is 1 to [`MOST_WORDS`]: the host allocates that many words per value, and kernels write
/// that many.
///
/// ```compile_fail,E0200
/// struct Mine;
/// impl gridsync_kernels::op::Carried for Mine {} // It needs `unsafe impl`.
/// ```
pub unsafe trait Carried: Copy + Send + Sync + 'static {
    /// The number of words, 1 to [`MOST_WORDS`].
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
                words_of([to(self)])
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
                words_of([bits as u32, (bits >> 32) as u32])
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

/// These words, and 0 for the others.
#[inline(always)]
#[must_use]
pub const fn words_of<const N: usize>(first: [u32; N]) -> Words {
    let (mut words, mut i) = ([0; MOST_WORDS], 0);
    while i < N {
        words[i] = first[i];
        i += 1;
    }
    words
}

/// Calls the macro with the index of each word: loops over words are written out, because an array
/// indexed by a variable would be in local memory.
macro_rules! for_each_index {
    ($do:ident) => {
        $do! { 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 }
    };
}

/// Applies `f` to each word of `value`.
#[device]
pub(crate) fn map_words<T: Carried>(value: T, mut f: impl FnMut(u32) -> u32) -> Words {
    let mut words = value.to_words();
    macro_rules! map {
        ($($i:literal)*) => {$(
            if T::WORDS > $i {
                words[$i] = f(words[$i]);
            }
        )*};
    }
    for_each_index!(map);
    words
}

/// Calls `f` with the index of each word of `value` and the word.
#[device]
pub(crate) fn for_each_word<T: Carried>(value: T, mut f: impl FnMut(usize, u32)) {
    let words = value.to_words();
    macro_rules! call {
        ($($i:literal)*) => {$(
            if T::WORDS > $i {
                f($i, words[$i]);
            }
        )*};
    }
    for_each_index!(call);
}

/// Whether two values have the same words.
#[device]
pub fn same_words<T: Carried>(a: T, b: T) -> bool {
    let (mut same, b) = (true, b.to_words());
    for_each_word(a, |i, word| same &= word == b[i]);
    same
}

/// The value whose word i is `f(i)`.
#[device]
pub(crate) fn from_each_word<T: Carried>(mut f: impl FnMut(usize) -> u32) -> T {
    let mut words = [0; MOST_WORDS];
    macro_rules! set {
        ($($i:literal)*) => {$(
            if T::WORDS > $i {
                words[$i] = f($i);
            }
        )*};
    }
    for_each_index!(set);
    T::from_words(words)
}

/// The words of an `A` and a `B` together. More than [`MOST_WORDS`] do not compile.
pub(super) const fn count_of_two<A: Carried, B: Carried>() -> usize {
    let count = A::WORDS + B::WORDS;
    assert!(count <= MOST_WORDS, "a value has too many words");
    count
}

/// The words of `first`, then those of `second`.
#[inline(always)]
pub(super) fn words_of_two<A: Carried, B: Carried>(first: A, second: B) -> Words {
    let (mut words, second) = (first.to_words(), second.to_words());
    macro_rules! append {
        ($($i:literal)*) => {$(
            if A::WORDS <= $i && $i < A::WORDS + B::WORDS {
                words[$i] = second[$i - A::WORDS];
            }
        )*};
    }
    for_each_index!(append);
    words
}

/// Undoes [`words_of_two`].
#[inline(always)]
pub(super) fn two_of_words<A: Carried, B: Carried>(words: Words) -> (A, B) {
    let mut second = [0; MOST_WORDS];
    macro_rules! split {
        ($($i:literal)*) => {$(
            if $i + A::WORDS < MOST_WORDS && $i < B::WORDS {
                second[$i] = words[$i + A::WORDS];
            }
        )*};
    }
    for_each_index!(split);
    (A::from_words(words), B::from_words(second))
}
