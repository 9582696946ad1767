//! The sample of a selection by rank: its size, and the part of it that encloses some ranks.

use gridsync_kernels::grid::rank::{Bracket, OPEN};
use std::iter::successors;

/// How a [`Ranker`](super::Ranker) looks for elements. The results never depend on it, only the
/// time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// Arrays of up to this many elements are sorted.
    pub shortest: usize,
    /// The most elements of a sample. It never has more than one of 64.
    pub sample: usize,
    /// Standard deviations of a rank's place in the sample that are left on both sides. With 4, one
    /// array in 10 000 is sorted whole.
    pub margin: f64,
    /// The most elements that a filter may find, so that these are searched.
    pub room: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { shortest: 1 << 20, sample: 1 << 18, margin: 4.0, room: usize::MAX }
    }
}

/// A smaller sample than this is not sorted any faster.
const LEAST_SAMPLE: usize = 1 << 12;

/// Microseconds of a sort of so many keys of 4 bytes with indices: a fit to H200, 2026-11-27.
fn time_of_sort(keys: f64) -> f64 {
    match keys {
        ..=4096.0 => 12.0,
        ..=8192.0 => 18.0,
        _ => 28.0 + keys / 44_000.0,
    }
}

/// Microseconds for writing each key in the bracket, by the filter and when they are collected: H200,
/// 2026-11-27.
const TIME_OF_WRITE: f64 = 3.0e-5;

/// The ranks from the first to the last, which are looked for together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ranks {
    pub(super) first: usize,
    pub(super) last: usize,
}

impl Ranks {
    /// How many there are.
    pub(super) fn len(self) -> usize {
        self.last - self.first + 1
    }

    /// These ranks, in order, with adjacent ones together.
    pub(super) fn groups(ranks: &[usize]) -> Vec<Self> {
        let mut ranks = ranks.to_vec();
        ranks.sort_unstable();
        let mut groups: Vec<Self> = Vec::new();
        for rank in ranks {
            match groups.last_mut() {
                Some(group) if rank <= group.last + 1 => group.last = rank,
                _ => groups.push(Self { first: rank, last: rank }),
            }
        }
        groups
    }

    /// The same elements among the `inside` elements after the first `before`, if all are there.
    pub(super) fn after(self, before: usize, inside: usize) -> Option<Self> {
        let first = self.first.checked_sub(before)?;
        let last = self.last - before;
        (last < inside).then_some(Self { first, last })
    }
}

/// A bracket in a sorted sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// Elements of the sample.
    pub(super) sample: usize,
    pub(super) bracket: Bracket,
    /// About how many elements are in the bracket; probably not more.
    pub(super) inside: usize,
}

impl Plan {
    /// The fastest for these ranks of `len` elements, or `None` if a sort is as fast.
    pub(super) fn of(tuning: &Tuning, ranks: Ranks, len: usize) -> Option<Self> {
        let most = tuning.sample.min(len / 64).min(OPEN as usize);
        if len <= tuning.shortest || ranks.len() > len / 8 || most == 0 {
            return None;
        }
        let next = |&size: &usize| (size / 4 >= LEAST_SAMPLE).then_some(size / 4);
        let plans = successors(Some(most), next)
            .filter_map(|sample| Self::within(tuning, (0, sample), sample, ranks, len));
        let time = |plan: &Self| {
            let inside = plan.inside as f64;
            time_of_sort(plan.sample as f64) + time_of_sort(inside) + TIME_OF_WRITE * inside
        };
        plans.min_by(|a, b| time(a).total_cmp(&time(b)))
    }

    /// A narrower bracket for these ranks of the elements that a filter by this one has found.
    pub(super) fn again(self, tuning: &Tuning, ranks: Ranks, found: usize) -> Option<Self> {
        let Bracket { low, high, .. } = self.bracket;
        let first = if low == OPEN { 0 } else { low as usize };
        let last = if high == OPEN { self.sample } else { high as usize };
        Self::within(tuning, (first, last), self.sample, ranks, found)
    }

