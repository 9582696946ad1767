//! The ladder of sorts: the kernels of each rung of [`crate::ladder::sorts`].

use crate::ladder::sorts::{
    t01_odd_even, t02_bitonic, t03_bitonic_tiles, t04_counts, t05_ranks, t06_one_sweep,
};
use cuda_std::prelude::*;

macro_rules! kernels {
    ($($name:ident($($argument:ident: $ty:ty),*) by $rung:path;)*) => {$(
        #[doc = concat!("See [`", stringify!($rung), "`].")]
        ///
        /// # Safety
        ///
        /// Views do not overlap unless the rung allows it, and are as long as the rung needs;
        /// nothing else uses them until this launch has ended. The grid has the shape that the rung
        /// needs.
        #[kernel]
        pub unsafe fn $name($($argument: $ty),*) {
            $rung($($argument),*);
        }
    )*};
}
kernels! {
    ladder_sort_odd_even(input: Global<u32>, output: Global<u32>) by t01_odd_even::odd_even;
    ladder_sort_step(from: Global<u32>, to: Global<u32>, mask: u32) by t02_bitonic::step;
    ladder_sort_tiles(from: Global<u32>, to: Global<u32>, merging: u32)
        by t03_bitonic_tiles::tiles;
    ladder_sort_count(keys: Global<u32>, counts: Global<u32>, shift: u32) by t04_counts::count;
    ladder_sort_scatter(from: Global<u32>, to: Global<u32>, starts: Global<u32>, shift: u32)
        by t04_counts::scatter;
    ladder_sort_scatter_ranked(from: Global<u32>, to: Global<u32>, starts: Global<u32>, shift: u32)
        by t05_ranks::scatter_ranked;
    ladder_sort_count_all(keys: Global<u32>, counts: Global<u32>) by t06_one_sweep::count_all;
    ladder_sort_one_sweep(
        from: Global<u32>,
        to: Global<u32>,
        counts: Global<u32>,
        words: Global<u32>,
        shift: u32
    ) by t06_one_sweep::one_sweep;
}
