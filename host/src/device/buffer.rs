//! Device memory with a type, an owner and a length.

use super::{Device, DeviceError};
use bytemuck::Pod;
use std::{fmt, marker::PhantomData, ops::Range};

/// `len` elements of `T` on a device, freed when dropped, after the work in all streams of the device.
///
/// An empty buffer is allowed: it has no memory, and its address is 0.
pub struct Buffer<T> {
    device: Device,
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// A buffer whose contents are whatever the memory held.
    pub(super) fn alloc(device: &Device, len: usize) -> Result<Self, DeviceError> {
        // If the length overflows, this asks for more than any device has, and the backend refuses
        // it.
        let bytes = len.saturating_mul(size_of::<T>());
        let address = match bytes {
            0 => 0,
            bytes => device.backend().alloc(bytes)?,
        };
        Ok(Self { device: device.clone(), address, len, element: PhantomData })
    }

    /// Where it starts on the device; a multiple of 256.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// How many elements it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The device it is on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Copies it to the host, after the work in the stream.
    ///
    /// # Errors
    /// If the copy fails, or if earlier work in the stream has failed.
    pub fn download(&self) -> Result<Vec<T>, DeviceError> {
        self.download_part(0..self.len)
    }

    /// Copies only the elements `part` to the host.
    ///
    /// # Errors
    /// As for [`download`](Self::download).
    ///
    /// # Panics
    /// If the part does not lie within the buffer.
    pub fn download_part(&self, part: Range<usize>) -> Result<Vec<T>, DeviceError> {
        let mut host = vec![T::zeroed(); part.len()];
        self.download_to(part.start, &mut host)?;
        Ok(host)
    }

    /// Fills `host` with the elements from `start` on, after the work in the stream.
    ///
    /// # Errors
    /// As for [`download`](Self::download).
    ///
    /// # Panics
    /// As for [`download_part`](Self::download_part).
    pub fn download_to(&self, start: usize, host: &mut [T]) -> Result<(), DeviceError> {
        let address = self.address_of(start, host.len());
        if size_of_val(host) > 0 {
            let bytes = bytemuck::cast_slice_mut(host);
            // SAFETY: the allocation is this buffer's, live, and the part lies within it.
            unsafe { self.device.backend().download(address, bytes)? };
        }
        Ok(())
    }

    /// The address of a part, which has to lie within the buffer.
    #[track_caller]
    fn address_of(&self, start: usize, len: usize) -> u64 {
        assert!(
            start <= self.len && len <= self.len - start,
            "a part of {len} elements from {start} on, of {} elements",
            self.len
        );
        self.address + (start * size_of::<T>()) as u64
    }

    /// Overwrites the buffer with `host`, after the work in the stream; done on return.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if the lengths differ, and as for
    /// [`download`](Self::download).
    pub fn copy_from(&mut self, host: &[T]) -> Result<(), DeviceError> {
        if host.len() != self.len {
            return Err(DeviceError::LengthMismatch { buffer: self.len, given: host.len() });
        }
        self.copy_part_from(0, host)
    }

    /// Overwrites the elements from `start` on with `host`, after the work in the stream; done on
    /// return.
    ///
    /// # Errors
    /// As for [`download`](Self::download).
    ///
    /// # Panics
    /// If the part does not lie within the buffer.
    pub fn copy_part_from(&mut self, start: usize, host: &[T]) -> Result<(), DeviceError> {
        let address = self.address_of(start, host.len());
        if size_of_val(host) > 0 {
            // SAFETY: the allocation is this buffer's, live, and the part lies within it.
            unsafe {
                self.device.backend().upload(address, bytemuck::cast_slice(host))?;
            }
        }
        Ok(())
    }

    /// Puts a filling of all its bytes with zero into the stream.
    ///
    /// # Errors
    /// If it cannot be put there.
    pub fn zero(&mut self) -> Result<(), DeviceError> {
        if self.bytes() > 0 {
            // SAFETY: the allocation is this buffer's and exactly this long; it is freed in stream
            // order, so it outlives the filling.
            unsafe { self.device.backend().zero(self.address, self.bytes())? };
        }
        Ok(())
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.address != 0 {
            // SAFETY: the address came from `alloc` of a stream of this device, is freed only here, and
            // every kernel that got it borrowed this buffer.
            unsafe { self.device.backend().free(self.address) };
        }
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} × {} at {:#x})", self.len, std::any::type_name::<T>(), self.address)
    }
}
