//! PTX images: the kernels of a crate for one virtual architecture, and a module for each of them.
//!
//! The driver compiles all of a module when it loads it, so each kernel gets a module of its own: what is outside of
//! the kernels, and the one kernel. [`PtxImage`] is an image, [`Modules`] finds a kernel in several of them, and
//! [`pack`] writes a packed image.
//!
//! An image is either PTX text or a *packed image*. A packed image is about a twentieth of the text, and one kernel is
//! read in less than a millisecond without unpacking the others:
//!
//! ```text
//! // gridsync kernels                                    the comments at the top of the PTX text
//! // target: sm_90, PTX ISA 8.0
//! // compiler: rustc …
//! // sources: … of kernels toolchain/cuda_std …
//! // packed: format 1, set kernels, compute_90 above compute_75
//!                                                        an empty line
//! frame                                                  the index
//! frame …                                                the groups of kernels
//! ```
//!
//! * A **frame** is a raw deflate stream after its length, its length unpacked, and its CRC-32, each a little-endian `u32`.
//! * The **index** is text: the CRC-32 of the head in hex, a line for each kernel in alphabetical order, an empty line, and the prelude (the
//!   directives and declarations outside of the kernels). The line of a kernel has its name, the CRC-32 of its text in
//!   hex, the bytes of its text, and where the text is: a group, the first of its line numbers there, and how many.
//!   Kernels that differ in nothing but their name share one place. `below` as the place says that the text is the
//!   same as in the next lower image of the set, the one that the head names after `above`.
//! * A **group** is some kernels in alphabetical order, about 192 KiB of them: the length of a table as `u32`, the
//!   table of the distinct lines of all of its kernels, and a line number, `u16`, for each line of each kernel.
//!
//! Before packing, the text of a kernel is made normal: comments and empty lines go, and the labels are numbered within
//! the kernel, so that they do not depend on the kernels before it. Then its own name is written as a mark, and its
//! registers and labels as how recently each was used (the module `numbers` has the details). That makes most
//! lines of one kernel equal to lines of another. Reading turns both back, and the result is exactly the normal text.
//!
//! A damaged file is an [`ImageError`] with numbers: lengths are checked before they are believed, head and frames
//! are checked by their CRC-32, and so is the text of each kernel. That also catches an image that is used with another one below it than it was made with.

mod error;
mod frame;
mod group;
mod image;
mod modules;
mod normal;
mod numbers;
mod pack;
mod packed;
mod text;

pub use error::{ImageError, PackError};
pub use image::PtxImage;
pub use modules::{Module, Modules};
pub use pack::pack;
