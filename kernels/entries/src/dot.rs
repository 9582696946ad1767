//! Dot products: a kernel for each line of [`dotted_elements!`](crate::dotted_elements). The other
//! array is in the operation.

use crate::reduce::Arguments;
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::op::Dot;

macro_rules! kernels {
    ($ty:ident, $kernel:ident) => {
        entry! { @ $kernel Dot<$ty> [op] Arguments<$ty>, reduce (prefix = "reduce_", max_threads = 512, min_blocks = 2) "Reduces by", "grid::reduce()" }
    };
}
dotted_elements!(kernels);
