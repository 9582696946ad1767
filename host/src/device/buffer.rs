//! Device memory with a type, an owner and a length.

use super::{Device, DeviceError};
use bytemuck::Pod;
use std::{any::Any, fmt, marker::PhantomData, mem, ops::Range};

/// `len` elements of `T` on a device. Dropping the buffer frees it, after the work in all streams
/// of the device, and of the [devices](super::Devices) that were opened together with it. The host
/// waits for that work, except on a device in a caller's stream (`Device::from_raw`): there the
/// stream frees the memory.
///
/// An empty buffer is allowed: it has no memory, and its address is 0.
pub struct Buffer<T> {
    device: Device,
    address: u64,
    len: usize,
    memory: Memory,
    element: PhantomData<T>,
}

/// The owner of the memory.
enum Memory {
    /// The device allocated it, and frees it.
    Own,
    /// The memory lives as long as this owner, which is dropped once no stream uses the memory any
    /// more.
    Of(Box<dyn Any + Send + Sync>),
    /// Someone else frees it, in stream order.
    Foreign,
}

impl<T: Pod> Buffer<T> {
    /// A buffer with uninitialised contents.
    pub(super) fn alloc(device: &Device, len: usize) -> Result<Self, DeviceError> {
        // If the length overflows, this requests more than any device has, and the backend refuses
        // it.
        let bytes = len.saturating_mul(size_of::<T>());
        let address = match bytes {
            0 => 0,
            bytes => device.backend().alloc(bytes)?,
        };
        Ok(Self::new(device, address, len, Memory::Own))
    }

    fn new(device: &Device, address: u64, len: usize, memory: Memory) -> Self {
        Self { device: device.clone(), address, len, memory, element: PhantomData }
    }

    /// A buffer over memory that was allocated elsewhere. `owner` is dropped with the buffer, after
    /// the work in all streams of the device, for which the host waits. If the device is given up
    /// by then, it is never dropped.
    ///
    /// The memory may begin at any element. Primitives read 16 bytes at once where they can, so
    /// memory that begins at a multiple of 16 bytes is faster, with the same results.
    ///
    /// ```
    /// # use gridsync::device::{Buffer, Device};
    /// # use std::sync::Arc;
    /// # let device = Device::emulator();
    /// let whole = Arc::new(device.upload(&[1u32; 8])?);
    /// // SAFETY: all but the first element of `whole`, which lives as long as it has an owner.
    /// let rest: Buffer<u32> =
    ///     unsafe { Buffer::from_raw(&device, whole.address() + 4, 7, whole.clone())? };
    /// assert_eq!(rest.download()?, [1; 7]);
    /// # Ok::<(), gridsync::device::DeviceError>(())
    /// ```
    ///
    /// # Errors
    /// [`DeviceError::Misaligned`] if the address is not a multiple of the element's alignment. On a
    /// GPU, [`DeviceError::NoMemory`] and [`DeviceError::OtherContext`]
    /// if it is not memory of the device.
    ///
    /// # Safety
    /// The `len` elements starting at `address` are memory of the device. They stay allocated until
    /// `owner` is dropped, or forever; `()` owns nothing. Other accesses to the memory must be
    /// ordered by the device's streams, otherwise its contents are undefined.
    pub unsafe fn from_raw(
        device: &Device,
        address: u64,
        len: usize,
        owner: impl Send + Sync + 'static,
    ) -> Result<Self, DeviceError> {
        Self::checked(device, address, len)?;
        Ok(Self::new(device, address, len, Memory::Of(Box::new(owner))))
    }

    /// Like [`from_raw`](Self::from_raw), with an allocation that the device frees.
    ///
    /// # Errors
    /// As for [`from_raw`](Self::from_raw).
    ///
    /// # Safety
    /// The memory meets the requirements of [`Backend::free`](super::Backend::free).
    #[cfg(feature = "cust")]
    pub(super) unsafe fn from_allocation(
        device: &Device,
        address: u64,
        len: usize,
    ) -> Result<Self, DeviceError> {
        Self::checked(device, address, len)?;
        Ok(Self::new(device, address, len, Memory::Own))
    }

    /// A buffer over borrowed memory, which is left alone when the buffer is dropped. Dropping it
    /// waits for nothing.
    ///
    /// # Errors
    /// As for [`from_raw`](Self::from_raw).
    ///
    /// # Safety
    /// The `len` elements starting at `address` are memory of the device. They stay allocated until
    /// nothing in the device's streams uses them any more. It is enough to free them in a stream,
    /// after the work that uses them. Other accesses to the memory must be ordered by the device's
    /// streams, otherwise its contents are undefined.
    pub unsafe fn lent(device: &Device, address: u64, len: usize) -> Result<Self, DeviceError> {
        Self::checked(device, address, len)?;
        Ok(Self::new(device, address, len, Memory::Foreign))
    }

