//! Searches in a sorted array: a kernel for each order of keys of 32 and 64 bits.

use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use gridsync_kernels::grid::search::{self, Levels};
use gridsync_kernels::grid::sort::{Floats, Integers, Order, Word};

/// The common arguments of a search, as in [`search::search()`]. The order comes after them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Searching<W> {
    /// The keys, in order.
    pub sorted: Global<W>,
    /// The values that are searched for.
    pub values: Global<W>,
    /// Where the index for each value is written.
    pub indices: Global<u64>,
    /// Not 0 if keys that are equal to a value come before it.
    pub is_right: u32,
    /// The [`Levels`], as their `count`.
    pub levels: u32,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar> KernelArg for Searching<W> {}

impl<W: Word> Searching<W> {
    /// Searches by `order`: [`search::search()`].
    #[device]
    pub fn search(self, order: impl Order<Word = W>) {
        let levels = Levels { count: self.levels };
        search::search(order, self.sorted, self.values, self.indices, self.is_right, levels);
    }
}

macro_rules! kernels {
    ($($name:ident: $order:ident<$word:ident>;)*) => {$(
        entry! { @ $name $order<$word> [order] Searching<$word>, search (max_threads = 1024, min_blocks = 1) "Searches by", "grid::search::search()" }
    )*};
}
kernels! {
    search_int_32: Integers<u32>;
    search_int_64: Integers<u64>;
    search_float_32: Floats<u32>;
    search_float_64: Floats<u64>;
}
