//! Checks the kernels: one case is one kernel on one input, compared with the reference.
//!
//! The conformance tests and `gridsync verify` run the same cases.

mod barrier;
mod dtype;
mod inputs;
mod kendall;
mod numbers;
mod range_sum;
mod reduce;
mod reduce_rows;
mod scan;
mod select;
mod select_bench;
mod system;

pub use barrier::{Contender, Crossing, DESIGNS, MUTANTS, Outcome, cross};
pub use dtype::{Dtype, ParseDtypeError, Scalar};
pub use inputs::{Kind, Sample, random, sample};
pub use kendall::{KendallKind, Ranked, Ties, kendall_case, kendall_kinds};
pub use numbers::{Number, OnCpu, Widen};
pub use range_sum::{RangeSumKind, range_sum_case, range_sum_kinds, sample_ranges};
pub use reduce::{ReduceKind, reduce_case, reduce_kinds};
pub use reduce_rows::{RowKind, reduce_rows_case, row_kinds};
pub use scan::{ScanKind, scan_case, scan_in_groups_case, scan_in_shape, scan_kinds};
pub use select::{SelectKind, runs, select_case, select_kinds, shares};
pub use select_bench::SelectBench;
pub use system::{Absence, cross_on_all, exchange_on_all, give_up_on_all};

use gridsync::device::DeviceError;

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
