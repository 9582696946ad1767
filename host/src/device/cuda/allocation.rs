//! Device memory: allocated for all streams, from the device's pool in the order of one stream, or by
//! the caller.
//!
//! The driver frees ordinary memory only when the device is idle. Memory of the pool is freed by
//! the stream itself, after the work before, and the host continues. It is used on devices in a
//! caller's stream, whose program frees its own memory in the same way.

use super::event::Event;
use super::{Cuda, query};
use crate::device::DeviceError;
use libcuda::{
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, CU_EVENT_DISABLE_TIMING, CUDA_ERROR_OUT_OF_MEMORY,
    CUdevice,
};
use std::ptr;

/// Whether a device has a memory pool, and the driver the calls for it.
pub(super) fn has_pool(device: CUdevice) -> bool {
    query::attribute_of(device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == 1
        && libcuda::provides(c"cuMemAllocAsync")
        && libcuda::provides(c"cuMemFreeAsync")
}

impl Cuda {
    /// [`Backend::alloc`](crate::device::Backend::alloc).
    pub(super) fn allocate(&self, bytes: usize) -> Result<u64, DeviceError> {
        let _entered = self.stream.gate.unrecorded("an allocation")?;
        self.gpu.enter()?;
        if let Some(allocator) = &self.allocator {
            return allocator.allocate(bytes).ok_or_else(|| self.out_of_memory(bytes));
        }
        let mut address = 0;
        // SAFETY: the pointer to `address` is valid for writes, the stream is live, and the context
        // is current.
        let result = unsafe {
            match self.gpu.is_pooled {
                true => libcuda::cuMemAllocAsync(&raw mut address, bytes, self.raw_stream()),
                false => libcuda::cuMemAlloc_v2(&raw mut address, bytes),
            }
        };
        if result == CUDA_ERROR_OUT_OF_MEMORY {
            return Err(self.out_of_memory(bytes));
        }
        DeviceError::check(result, || self.after_last(&format!("allocating {bytes} bytes")))?;
        // Only later work of this stream may use memory of the pool. Other streams have to wait
        // until the allocation has happened.
        if self.gpu.is_pooled && self.gpu.streams().len() > 1 {
            self.wait("waiting for an allocation").inspect_err(|_| {
                // SAFETY: nothing uses the memory. There is already an error to report.
                let _lost = unsafe { libcuda::cuMemFreeAsync(address, self.raw_stream()) };
            })?;
        }
        Ok(address)
    }

    fn out_of_memory(&self, requested: usize) -> DeviceError {
        let (free, total) = self.memory().unwrap_or_default();
        DeviceError::OutOfMemory { requested, free, total }
    }

    /// Waits for the allocations from the pool in other streams, before the first use of this one.
    /// The GPU already lists it, so later allocations wait themselves.
    pub(super) fn wait_for_allocations(&self) -> Result<(), DeviceError> {
        match self.gpu.is_pooled && self.gpu.streams().len() > 1 {
            true => self.wait_for_all(),
            false => Ok(()),
        }
    }

    /// Frees memory of the pool in the stream, after the work so far in all streams of the GPU. The
    /// host does not wait.
    ///
    /// # Errors
    /// If a stream is being recorded, or the driver fails. Then the memory is not freed.
    ///
    /// # Safety
    /// As for [`give_back`](Self::give_back).
    pub(super) unsafe fn free_in_order(&self, address: u64) -> Result<(), DeviceError> {
        self.wait_on_device_for_all()?;
        let _entered = self.stream.gate.unrecorded("freeing memory")?;
        self.gpu.enter()?;
        // SAFETY: the caller promises that the memory came from `alloc` and is not used by later
        // launches; earlier ones come before this in the stream.
        let freed = unsafe { libcuda::cuMemFreeAsync(address, self.raw_stream()) };
        DeviceError::check(freed, || self.after_last("freeing memory"))
    }

    /// [`Backend::join_streams`](crate::device::Backend::join_streams).
    pub(super) fn wait_on_device_for_all(&self) -> Result<(), DeviceError> {
        // As for an event, which may be one of work that waits for another GPU.
        let _turn = self.gpu.turn_alone();
        let mut ends = Vec::new();
        for other in self.gpu.streams() {
            if ptr::eq(&*other, &**self.stream) {
                continue;
            }
            // One gate at a time: two threads that held two each could wait for each other.
            let _entered = other.gate.unrecorded("waiting for all streams")?;
            self.gpu.enter()?;
            let end = Event::new(CU_EVENT_DISABLE_TIMING)?;
            end.record(other.raw())?;
            ends.push(end);
        }
        let _entered = self.stream.gate.unrecorded("waiting for all streams")?;
        self.gpu.enter()?;
        ends.iter().try_for_each(|end| end.let_wait(self.raw_stream()))
    }
}
