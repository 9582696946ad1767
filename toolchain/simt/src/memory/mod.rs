//! Device memory: allocations at host addresses, with a record of which bytes were written.

mod arena;
mod region;

pub(crate) use arena::Arena;
pub use region::Label;
pub(crate) use region::{DEVICE_ALIGN, Proxy, Region};

use crate::fault::Target;

/// Why the host could not allocate, copy or free.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The allocation exceeds the remaining capacity.
    #[error(
        "out of device memory: {requested} bytes requested, {available} available: free an allocation or raise the capacity"
    )]
    OutOfMemory {
        /// Bytes requested.
        requested: usize,
        /// Bytes left of the capacity.
        available: usize,
    },
    /// An alignment that is not a power of two.
    #[error("alignment {align} is not a power of two")]
    BadAlignment {
        /// The requested alignment.
        align: usize,
    },
    /// A copy that is not inside one live allocation.
    #[error("out of bounds: a copy of {bytes} bytes at {target}")]
    OutOfBounds {
        /// Length of the copy in bytes.
        bytes: usize,
        /// Its start.
        target: Target,
    },
    /// A free of an address at which no live allocation starts.
    #[error("not an allocation: {address:#x} was never allocated or is already freed")]
    NotAnAllocation {
        /// The address to free.
        address: u64,
    },
    /// A copy to the host of bytes that were never written.
    #[error("uninitialised: a copy of {bytes} bytes reads {target}, which was never written")]
    Uninitialised {
        /// Length of the copy in bytes.
        bytes: usize,
        /// The first unwritten byte.
        target: Target,
    },
}

/// The global memory of one emulated device, or of several that can access each other's.
///
/// An address is the host address of the storage, so kernel views are plain pointers
/// (`core::ptr::with_exposed_provenance_mut(address as usize)`). Only [`launch`](crate::launch)
/// grants the right to use them, through [`access`](crate::access). The host commits storage when
/// it is first touched.
#[derive(Debug)]
pub struct Memory {
    arena: Arena,
    /// Bytes of each device.
    capacity: usize,
    /// Bytes allocated on each device.
    used: Vec<usize>,
    allocations: u32,
}

impl Memory {
    /// Memory of `capacity` bytes, all free.
    pub fn new(capacity: usize) -> Self {
        Self::of_gpus(1, capacity)
    }

    /// The memories of `gpus` GPUs, of `capacity` bytes each, all free.
    pub fn of_gpus(gpus: u32, capacity: usize) -> Self {
        let used = vec![0; gpus as usize];
        Self { arena: Arena::default(), capacity, used, allocations: 0 }
    }

    /// Total bytes that can be allocated on a GPU.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Bytes currently allocated, on all GPUs.
    pub fn used(&self) -> usize {
        self.used.iter().sum()
    }

    /// Bytes that can still be allocated on the first GPU.
    pub fn available(&self) -> usize {
        self.available_on(0)
    }

    /// Bytes that can still be allocated on this GPU.
    ///
    /// # Panics
    /// If the GPU does not exist.
    pub fn available_on(&self, gpu: u32) -> usize {
        self.capacity - self.used[gpu as usize]
    }

    /// Allocates `bytes` bytes, aligned to `align` and to 256. They are unwritten.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] if the capacity or the host's memory is exceeded, and
    /// [`MemoryError::BadAlignment`].
    pub fn alloc(&mut self, bytes: usize, align: usize) -> Result<u64, MemoryError> {
        self.alloc_on(0, bytes, align)
    }

