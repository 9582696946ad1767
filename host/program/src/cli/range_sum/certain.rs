//! Which sums of ranges are mostly rounding errors of the elements before them.

use crate::cli::number::Number;
use gridsync::primitives::{RangeSummable, range_bound};

/// The largest part of a sum that it may be off by and still have three digits.
const THREE_DIGITS: f64 = 1e-3;

/// How large the elements so far are: where each part ended, and the sum of the absolute values up to
/// there. Empty if sums are exact.
pub(super) struct Certainty {
    ends: Vec<(u64, f64)>,
    taken: u64,
}

/// The sums that have less than three certain digits.
pub(super) struct Uncertain {
    pub(super) count: usize,
    /// The first of them: the number of its query, the sum, and how far off it may be.
    first: Option<(usize, f64, f64)>,
}

impl Certainty {
    pub(super) fn new() -> Self {
        Self { ends: Vec::new(), taken: 0 }
    }

    /// Takes the next part.
    pub(super) fn next<O: RangeSummable>(&mut self, elements: &[O::Element]) {
        self.taken += elements.len() as u64;
        if let Some(more) = O::magnitude(elements) {
            let before = self.ends.last().map_or(0.0, |(_, magnitude)| *magnitude);
            self.ends.push((self.taken, before + more));
        }
    }

    /// At least the sum of the absolute values of the elements before `end`.
    fn magnitude(&self, end: u64) -> f64 {
        if end == 0 {
            return 0.0;
        }
        let part = self.ends.partition_point(|(part_end, _)| *part_end < end);
        self.ends.get(part).map_or(0.0, |(_, magnitude)| *magnitude)
    }

    /// The uncertain ones of the `sums` of `queries`, from a scan of this depth.
    pub(super) fn uncertain<O: RangeSummable<Output: Into<Number>>>(
        &self,
        queries: &[[u64; 2]],
        sums: &[O::Output],
        depth: u64,
    ) -> Uncertain {
        let mut found = Uncertain { count: 0, first: None };
        if self.ends.is_empty() {
            return found;
        }
        for (number, (&[from, to], &sum)) in queries.iter().zip(sums).enumerate() {
            let sum = match sum.into() {
                Number::Float(sum) => sum,
                Number::Single(sum) => sum.into(),
                Number::Signed(_) | Number::Unsigned(_) => continue,
            };
            // The sum of a range from the first element on loses nothing to others.
            let is_difference = 0 < from && from < to;
            let bound = range_bound(self.magnitude(from) + self.magnitude(to), depth, O::UNIT);
            if is_difference && bound > THREE_DIGITS * sum.abs() {
                found.count += 1;
                found.first.get_or_insert((number, sum, bound));
            }
        }
        found
    }
}

impl Uncertain {
    /// What the user should know of them.
    pub(super) fn note(&self, queries: &[[u64; 2]]) -> Option<String> {
        let (number, sum, bound) = self.first?;
        let [from, to] = queries[number];
        Some(format!(
            "{} of {} sums have less than three certain digits, because larger elements come before them: query {number}, {from}..{to}, is {sum:e} and may be off by {bound:.1e}; sum such a range by itself",
            self.count,
            queries.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_kernels::op::Sum;

    #[test]
    fn a_small_range_behind_large_elements_is_uncertain() {
        let mut certainty = Certainty::new();
        let depth = 20;
        certainty.next::<Sum<f64>>(&[1.0, 2.0]);
        certainty.next::<Sum<f64>>(&[-9e33, 3.0, 4.0]);
        let queries = [[0, 2], [1, 2], [3, 5], [5, 5], [2, 5]];
        let sums = [3.0, 2.0, 0.0, 0.0, -9e33];
        let found = certainty.uncertain::<Sum<f64>>(&queries, &sums, depth);
        assert_eq!((found.count, found.first.map(|first| first.0)), (1, Some(2)));
        let note = found.note(&queries).expect("there is one");
        assert!(note.contains("1 of 5 sums") && note.contains("query 2, 3..5"), "{note}");
    }

    #[test]
    fn integers_are_certain() {
        let mut certainty = Certainty::new();
        certainty.next::<Sum<i32, i64>>(&[i32::MAX, 1]);
        let found = certainty.uncertain::<Sum<i32, i64>>(&[[1, 2]], &[1], 20);
        assert_eq!((found.count, found.note(&[[1, 2]])), (0, None));
    }
}
