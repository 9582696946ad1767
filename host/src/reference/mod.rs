//! What is right: each kernel family again, on the CPU with rayon, in its simplest form, under the
//! same name.

mod accuracy;
mod reduce;
mod reduce_rows;
mod xpx;

pub use accuracy::{Exact, compensated_bound, exact_sum, product_bound, sum_bound};
pub use reduce::{reduce, reduce_depth};
pub use reduce_rows::reduce_rows;
pub use xpx::xpx;
