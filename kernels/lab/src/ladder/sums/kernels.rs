//! The ladder of sums: a kernel for each rung of [`crate::ladder::sums`] and each type, and the
//! kernel that only reads.

use crate::ladder::sums::{
    r00_read_only, r01_serial, r02_chunks, r03_strided, r04_atomics, r05_interleaved,
    r06_compacted, r07_sequential, r08_first_add, r09_last_warp, r10_warps_first, r11_shuffles,
    r12_wide_loads, r14_grid_stride, r15_atomic_finish, r16_last_block, r17_grid_barrier,
};
use cuda_std::prelude::*;

/// Reads all of `input` and writes nothing: see [`r00_read_only::read_only`].
///
/// # Safety
///
/// `input` begins at a multiple of 16 bytes; `never` has an element; nothing else writes to them.
#[kernel]
pub unsafe fn ladder_read_only(input: Global<u32>, never: Global<u32>) {
    r00_read_only::read_only(input, never);
}

/// Sums by `redux.sync`: see [`crate::ladder::sums::r13_redux::redux`].
///
/// # Safety
///
/// Same as for [`ladder_wide_loads_u32`].
#[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
#[kernel]
pub unsafe fn ladder_redux_u32(input: Global<u32>, partials: Global<u32>) {
    crate::ladder::sums::r13_redux::redux(input, partials);
}

macro_rules! kernels {
    (
        two views: {$($two:ident: $two_f32:ident, $two_u32:ident by $two_rung:path;)*}
        four views: {$($four:ident: $four_f32:ident, $four_u32:ident by $four_rung:path $(, $option:ident)?;)*}
    ) => {
        /// A type that has a ladder, and the kernel of each rung. Host only.
        ///
        /// # Safety
        ///
        /// Safe methods launch the kernels. Each kernel does what its rung does.
        #[cfg(not(target_arch = "nvptx64"))]
        pub unsafe trait Ladder: crate::ladder::sums::Summand {
            $(
                #[doc = concat!("[`", stringify!($two_rung), "`]: `(input, sums)`.")]
                type $two: cuda_std::launch::Kernel<Args = (Global<Self>, Global<Self>)>;
            )*
            $(
                #[doc = concat!("[`", stringify!($four_rung), "`]: `(input, partials, words, sum)`.")]
                type $four: cuda_std::launch::Kernel<
                    Args = (Global<Self>, Global<Self>, Global<u32>, Global<Self>),
                >;
            )*
        }

        // SAFETY: each kernel only calls its rung.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Ladder for f32 {
            $(type $two = $two_f32;)*
            $(type $four = $four_f32;)*
        }

        // SAFETY: each kernel only calls its rung.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl Ladder for u32 {
            $(type $two = $two_u32;)*
            $(type $four = $four_u32;)*
        }

        $(
            kernels!(@two $two_f32 f32 $two_rung);
            kernels!(@two $two_u32 u32 $two_rung);
        )*
        $(
            kernels!(@four $four_f32 f32 $four_rung $(, $option)?);
            kernels!(@four $four_u32 u32 $four_rung $(, $option)?);
        )*
    };
    (@two $name:ident $ty:ident $rung:path) => {
        #[doc = concat!("Sums ", stringify!($ty), ": see [`", stringify!($rung), "`].")]
        ///
        /// # Safety
        ///
        /// `input` begins at a multiple of 16 bytes and nothing writes to it during the launch;
        /// `sums` does not overlap it, and has an element for each sum; blocks have the shape that
        /// the rung needs.
        #[kernel]
        pub unsafe fn $name(input: Global<$ty>, sums: Global<$ty>) {
            $rung(input, sums);
        }
    };
    (@four $name:ident $ty:ident $rung:path $(, $option:ident)?) => {
        #[doc = concat!("Sums ", stringify!($ty), ": see [`", stringify!($rung), "`].")]
        ///
        /// # Safety
        ///
        /// `input` begins at a multiple of 16 bytes and nothing writes to it during the launch; the
        /// other views do not overlap it, and no other launch uses them until this one has ended;
        /// views and blocks have the shape that the rung needs.
        #[kernel $(($option))?]
        pub unsafe fn $name(
            input: Global<$ty>,
            partials: Global<$ty>,
            words: Global<u32>,
            sum: Global<$ty>,
        ) {
            $rung(input, partials, words, sum);
        }
    };
}
kernels! {
    two views: {
        Serial: ladder_serial_f32, ladder_serial_u32 by r01_serial::serial;
        Chunks: ladder_chunks_f32, ladder_chunks_u32 by r02_chunks::chunks;
        Strided: ladder_strided_f32, ladder_strided_u32 by r03_strided::strided;
        Atomics: ladder_atomics_f32, ladder_atomics_u32 by r04_atomics::atomics;
        Interleaved: ladder_interleaved_f32, ladder_interleaved_u32 by r05_interleaved::interleaved;
        Compacted: ladder_compacted_f32, ladder_compacted_u32 by r06_compacted::compacted;
        Sequential: ladder_sequential_f32, ladder_sequential_u32 by r07_sequential::sequential;
        FirstAdd: ladder_first_add_f32, ladder_first_add_u32 by r08_first_add::first_add;
        LastWarp: ladder_last_warp_f32, ladder_last_warp_u32 by r09_last_warp::last_warp;
        WarpsFirst: ladder_warps_first_f32, ladder_warps_first_u32 by r10_warps_first::warps_first;
        Shuffles: ladder_shuffles_f32, ladder_shuffles_u32 by r11_shuffles::shuffles;
        WideLoads: ladder_wide_loads_f32, ladder_wide_loads_u32 by r12_wide_loads::wide_loads;
        GridStride: ladder_grid_stride_f32, ladder_grid_stride_u32 by r14_grid_stride::grid_stride;
        AtomicFinish: ladder_atomic_finish_f32, ladder_atomic_finish_u32 by r15_atomic_finish::atomic_finish;
    }
    four views: {
        LastBlock: ladder_last_block_f32, ladder_last_block_u32 by r16_last_block::last_block;
        GridBarrier: ladder_grid_barrier_f32, ladder_grid_barrier_u32 by r17_grid_barrier::grid_barrier, cooperative;
    }
}
