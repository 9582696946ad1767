//! Pinned host memory in small parts, to which kernels write results.

use super::{Cuda, lock};
use crate::device::DeviceError;
use libcuda::CUDA_ERROR_OUT_OF_MEMORY;
use std::collections::HashMap;
use std::ptr;

/// Bytes per allocation, unless a mailbox needs more.
const PAGE: usize = 4096;

/// The smallest mailbox in bytes: a cache line, so that polling one does not disturb another.
const LEAST: usize = 64;

/// The mailboxes of a device.
#[derive(Default)]
pub(super) struct Mailboxes {
    /// The allocations.
    pages: Vec<u64>,
    /// The unused mailboxes, by their size in bytes.
    free: HashMap<usize, Vec<u64>>,
}

/// The size of a mailbox for `words` words: a power of two, so that few sizes share the pages.
fn bytes_for(words: usize) -> usize {
    (words * size_of::<u32>()).next_power_of_two().max(LEAST)
}

impl Cuda {
    /// [`Backend::lend_mailbox`](crate::device::Backend::lend_mailbox).
    pub(super) fn lend(&self, words: usize) -> Result<Option<u64>, DeviceError> {
        let bytes = bytes_for(words);
        let mut mailboxes = lock(&self.mailboxes);
        let Mailboxes { pages, free } = &mut *mailboxes;
        let free = free.entry(bytes).or_default();
        if free.is_empty() {
            let _entered = self.stream.gate.unrecorded("an allocation")?;
            self.gpu.enter()?;
            let (mut page, size) = (ptr::null_mut(), PAGE.max(bytes));
            // SAFETY: the pointer to `page` is valid for writes, and the context is current.
            let result = unsafe { libcuda::cuMemAllocHost_v2(&raw mut page, size) };
            if result == CUDA_ERROR_OUT_OF_MEMORY {
                return Ok(None);
            }
            DeviceError::check(result, || {
                self.after_last(&format!("allocating {size} bytes of pinned memory"))
            })?;
            // Memory that the driver allocates has the same address on the device (CUDA C++
            // Programming Guide, "Unified Virtual Address Space").
            let page = page.expose_provenance() as u64;
            pages.push(page);
            free.extend((page..page + size as u64).step_by(bytes));
        }
        Ok(free.pop())
    }

    /// [`Backend::take_mailbox_back`](crate::device::Backend::take_mailbox_back).
    pub(super) fn take_back(&self, mailbox: u64, words: usize) {
        lock(&self.mailboxes).free.entry(bytes_for(words)).or_default().push(mailbox);
    }

    /// Frees all mailboxes. The context must be current, and nothing may run.
    ///
    /// # Safety
    /// None of them is lent.
    pub(super) unsafe fn free_mailboxes(&self) {
        for page in lock(&self.mailboxes).pages.drain(..) {
            let page = ptr::with_exposed_provenance_mut(page as usize);
            // SAFETY: the driver allocated it, and it is freed only here. A failure belongs to an
            // earlier call.
            let _lost = unsafe { libcuda::cuMemFreeHost(page) };
        }
    }
}
