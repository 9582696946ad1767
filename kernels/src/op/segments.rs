//! Operations within segments: nothing is combined across the start of a segment.

use super::carried::{count_of_two, two_of_words, words_of_two};
use super::{Carried, Operation, Words};
use core::marker::PhantomData;
use cuda_std::device;
use cuda_std::launch::KernelArg;
use cuda_std::memory::{Global, Pack, Scalar};

/// Where the segments of an array start. Element 0 always starts one.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Segments {
    /// The length of every segment, or 0 if `marks` has their starts.
    len: u64,
    /// ⌊(2^64 − 1) / `len`⌋.
    reciprocal: u64,
    /// Bit i % 32 of word i / 32 is set if element i starts a segment.
    marks: Global<u32>,
}

// SAFETY: plain numbers and a view, in `repr(C)` layout.
unsafe impl KernelArg for Segments {}

// SAFETY: a view is an address and a length; its creator is responsible for its use.
unsafe impl Send for Segments {}
// SAFETY: a view is an address and a length; its creator is responsible for its use.
unsafe impl Sync for Segments {}

impl Segments {
    /// Segments of `len` elements each: the rows of a matrix with `len` columns.
    ///
    /// # Panics
    /// If `len` is 0.
    #[must_use]
    pub fn rows(len: u64) -> Self {
        assert!(len > 0, "rows of 0 elements");
        Self {
            len,
            reciprocal: u64::MAX / len,
            // SAFETY: the view has no elements.
            marks: unsafe { Global::from_address(0, 0) },
        }
    }

    /// Segments that start at the elements in `marks`: at element i if bit i % 32 of word i / 32 is
    /// set.
    ///
    /// # Safety
    ///
    /// While this is in use, the words are live and are not written. They have a bit for every
    /// element of the array.
    #[must_use]
    pub unsafe fn marked(marks: Global<u32>) -> Self {
        Self { len: 0, reciprocal: 0, marks }
    }

    /// Whether element `index` starts a segment.
    #[device]
    #[must_use]
    pub fn starts(self, index: u64) -> bool {
        if self.len == 0 { self.marks(index) & 1 != 0 } else { self.rest(index) == 0 }
    }

    /// Which elements of a pack of `T` start a segment, if the first has index `first`: bit i is set
    /// if element i does. Higher bits are arbitrary.
    #[device]
    pub(crate) fn starts_of_pack<T: Scalar>(self, first: u64) -> u32 {
        if self.len == 0 {
            return self.marks(first);
        }
        let (mut rest, mut starts) = (self.rest(first), 0);
        T::Pack::splat(()).for_each(|place, ()| {
            starts |= u32::from(rest == 0) << place;
            rest += 1;
            if rest == self.len {
                rest = 0;
            }
        });
        starts
    }

    /// The words of marks from that of element `index` on, and the bit of the element in it. `None`
    /// for rows.
    #[device]
    pub(crate) fn marks_from(self, index: usize) -> Option<(Global<u32>, u32)> {
        let word = index / 32;
        (self.len == 0).then(|| (self.marks.part(word, self.marks.len() - word), index as u32 % 32))
    }

    /// The marks of element `index`, in bit 0, and of later elements in its word.
    #[device]
    fn marks(self, index: u64) -> u32 {
        // A scan also calls this with indices past the end of its array.
        let word = (index / 32) as usize;
        if word < self.marks.len() { self.marks.read(word) >> (index % 32) } else { 0 }
    }

    /// The number of elements between the start of the row of element `index` and it.
    #[device]
    fn rest(self, index: u64) -> u64 {
        // At most 1 too small for indices below 2^63. A division needs about 100 instructions.
        let row = ((u128::from(index) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = index - row * self.len;
        if rest == self.len { 0 } else { rest }
    }
}

/// The combined value of the elements since the start of their segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment<A> {
    /// Whether the segment starts within these elements: then nothing before them counts.
    pub starts: bool,
    /// The combined value.
    pub value: A,
}

// SAFETY: more than `MOST_WORDS` words do not compile.
unsafe impl<A: Carried> Carried for Segment<A> {
    const WORDS: usize = count_of_two::<u32, A>();

    #[inline(always)]
    fn to_words(self) -> Words {
        words_of_two(u32::from(self.starts), self.value)
    }

    #[inline(always)]
    fn from_words(words: Words) -> Self {
        let (starts, value) = two_of_words::<u32, A>(words);
        Self { starts: starts != 0, value }
    }
}

/// `O` within [`Segments`], for scans: each segment separately (Blelloch, "Prefix Sums and Their
/// Applications", 1990, 1.5). It does not commute.
///
/// A floating-point scan keeps the order of the whole array, wherever segments start. So the bits
/// of a segment depend on its position in the array.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct InSegments<O> {
    segments: Segments,
    op: PhantomData<fn() -> O>,
}

// SAFETY: its only field with data is its segments, which are a `KernelArg`.
unsafe impl<O: 'static + Copy> KernelArg for InSegments<O> {}

impl<O> InSegments<O> {
    /// `O` within `segments`.
    #[inline(always)]
    #[must_use]
    pub const fn new(segments: Segments) -> Self {
        let op = PhantomData;
        Self { segments, op }
    }

    /// Where the segments start.
    #[inline(always)]
    #[must_use]
    pub const fn segments(self) -> Segments
    where
        O: Copy,
    {
        self.segments
    }
}

impl<O: Operation + Default> Operation for InSegments<O> {
    type Element = O::Element;
    type Accumulator = Segment<O::Accumulator>;
    type Output = O::Output;
    const COMMUTATIVE: bool = false;
    const EXACT: bool = O::EXACT;
    // Finding out whether a segment starts needs a load or a wide product for each element.
    const LONG: bool = true;

    #[inline(always)]
    fn identity(self) -> Self::Accumulator {
        Segment { starts: false, value: O::default().identity() }
    }

    #[device]
    fn lift(self, element: O::Element, index: u64) -> Self::Accumulator {
        Segment { starts: self.segments.starts(index), value: O::default().lift(element, index) }
    }

    #[inline(always)]
    fn combine(self, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        Segment {
            starts: a.starts || b.starts,
            value: match b.starts {
                true => b.value,
                false => O::default().combine(a.value, b.value),
            },
        }
    }

    // In an exclusive scan the first element of a segment gets the identity.
    #[device]
    fn before(self, before: Self::Accumulator, index: u64) -> Self::Accumulator {
        match self.segments.starts(index) {
            true => Segment { starts: true, value: O::default().identity() },
            false => before,
        }
    }

    #[inline(always)]
    fn finish(self, all: Self::Accumulator) -> O::Output {
        O::default().finish(all.value)
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn a_row_starts_only_at_multiples_of_its_length() {
        for len in [1, 2, 3, 5, 7, 32, 641, 1 << 20, 6_700_417, (1 << 40) + 9, u64::MAX / 2] {
            let rows = Segments::rows(len);
            for row in [0, 1, 2, 3, 1000, 1 << 22] {
                let Some(start) = len.checked_mul(row).filter(|&start| start < 1 << 63) else {
                    continue;
                };
                assert!(rows.starts(start), "{start} of rows of {len}");
                for beside in [start.wrapping_sub(1), start + 1] {
                    let expected = beside.is_multiple_of(len);
                    if beside < 1 << 63 {
                        assert_eq!(rows.starts(beside), expected, "{beside} of rows of {len}");
                    }
                }
            }
        }
    }
}
