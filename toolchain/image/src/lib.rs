//! PTX images: the kernels of a crate for one virtual architecture, and a module for each of them.
//!
//! The driver compiles the whole module that it loads. So each kernel has its own module: the
//! kernel, the kernels that it launches, and the text outside of kernels. [`PtxImage`] is an image,
//! [`Modules`] finds a kernel in several images, and [`pack`] writes a packed image.
//!
//! ```
//! use ptx_image::{Modules, PtxImage, pack};
//!
//! let ptx = "\
//! .version 6.3
//! .target sm_75
//! .address_size 64
//! .visible .entry first()
//! {
//!     ret;
//! }
//! .visible .entry second()
//! {
//!     bar.sync 0;
//!     ret;
//! }
//! ";
//! let packed = pack(ptx)?;
//! let modules = Modules::of(&[PtxImage::packed(&packed)], 90)?;
//! assert_eq!(modules.kernels().collect::<Vec<_>>(), ["first", "second"]);
//! let module = modules.module("second")?.expect("it is in the image");
//! assert!(module.text.contains("bar.sync") && !module.text.contains("first"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An image is either PTX text or a *packed image*. A packed image is about a sixteenth of the
//! text. Reading one kernel takes about a millisecond, and unpacks only the group that has it:
//!
//! ```text
//! // gridsync kernels                                    the comments at the top of the PTX text
//! // target: sm_90, PTX ISA 8.0
//! // compiler: rustc …
//! // sources: … of kernels toolchain/cuda_std …
//! // packed: format 2, compute_90
//!                                                        an empty line
//! frame                                                  the index
//! frame …                                                the groups of kernels
//! ```
//!
//! * A **frame** is the length of a gzip member as little-endian `u32`, and the member.
//! * The **index** is text: the head with its empty line again, a line for each kernel in
//!   alphabetical order, an empty line, and the prelude (the directives and declarations outside of
//!   the kernels). The line of a kernel has its name, the number of its group, its first line number
//!   there, and the count.
//! * A **group** is about 192 KiB of kernels in alphabetical order: the length of a table as `u32`,
//!   the table of all distinct lines of its kernels, and a line number, `u16`, for each line of
//!   each kernel.
//!
//! Packing first makes the text of a kernel normal. It drops comments and empty lines, and numbers
//! the labels within the kernel, so that they do not depend on the kernels before it. Then it
//! replaces each register and label by how recently it was used (see the module `numbers`). After
//! that, most lines of a kernel are equal to lines of another one. Reading undoes the replacement
//! and gives exactly the normal text.
//!
//! Why not a plain archive: the kernels of gridsync are 45 MB of text. A deflated member for each
//! is 9.3 MB, with zstd 6.7 MB, because the same code has other registers in each kernel. Packed
//! like this they are 2.7 MB.
//!
//! A damaged file gives an [`ImageError`] with numbers: gzip has a CRC-32 of each frame, and the
//! head is compared with its copy in the index.

mod error;
mod frame;
mod group;
mod image;
mod joined;
mod modules;
mod normal;
mod numbers;
mod pack;
mod packed;
mod text;

pub use error::{ImageError, PackError};
pub use image::PtxImage;
pub use modules::{DEVICE_RUNTIME, Module, Modules};
pub use pack::pack;
