//! Pinned host memory in small parts, which kernels write results to.

use super::{Cuda, lock};
use crate::device::{DeviceError, mailbox};
use libcuda::CUDA_ERROR_OUT_OF_MEMORY;
use std::ptr;

/// Bytes of an allocation.
const PAGE: usize = 4096;

/// Bytes of a mailbox: a cache line, so that who looks into one does not disturb another.
const MAILBOX: usize = 64;
const _: () = assert!(mailbox::WORDS * size_of::<u32>() <= MAILBOX);

/// The mailboxes of a device.
#[derive(Default)]
pub(super) struct Mailboxes {
    /// The allocations.
    pages: Vec<u64>,
    /// The mailboxes that nobody has.
    free: Vec<u64>,
}

impl Cuda {
    /// [`Backend::lend_mailbox`](crate::device::Backend::lend_mailbox).
    pub(super) fn lend(&self) -> Result<Option<u64>, DeviceError> {
        let mut mailboxes = lock(&self.mailboxes);
        if mailboxes.free.is_empty() {
            let _entered = self.stream.gate.unrecorded("an allocation")?;
            self.gpu.enter()?;
            let mut page = ptr::null_mut();
            // SAFETY: `page` is there to be written, and the context is current.
            let result = unsafe { libcuda::cuMemAllocHost_v2(&raw mut page, PAGE) };
            if result == CUDA_ERROR_OUT_OF_MEMORY {
                return Ok(None);
            }
            DeviceError::check(result, || {
                self.after_last(&format!("allocating {PAGE} bytes of pinned memory"))
            })?;
            // Memory that the driver allocates has the same address on the device (CUDA C++
            // Programming Guide, "Unified Virtual Address Space").
            let page = page.expose_provenance() as u64;
            mailboxes.pages.push(page);
            mailboxes.free.extend((0..PAGE / MAILBOX).map(|i| page + (i * MAILBOX) as u64));
        }
        Ok(mailboxes.free.pop())
    }

    /// [`Backend::take_mailbox_back`](crate::device::Backend::take_mailbox_back).
    pub(super) fn take_back(&self, mailbox: u64) {
        lock(&self.mailboxes).free.push(mailbox);
    }

    /// Frees all of them. The context is current, and nothing runs.
    ///
    /// # Safety
    /// Nobody has one.
    pub(super) unsafe fn free_mailboxes(&self) {
        for page in lock(&self.mailboxes).pages.drain(..) {
            let page = ptr::with_exposed_provenance_mut(page as usize);
            // SAFETY: the driver allocated it, and it is freed only here. A failure belongs to an
            // earlier call.
            let _lost = unsafe { libcuda::cuMemFreeHost(page) };
        }
    }
}
