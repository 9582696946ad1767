//! The ladder of scans: a kernel for each rung of [`crate::ladder::scans`], and the kernels that
//! add to a tile the sum of everything before it.

use crate::ladder::scans::{
    s00_copy, s01_serial, s02_one_block, s03_block_sums, s04_blelloch, s05_padded, s06_shuffles,
    s07_grid_barrier, s08_chained, s09_look_back,
};
use cuda_std::prelude::*;

macro_rules! kernels {
    ($(
        $name:ident($($view:ident: $ty:ty),*) by $rung:path $(, $option:ident)?;
    )*) => {$(
        #[doc = concat!("See [`", stringify!($rung), "`].")]
        ///
        /// # Safety
        ///
        /// Views begin at multiples of 16 bytes, do not overlap unless the rung allows it, and are
        /// as long as the rung needs; nothing else uses them until this launch has ended. The grid
        /// has the shape that the rung needs.
        #[kernel $(($option))?]
        pub unsafe fn $name($($view: $ty),*) {
            $rung($($view),*);
        }
    )*};
}
kernels! {
    ladder_scan_copy(input: Global<u32>, output: Global<u32>) by s00_copy::copy;
    ladder_scan_serial(input: Global<u32>, output: Global<u32>) by s01_serial::serial;
    ladder_scan_one_block(input: Global<u32>, output: Global<u32>) by s02_one_block::one_block;
    ladder_scan_block_sums(input: Global<u32>, output: Global<u32>, sums: Global<u32>)
        by s03_block_sums::block_sums;
    ladder_scan_inject(output: Global<u32>, sums: Global<u32>) by s03_block_sums::inject;
    ladder_scan_blelloch(input: Global<u32>, output: Global<u32>, sums: Global<u32>)
        by s04_blelloch::blelloch;
    ladder_scan_padded(input: Global<u32>, output: Global<u32>, sums: Global<u32>)
        by s05_padded::padded;
    ladder_scan_shuffles(input: Global<u32>, output: Global<u32>, sums: Global<u32>)
        by s06_shuffles::shuffles;
    ladder_scan_inject_packs(output: Global<u32>, sums: Global<u32>) by s06_shuffles::inject_packs;
    ladder_scan_grid_barrier(
        input: Global<u32>,
        output: Global<u32>,
        partials: Global<u32>,
        barrier: Global<u32>
    ) by s07_grid_barrier::grid_barrier, cooperative;
    ladder_scan_chained(input: Global<u32>, output: Global<u32>, words: Global<u64>)
        by s08_chained::chained;
    ladder_scan_look_back(input: Global<u32>, output: Global<u32>, words: Global<u64>)
        by s09_look_back::look_back;
}
