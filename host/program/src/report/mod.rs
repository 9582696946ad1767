//! How results are shown: tables and times for a terminal, charts as SVG, a page of all results.

pub mod page;
pub mod svg;
mod table;
mod time;

pub use table::{Column, Table, table};
pub use time::time;