    /// Takes the memory out of the buffer without waiting, and returns its address, which is 0 for
    /// an empty buffer. The caller frees it after the work in the device's streams that uses it,
    /// with `cuMemFree`, or if `Device::frees_in_stream_order`, also with `cuMemFreeAsync`.
    ///
    /// # Errors
    /// Returns the buffer if it does not own its memory, or has it from the caller's
    /// [allocator](super::Allocator).
    pub fn into_raw(mut self) -> Result<u64, Self> {
        #[cfg(feature = "cuda")]
        if self.device.backend().cuda().is_some_and(|cuda| cuda.has_allocator()) {
            return Err(self);
        }
        self.take_allocation().map(|(address, _)| address).ok_or(self)
    }

    /// Takes the allocation out of the buffer. Returns `None` and leaves the buffer unchanged if
    /// the memory has another owner.
    pub(super) fn take_allocation(&mut self) -> Option<(u64, usize)> {
        match self.memory {
            Memory::Own => {
                self.memory = Memory::Foreign;
                Some((self.address, self.len))
            }
            _ => None,
        }
    }

    /// Refuses memory that kernels cannot use.
    fn checked(device: &Device, address: u64, len: usize) -> Result<(), DeviceError> {
        let bytes = len.saturating_mul(size_of::<T>());
        let alignment = align_of::<T>() as u64;
        match bytes {
            0 => Ok(()),
            _ if !address.is_multiple_of(alignment) => {
                Err(DeviceError::Misaligned { address, alignment })
            }
            bytes => device.backend().expect_memory(address, bytes),
        }
    }

    /// The start address on the device: a multiple of 256, or of the element's alignment if the
    /// memory was allocated elsewhere.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the buffer is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The device that the buffer is on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Copies the buffer to the host, after the work in the stream.
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
    /// If the part is not inside the buffer.
    pub fn download_part(&self, part: Range<usize>) -> Result<Vec<T>, DeviceError> {
        let mut host = vec![T::zeroed(); part.len()];
        self.download_to(part.start, &mut host)?;
        Ok(host)
    }

    /// Fills `host` with the elements starting at `start`, after the work in the stream.
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
            // SAFETY: the allocation belongs to this buffer and is live, and the part is inside it.
            unsafe { self.device.backend().download(address, bytes)? };
        }
        Ok(())
    }

    /// The address of a part, which must be inside the buffer.
    #[track_caller]
    fn address_of(&self, start: usize, len: usize) -> u64 {
        assert!(
            start <= self.len && len <= self.len - start,
            "the part of {len} elements from {start} is outside of a buffer of {} elements",
            self.len
        );
        self.address + (start * size_of::<T>()) as u64
    }

    /// Overwrites the buffer with `host`, after the work in the stream. The copy is complete on
    /// return.
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

    /// Overwrites the elements starting at `start` with `host`, after the work in the stream. The
    /// copy is complete on return.
    ///
    /// # Errors
    /// As for [`download`](Self::download).
    ///
    /// # Panics
    /// If the part is not inside the buffer.
    pub fn copy_part_from(&mut self, start: usize, host: &[T]) -> Result<(), DeviceError> {
        let address = self.address_of(start, host.len());
        if size_of_val(host) > 0 {
            // SAFETY: the allocation belongs to this buffer and is live, and the part is inside it.
            unsafe {
                self.device.backend().upload(address, bytemuck::cast_slice(host))?;
            }
        }
        Ok(())
    }

    /// Submits a zero fill of the whole buffer to the stream.
    ///
    /// # Errors
    /// If it cannot be submitted.
    pub fn zero(&mut self) -> Result<(), DeviceError> {
        if self.bytes() > 0 {
            // SAFETY: the allocation belongs to this buffer and has exactly this length; it is
            // freed in stream order, so it outlives the fill.
            unsafe { self.device.backend().zero(self.address, self.bytes())? };
        }
        Ok(())
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        match mem::replace(&mut self.memory, Memory::Foreign) {
            // SAFETY: the address came from `alloc` of a stream of this device, is freed only here,
            // and every kernel that got it borrowed this buffer.
            Memory::Own if self.address != 0 => unsafe {
                self.device.backend().free(self.address);
            },
            Memory::Of(owner) => self.device.backend().drop_after(owner),
            Memory::Own | Memory::Foreign => {}
        }
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} × {} at {:#x})", self.len, std::any::type_name::<T>(), self.address)
    }
}
