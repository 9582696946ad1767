//! The correct results: each kernel family again, on the CPU with rayon, in its simplest form,
//! under the same name.

mod accuracy;
mod first_extreme;
mod histogram;
mod in_chunks;
mod kendall;
mod range_sum;
mod rank;
mod reduce;
mod reduce_columns;
mod reduce_rows;
mod scan;
mod scan_columns;
mod scan_each_row;
mod scan_rows;
mod search;
mod segments;
mod select;
mod softmax;
mod sort;
mod unrounded;
mod value_counts;
mod xpx;
mod zipped;

pub use accuracy::{
    Exact, ExactProduct, ExactSum, RunningProduct, RunningSum, compensated_bound,
    compensated_sum_bound, exact_sum, sum_bound,
};
pub use first_extreme::FirstExtreme;
pub use histogram::histogram;
pub use kendall::{Kendall, kendall, kendall_by_pairs};
pub use range_sum::{first_bad, range_sums};
pub(crate) use rank::below;
pub use rank::{QuantileMethod, Virtual, kth, kths, top_k, top_k_by_index};
pub(crate) use reduce::combine_leaves;
pub use reduce::{Reduction, reduce, reduce_depth};
pub use reduce_columns::{ColumnReduction, reduce_columns};
pub use reduce_rows::reduce_rows;
pub use scan::{Scan, scan, scan_depth, scan_in};
pub use scan_columns::{ColumnScan, scan_columns, scan_each_column};
pub use scan_each_row::scan_each_row;
pub use scan_rows::RowScan;
pub use search::{Side, search};
pub use segments::{reduce_segments, scan_segments};
pub use select::{partition, positions, run_lengths, select};
pub use softmax::softmax_rows;
pub use sort::{
    Index, Key, Moved, Order, argsort, argsort_rows, argsort_segments, sort, sort_in_place,
    sort_rows, sort_segments, top_k_rows,
};
pub(crate) use sort::{gather, number_of};
pub use unrounded::Unrounded;
pub(crate) use value_counts::run_starts;
pub use value_counts::{ValueCounts, value_counts};
pub use xpx::xpx;
pub use zipped::reduce_zipped;
