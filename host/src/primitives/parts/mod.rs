//! Primitives for arrays that may exceed the memory of the device or the host. The arrays pass
//! through a device or the CPU part by part; the results are bit-identical to those for the whole
//! array at once.
//!
//! Several devices ([`Devices`]) share each part. So an array of a single part is distributed over
//! all of them, and none holds more than its share.
//!
//! Each primitive joins its parts in its own way. A reduction gets the leaves of its tree from the
//! device. A scan continues from the carry, which stays on the device. A selection evaluates each
//! part together with the preceding element. Range sums are differences of a scan in parts. A rank
//! correlation correlates every two parts and subtracts the counts within each. A sort merges sorted
//! parts. The first elements, distinct values and counts of each part are joined with those so far;
//! these and sorts use one device.

mod histogram;
mod kendall;
mod leaves;
mod merge;
mod overflow;
mod range_sum;
mod reduce;
mod scan;
mod select;
mod shared;
mod sift;
mod sort;
pub(super) mod together;
mod top;
mod value_counts;

pub use histogram::PartHistogram;
pub use kendall::{PartCorrelator, kendall_in_parts};
pub use leaves::{Cut, Leaves, from_leaves, leaves_from_bytes, leaves_to_bytes};
pub use merge::{Held, Merge, Merged, Runs, kth_of_runs};
pub use overflow::{Overflow, Scale, settle};
pub use range_sum::{PartRangeSums, range_sums_in_parts};
pub use reduce::{PartReducer, PartReducible};
pub use scan::{PartScanner, scan_in_parts};
pub use select::{PartSelector, select_in_parts};
pub use shared::{SharedPart, Uploaded};
pub use sort::{PartSorter, sort_in_parts};
pub use top::PartTop;
pub use value_counts::PartValueCounter;

use crate::device::{DeviceError, Devices};
use crate::memory::NoRoom;

/// Why an array could not be processed in parts.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PartError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The host has too little memory for a part.
    #[error(transparent)]
    Memory(#[from] NoRoom),
}

/// How many of `len` elements to keep on `devices` at a time if not all fit: as many as fill three
/// quarters of the free memory of the device that has the least, on each. Each element needs
/// `bytes` bytes, including its results. `None` if all fit.
///
/// The rest is for kernels, for workspaces, which grow much more slowly than the array, and for
/// other processes.
///
/// # Errors
/// If a device does not respond.
pub fn that_fit(
    devices: impl Into<Devices>,
    len: usize,
    bytes: usize,
) -> Result<Option<usize>, DeviceError> {
    let devices = devices.into();
    // Devices that are the same GPU share its memory.
    let free = devices.each(|_, device| Ok(device.free_memory()? / devices.sharing() as usize))?;
    let least = free.into_iter().min().unwrap_or(0);
    let fit = (least / 4 * 3 / bytes.max(1)).saturating_mul(devices.len());
    Ok((len > fit).then_some(fit.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Device, Emulator, EmulatorConfig};

    #[test]
    fn parts_use_three_quarters_of_free_memory() {
        let config = EmulatorConfig { memory_bytes: 4000, ..EmulatorConfig::default() };
        let device = Device::new(Emulator::new(config));
        assert_eq!(that_fit(&device, 250, 12), Ok(None));
        assert_eq!(that_fit(&device, 251, 12), Ok(Some(250)));
        let _taken = device.alloc::<u8>(2000).expect("it should fit");
        assert_eq!(that_fit(&device, 250, 12), Ok(Some(125)));
        assert_eq!(that_fit(&device, 250, 5000), Ok(Some(1)));
        assert_eq!(that_fit(&device, 0, 5000), Ok(None));
        let devices = Devices::emulated(EmulatorConfig { gpus: 3, ..config }).expect("three");
        let _taken = devices[2].alloc::<u8>(2000).expect("it should fit");
        assert_eq!(that_fit(&devices, 375, 12), Ok(None));
        assert_eq!(that_fit(&devices, 376, 12), Ok(Some(375)));
    }
}
