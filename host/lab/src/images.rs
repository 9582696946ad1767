//! The kernels of the program: those of the library, and those of the experiments.

use gridsync::device::KERNELS;
use gridsync::device::cuda::PtxImage;

/// The kernels of `gridsync-lab-kernels`, built by `cargo xtask build-kernels` and committed.
pub static LAB: [PtxImage; 2] = [
    PtxImage::packed(include_bytes!("../ptx/lab_compute_75.ptxz")),
    PtxImage::packed(include_bytes!("../ptx/lab_compute_90.ptxz")),
];

/// All images that the program opens a device with.
#[must_use]
pub fn all() -> Vec<PtxImage> {
    KERNELS.into_iter().chain(LAB).collect()
}
