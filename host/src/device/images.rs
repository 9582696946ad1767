//! gridsync's own kernels as PTX.

use super::cuda::PtxImage;

/// The kernels of `gridsync-kernels`, built by `cargo xtask build-kernels` and committed, so that
/// running them does not need a kernel compiler: one image for everything since Turing, and one
/// with the kernels that use Hopper's instructions.
pub static KERNELS: [PtxImage; 2] = [
    PtxImage::packed(include_bytes!("../../ptx/kernels_compute_75.ptxz")),
    PtxImage::packed(include_bytes!("../../ptx/kernels_compute_90.ptxz")),
];
