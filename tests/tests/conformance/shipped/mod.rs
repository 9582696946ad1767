//! The PTX that ships, in the emulator: the committed images run in place of the kernels' source.
//!
//! | module | what it tests |
//! |---|---|
//! | `launched` | the kernels of the images give the results of their source |
//! | `others` | runs of the kernels of the experiments and the examples, no tests |
//! | `forms` | runs of the library's kernels that no kind launches for a small array, no tests |
//! | `mutated` | an order, a scope, a fence or a barrier of a protocol, weakened in the text: caught,
//! or harmless for a stated reason |

use gridsync::device::PtxKernels;
use gridsync_tests::devices::images;
use gridsync_tests::trials::Trials;
use std::sync::OnceLock;

mod forms;
mod launched;
mod mutated;
mod others;

pub(crate) fn trials() -> Trials {
    Trials::of(module_path!()).with([launched::trials(), mutated::trials()])
}

/// The targets of the images.
const TARGETS: [u32; 2] = [75, 90];

/// Kernels of protocols that are in no image.
const EMULATED_ONLY: [&str; 5] =
    ["block_ranks", "block_sorts", "bounded_rounds", "bounded_system_rounds", "warps_add"];

/// The kernels that a device of this compute capability runs, parsed once for all tests.
fn kernels(compute: u32) -> &'static PtxKernels {
    static KERNELS: [OnceLock<PtxKernels>; 2] = [const { OnceLock::new() }; 2];
    let at = TARGETS.iter().position(|&target| target == compute).expect("a target");
    KERNELS[at].get_or_init(|| PtxKernels::new(&images(), compute).expect("whole images"))
}
