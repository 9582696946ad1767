//! The two scan designs, and when each is used.

use super::{BulkCommon, Scannable};
use crate::device::{Device, DeviceError};
use gridsync_entries::name_of;
use gridsync_kernels::grid::scan::BULK_SHARED;

/// How a scan works. The bits are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Design {
    /// One block per tile, which it holds in registers: on every device, and for every operation.
    Registers,
    /// Blocks that stay resident and load tiles by bulk copies: for sums of f32, f64, i32, u32, i64
    /// and u64 in their own type, and for minima and maxima of f32, f64, i32 and i64, since compute
    /// capability 9.0.
    Bulk,
}

/// For each element size in bytes, the array size in bytes from which bulk copies are used, where
/// that is possible.
// An H200, 2026-11-22, µs in registers and by bulk copies, back to back and alone: 2^20 f32 6.2 and
// 7.0, 7.3 and 8.1; 2^21 f32 8.7 and 8.3, 9.9 and 9.5; 2^20 f64 8.5 and 8.9, 10.1 and 9.9; 2^21 f64
// 15.4 and 16.3, 16.5 and 14.1; 2^21 u64 15.6 and 15.7, 16.7 and 14.1.
const BULK_FROM: [(usize, usize); 2] = [(4, 8 << 20), (8, 16 << 20)];

/// Whether a bulk-copy kernel exists that the device can run.
pub(in crate::primitives) fn has_bulk<O: Scannable>(device: &Device) -> bool {
    let device = device.properties();
    let is_new = device.compute >= 90 || device.is_emulated() && device.cluster;
    name_of::<O, BulkCommon<O>>().is_some()
        && is_new
        && device.shared_per_block_optin >= BULK_SHARED
}

/// Refuses a device or an operation without a bulk-copy scan.
pub(in crate::primitives) fn expect_bulk<O: Scannable>(device: &Device) -> Result<(), DeviceError> {
    if has_bulk::<O>(device) {
        Ok(())
    } else {
        Err(DeviceError::Unsupported {
            what: "a scan by bulk copies",
            device: device.properties().name.clone(),
            needs: "it needs a sum, minimum or maximum of numbers of 4 or 8 bytes in their own type, compute capability 9.0, and 192 KiB of shared memory per block",
        })
    }
}

/// Whether bulk copies are faster for arrays of `len` elements, where they are possible.
pub(in crate::primitives) fn is_long_enough_for_bulk<O: Scannable>(
    device: &Device,
    len: usize,
) -> bool {
    let each = size_of::<O::Element>();
    let is_long = |(of, bytes)| each == of && len * each >= bytes;
    BULK_FROM.into_iter().any(is_long) && !device.properties().is_emulated()
}
