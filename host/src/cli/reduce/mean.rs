//! Means: sums, divided.

use crate::cli::exit::Usage;
use crate::cli::number::Number;
use gridsync::data::Dtype;
use gridsync::primitives::Check;
use rayon::prelude::*;

/// The true sum of 64-bit integers, if a mean is to be taken of those: their sum in 64 bits may wrap around, and a mean
/// must not be taken from such a one.
pub(super) struct ExactSum {
    sum: i128,
    /// The sum of such elements, if it is needed.
    of: Option<fn(&[u8]) -> i128>,
}

impl ExactSum {
    pub(super) fn of(dtype: Dtype, is_mean: bool) -> Self {
        let of: Option<fn(&[u8]) -> i128> = match dtype {
            Dtype::I64 => Some(sum::<i64>),
            Dtype::U64 => Some(sum::<u64>),
            _ => None,
        };
        Self {
            sum: 0,
            of: of.filter(|_| is_mean),
        }
    }

    /// Takes more elements.
    pub(super) fn take(&mut self, elements: &[u8]) {
        self.sum += self.of.map_or(0, |sum| sum(elements));
    }

    /// The mean of `len` elements that this sum makes, in f64, and its check.
    pub(super) fn mean(
        &self,
        dtype: Dtype,
        len: usize,
        sum: Number,
        check: Option<Check<Number>>,
    ) -> Result<(Number, Option<Check<Number>>), Usage> {
        if self.of.is_some() && !sum.holds(self.sum) {
            return Err(Usage(format!(
                "the sum of these {dtype} elements, {}, is beyond 64 bits, so their mean cannot be taken from it: convert them to f64",
                self.sum
            )));
        }
        let mean = |sum: Number| Number::Float(sum.to_f64() / len as f64);
        let check = check.map(|check| {
            let reference = mean(check.reference);
            // The division rounds both means once more.
            let rounding = f64::EPSILON * reference.to_f64().abs();
            Check {
                reference,
                abs_err: check.abs_err / len as f64,
                bound: check.bound / len as f64 + rounding,
                ok: check.ok,
            }
        });
        Ok((mean(sum), check))
    }
}

fn sum<T: bytemuck::Pod + Sync + Into<i128>>(elements: &[u8]) -> i128 {
    let elements: &[T] = bytemuck::cast_slice(elements);
    elements.par_iter().map(|&x| x.into()).sum()
}
