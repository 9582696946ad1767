//! How results are shown.

mod table;

pub use table::table;
