//! The first index of the extreme of integers.

use crate::parallel::{self, CHUNK};

/// The first maximum or minimum of integers that are passed part by part, as found by `ArgMax` and
/// `ArgMin`. The extreme of a chunk is computed first, by a loop that the compiler vectorises
/// without widening the integers, and its index only if the extreme beats all earlier ones.
pub struct FirstExtreme<T, F> {
    extreme: F,
    /// The extreme so far, and its index.
    found: Option<(u64, T)>,
    /// The index of the next element.
    next: u64,
}

impl<T, F> FirstExtreme<T, F>
where
    T: Copy + Eq + Send + Sync,
    F: Fn(T, T) -> T + Copy + Sync,
{
    /// `extreme` returns the extreme of two elements, such as `u8::max`.
    pub fn new(extreme: F) -> Self {
        Self { extreme, found: None, next: 0 }
    }

    /// Adds the next elements, on all cores.
    pub fn next(&mut self, input: &[T]) {
        let extreme = self.extreme;
        let each = parallel::map_chunks(input.len(), CHUNK, &|chunk| {
            let elements = &input[chunk];
            elements.iter().fold(elements[0], |all, &x| extreme(all, x))
        });
        let best = each.iter().copied().reduce(extreme);
        let is_better =
            |&best: &T| self.found.is_none_or(|(_, old)| old != best && extreme(old, best) == best);
        if let Some(best) = best.filter(is_better)
            && let Some(chunk) = each.iter().position(|&of_chunk| of_chunk == best)
            && let Some(at) = input[chunk * CHUNK..].iter().position(|&x| x == best)
        {
            self.found = Some((self.next + (chunk * CHUNK + at) as u64, best));
        }
        self.next += input.len() as u64;
    }

    /// The index of the first extreme, and the extreme itself. `None` without elements.
    pub fn found(self) -> Option<(u64, T)> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::super::reduce;
    use super::*;
    use gridsync_kernels::op::{ArgMax, ArgMin, Indexed};
    use std::fmt::Debug;

    /// Compares with the reductions of the widened elements, in parts of each length.
    fn agrees<T>(input: &[T], min: fn(T, T) -> T, max: fn(T, T) -> T)
    where
        T: Copy + Eq + Debug + Send + Sync + Into<i32>,
    {
        let wide: Vec<i32> = input.iter().map(|&x| x.into()).collect();
        for part in [1000, CHUNK - 1, CHUNK, CHUNK + 1, 1 << 20] {
            let found = |extreme: fn(T, T) -> T| {
                let mut first = FirstExtreme::new(extreme);
                input.chunks(part).for_each(|part| first.next(part));
                let indexed = |(index, value): (u64, T)| Indexed { value: value.into(), index };
                first.found().map(indexed)
            };
            let len = input.len();
            assert_eq!(found(min), reduce(ArgMin::new(), &wide), "least of {len} by {part}");
            assert_eq!(found(max), reduce(ArgMax::new(), &wide), "greatest of {len} by {part}");
        }
    }

    #[test]
    fn agrees_with_reductions_of_widened_elements() {
        for len in [0, 1, 31, 32, 33, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 17] {
            let drawn = |i: usize| (i as u32 + 1).wrapping_mul(0x9E37_79B1);
            // Many extremes, one at the very end, and one in the middle.
            let mut bytes: Vec<u8> = (0..len).map(|i| (drawn(i) >> 24) as u8).collect();
            agrees(&bytes, u8::min, u8::max);
            bytes.iter_mut().for_each(|x| *x = *x % 100 + 50);
            bytes.iter_mut().rev().take(1).for_each(|x| *x = 255);
            agrees(&bytes, u8::min, u8::max);
            bytes.iter_mut().skip(len / 2).take(1).for_each(|x| *x = 0);
            agrees(&bytes, u8::min, u8::max);
            let signed: Vec<i8> = bytes.iter().map(|&x| x as i8).collect();
            agrees(&signed, i8::min, i8::max);
            let long: Vec<i16> = (0..len).map(|i| (drawn(i) >> 16) as i16).collect();
            agrees(&long, i16::min, i16::max);
            let long: Vec<u16> = long.iter().map(|&x| x as u16).collect();
            agrees(&long, u16::min, u16::max);
            agrees(&vec![7u16; len], u16::min, u16::max);
        }
    }
}
