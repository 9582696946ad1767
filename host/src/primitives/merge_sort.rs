//! The launches of the merge sort.

use crate::device::{Device, DeviceError, Geometry};
use cuda_std::memory::Global;
use gridsync_entries::merge_sort::{merge_sort_runs, merge_sort_tiles};
use gridsync_kernels::grid::merge_sort::{THREADS, TILE};

/// One block per tile, for this many keys.
pub(super) fn geometry(keys: usize) -> Geometry {
    Geometry::new(keys.div_ceil(TILE) as u32, THREADS)
}

/// The lengths of the runs that each level merges, to sort this many keys.
pub(super) fn levels(keys: usize) -> impl Iterator<Item = u32> {
    let runs = (0..).map(|level| TILE << level);
    runs.take_while(move |&run| run < keys).map(|run| run as u32)
}

/// The index of the array that the tiles are written to. Each level then writes to the other array,
/// so that the last level writes array 0.
pub(super) fn first_of(levels: usize) -> usize {
    levels % 2
}

/// Submits the launches that sort `arrays[0]`: one for the tiles, and one per level. The end of a
/// launch is the barrier between levels, so co-residency does not limit the length. The other array
/// is overwritten.
///
/// # Errors
/// If a launch fails.
///
/// # Safety
/// The arrays have one length, at least 1 and below 2^32, and do not overlap. Their memory is on
/// this device, lives until the launches have ended, and nothing else accesses it.
pub(super) unsafe fn sort(device: &Device, arrays: [Global<u64>; 2]) -> Result<(), DeviceError> {
    let len = arrays[0].len();
    let mut at = first_of(levels(len).count());
    // SAFETY: the grid has a block for each tile; tiles may be sorted in place, and each level goes
    // from one array to the other; the caller upholds the rest of the contract.
    unsafe {
        device.launch::<merge_sort_tiles>(&geometry(len), (arrays[0], arrays[at]))?;
        for run in levels(len) {
            let args = (arrays[at], arrays[1 - at], run);
            device.launch::<merge_sort_runs>(&geometry(len), args)?;
            at = 1 - at;
        }
    }
    Ok(())
}
