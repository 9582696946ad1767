//! Softmax of the rows of a matrix.

use super::reduce::reduce;
use crate::parallel;
use gridsync_kernels::grid::softmax::{Softmax, most_of_middle};
use gridsync_kernels::op::{Exponentials, LogSumExp, Operation};

/// Elements that a core processes at once, if they are whole rows.
const CHUNK: usize = 1 << 12;

/// Writes the softmax of each row of `columns` elements of `input` to `output`, as defined by
/// [`grid::softmax`](gridsync_kernels::grid::softmax).
///
/// # Panics
/// If the lengths differ, or are not whole rows.
pub fn softmax_rows<T: Softmax>(input: &[T], columns: usize, output: &mut [T]) {
    assert_eq!(input.len(), output.len(), "elements of the input and of the output");
    assert!(
        input.is_empty() || input.len().checked_rem(columns) == Some(0),
        "{} elements are not rows of {columns}",
        input.len()
    );
    if input.is_empty() {
        return;
    }
    let together = CHUNK.div_ceil(columns) * columns;
    let pieces = input.chunks(together).zip(output.chunks_mut(together));
    parallel::for_each(pieces, &move |_, (input, output)| {
        input
            .chunks_exact(columns)
            .zip(output.chunks_exact_mut(columns))
            .for_each(|(row, results)| softmax(row, results));
    });
}

/// Writes the softmax of one row, which is not empty.
fn softmax<T: Softmax>(row: &[T], results: &mut [T]) {
    let Exponentials { greatest, sum } = if row.len() <= most_of_middle::<T>() {
        let greatest = row.iter().fold(T::LEAST, |all, &x| T::greater(all, x.widen()));
        Exponentials { greatest, sum: reduce(SumFrom::<T> { greatest }, row) }
    } else {
        reduce(Parts::<T>(LogSumExp::new()), row)
    };
    let factor = T::factor(greatest, sum);
    for (result, &x) in results.iter_mut().zip(row) {
        *result = T::share(T::exponential(x.widen(), greatest), factor);
    }
}

/// The sum of e to the power of each element minus `greatest`.
#[derive(Clone, Copy)]
struct SumFrom<T: Softmax> {
    greatest: T::Wide,
}

impl<T: Softmax> Operation for SumFrom<T> {
    type Element = T;
    type Accumulator = f64;
    type Output = f64;
    const COMMUTATIVE: bool = true;

    fn identity(self) -> f64 {
        0.0
    }

    fn lift(self, element: T, _index: u64) -> f64 {
        T::to_f64(T::exponential(element.widen(), self.greatest))
    }

    fn combine(self, a: f64, b: f64) -> f64 {
        a + b
    }

    fn finish(self, all: f64) -> f64 {
        all
    }
}

/// [`LogSumExp`] without the logarithm.
#[derive(Clone, Copy)]
struct Parts<T>(LogSumExp<T>);

impl<T: Softmax> Operation for Parts<T> {
    type Element = T;
    type Accumulator = Exponentials<T::Wide>;
    type Output = Exponentials<T::Wide>;
    const COMMUTATIVE: bool = true;

    fn identity(self) -> Self::Accumulator {
        self.0.identity()
    }

    fn lift(self, element: T, index: u64) -> Self::Accumulator {
        self.0.lift(element, index)
    }

    fn combine(self, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator {
        self.0.combine(a, b)
    }

    fn finish(self, all: Self::Accumulator) -> Self::Output {
        all
    }
}
