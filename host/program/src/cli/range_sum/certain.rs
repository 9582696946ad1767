//! Finds the range sums that consist mostly of rounding errors of earlier elements.

use crate::number::Number;
use gridsync::primitives::{RangeSummable, range_bound};

/// The largest relative error of a sum that has three certain digits.
const THREE_DIGITS: f64 = 1e-3;

/// Magnitude of the elements so far: for each part, its end and the sum of the absolute values up
/// to there. Empty if sums are exact.
pub(super) struct Certainty {
    ends: Vec<(u64, f64)>,
    taken: u64,
}

/// The sums with less than three certain digits.
pub(super) struct Uncertain {
    pub(super) count: usize,
    /// The first of them: the index of its query, the sum, and its error bound.
    first: Option<(usize, f64, f64)>,
}

impl Certainty {
    pub(super) fn new() -> Self {
        Self { ends: Vec::new(), taken: 0 }
    }

    /// Adds the next part.
    pub(super) fn next<O: RangeSummable>(&mut self, elements: &[O::Element]) {
        self.taken += elements.len() as u64;
        if let Some(more) = O::magnitude(elements) {
            let before = self.ends.last().map_or(0.0, |(_, magnitude)| *magnitude);
            self.ends.push((self.taken, before + more));
        }
    }

    /// An upper bound of the sum of the absolute values of the elements before `end`.
    fn magnitude(&self, end: u64) -> f64 {
        if end == 0 {
            return 0.0;
        }
        let part = self.ends.partition_point(|(part_end, _)| *part_end < end);
        self.ends.get(part).map_or(0.0, |(_, magnitude)| *magnitude)
    }

    /// Finds the uncertain sums among `sums`, the results of `queries` from a scan of this depth.
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
                _ => continue,
            };
            // A range that starts at the first element is not a difference, so that other elements
            // cost it no digits.
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
    /// A note for the user.
    pub(super) fn note(&self, queries: &[[u64; 2]]) -> Option<String> {
        let (number, sum, bound) = self.first?;
        let [from, to] = queries[number];
        Some(format!(
            "{} of {} sums have fewer than three certain digits, because larger elements come before them: query {number}, {from}..{to}, is {sum:e} and may be off by {bound:.1e}; sum such a range separately",
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
    fn a_small_sum_after_large_elements_is_uncertain() {
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
    fn integer_sums_are_certain() {
        let mut certainty = Certainty::new();
        certainty.next::<Sum<i32, i64>>(&[i32::MAX, 1]);
        let found = certainty.uncertain::<Sum<i32, i64>>(&[[1, 2]], &[1], 20);
        assert_eq!((found.count, found.note(&[[1, 2]])), (0, None));
    }
}
