//! The names that most programs need: `use gridsync::prelude::*`.
//!
//! Kernels have their own prelude, `gridsync_kernels::prelude`. The two work together.
//!
//! ```
//! use gridsync::prelude::*;
//!
//! let device = Device::emulator(); // on a GPU: Device::cuda(0, &KERNELS)?
//! let input = device.upload(&[0.5f32, 2.5, 3.0])?;
//! assert_eq!(reduce(Sum::<f32>::new(), &input)?, 6.0);
//! let sums = scan(Sum::<f32>::new(), &input, Form::Inclusive)?;
//! assert_eq!(sums.download()?, [0.5, 3.0, 6.0]);
//! let kept = select(Within::greater_than(1.0f32), &input)?;
//! assert_eq!(kept.download()?, [2.5, 3.0]);
//! assert_eq!(sort(Order::DESCENDING, &input)?.download()?, [3.0, 2.5, 0.5]);
//! assert_eq!(top_k(Order::DESCENDING, &input, 1)?.indices.download()?, [2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::check::Check;
#[cfg(feature = "cuda")]
pub use crate::device::KERNELS;
pub use crate::device::{Buffer, Device, DeviceError, Geometry};
pub use crate::launch::{Blocks, barrier_words, cooperative};
pub use crate::primitives::scan::Form;
pub use crate::primitives::select::Within;
pub use crate::primitives::sort::Order;
pub use crate::primitives::{
    Bins, Histogram, Ranker, Reducer, Scanner, Selector, Sorter, ValueCounter, argsort, histogram,
    median, partition, quantiles, reduce, scan, select, sort, top_k, value_counts,
};
pub use gridsync_kernels::op::{Max, Min, Product, Sum};
