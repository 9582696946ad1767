//! Queries the driver for the properties of a device.

use crate::device::{DeviceError, Properties};
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
use std::ffi::{CStr, c_int};

/// Device `ordinal`. The driver must be initialised.
pub(super) fn device(ordinal: u32) -> Result<CUdevice, DeviceError> {
    let mut device = 0;
    let number = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
    // SAFETY: the pointer to `device` is valid for writes.
    let result = unsafe { libcuda::cuDeviceGet(&raw mut device, number) };
    DeviceError::check(result, || format!("asking for CUDA device {ordinal}"))?;
    Ok(device)
}

/// All [`Properties`] of one device. The driver must be initialised.
pub(super) fn properties(device: CUdevice) -> Result<Properties, DeviceError> {
    let get = |attribute| attribute_of(device, attribute);
    Ok(Properties {
        name: name_of(device)?,
        emulated: false,
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
        memory_bytes: memory_of(device)? as u64,
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
    // SAFETY: the pointer to `version` is valid for writes.
    let result = unsafe { libcuda::cuDriverGetVersion(&raw mut version) };
    DeviceError::check(result, || "asking the driver for its version".into())?;
    Ok(u32::try_from(version).unwrap_or(0))
}

/// The name of a device.
fn name_of(device: CUdevice) -> Result<String, DeviceError> {
    const LEN: c_int = 256;
    let mut name = [0u8; LEN as usize];
    // SAFETY: the driver writes at most LEN bytes.
    let result = unsafe { libcuda::cuDeviceGetName(name.as_mut_ptr().cast(), LEN, device) };
    DeviceError::check(result, || "asking for the name of a CUDA device".into())?;
    let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
    Ok(name.to_string_lossy().into_owned())
}

/// Bytes of its memory.
fn memory_of(device: CUdevice) -> Result<usize, DeviceError> {
    let mut bytes = 0;
    // SAFETY: the pointer to `bytes` is valid for writes.
    let result = unsafe { libcuda::cuDeviceTotalMem_v2(&raw mut bytes, device) };
    DeviceError::check(result, || "asking how much memory a CUDA device has".into())?;
    Ok(bytes)
}

/// One attribute, or 0 if this driver does not support it.
pub(super) fn attribute_of(device: CUdevice, attribute: CUdevice_attribute) -> u32 {
    let mut value = 0;
    // SAFETY: the device belongs to an initialised driver, and the pointer to `value` is valid for
    // writes.
    let result = unsafe { libcuda::cuDeviceGetAttribute(&raw mut value, attribute, device) };
    result.ok().map_or(0, |()| u32::try_from(value).unwrap_or(0))
}
