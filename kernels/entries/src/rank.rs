//! Selections by rank: for each order of keys a kernel that filters and one that collects what it has
//! found, and for each size of keys one that draws a sample and one that takes the elements at some
//! ranks.

use core::marker::PhantomData;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use gridsync_kernels::grid::rank::{self, Bracket, Candidates, Chunks, Places};
use gridsync_kernels::grid::sort::{Floats, Integers, Order, Word};

/// Keys of a size, for the kernels that need no order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys<W>(PhantomData<fn(W)>);

impl<W> Keys<W> {
    /// Keys with the size of `W`.
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// The arguments of the kernel that draws a sample, as in [`rank::sample()`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sampling<W> {
    /// The keys.
    pub input: Global<W>,
    /// Where the sample is written.
    pub sample: Global<W>,
    /// The numbers that are zeroed for the filter.
    pub found: Global<u64>,
    /// Keys of the input for each of the sample.
    pub stride: u64,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar> KernelArg for Sampling<W> {}

impl<W: Word> Sampling<W> {
    /// Draws the sample: [`rank::sample()`].
    #[device]
    pub fn sample(self, _: Keys<W>) {
        rank::sample(self.input, self.sample, self.found, self.stride);
    }
}

/// The common arguments of a filter, as in [`rank::filter()`]. The order comes after them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Filtering<W> {
    /// The keys, and the destination of those that are found.
    pub chunks: Chunks<W>,
    /// The sample, sorted.
    pub sample: Global<W>,
    /// The part of it whose keys are wanted.
    pub bracket: Bracket,
    /// The numbers of the filter.
    pub found: Global<u64>,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar> KernelArg for Filtering<W> {}

impl<W: Word> Filtering<W> {
    /// Filters by `order`: [`rank::filter()`].
    #[device]
    pub fn filter(self, order: impl Order<Word = W>) {
        rank::filter(order, self.chunks, (self.sample, self.bracket), self.found);
    }
}

/// The common arguments of the kernel that collects the keys of a filter, as in
/// [`rank::collect()`]. The order comes after them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Collecting<W> {
    /// The keys, and those that were found.
    pub chunks: Chunks<W>,
    /// The sample, sorted.
    pub sample: Global<W>,
    /// The part of it whose keys are wanted.
    pub bracket: Bracket,
    /// The destination.
    pub candidates: Candidates<W>,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar> KernelArg for Collecting<W> {}

impl<W: Word> Collecting<W> {
    /// Collects keys by `order`: [`rank::collect()`].
    #[device]
    pub fn collect(self, order: impl Order<Word = W>) {
        rank::collect(order, self.chunks, (self.sample, self.bracket), self.candidates);
    }
}

/// The arguments of the kernel that takes elements, as in [`rank::take()`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Taking<W> {
    /// The keys.
    pub input: Global<W>,
    /// Where the wanted ones are.
    pub places: Places,
    /// The destination of the elements.
    pub elements: Global<W>,
    /// The destination of their indices.
    pub indices: Global<u64>,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar> KernelArg for Taking<W> {}

impl<W: Word> Taking<W> {
    /// Takes the elements: [`rank::take()`].
    #[device]
    pub fn take(self, _: Keys<W>) {
        rank::take(self.input, self.places, self.elements, self.indices);
    }
}

/// The arguments of the kernel that takes elements of rows, as in [`rank::take_rows()`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TakingRows<W> {
    /// The keys.
    pub input: Global<W>,
    /// The indices of each row in order.
    pub sorted: Global<u64>,
    /// Keys of a row.
    pub columns: u64,
    /// Those that are taken.
    pub kept: u64,
    /// The destination of the elements.
    pub elements: Global<W>,
    /// The destination of their indices.
    pub indices: Global<u64>,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar> KernelArg for TakingRows<W> {}

impl<W: Word> TakingRows<W> {
    /// Takes the elements: [`rank::take_rows()`].
    #[device]
    pub fn take(self, _: Keys<W>) {
        let Self { input, sorted, columns, kept, elements, indices } = self;
        rank::take_rows(input, sorted, (columns, kept), elements, indices);
    }
}

macro_rules! kernels {
    (sizes $($word:ident: $sample:ident $take:ident $take_rows:ident;)*) => {$(
        entry! { @ $sample Keys<$word> [] Sampling<$word>, sample (max_threads = 256) "Draws a sample of", "grid::rank::sample()" }
        entry! { @ $take Keys<$word> [] Taking<$word>, take (max_threads = 256) "Takes some of", "grid::rank::take()" }
        entry! { @ $take_rows Keys<$word> [] TakingRows<$word>, take (max_threads = 256) "Takes some of the rows of", "grid::rank::take_rows()" }
    )*};
    (orders $($order:ident<$word:ident>: $filter:ident $collect:ident;)*) => {$(
        entry! { @ $filter $order<$word> [order] Filtering<$word>, filter (max_threads = 256, min_blocks = 4) "Filters by", "grid::rank::filter()" }
        entry! { @ $collect $order<$word> [order] Collecting<$word>, collect (max_threads = 256, min_blocks = 4) "Collects by", "grid::rank::collect()" }
    )*};
}
kernels! { sizes
    u8: rank_sample_8 rank_take_8 rank_take_rows_8;
    u16: rank_sample_16 rank_take_16 rank_take_rows_16;
    u32: rank_sample_32 rank_take_32 rank_take_rows_32;
    u64: rank_sample_64 rank_take_64 rank_take_rows_64;
}
kernels! { orders
    Integers<u8>: rank_filter_int_8 rank_collect_int_8;
    Integers<u16>: rank_filter_int_16 rank_collect_int_16;
    Integers<u32>: rank_filter_int_32 rank_collect_int_32;
    Integers<u64>: rank_filter_int_64 rank_collect_int_64;
    Floats<u16>: rank_filter_float_16 rank_collect_float_16;
    Floats<u32>: rank_filter_float_32 rank_collect_float_32;
    Floats<u64>: rank_filter_float_64 rank_collect_float_64;
}
