//! Checks which context and allocation an address belongs to.

use super::Cuda;
use crate::device::DeviceError;
use libcuda::{
    CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
    CUDA_ERROR_INVALID_VALUE, CUcontext, CUdeviceptr, CUpointer_attribute, CUresult,
};
use std::{ffi::c_int, ptr};

impl Cuda {
    /// Refuses memory that is not inside one live allocation of the GPU's context.
    pub(super) fn expect_own_memory(&self, address: u64, bytes: usize) -> Result<(), DeviceError> {
        self.gpu.enter()?;
        let device = || self.gpu.properties.name.clone();
        let no_memory = || DeviceError::NoMemory { address, bytes, device: device() };
        let of = |result: CUresult| match result {
            // The driver has no memory at this address.
            CUDA_ERROR_INVALID_VALUE => Err(no_memory()),
            result => DeviceError::check(result, || self.after_last("asking whose memory it is")),
        };
        let (mut context, mut ordinal) = (ptr::null_mut(), -1);
        // SAFETY: the attributes are of these types.
        unsafe {
            of(ask::<CUcontext>(&mut context, CU_POINTER_ATTRIBUTE_CONTEXT, address))?;
            of(ask::<c_int>(&mut ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address))?;
        }
        // Memory of a pool belongs to a device, but not to a context.
        let is_own = if context.is_null() {
            u32::try_from(ordinal) == Ok(self.gpu.ordinal)
        } else {
            context == self.gpu.context.0
        };
        if !is_own {
            return Err(DeviceError::OtherContext { what: "the memory", device: device() });
        }
        let (mut start, mut size) = (0, 0);
        // SAFETY: the attributes are of these types.
        unsafe {
            of(ask::<CUdeviceptr>(&mut start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address))?;
            of(ask::<usize>(&mut size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address))?;
        }
        let end = start.saturating_add(size as u64);
        match address.checked_add(bytes as u64) {
            Some(needed) if needed <= end => Ok(()),
            _ => Err(no_memory()),
        }
    }
}

/// Queries an attribute of the memory at an address.
///
/// # Safety
/// The attribute is of type `T`.
unsafe fn ask<T>(value: &mut T, attribute: CUpointer_attribute, address: u64) -> CUresult {
    // SAFETY: the pointer is valid for writes of the attribute's type.
    unsafe { libcuda::cuPointerGetAttribute(ptr::from_mut(value).cast(), attribute, address) }
}
