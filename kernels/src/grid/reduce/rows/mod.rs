//! The reduction of each row of a matrix, all in one launch.
//!
//! A row gets the same bits as if [`reduce`](super::reduce()) reduced it alone. Its tree is the
//! [`Shape`](super::Shape) of its length, with packs counted from the row's own first element,
//! whatever its address.
//!
//! * A row of at most one run is **short**. Its tree is the identity except in part of one strip.
//!   So one lane per pack of the row suffices, combined neighbours first. A warp handles a
//!   [`Batch`] of rows: as many as fill a run if the packs of each are rounded up to a power of
//!   two. So lanes are not idle, however short the rows are.
//! * A longer row gets the grid that it would have alone, next to the grids of the other rows. If
//!   that is one block, it has only as many warps as the row has runs.
//!
//! If a row does not begin at a multiple of 16 bytes, no single access can load its packs. Each is
//! composed of the two aligned packs that it overlaps. The second is in the L1, because the next
//! lane needs it too: the bytes move once, with twice the loads. At the ends of the matrix an
//! aligned pack may extend past the end, and elements are loaded one by one.
//!
//! The operation must commute, because rows are divided into strips as for commutative operations.
//! Others are rejected at compile time.

mod long;
mod run;
mod shifted;
mod short;

pub use long::reduce_long_rows;
pub(in crate::grid) use run::is_aligned;
pub(in crate::grid) use shifted::Shifted;
pub use short::{Batch, reduce_short_rows};
