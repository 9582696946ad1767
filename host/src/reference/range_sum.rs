//! Range sums.

use super::scan;
use crate::parallel::{self, CHUNK};
use gridsync_kernels::grid::range_sum::{Subtract, is_range, range_sum};
use gridsync_kernels::grid::scan::{Form, ScanOperation};

/// The sums of the ranges `queries`, each `[from, to]`, of `input`: the difference of two results
/// of the inclusive scan by `op`, bit-identical to a GPU's.
///
/// # Errors
/// The index of the first query that is not a range of the input.
pub fn range_sums<O: ScanOperation<Output: Subtract>>(
    op: O,
    input: &[O::Element],
    queries: &[[u64; 2]],
) -> Result<Vec<O::Output>, usize> {
    if let Some(query) = first_bad(queries, input.len()) {
        return Err(query);
    }
    let prefixes = scan(op, input, Form::Inclusive);
    let mut sums = vec![O::Output::default(); queries.len()];
    let chunks = queries.chunks(CHUNK).zip(sums.chunks_mut(CHUNK));
    parallel::for_each(chunks, &|_, (queries, sums)| {
        for (&[from, to], sum) in queries.iter().zip(sums) {
            // An empty sum is 0, and not −0.
            if from < to {
                *sum = range_sum(from, to, |i| prefixes[i]);
            }
        }
    });
    Ok(sums)
}

/// The index of the first query that is not a range of `len` elements.
#[must_use]
pub fn first_bad(queries: &[[u64; 2]], len: usize) -> Option<usize> {
    let is_bad = |&query: &usize| {
        let [from, to] = queries[query];
        !is_range(from, to, len)
    };
    parallel::find_first(queries.len(), &|mut chunk| chunk.find(is_bad))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_kernels::op::Sum;

    #[test]
    fn each_range_has_the_sum_of_its_elements() {
        let input: Vec<i32> = (0..100).map(|i| i * i - 1000).collect();
        let all = || (0..=100u64).flat_map(|from| (from..=100).map(move |to| [from, to]));
        let queries: Vec<_> = all().collect();
        let expected: Vec<i64> = all()
            .map(|[from, to]| input[from as usize..to as usize].iter())
            .map(|range| range.map(|&x| i64::from(x)).sum())
            .collect();
        assert_eq!(range_sums(Sum::<i32, i64>::new(), &input, &queries), Ok(expected));
    }

    #[test]
    fn the_first_invalid_query_is_named() {
        let sums = |queries: &[[u64; 2]]| range_sums(Sum::<f64>::new(), &[1.0, 2.0], queries);
        assert_eq!(sums(&[[0, 2], [1, 3], [2, 1]]), Err(1));
        assert_eq!(sums(&[[2, 2], [2, 1]]), Err(1));
        assert_eq!(sums(&[[u64::MAX, u64::MAX]]), Err(0));
    }

    #[test]
    fn an_empty_range_is_zero_even_after_an_infinity() {
        let input = [f64::INFINITY, 1.0];
        let sums = range_sums(Sum::<f64>::new(), &input, &[[1, 1], [2, 2], [0, 1], [1, 2]]);
        let sums = sums.expect("all are ranges");
        assert_eq!(sums[..3], [0.0, 0.0, f64::INFINITY]);
        assert!(sums[..2].iter().all(|sum| sum.is_sign_positive()), "not -0");
        assert!(sums[3].is_nan());
    }
}
