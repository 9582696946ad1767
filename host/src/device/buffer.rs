//! Device memory with a type, an owner and a length.

use super::{Device, DeviceError};
use bytemuck::Pod;
use std::{any::Any, fmt, marker::PhantomData, mem, ops::Range};

/// What the address of a buffer is a multiple of: the kernels load and store so many bytes at once.
pub const ALIGNMENT: u64 = 16;

/// `len` elements of `T` on a device, freed when dropped, after the work in all streams of the device, and of the
/// [devices](super::Devices) that were opened together with it.
///
/// An empty buffer is allowed: it has no memory, and its address is 0.
pub struct Buffer<T> {
    device: Device,
    address: u64,
    len: usize,
    memory: Memory,
    element: PhantomData<T>,
}

/// Whose memory it is.
enum Memory {
    /// It was allocated by the device, and is freed there.
    Own,
    /// It lives as long as this, which is dropped when no stream uses it any more.
    Of(Box<dyn Any + Send + Sync>),
    /// Somebody else answers for it.
    Foreign,
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
        Ok(Self::new(device, address, len, Memory::Own))
    }

    fn new(device: &Device, address: u64, len: usize, memory: Memory) -> Self {
        Self { device: device.clone(), address, len, memory, element: PhantomData }
    }

    /// A buffer over memory that has been allocated elsewhere. `owner` is dropped with the buffer, after the
    /// work in all streams of the device. If the device is given up by then, it is never dropped.
    ///
    /// ```
    /// # use gridsync::device::{Buffer, Device};
    /// # use std::sync::Arc;
    /// # let device = Device::emulator();
    /// let whole = Arc::new(device.upload(&[1u32; 8])?);
    /// // SAFETY: the second half of `whole`, which is there as long as somebody holds it.
    /// let half: Buffer<u32> =
    ///     unsafe { Buffer::from_raw(&device, whole.address() + 16, 4, whole.clone())? };
    /// assert_eq!(half.download()?, [1; 4]);
    /// # Ok::<(), gridsync::device::DeviceError>(())
    /// ```
    ///
    /// # Errors
    /// [`DeviceError::Misaligned`] if the address is no multiple of [`ALIGNMENT`] and of the element's own;
    /// on a GPU, [`DeviceError::NoMemory`] and [`DeviceError::OtherContext`] if it is not memory of the device.
    ///
    /// # Safety
    /// The `len` elements from `address` on are memory of the device. They stay allocated until `owner` is
    /// dropped, or for ever; `()` owns nothing. What others do with the memory meanwhile they do in the order
    /// of the device's streams, or the contents are any.
    pub unsafe fn from_raw(
        device: &Device,
        address: u64,
        len: usize,
        owner: impl Send + Sync + 'static,
    ) -> Result<Self, DeviceError> {
        Self::checked(device, address, len)?;
        Ok(Self::new(device, address, len, Memory::Of(Box::new(owner))))
    }

    /// As [`from_raw`](Self::from_raw), with an allocation that the device frees.
    ///
    /// # Errors
    /// As for [`from_raw`](Self::from_raw).
    ///
    /// # Safety
    /// The memory is as [`Backend::free`](super::Backend::free) needs it.
    #[cfg(feature = "cust")]
    pub(super) unsafe fn from_allocation(
        device: &Device,
        address: u64,
        len: usize,
    ) -> Result<Self, DeviceError> {
        Self::checked(device, address, len)?;
        Ok(Self::new(device, address, len, Memory::Own))
    }

    /// Memory that somebody lends, and that nothing is done for when the buffer is dropped.
    ///
    /// # Errors
    /// As for [`from_raw`](Self::from_raw).
    ///
    /// # Safety
    /// The memory stays allocated until nothing in the device's streams uses it any more.
    #[cfg(feature = "cust")]
    pub(super) unsafe fn lent(
        device: &Device,
        address: u64,
        len: usize,
    ) -> Result<Self, DeviceError> {
        Self::checked(device, address, len)?;
        Ok(Self::new(device, address, len, Memory::Foreign))
    }

    /// Gives the allocation away; none if somebody else owns it, and then the buffer stays as it is.
    #[cfg(feature = "cust")]
    pub(super) fn take_allocation(&mut self) -> Option<(u64, usize)> {
        match self.memory {
            Memory::Own => {
                self.memory = Memory::Foreign;
                Some((self.address, self.len))
            }
            _ => None,
        }
    }

    /// Refuses memory that kernels cannot take.
    fn checked(device: &Device, address: u64, len: usize) -> Result<(), DeviceError> {
        let bytes = len.saturating_mul(size_of::<T>());
        let alignment = ALIGNMENT.max(align_of::<T>() as u64);
        match bytes {
            0 => Ok(()),
            _ if !address.is_multiple_of(alignment) => {
                Err(DeviceError::Misaligned { address, alignment })
            }
            bytes => device.backend().expect_memory(address, bytes),
        }
    }

    /// Where it starts on the device: a multiple of 256, or of [`ALIGNMENT`] if the memory was allocated
    /// elsewhere.
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
        match mem::replace(&mut self.memory, Memory::Foreign) {
            // SAFETY: the address came from `alloc` of a stream of this device, is freed only here, and
            // every kernel that got it borrowed this buffer.
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
