//! Selections by rank: for each order of keys a kernel that filters, and for each size of keys one
//! that draws a sample and one that takes the elements at some ranks.

use core::marker::PhantomData;
use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use gridsync_kernels::grid::Workspace;
use gridsync_kernels::grid::rank::{self, Bracket, Candidates, Places};
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
    /// The keys.
    pub input: Global<W>,
    /// The sample, sorted.
    pub sample: Global<W>,
    /// The part of it whose keys are wanted.
    pub bracket: Bracket,
    /// The destination of the results.
    pub candidates: Candidates<W>,
    /// The words of the workspace.
    pub words: Global<u64>,
    /// The state of the workspace.
    pub state: Global<u32>,
    /// The number of rows per warp.
    pub rows: u32,
    /// The number of tiles per group.
    pub group: u32,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<W: Scalar> KernelArg for Filtering<W> {}

impl<W: Word> Filtering<W> {
    /// Filters by `order`: [`rank::filter()`].
    #[device]
    pub fn filter(self, order: impl Order<Word = W>) {
        let Self { input, sample, bracket, candidates, words, state, rows, group } = self;
        let workspace = Workspace { words, state };
        rank::filter(order, input, (sample, bracket), candidates, workspace, (rows, group));
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

macro_rules! kernels {
    ($($word:ident: $sample:ident $take:ident, $int:ident $float:ident $blocks:literal;)*) => {$(
        entry! { @ $sample Keys<$word> [] Sampling<$word>, sample (max_threads = 256) "Draws a sample of", "grid::rank::sample()" }
        entry! { @ $take Keys<$word> [] Taking<$word>, take (max_threads = 256) "Takes some of", "grid::rank::take()" }
        entry! { @ $int Integers<$word> [order] Filtering<$word>, filter (max_threads = 256, min_blocks = $blocks) "Filters by", "grid::rank::filter()" }
        entry! { @ $float Floats<$word> [order] Filtering<$word>, filter (max_threads = 256, min_blocks = $blocks) "Filters by", "grid::rank::filter()" }
    )*};
}
kernels! {
    u16: rank_sample_16 rank_take_16, rank_filter_int_16 rank_filter_float_16 3;
    u32: rank_sample_32 rank_take_32, rank_filter_int_32 rank_filter_float_32 3;
    u64: rank_sample_64 rank_take_64, rank_filter_int_64 rank_filter_float_64 3;
}
