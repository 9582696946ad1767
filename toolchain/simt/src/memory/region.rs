//! One allocation and its shadow, which records the bytes that were ever written.

use core::cell::{Cell, OnceCell};
use core::fmt;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// Alignment of every allocation of device memory, the same as that of `cuMemAlloc` (CUDA C++
/// Programming Guide, "Device Memory Accesses").
pub(crate) const DEVICE_ALIGN: usize = 256;

/// Identifies an allocation in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// Device memory: the n-th allocation of its [`Memory`](crate::Memory), from 0.
    Allocation(u32),
    /// Device memory of one of several GPUs: the GPU, and the n-th allocation of their
    /// [`Memory`](crate::Memory).
    OfGpu(u32, u32),
    /// A static shared variable of the block.
    StaticShared(&'static str),
    /// The block's dynamic shared memory.
    DynamicShared,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allocation(number) => write!(f, "allocation {number}"),
            Self::OfGpu(gpu, number) => write!(f, "allocation {number}, on GPU {gpu}"),
            Self::StaticShared(name) => write!(f, "shared variable {name}"),
            Self::DynamicShared => f.write_str("dynamic shared memory"),
        }
    }
}

/// How an access reaches memory (PTX ISA, "Proxies").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proxy {
    /// An ordinary access.
    Generic,
    /// An access by a bulk copy.
    Async,
}

/// One bit per byte.
type Bits = Box<[Cell<u64>]>;

/// Zeroed storage at a stable address. All bytes can be loaded without undefined behaviour; the
/// shadow records which of them a kernel may read.
#[derive(Debug)]
pub(crate) struct Region {
    storage: NonNull<u8>,
    layout: Layout,
    /// First byte, aligned; within `storage`.
    first: NonNull<u8>,
    size: usize,
    label: Label,
    /// The kernel argument that is a view of it, if there is one.
    name: Cell<Option<&'static str>>,
    /// Unique in this process, although the address may be reused.
    number: u64,
    written: Bits,
    /// Bytes that the launch has written last through each proxy. Fences clear the bytes of
    /// ordinary stores. Created at the first store, and empty if the launch checks for races.
    stored: [OnceCell<Bits>; 2],
}

// SAFETY: only the region owns its storage, like a `Box<[u8]>`. Kernels use pointers made from its
// address only while `launch` holds the memory exclusively.
unsafe impl Send for Region {}

impl Region {
    /// Storage for `size` bytes aligned to `align`, a power of two, or `None` if the host has no
    /// memory left.
    pub(crate) fn new(size: usize, align: usize, label: Label) -> Option<Self> {
        Self::placed(size, align, 0, label)
    }

    /// Like [`Region::new`], but never aligned to twice `align`: more alignment than requested
    /// would hide that a kernel needs it.
    pub(crate) fn barely_aligned(size: usize, align: usize, label: Label) -> Option<Self> {
        Self::placed(size, align.checked_mul(2)?, align, label)
    }

    /// Storage at an offset of `skew`, less than `align`, from a multiple of `align`.
    fn placed(size: usize, align: usize, skew: usize, label: Label) -> Option<Self> {
        // Aligned by hand: for alignments above malloc's own, the allocator writes every page and
        // does not use lazily committed zero pages.
        let layout = Layout::from_size_align(size.checked_add(align)?, 1).ok()?;
        // SAFETY: the layout's size is at least `align`, so it is not zero.
        let storage = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let shift = skew.wrapping_sub(storage.addr().get()) & (align - 1);
        // SAFETY: shift < align, and the storage is size + align bytes.
        let first = unsafe { storage.add(shift) };
        // Kernels make pointers from the bare address, which exposing it here permits.
        first.as_ptr().expose_provenance();
        static REGIONS: AtomicU64 = AtomicU64::new(0);
        Some(Self {
            storage,
            layout,
            first,
            size,
            label,
            name: Cell::new(None),
            number: REGIONS.fetch_add(1, Ordering::Relaxed),
            written: no_bits(size),
            stored: Default::default(),
        })
    }

