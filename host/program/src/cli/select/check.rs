//! Compares selections with a loop over the elements.

use crate::cli::job::Verdict;
use bytemuck::Pod;
use gridsync::primitives::Sifted;
use gridsync_entries::select::Selectable;
use serde_json::json;

/// The first difference from a loop over the elements, in words.
pub(super) fn wrong<S: Selectable<Element: Pod>>(
    by: S,
    input: &[S::Element],
    results: &Sifted<S::Element>,
) -> Option<String> {
    let indices = |kept: bool| {
        let is_it = move |index: &usize| by.is_kept(input, *index) == kept;
        (0..input.len()).filter(is_it)
    };
    let differ = |what, at: Option<usize>| {
        at.map(|at| format!("a loop gives another {what} at {at}, or no such one"))
    };
    let kept = indices(true).map(|index| input[index]);
    differ("element that is kept", first_difference(&results.kept, kept))
        .or_else(|| {
            let rest = indices(false).map(|index| input[index]);
            let got = results.rest.as_ref()?;
            differ("element that is not kept", first_difference(got, rest))
        })
        .or_else(|| {
            let positions = indices(true).map(|index| index as u64);
            let got = results.positions.as_ref()?;
            differ("position", first_difference(got, positions))
        })
}

/// The first place where the bits of two values differ, or where only one of both goes on.
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
        json: json!({ "ok": wrong.is_none() }),
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
    use gridsync::primitives::select::Within;

    #[test]
    fn every_kind_of_difference_is_named() {
        let right =
            Sifted { kept: vec![1, 3], rest: Some(vec![7, 8]), positions: Some(vec![0, 2]) };
        let input = [1, 7, 3, 8];
        let check = |results: &Sifted<i32>| wrong(Within::less_than(5), &input, results);
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
}