    /// A bracket for these ranks of `len` elements, of which the keys `first` to `last` of a sample
    /// were drawn. `None` if it would enclose them all.
    fn within(
        tuning: &Tuning,
        (first, last): (usize, usize),
        sample: usize,
        ranks: Ranks,
        len: usize,
    ) -> Option<Self> {
        if last <= first {
            return None;
        }
        let (drawn, stride) = ((last - first) as f64, len as f64 / (last - first) as f64);
        // The place of a rank is nearly that of the sample's elements before it, which are a
        // binomial number.
        let around = |rank: usize, side: f64| {
            let share = rank as f64 / len as f64;
            let deviation = (drawn * share * (1.0 - share)).sqrt();
            drawn * share + side * tuning.margin * (deviation + 0.5)
        };
        let low = around(ranks.first, -1.0).floor();
        let high = around(ranks.last + 1, 1.0).ceil();
        if low < 0.0 && high >= drawn {
            return None;
        }
        let width = high.min(drawn) - low.max(0.0);
        // The number of elements between two of the sample is nearly exponential.
        let inside = (width + 4.0 * width.sqrt() + 8.0) * stride;
        let bracket = Bracket {
            low: if low < 0.0 { OPEN } else { first as u32 + low as u32 },
            high: if high >= drawn { OPEN } else { first as u32 + high as u32 },
            looks_for_last: 0,
        };
        Some(Self { sample, bracket, inside: (inside as usize).min(len) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(first: usize, last: usize, len: usize) -> Option<Plan> {
        Plan::of(&Tuning::default(), Ranks { first, last }, len)
    }

    #[test]
    fn the_first_ranks_have_no_lower_end_and_the_last_no_upper_one() {
        let len = 1 << 28;
        let first = plan(0, 63, len).expect("they are few").bracket;
        assert_eq!((first.low, first.high), (OPEN, 3));
        let last = plan(len - 1, len - 1, len).expect("it is one");
        assert_eq!((last.bracket.low, last.bracket.high), (last.sample as u32 - 3, OPEN));
    }

    #[test]
    fn the_bracket_of_the_median_is_four_deviations_wide_on_both_sides() {
        let plan = plan(1 << 27, 1 << 27, 1 << 28).expect("it is one");
        assert_eq!(plan.sample, 1 << 18);
        assert_eq!((plan.bracket.low, plan.bracket.high), ((1 << 17) - 1026, (1 << 17) + 1027));
        assert!(plan.inside < (1 << 28) / 100, "{}", plan.inside);
    }

    #[test]
    fn the_second_bracket_of_the_median_is_in_the_first() {
        let tuning = Tuning::default();
        let first = plan(1 << 27, 1 << 27, 1 << 28).expect("it is one");
        let ranks = Ranks { first: 1 << 20, last: 1 << 20 };
        let second = first.again(&tuning, ranks, 1 << 21).expect("it is one");
        assert!(second.bracket.low > first.bracket.low, "{second:?}");
        assert!(second.bracket.high < first.bracket.high, "{second:?}");
        assert!(second.inside < first.inside / 8, "{second:?}");
    }

    #[test]
    fn short_arrays_and_many_ranks_are_sorted() {
        assert_eq!(plan(5, 5, 1 << 20), None);
        assert_eq!(plan(0, 1 << 20, 1 << 22), None);
        let tuning = Tuning { shortest: 10, ..Tuning::default() };
        assert_eq!(Plan::of(&tuning, Ranks { first: 3, last: 3 }, 63), None, "no sample");
    }

    #[test]
    fn adjacent_ranks_are_looked_for_together() {
        let groups = Ranks::groups(&[9, 3, 4, 3, 5, 10]);
        assert_eq!(groups, [Ranks { first: 3, last: 5 }, Ranks { first: 9, last: 10 }]);
        assert_eq!(groups[0].len(), 3);
    }

    #[test]
    fn ranks_outside_of_the_elements_inside_are_missed() {
        let ranks = Ranks { first: 10, last: 12 };
        assert_eq!(ranks.after(4, 9), Some(Ranks { first: 6, last: 8 }));
        assert_eq!(ranks.after(4, 8), None);
        assert_eq!(ranks.after(11, 100), None);
    }
}
