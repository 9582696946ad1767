//! Checks histograms by a loop over the elements.

use super::asked::{Asked, Span};
use crate::cli::computed::Check;
use crate::cli::job::Verdict;
use gridsync::memory::{self, NoRoom};
use gridsync::primitives::histogram::{Binned, Bins};
use gridsync_verify::{Number, Widen};

/// The bin of an element, if it is in one: found by bisection of all edges, or as the distance from the
/// first integer.
type BinOf<T> = Box<dyn Fn(T) -> Option<usize>>;

/// The function that finds it.
pub(super) fn bin_of<T: Binned + Widen>(asked: &Asked, bins: &Bins<T>) -> Result<BinOf<T>, NoRoom> {
    let len = bins.len();
    if let &Asked::Numbers(Span { first, .. }) = asked {
        return Ok(Box::new(move |element: T| match element.number() {
            Number::Int(number) => usize::try_from(number - first).ok().filter(|bin| *bin < len),
            Number::Float(_) => None,
        }));
    }
    memory::probe((len + 1) * size_of::<f64>())?;
    let edges = bins.edge_list();
    Ok(Box::new(move |element| by_bisection(&edges, element.to_f64())))
}

/// The counts of `input`, on one core.
pub(super) fn count_again<T: Binned + Widen>(
    asked: &Asked,
    bins: &Bins<T>,
    input: &[T],
) -> Result<Vec<u64>, NoRoom> {
    let of = bin_of(asked, bins)?;
    let mut counts: Vec<u64> = memory::zeroed(bins.len())?;
    for bin in input.iter().filter_map(|&element| of(element)) {
        counts[bin] += 1;
    }
    Ok(counts)
}

/// The bin of `x`, if it is in one. The last one includes its upper edge.
fn by_bisection(edges: &[f64], x: f64) -> Option<usize> {
    let [first, inner @ .., last] = edges else { return None };
    (*first <= x && x <= *last).then(|| inner.partition_point(|edge| *edge <= x))
}

/// The verdict on `counts`.
pub(super) fn verdict(counts: &[u64], reference: &[u64]) -> Verdict {
    let wrong = counts.iter().zip(reference).position(|(count, reference)| count != reference);
    let text = if wrong.is_none() { "right" } else { "WRONG" };
    Verdict {
        json: Check::Whole { ok: wrong.is_none() },
        line: format!("counted again on one core: {text}"),
        wrong: wrong.map(|bin| {
            let (count, reference) = (counts[bin], reference[bin]);
            format!("the count of bin {bin} is wrong: {count}, the reference is {reference}")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_includes_its_lower_edge_and_the_last_one_both() {
        let bin = |x| by_bisection(&[0.0, 1.0, 2.5], x);
        assert_eq!([-0.1, 2.6, f64::NAN].map(bin), [None; 3]);
        assert_eq!([-0.0, 0.9, 1.0, 2.5].map(bin), [Some(0), Some(0), Some(1), Some(1)]);
    }

    #[test]
    fn any_other_count_is_found() {
        assert!(verdict(&[3, 0, 5], &[3, 0, 5]).wrong.is_none());
        let wrong = verdict(&[3, 1, 5], &[3, 0, 5]).wrong;
        assert_eq!(wrong.as_deref(), Some("the count of bin 1 is wrong: 1, the reference is 0"));
    }
}
