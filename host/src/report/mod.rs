//! How results are shown: tables for a terminal, charts as SVG.

pub mod svg;
mod table;

pub use table::table;
