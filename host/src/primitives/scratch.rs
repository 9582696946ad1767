//! Working memory for launches on the device, which grows with the arrays.

use crate::device::{Buffer, Device, DeviceError};
use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use std::ops::Range;

/// The working memory of a primitive.
///
/// For a longer array, a new and larger buffer replaces the old one. A graph that recorded a launch
/// before would keep using the address of the old buffer. So the memory no longer grows once a
/// graph has its address.
pub(super) struct Scratch<T> {
    /// The owner of the memory, for the message.
    what: &'static str,
    device: Device,
    make: Make<T>,
    buffer: Buffer<T>,
    is_recorded: bool,
}

/// Allocates a buffer: [`Device::alloc`] or [`Device::zeroed`].
type Make<T> = fn(&Device, usize) -> Result<Buffer<T>, DeviceError>;

impl<T: Pod + Scalar> Scratch<T> {
    /// `len` elements, allocated by `make`, as are longer buffers later.
    pub(super) fn new(
        what: &'static str,
        device: &Device,
        len: usize,
        make: Make<T>,
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            what,
            device: device.clone(),
            make,
            buffer: make(device, len)?,
            is_recorded: false,
        })
    }

    /// Makes room for `len` elements. If there were fewer, all of them are new.
    ///
    /// # Errors
    /// [`DeviceError::InGraph`], and if the allocation fails; then nothing changes.
    pub(super) fn fit(&mut self, len: usize) -> Result<(), DeviceError> {
        let room = self.buffer.len();
        if len <= room {
            return Ok(());
        }
        if self.is_recorded {
            return Err(DeviceError::InGraph { what: self.what, needed: len, room });
        }
        self.buffer = (self.make)(&self.device, len)?;
        Ok(())
    }

    /// Copies the elements `part` to the host, after the launches before.
    ///
    /// # Errors
    /// As for [`Buffer::download_part`].
    pub(super) fn download_part(&self, part: Range<usize>) -> Result<Vec<T>, DeviceError> {
        self.buffer.download_part(part)
    }

    /// The whole memory, for a launch.
    pub(super) fn view(&mut self) -> Global<T> {
        self.is_recorded |= self.device.backend().is_recording();
        self.buffer.view()
    }
}
