//! The primitives as a user calls them: planned, launched and, where asked, checked.
//!
//! Each has a form for a [`Device`](crate::device::Device), GPU or emulator, and one for the CPU
//! with rayon beside it.

mod check;
pub mod reduce;
pub mod reduce_rows;
pub mod scan;
mod scan_check;

pub use check::{Check, Checked};
pub use reduce::{Reducer, reduce};
pub use reduce_rows::{RowReducer, reduce_rows};
pub use scan::{Scanner, scan};
pub use scan_check::{ScanCheck, ScanChecked};
