//! Asks the driver what a device is.

use super::from_cust;
use crate::device::{DeviceError, Properties};
use cust::device::Device;
use libcuda::{
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, CU_DEVICE_ATTRIBUTE_ECC_ENABLED,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE, CUdevice, CUdevice_attribute,
};
use std::ptr;

/// All [`Properties`] of one device; the driver is initialised.
pub(super) fn properties(device: Device) -> Result<Properties, DeviceError> {
    let reading = |error| from_cust(error, || "reading the properties of a CUDA device".into());
    let raw = device.as_raw();
    let get = |attribute| attribute_of(raw, attribute);
    Ok(Properties {
        name: device.name().map_err(reading)?,
        compute: 10 * get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
            + get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        driver_version: driver_version()?,
        pci: format!(
            "{:04x}:{:02x}:{:02x}.0",
            get(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
            get(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
            get(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)
        ),
        multiprocessors: get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        clock_khz: get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        memory_clock_khz: get(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
        memory_bus_bits: get(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
        memory_bytes: device.total_memory().map_err(reading)? as u64,
        ecc: get(CU_DEVICE_ATTRIBUTE_ECC_ENABLED) == 1,
        l2_bytes: get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
        warp_size: get(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        max_grid_x: get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
        max_threads_per_block: get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        max_threads_per_multiprocessor: get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
        max_blocks_per_multiprocessor: get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
        registers_per_block: get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
        registers_per_multiprocessor: get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
        shared_per_block: get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        shared_per_block_optin: get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        shared_per_multiprocessor: get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
        shared_reserved_per_block: get(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
        cooperative: get(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) == 1,
        cluster: get(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 1,
    })
}

/// CUDA version of the driver, 1000·major + 10·minor.
pub(super) fn driver_version() -> Result<u32, DeviceError> {
    let mut version = 0;
    // SAFETY: `version` is there to be written.
    let result = unsafe { libcuda::cuDriverGetVersion(&raw mut version) };
    DeviceError::check(result, || "asking the driver for its version".into())?;
    Ok(u32::try_from(version).unwrap_or(0))
}

/// Runs `with` while the device's primary context is retained, to get the driver's own answer first.
///
/// cust reads results as an enum of 2021, and must never see a newer number, such as 46 for a
/// device in exclusive use. In `with`, cust's own retain only adds to a count. If this released the
/// context before, the driver would close it and make it again: 0.17 s on an H200 (2026-11-24).
pub(super) fn while_retained<T>(
    device: CUdevice,
    during: impl FnOnce() -> String,
    with: impl FnOnce() -> Result<T, DeviceError>,
) -> Result<T, DeviceError> {
    let mut context = ptr::null_mut();
    // SAFETY: the device is of an initialised driver, and `context` is there to be written.
    let result = unsafe { libcuda::cuDevicePrimaryCtxRetain(&raw mut context, device) };
    DeviceError::check(result, during)?;
    let done = with();
    // SAFETY: this releases what was retained above. What `with` retained is retained still.
    let released = unsafe { libcuda::cuDevicePrimaryCtxRelease_v2(device) };
    DeviceError::check(released, || "releasing a CUDA context".into())?;
    done
}

/// One attribute, or 0 if this driver does not know it.
fn attribute_of(device: CUdevice, attribute: CUdevice_attribute) -> u32 {
    let mut value = 0;
    // SAFETY: the device is of an initialised driver, and `value` is there to be written.
    let result = unsafe { libcuda::cuDeviceGetAttribute(&raw mut value, attribute, device) };
    result.ok().map_or(0, |()| u32::try_from(value).unwrap_or(0))
}
