//! Memory of the host that files and devices are copied through.

use super::{Device, DeviceError};
use crate::memory::{self, NoRoom};
use bytemuck::Pod;
use std::{fmt, mem};

/// Where a buffer begins: a multiple of the pages of any host, which are pinned one by one.
const PAGE: usize = 1 << 16;

/// Memory of the host whose pages are reused. Once it is [pinned](Self::pin), a device copies from and to it by
/// itself, at the speed of the bus.
///
/// It begins at a multiple of 64 KiB.
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
    /// The buffer is what follows these bytes.
    start: usize,
    /// The device that has pinned it.
    pinned: Option<Device>,
}

impl HostBuffer {
    /// `bytes` bytes of zero.
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

    /// Pins the memory for copies from and to `device`, and all others of this process. If it is pinned already,
    /// nothing changes. It takes about a millisecond for 4 MiB, so it pays for buffers that are reused. The emulator
    /// has nothing to pin.
    ///
    /// # Errors
    /// What the driver says: pinned memory may be limited. Copies work all the same, and are slower.
    pub fn pin(&mut self, device: &Device) -> Result<(), DeviceError> {
        if self.pinned.is_none() && !self.bytes().is_empty() {
            let memory = self.bytes_mut();
            // SAFETY: the memory is freed when this is dropped, which unpins it first. Moving this does not move it.
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

    /// All bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..]
    }

    /// The memory as elements, as many as fit. A type without a size, which would fit any number of times, does
    /// not compile:
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

    /// The memory as elements, as many as fit, to be written.
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
            // SAFETY: this buffer was pinned by this device. Copies have ended when they return.
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
    fn a_buffer_is_aligned_zero_and_of_the_length_that_was_asked_for() {
        for bytes in [0, 1, 7, PAGE - 1, PAGE, 3 * PAGE + 5] {
            let mut buffer = HostBuffer::zeroed(bytes).expect("it fits");
            assert_eq!(buffer.bytes(), vec![0; bytes]);
            assert!(buffer.bytes().as_ptr().addr().is_multiple_of(PAGE));
            assert_eq!(buffer.elements::<u32>().len(), bytes / 4);
            assert_eq!(buffer.elements_mut::<[u32; 4]>().len(), bytes / 16);
        }
    }

    #[test]
    fn pinning_changes_no_byte_and_may_be_asked_twice() {
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
    fn more_than_there_is_is_an_error() {
        assert!(HostBuffer::zeroed(usize::MAX).is_err());
        assert!(HostBuffer::zeroed(1 << 60).is_err());
    }
}