    /// The kernel argument that is a view of it, if there is one.
    pub(crate) fn name(&self) -> Option<&'static str> {
        self.name.get()
    }

    pub(crate) fn set_name(&self, name: Option<&'static str>) {
        self.name.set(name);
    }

    pub(crate) fn address(&self) -> usize {
        self.first.addr().get()
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn label(&self) -> Label {
        self.label
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Pointer to the byte at `offset`.
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.size, "offset {offset} of a region of {} bytes", self.size);
        // SAFETY: in bounds by the assertion, or one past the end.
        unsafe { self.first.as_ptr().add(offset) }
    }

    /// The words of the shadow for `bytes` bytes starting at `offset`, each with its bits.
    fn shadow(&self, offset: usize, bytes: usize) -> impl Iterator<Item = (usize, u64)> {
        let (start, end) = (offset, offset + bytes);
        (start / 64..end.div_ceil(64)).map(move |word| {
            let from = start.max(word * 64) - word * 64;
            let to = end.min(word * 64 + 64) - word * 64;
            (word, u64::MAX << from & u64::MAX >> (64 - to))
        })
    }

    /// Marks these bytes of the region as written.
    pub(crate) fn mark(&self, offset: usize, bytes: usize) {
        for (word, bits) in self.shadow(offset, bytes) {
            let written = &self.written[word];
            written.set(written.get() | bits);
        }
    }

    /// Records that the launch has written these bytes of the region through this proxy.
    pub(crate) fn store(&self, offset: usize, bytes: usize, by: Proxy) {
        let stored = self.stored[by as usize].get_or_init(|| no_bits(self.size));
        for (word, bits) in self.shadow(offset, bytes) {
            stored[word].set(stored[word].get() | bits);
        }
        if by == Proxy::Async {
            self.fence_stores(offset, bytes);
        }
    }

    /// Clears the record of ordinary stores to these bytes of the region, after a fence between the
    /// proxies or when a bulk copy has written them.
    pub(crate) fn fence_stores(&self, offset: usize, bytes: usize) {
        let Some(stored) = self.stored[Proxy::Generic as usize].get() else { return };
        for (word, bits) in self.shadow(offset, bytes) {
            stored[word].set(stored[word].get() & !bits);
        }
    }

    /// The first of these bytes of the region that the launch has written through this proxy.
    pub(crate) fn first_stored(&self, offset: usize, bytes: usize, by: Proxy) -> Option<usize> {
        let stored = self.stored[by as usize].get()?;
        self.shadow(offset, bytes).find_map(|(word, bits)| {
            let found = bits & stored[word].get();
            (found != 0).then(|| word * 64 + found.trailing_zeros() as usize)
        })
    }

    /// Whether the launch has written any of these bytes of the region.
    pub(crate) fn is_stored(&self, offset: usize, bytes: usize) -> bool {
        let stored = |by| self.first_stored(offset, bytes, by).is_some();
        stored(Proxy::Generic) || stored(Proxy::Async)
    }

    /// Another launch begins.
    pub(crate) fn forget_stores(&mut self) {
        self.stored = Default::default();
    }

    /// Like [`forget_stores`](Self::forget_stores), while threads run.
    pub(crate) fn clear_stores(&self) {
        let stored = self.stored.iter().filter_map(OnceCell::get);
        stored.flatten().for_each(|word| word.set(0));
    }

    /// The first of these bytes of the region that was never written.
    pub(crate) fn first_unwritten(&self, offset: usize, bytes: usize) -> Option<usize> {
        self.shadow(offset, bytes).find_map(|(word, bits)| {
            let missing = bits & !self.written[word].get();
            (missing != 0).then(|| word * 64 + missing.trailing_zeros() as usize)
        })
    }
}

/// All bits clear. The host commits the words when they are first touched.
fn no_bits(size: usize) -> Bits {
    let words: Box<[u64]> = vec![0; size.div_ceil(64)].into_boxed_slice();
    // SAFETY: a `Cell<T>` has the same memory layout as `T`, and the pointer came from a box.
    unsafe { Box::from_raw(Box::into_raw(words) as *mut [Cell<u64>]) }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new`, freed only here.
        unsafe { dealloc(self.storage.as_ptr(), self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shadow_is_exact_to_the_byte() {
        let region = Region::new(300, 256, Label::DynamicShared).expect("300 bytes fit");
        assert_eq!(region.address() % 256, 0);
        region.mark(60, 140);
        assert_eq!(region.first_unwritten(60, 140), None);
        assert_eq!(region.first_unwritten(59, 10), Some(59));
        assert_eq!(region.first_unwritten(100, 101), Some(200));
        assert_eq!(region.first_unwritten(64, 64), None);
        region.mark(0, 300);
        assert_eq!(region.first_unwritten(0, 300), None);
    }

    #[test]
    fn stores_are_recorded_by_proxy_until_a_fence_or_the_next_launch() {
        let mut region = Region::new(300, 256, Label::Allocation(0)).expect("300 bytes fit");
        let first = |region: &Region, by| region.first_stored(0, 300, by);
        region.store(70, 8, Proxy::Generic);
        region.store(76, 4, Proxy::Async);
        assert_eq!(first(&region, Proxy::Generic), Some(70));
        assert_eq!(region.first_stored(76, 200, Proxy::Generic), None);
        assert_eq!(first(&region, Proxy::Async), Some(76));
        region.fence_stores(0, 300);
        assert_eq!(first(&region, Proxy::Generic), None);
        region.forget_stores();
        assert_eq!(first(&region, Proxy::Async), None);
    }
}
