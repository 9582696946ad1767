//! Checks the kernels: one case is one kernel on one input, compared with the reference.
//!
//! The conformance tests and `gridsync verify` run the same cases.

mod barrier;
mod dot;
mod dtype;
mod histogram;
mod inputs;
mod kendall;
mod kind;
mod numbers;
mod range_sum;
mod rank;
mod reduce;
mod reduce_rows;
mod scan;
mod scatter;
mod segments;
mod select;
mod select_bench;
mod softmax;
mod sort;
mod system;

pub use barrier::{Contender, Crossing, DESIGNS, MUTANTS, Outcome, cross};
pub use dtype::{Dtype, ParseDtypeError, Scalar};
pub use inputs::{Input, Sample, random, sample};
pub use kendall::{Ranked, Ties};
pub use kind::{Kind, Primitive, Size, kinds};
pub use numbers::{Number, OnCpu, Widen};
pub use range_sum::sample_ranges;
pub use rank::TUNINGS;
pub use reduce::reduce_case;
pub use scan::scan_in_shape;
pub use select::{runs, select_case};
pub use select_bench::SelectBench;
pub use sort::{Keys, Lens};
pub use system::{Absence, cross_on_all, exchange_on_all, give_up_on_all};

use bytemuck::Pod;
use gridsync::device::DeviceError;
use std::fmt::Debug;

/// Why a case failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CaseError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The result is wrong.
    #[error("{0}")]
    Wrong(String),
}

/// The error for a result that differs from the reference by the first of `sizes`, where the second
/// is allowed.
fn wrong(
    case: &str,
    result: &dyn Debug,
    reference: &dyn Debug,
    [abs_err, bound]: [f64; 2],
) -> CaseError {
    CaseError::Wrong(format!(
        "{case}: {result:?}, the reference says {reference:?}; they differ by {abs_err:e}, allowed {bound:e}"
    ))
}

/// Ok if `got` has the length and the bits of `expected`. `what` is what gives them, and the verb.
fn same_bits<A: Pod + Debug>(
    case: &str,
    what: &str,
    got: &[A],
    expected: &[A],
) -> Result<(), CaseError> {
    if got.len() != expected.len() {
        let (got, expected) = (got.len(), expected.len());
        return Err(CaseError::Wrong(format!("{case}: {what} {got} elements, not {expected}")));
    }
    let differ = |(a, b): (&A, &A)| bytemuck::bytes_of(a) != bytemuck::bytes_of(b);
    match got.iter().zip(expected).position(differ) {
        None => Ok(()),
        Some(at) => Err(CaseError::Wrong(format!(
            "{case}: {what} {:?} at {at}, not the bits of {:?}",
            got[at], expected[at]
        ))),
    }
}
