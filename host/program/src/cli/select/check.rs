//! Compares selections with a loop over the elements.

use crate::cli::computed::Check;
use crate::cli::job::Verdict;
use bytemuck::Pod;
use gridsync::primitives::Sifted;
use gridsync_entries::select::Selectable;

/// A check of selections that are computed part by part.
pub(super) struct Against<S: Selectable> {
    by: S,
    /// The last element of the previous part.
    last: Option<S::Element>,
    taken: u64,
    kept: Compared,
    rest: Compared,
    positions: Compared,
}

/// The results of one kind so far.
#[derive(Default)]
struct Compared {
    taken: usize,
    /// The index of the first difference.
    differs: Option<usize>,
}

impl Compared {
    fn next<A: Pod>(&mut self, got: &[A], expected: impl Iterator<Item = A>) {
        if self.differs.is_none() {
            self.differs = first_difference(got, expected).map(|at| self.taken + at);
        }
        self.taken += got.len();
    }
}

impl<S: Selectable<Element: Pod>> Against<S> {
    pub(super) fn new(by: S) -> Self {
        let [kept, rest, positions] = Default::default();
        Self { by, last: None, taken: 0, kept, rest, positions }
    }

    /// Checks the results of the next elements.
    pub(super) fn next(&mut self, input: &[S::Element], found: &Sifted<S::Element>) {
        let (by, last, before) = (self.by, self.last, self.taken);
        // The element before the first one decides whether it starts a run.
        let is_kept = |index: usize| match last {
            Some(last) if index == 0 => by.is_kept(&[last, input[0]], 1),
            _ => by.is_kept(input, index),
        };
        let indices = |kept| (0..input.len()).filter(move |&index| is_kept(index) == kept);
        self.kept.next(&found.kept, indices(true).map(|index| input[index]));
        if let Some(rest) = &found.rest {
            self.rest.next(rest, indices(false).map(|index| input[index]));
        }
        if let Some(positions) = &found.positions {
            self.positions.next(positions, indices(true).map(|index| before + index as u64));
        }
        self.last = input.last().copied().or(last);
        self.taken += input.len() as u64;
    }

    /// Describes the first difference from a loop over the elements.
    pub(super) fn wrong(&self) -> Option<String> {
        let differ = |what, results: &Compared| {
            let at = results.differs?;
            Some(format!("a loop gives a different {what} at {at}, or none"))
        };
        differ("element that is kept", &self.kept)
            .or_else(|| differ("element that is not kept", &self.rest))
            .or_else(|| differ("position", &self.positions))
    }
}

/// The first index at which the bits of two values differ, or only one of the two has a value.
fn first_difference<A: Pod>(got: &[A], mut expected: impl Iterator<Item = A>) -> Option<usize> {
    let mut is_expected = |value: &A| {
        let other = expected.next();
        other.is_some_and(|other| bytemuck::bytes_of(&other) == bytemuck::bytes_of(value))
    };
    let alike = got.iter().take_while(|value| is_expected(value)).count();
    let is_more = alike < got.len() || expected.next().is_some();
    is_more.then_some(alike)
}

/// The verdict of the check.
pub(super) fn verdict(wrong: Option<String>) -> Verdict {
    Verdict {
        json: Check::Whole { ok: wrong.is_none() },
        line: match &wrong {
            None => "as a loop on the CPU: right".into(),
            Some(what) => format!("{what}: WRONG"),
        },
        wrong: wrong.map(|what| format!("{what}, and nothing was written")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::primitives::select::{FirstOfRun, Within};

    #[test]
    fn every_kind_of_difference_is_reported() {
        let right =
            Sifted { kept: vec![1, 3], rest: Some(vec![7, 8]), positions: Some(vec![0, 2]) };
        let input = [1, 7, 3, 8];
        let check = |results: &Sifted<i32>| {
            let mut checking = Against::new(Within::less_than(5));
            checking.next(&input, results);
            checking.wrong()
        };
        assert_eq!(check(&right), None);
        for kept in [vec![1], vec![1, 3, 3], vec![3, 1], vec![]] {
            let wrong = Sifted { kept, ..right.clone() };
            assert!(check(&wrong).is_some_and(|what| what.contains("is kept")));
        }
        let wrong = Sifted { rest: Some(vec![7]), ..right.clone() };
        assert!(check(&wrong).is_some_and(|what| what.contains("is not kept at 1")));
        let wrong = Sifted { positions: Some(vec![0, 3]), ..right };
        assert!(check(&wrong).is_some_and(|what| what.contains("position at 1")));
    }

    #[test]
    fn indices_and_runs_continue_across_parts() {
        let found = |kept: &[i32], positions: &[u64]| Sifted {
            kept: kept.to_vec(),
            rest: None,
            positions: Some(positions.to_vec()),
        };
        let check = |second: Sifted<i32>| {
            let mut checking = Against::new(FirstOfRun::<i32>::new());
            checking.next(&[1, 1, 2], &found(&[1, 2], &[0, 2]));
            checking.next(&[2, 3], &second);
            checking.wrong()
        };
        assert_eq!(check(found(&[3], &[4])), None);
        assert!(check(found(&[2, 3], &[3, 4])).is_some_and(|what| what.contains("is kept at 2")));
        assert!(check(found(&[3], &[1])).is_some_and(|what| what.contains("position at 2")));
    }
}
