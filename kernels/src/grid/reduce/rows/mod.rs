//! The reduction of each row of a matrix, all of them in one launch.
//!
//! A row has the same bits as if [`reduce`](super::reduce()) had it alone: its tree is the
//! [`Shape`](super::Shape) of its length, whose packs count from the row's own first element, wherever
//! that lies.
//!
//! * A row of at most one run is **short**. In the tree of such a row all but a part of one strip is
//!   the identity and falls out: lanes as many as the row has packs hold all of it, and neighbours come
//!   first. So a warp takes a [`Batch`] of rows, as many as fill a run when the packs of each are rounded
//!   up to a power of two, and lanes do not lie idle however short the rows are.
//! * A longer row gets the grid that it would have alone; those of all rows lie side by side. Where
//!   the grid is one block, it has only as many warps as the row has runs.
//!
//! A row that does not begin at a multiple of 16 bytes has packs that no single access can load. Each
//! is made of the two aligned ones that it overlaps; the second is in the L1, since the next lane
//! wanted it too. So the bytes still come once, but with twice the loads. At the ends of the matrix,
//! where an aligned pack may lie partly outside of it, elements are loaded one by one.
//!
//! The operation commutes: others, whose strips lie otherwise, are refused when a kernel is compiled.

mod long;
mod run;
mod shifted;
mod short;

pub use long::reduce_long_rows;
pub use short::{Batch, reduce_short_rows};
