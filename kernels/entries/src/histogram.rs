//! Histograms: a kernel for each type of elements and way to find a bin.

use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_kernels::grid::histogram::{
    self, Binning, Double, Edges, Layout, Numbers, Single, Sums,
};

/// The common arguments, as in [`histogram::histogram()`]. The binning comes after them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arguments<T> {
    /// The array.
    pub input: Global<T>,
    /// The results.
    pub sums: Sums,
    /// The number of bins.
    pub bins: u32,
    /// Where blocks count.
    pub layout: Layout,
}

// SAFETY: `repr(C)`; views and numbers are the same on host and device.
unsafe impl<T: Scalar> KernelArg for Arguments<T> {}

impl<T: Scalar> Arguments<T> {
    /// Counts by `binning`: [`histogram::histogram()`].
    #[device]
    pub fn count(self, binning: impl Binning<Element = T>) {
        let Self { input, sums, bins, layout } = self;
        histogram::histogram(binning, input, bins, layout, sums);
    }
}

macro_rules! kernels {
    ($($name:ident: $binning:ident<$ty:ident>, $blocks:literal;)*) => {$(
        entry! { @ $name $binning<$ty> [binning] Arguments<$ty>, count (max_threads = 768, min_blocks = $blocks) "Counts by", "grid::histogram::histogram()" }
    )*};
}
kernels! {
    histogram_numbers_8: Numbers<u8>, 2;
    histogram_numbers_16: Numbers<u16>, 2;
    histogram_numbers_32: Numbers<u32>, 2;
    histogram_numbers_64: Numbers<u64>, 2;
    histogram_even_f16: Single<f16>, 2;
    histogram_even_bf16: Single<bf16>, 2;
    histogram_even_f32: Single<f32>, 2;
    histogram_narrow_f32: Double<f32>, 2;
    histogram_even_f64: Double<f64>, 2;
    histogram_even_i32: Double<i32>, 2;
    histogram_even_u32: Double<u32>, 2;
    histogram_even_i64: Double<i64>, 2;
    histogram_even_u64: Double<u64>, 2;
    histogram_edges_f16: Edges<f16>, 2;
    histogram_edges_bf16: Edges<bf16>, 2;
    histogram_edges_f32: Edges<f32>, 2;
    histogram_edges_f64: Edges<f64>, 2;
    histogram_edges_i8: Edges<i8>, 2;
    histogram_edges_u8: Edges<u8>, 2;
    histogram_edges_i16: Edges<i16>, 2;
    histogram_edges_u16: Edges<u16>, 2;
    histogram_edges_i32: Edges<i32>, 2;
    histogram_edges_u32: Edges<u32>, 2;
    histogram_edges_i64: Edges<i64>, 2;
    histogram_edges_u64: Edges<u64>, 2;
}
