//! The parts of the program `gridsync`, for the program itself and its tests.
//!
//! * [`cli`]: the commands.
//! * [`lab`]: the experiments: what goes wrong without a grid barrier, what the compiler makes of a
//!   spin, what fences cost, what one launch gains over many, and which barriers break under
//!   stress.
//! * [`verify`]: the cases that check the kernels, and barriers that are wrong on purpose to check
//!   the cases.
//! * [`mod@bench`]: the rules of measuring, and the suites, each compared with a peer.
//! * [`images`]: the kernels as built PTX.
//! * [`data`]: `.npy` and raw files. [`records`]: records of earlier runs. [`report`]: tables, charts as
//!   SVG, and a page of all results.

pub mod bench;
pub mod cli;
pub mod data;
pub mod images;
pub mod lab;
pub mod records;
pub mod report;
pub mod verify;
