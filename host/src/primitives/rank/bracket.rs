//! The sample of a selection by rank: its size, and the part of it that encloses some ranks.

use gridsync_kernels::grid::rank::{Bracket, OPEN};

/// How a [`Ranker`](super::Ranker) looks for elements. The results never depend on it, only the
/// time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// Arrays of up to this many elements are sorted.
    pub shortest: usize,
    /// Elements of a sample, at most one of 64.
    pub sample: usize,
    /// Standard deviations of a rank's place in the sample that are left on both sides. With 4, one
    /// array in 10 000 is sorted whole.
    pub margin: f64,
    /// The most elements that a filter may write.
    pub room: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { shortest: 1 << 16, sample: 1 << 16, margin: 4.0, room: usize::MAX }
    }
}

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

/// A sample and its bracket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// Elements of the sample.
    pub(super) sample: usize,
    /// Elements of the array for each of these.
    pub(super) stride: usize,
    pub(super) bracket: Bracket,
    /// Room for the elements in the bracket.
    pub(super) room: usize,
}

impl Plan {
    /// For these ranks of `len` elements, or `None` if a sort is as fast.
    pub(super) fn of(tuning: &Tuning, ranks: Ranks, len: usize) -> Option<Self> {
        let sample = tuning.sample.min(len / 64).min(OPEN as usize);
        if len <= tuning.shortest || ranks.len() > len / 8 || sample == 0 {
            return None;
        }
        let (size, stride) = (sample as f64, len / sample);
        // The place of a rank is nearly that of the sample's elements before it, which are a
        // binomial number.
        let around = |rank: usize, side: f64| {
            let share = rank as f64 / len as f64;
            let deviation = (size * share * (1.0 - share)).sqrt();
            size * share + side * tuning.margin * (deviation + 0.5)
        };
        let low = around(ranks.first, -1.0).floor();
        let high = around(ranks.last + 1, 1.0).ceil();
        let width = high.min(size) - low.max(0.0);
        if low < 0.0 && high >= size {
            return None;
        }
        // The number of elements between two of the sample is nearly exponential.
        let room = (width + 4.0 * width.sqrt() + 8.0) * stride as f64;
        let bracket = Bracket {
            low: if low < 0.0 { OPEN } else { low as u32 },
            high: if high >= size { OPEN } else { high as u32 },
            looks_for_last: 0,
        };
        Some(Self { sample, stride, bracket, room: (room as usize).min(len).min(tuning.room) })
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
        let last = plan(len - 1, len - 1, len).expect("it is one").bracket;
        assert_eq!((last.low, last.high), ((1 << 16) - 3, OPEN));
    }

    #[test]
    fn the_bracket_of_the_median_is_four_deviations_wide_on_both_sides() {
        let plan = plan(1 << 27, 1 << 27, 1 << 28).expect("it is one");
        assert_eq!((plan.bracket.low, plan.bracket.high), ((1 << 15) - 514, (1 << 15) + 515));
        assert!(plan.room < (1 << 28) / 50, "{}", plan.room);
    }

    #[test]
    fn short_arrays_and_many_ranks_are_sorted() {
        assert_eq!(plan(5, 5, 1 << 16), None);
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
