//! The begin of a kernel that may overlap the one before it.

use cuda_std::prelude::*;

/// Lets the next kernel of the stream start, and waits until the one before has ended, where they were
/// launched to overlap (compute capability 9.0; elsewhere it does nothing). So a kernel of a row starts
/// while the last blocks of the one before it still run. Called by all threads before they touch memory.
///
/// Loads after it must not be read-only ones (`.nc`): ptxas may move these before it, and they may read
/// what was there before the other kernel wrote.
#[device]
pub(super) fn begin() {
    #[cfg(any(compute_ge_90, not(target_arch = "nvptx64")))]
    {
        cuda_std::dependent::let_next_start();
        cuda_std::dependent::wait_for_previous();
    }
}
