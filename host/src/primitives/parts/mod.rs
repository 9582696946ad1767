//! Arrays that need not fit into the memory of the device, nor into that of the host: they go through either part by
//! part, on a device or on the CPU, to the results of the whole.

mod kendall;
mod range_sum;
mod reduce;
mod scan;
mod select;
mod sift;

pub use kendall::{PartCorrelator, kendall_in_parts};
pub use range_sum::{PartRangeSums, range_sums_in_parts};
pub use reduce::{PartReducer, PartReducible};
pub use scan::{PartScanner, scan_in_parts};
pub use select::{PartSelector, select_in_parts};

use crate::device::{Device, DeviceError};
use crate::memory::NoRoom;

/// Why an array did not go through part by part.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PartError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The host has no room for a part.
    #[error(transparent)]
    Memory(#[from] NoRoom),
}

/// Elements that are to be on `device` at a time, if all `len` of them do not fit where each takes `bytes`
/// bytes, with what is made of it: as many as take three quarters of what is free. None if all fit.
///
/// The rest is for kernels, for workspaces that grow with the array much more slowly, and for others.
///
/// # Errors
/// Those of asking the device.
pub fn that_fit(device: &Device, len: usize, bytes: usize) -> Result<Option<usize>, DeviceError> {
    let fit = device.free_memory()? / 4 * 3 / bytes.max(1);
    Ok((len > fit).then_some(fit.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Emulator, EmulatorConfig};

    #[test]
    fn parts_take_three_quarters_of_what_is_free() {
        let config = EmulatorConfig {
            memory_bytes: 4000,
            ..EmulatorConfig::default()
        };
        let device = Device::new(Emulator::new(config));
        assert_eq!(that_fit(&device, 250, 12), Ok(None));
        assert_eq!(that_fit(&device, 251, 12), Ok(Some(250)));
        let _taken = device.alloc::<u8>(2000).expect("it should fit");
        assert_eq!(that_fit(&device, 250, 12), Ok(Some(125)));
        assert_eq!(that_fit(&device, 250, 5000), Ok(Some(1)));
        assert_eq!(that_fit(&device, 0, 5000), Ok(None));
    }
}
