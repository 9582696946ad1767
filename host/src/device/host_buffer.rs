//! Host memory for copies to and from files and devices.

use super::{Device, DeviceError};
use crate::memory::{self, NoRoom};
use bytemuck::Pod;
use std::{fmt, mem};

/// Alignment of a buffer: a multiple of the page size of any host, because pages are pinned one by
/// one.
const PAGE: usize = 1 << 16;

/// Host memory whose pages are reused. Once it is [pinned](Self::pin), a device can copy from and
/// to it directly, at the speed of the bus.
///
/// It is aligned to 64 KiB.
///
/// ```
/// use gridsync::device::{Device, HostBuffer};
///
/// let device = Device::emulator();
/// let mut host = HostBuffer::zeroed(4 << 20)?;
/// host.pin(&device)?;
/// host.elements_mut::<f32>()[..3].copy_from_slice(&[1.0, 2.0, 3.0]);
/// let buffer = device.upload(&host.elements::<f32>()[..3])?;
/// # assert_eq!(buffer.download()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HostBuffer {
    storage: Vec<u8>,
    /// Number of bytes before the start of the buffer.
    start: usize,
    /// The device that has pinned it.
    pinned: Option<Device>,
}

impl HostBuffer {
    /// `bytes` zero bytes.
    ///
    /// # Errors
    /// [`NoRoom`].
    pub fn zeroed(bytes: usize) -> Result<Self, NoRoom> {
        let mut storage = memory::zeroed::<u8>(bytes.saturating_add(PAGE))
            .map_err(|no_room| NoRoom { bytes: bytes as u64, ..no_room })?;
        memory::ask_for_huge_pages(&mut storage);
        let start = storage.as_ptr().align_offset(PAGE);
        storage.truncate(start + bytes);
        Ok(Self { storage, start, pinned: None })
    }

    /// Pins the memory for copies from and to `device`, and all other devices of this process. Does
    /// nothing if it is already pinned. Pinning 4 MiB takes about a millisecond, so it pays off for
    /// buffers that are reused. The emulator has nothing to pin.
    ///
    /// # Errors
    /// If the driver fails: pinned memory may be limited. Copies still work, but are slower.
    pub fn pin(&mut self, device: &Device) -> Result<(), DeviceError> {
        if self.pinned.is_none() && !self.bytes().is_empty() {
            let memory = self.bytes_mut();
            // SAFETY: the memory is freed when this is dropped, which unpins it first. Moving this
            // does not move the memory.
            unsafe { device.backend().pin(memory.as_mut_ptr(), memory.len())? };
            self.pinned = Some(device.clone());
        }
        Ok(())
    }

    /// Whether it is pinned.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.pinned.is_some()
    }

    /// All bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.storage[self.start..]
    }

    /// All bytes, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..]
    }

    /// The memory as elements, as many as fit. A zero-sized type, which would fit any number of
    /// times, does not compile:
    ///
    /// ```compile_fail,E0080
    /// let buffer = gridsync::device::HostBuffer::zeroed(4)?;
    /// buffer.elements::<()>();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn elements<T: Pod>(&self) -> &[T] {
        let bytes = self.bytes();
        bytemuck::cast_slice(&bytes[..whole::<T>(bytes.len())])
    }

    /// The memory as elements, as many as fit, for writing.
    pub fn elements_mut<T: Pod>(&mut self) -> &mut [T] {
        let whole = whole::<T>(self.bytes().len());
        bytemuck::cast_slice_mut(&mut self.bytes_mut()[..whole])
    }
}

/// The bytes of as many elements as fit in `bytes`.
fn whole<T>(bytes: usize) -> usize {
    const { assert!(size_of::<T>() > 0, "the elements of a buffer have a size") };
    bytes / size_of::<T>() * size_of::<T>()
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if let Some(device) = self.pinned.take() {
            // SAFETY: this buffer was pinned by this device. Copies are complete when they return.
            if !unsafe { device.backend().unpin(self.bytes_mut().as_mut_ptr()) } {
                mem::forget(mem::take(&mut self.storage));
            }
        }
    }
}

impl fmt::Debug for HostBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBuffer({} bytes, pinned: {})", self.bytes().len(), self.is_pinned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Emulator, EmulatorConfig};

    #[test]
    fn a_buffer_is_aligned_zeroed_and_of_the_requested_length() {
        for bytes in [0, 1, 7, PAGE - 1, PAGE, 3 * PAGE + 5] {
            let mut buffer = HostBuffer::zeroed(bytes).expect("it fits");
            assert_eq!(buffer.bytes(), vec![0; bytes]);
            assert!(buffer.bytes().as_ptr().addr().is_multiple_of(PAGE));
            assert_eq!(buffer.elements::<u32>().len(), bytes / 4);
            assert_eq!(buffer.elements_mut::<[u32; 4]>().len(), bytes / 16);
        }
    }

    #[test]
    fn pinning_twice_keeps_the_contents() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let mut buffer = HostBuffer::zeroed(100).expect("it fits");
        buffer.bytes_mut().fill(7);
        assert!(!buffer.is_pinned());
        for _ in 0..2 {
            buffer.pin(&device).expect("the emulator pins nothing");
            assert!(buffer.is_pinned());
        }
        assert_eq!(buffer.bytes(), [7; 100]);
    }

    #[test]
    fn more_memory_than_available_is_an_error() {
        assert!(HostBuffer::zeroed(usize::MAX).is_err());
        assert!(HostBuffer::zeroed(1 << 60).is_err());
    }
}
