//! Results as tables and times for a terminal, and as charts in SVG.

mod page;
mod rounded;
mod scaling;
pub mod svg;
mod table;
mod time;
pub mod words;

pub use page::{Page, wrapped};
pub use rounded::rounded;
pub use scaling::{Scaled, scaling_chart};
pub use table::{Column, Table, table};
pub use time::time;