    /// Like [`alloc`](Self::alloc), on this GPU. All GPUs can use the memory.
    ///
    /// # Errors
    /// As for [`alloc`](Self::alloc).
    ///
    /// # Panics
    /// If the GPU does not exist.
    pub fn alloc_on(&mut self, gpu: u32, bytes: usize, align: usize) -> Result<u64, MemoryError> {
        if !align.is_power_of_two() {
            return Err(MemoryError::BadAlignment { align });
        }
        let available = self.available_on(gpu);
        let refused = MemoryError::OutOfMemory { requested: bytes, available };
        if bytes > available {
            return Err(refused);
        }
        let label = match self.used.len() {
            1 => Label::Allocation(self.allocations),
            _ => Label::OfGpu(gpu, self.allocations),
        };
        let region = Region::new(bytes, align.max(DEVICE_ALIGN), label).ok_or(refused)?;
        let address = region.address() as u64;
        self.arena.insert(region);
        self.used[gpu as usize] += bytes;
        self.allocations += 1;
        Ok(address)
    }

    /// Frees the allocation that starts at `address`.
    ///
    /// # Errors
    /// [`MemoryError::NotAnAllocation`].
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let region = self.arena.remove(address as usize);
        let region = region.ok_or(MemoryError::NotAnAllocation { address })?;
        let gpu = match region.label() {
            Label::OfGpu(gpu, _) => gpu,
            _ => 0,
        };
        self.used[gpu as usize] -= region.size();
        Ok(())
    }

    /// Copies from the host and marks the bytes as written.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`].
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        let (region, offset) = self.locate(address, bytes.len())?;
        region.mark(offset, bytes.len());
        // SAFETY: `locate` found the whole range in one region. The source is the caller's slice,
        // which cannot overlap the storage, because no reference points into it.
        unsafe {
            region.at(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        Ok(())
    }

    /// Zeroes `bytes` bytes and marks them as written.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`].
    pub fn zero(&mut self, address: u64, bytes: usize) -> Result<(), MemoryError> {
        let (region, offset) = self.locate(address, bytes)?;
        region.mark(offset, bytes);
        // SAFETY: `locate` found the whole range in one region.
        unsafe { region.at(offset).write_bytes(0, bytes) };
        Ok(())
    }

    /// Copies to the host.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`], and [`MemoryError::Uninitialised`] if a byte was never
    /// written; `bytes` is then unchanged.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        let (region, offset) = self.locate(address, bytes.len())?;
        if let Some(unwritten) = region.first_unwritten(offset, bytes.len()) {
            let target = self.target(region.address() + unwritten);
            return Err(MemoryError::Uninitialised { bytes: bytes.len(), target });
        }
        // SAFETY: `locate` found the whole range in one region. The destination is the caller's
        // slice, which cannot overlap the storage, because no reference points into it.
        unsafe {
            region.at(offset).copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len());
        }
        Ok(())
    }

    /// Names the kernel arguments of the next launch that are views of the allocations at these
    /// addresses. Messages use the names. An address without an allocation is ignored.
    pub fn name_arguments(&mut self, arguments: impl IntoIterator<Item = (u64, &'static str)>) {
        self.arena.regions_mut().for_each(|region| region.set_name(None));
        for (address, name) in arguments {
            if let Some((region, _)) = self.arena.find(address as usize, 1) {
                region.set_name(Some(name));
            }
        }
    }

    /// Another launch begins: everything that it does comes after the stores of the last one.
    pub(crate) fn begin_launch(&mut self) {
        self.arena.regions_mut().for_each(Region::forget_stores);
    }

    /// A grid of several has ended: grids that start now come after its stores.
    pub(crate) fn forget_stores(&self) {
        self.arena.regions().for_each(Region::clear_stores);
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Describes an address for a message.
    pub(crate) fn target(&self, address: usize) -> Target {
        let unknown = Target { address: address as u64, region: None, name: None, size: 0 };
        self.arena.describe(address).unwrap_or(unknown)
    }

    fn locate(&self, address: u64, bytes: usize) -> Result<(&Region, usize), MemoryError> {
        let address = address as usize;
        let found = self.arena.find(address, bytes);
        found.ok_or_else(|| MemoryError::OutOfBounds { bytes, target: self.target(address) })
    }
}
