//! Two operations in one read.

use super::carried::{count_of_two, two_of_words, words_of_two};
use super::{Carried, Operation, Words};

// SAFETY: more than `MOST_WORDS` words do not compile.
unsafe impl<A: Carried, B: Carried> Carried for (A, B) {
    const WORDS: usize = count_of_two::<A, B>();

    #[inline(always)]
    fn to_words(self) -> Words {
        words_of_two(self.0, self.1)
    }

    #[inline(always)]
    fn from_words(words: Words) -> Self {
        two_of_words(words)
    }
}

/// Both operations in one read of the elements. Pairs of pairs combine more of them, as long as
/// their accumulators have at most [`MOST_WORDS`](super::MOST_WORDS) words together.
impl<A: Operation, B: Operation<Element = A::Element>> Operation for (A, B) {
    type Element = A::Element;
    type Accumulator = (A::Accumulator, B::Accumulator);
    type Output = (A::Output, B::Output);
    const COMMUTATIVE: bool = A::COMMUTATIVE && B::COMMUTATIVE;
    const EXACT: bool = A::EXACT && B::EXACT;
    const LONG: bool = A::LONG || B::LONG;
    const NEEDS_LEN: bool = A::NEEDS_LEN || B::NEEDS_LEN;

    #[inline(always)]
    fn identity(self) -> Self::Accumulator {
        (self.0.identity(), self.1.identity())
    }

    #[inline(always)]
    fn lift(self, element: Self::Element, index: u64) -> Self::Accumulator {
        (self.0.lift(element, index), self.1.lift(element, index))
    }

    #[inline(always)]
    fn combine(self, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        (self.0.combine(a.0, b.0), self.1.combine(a.1, b.1))
    }

    #[inline(always)]
    fn take(self, all: Self::Accumulator, element: Self::Element, index: u64) -> Self::Accumulator {
        (self.0.take(all.0, element, index), self.1.take(all.1, element, index))
    }

    #[inline(always)]
    fn take_if(
        self,
        is_in: bool,
        all: Self::Accumulator,
        element: Self::Element,
        index: u64,
    ) -> Self::Accumulator {
        (self.0.take_if(is_in, all.0, element, index), self.1.take_if(is_in, all.1, element, index))
    }

    #[inline(always)]
    fn before(self, before: Self::Accumulator, index: u64) -> Self::Accumulator {
        (self.0.before(before.0, index), self.1.before(before.1, index))
    }

    #[inline(always)]
    fn finish(self, all: Self::Accumulator) -> Self::Output {
        (self.0.finish(all.0), self.1.finish(all.1))
    }

    fn finish_of(self, all: Self::Accumulator, len: u64) -> Self::Output {
        (self.0.finish_of(all.0, len), self.1.finish_of(all.1, len))
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::super::{ArgMax, Compose, Mean, PeakToPeak, Sum, WideSum};
    use super::*;

    #[test]
    fn each_operation_of_a_pair_has_its_own_result() {
        let op =
            (Mean::new(Sum::<i32, i64>::new()), (ArgMax::<i32>::new(), PeakToPeak::<i32>::new()));
        let host = [3, -5, 9, 1];
        let all = (0..).zip(host).fold(op.identity(), |all, (index, x)| op.take(all, x, index));
        let (mean, (greatest, apart)) = op.finish_of(all, host.len() as u64);
        assert_eq!((mean, apart), (Some(2.0), Some(14)));
        assert_eq!(greatest.map(|found| (found.value, found.index)), Some((9, 2)));
    }

    #[test]
    fn a_pair_commutes_and_is_exact_if_both_are() {
        fn about<O: Operation>(_op: O) -> [bool; 3] {
            [O::COMMUTATIVE, O::EXACT, O::NEEDS_LEN]
        }
        let sum = Sum::<u64>::new();
        assert_eq!(about((sum, WideSum::<u64>::new())), [true, true, false]);
        assert_eq!(about((sum, Compose)), [false, true, false]);
        assert_eq!(about((Mean::new(sum), sum)), [true, true, true]);
        assert_eq!(about((Sum::<f32>::new(), ArgMax::<f32>::new())), [true, false, false]);
    }

    #[test]
    fn the_words_of_a_pair_are_those_of_both() {
        type Pair = (u64, (f32, i128));
        let pair: Pair = (1 << 40 | 7, (2.5, -3));
        assert_eq!(Pair::WORDS, 7);
        assert_eq!(Pair::from_words(pair.to_words()), pair);
    }
}
