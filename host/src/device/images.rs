//! gridsync's own kernels as PTX.

use super::cuda::PtxImage;

/// The kernels of `gridsync-kernels`, built by `cargo xtask build-kernels` and committed, so that
/// no kernel compiler is needed to run them: one image for every GPU since Turing, and one with
/// Hopper's instructions.
pub const KERNELS: [PtxImage; 2] = [
    PtxImage {
        compute: 75,
        text: include_str!("../../ptx/gridsync_compute_75.ptx"),
    },
    PtxImage {
        compute: 90,
        text: include_str!("../../ptx/gridsync_compute_90.ptx"),
    },
];
