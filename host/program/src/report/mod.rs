//! Shows results: tables and times for a terminal, SVG charts, and a page with all results.

pub mod page;
mod rounded;
mod scaling;
pub mod svg;
mod table;
mod time;

pub use rounded::rounded;
pub use scaling::{Scaled, scaling_chart};
pub use table::{Column, Table, table};
pub use time::time;
