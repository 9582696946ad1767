//! How results are shown: tables and times for a terminal, charts as SVG.

pub mod svg;
mod table;
mod time;

pub use table::{Column, Table, table};
pub use time::time;
