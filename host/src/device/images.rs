//! gridsync's own kernels as PTX.

use super::cuda::PtxImage;

/// The kernels of `gridsync-kernels`, built by `cargo xtask build-kernels` and committed, so that
/// no kernel compiler is needed to run them: one image for everything since Turing, and one with
/// what is different with Hopper's instructions.
pub static KERNELS: [PtxImage; 2] = [
    PtxImage::packed(include_bytes!("../../ptx/kernels_compute_75.ptxz")),
    PtxImage::packed(include_bytes!("../../ptx/kernels_compute_90.ptxz")),
];
