//! One allocation and its shadow: which of its bytes were ever written.

use core::cell::Cell;
use core::fmt;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// Alignment of every allocation of device memory, as `cuMemAlloc` gives it (CUDA C++ Programming
/// Guide, "Device Memory Accesses").
pub(crate) const DEVICE_ALIGN: usize = 256;

/// Which allocation a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// Device memory: the n-th allocation of its [`Memory`](crate::Memory), from 0.
    Allocation(u32),
    /// A static shared variable of the block.
    StaticShared(&'static str),
    /// The block's dynamic shared memory.
    DynamicShared,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allocation(number) => write!(f, "allocation {number}"),
            Self::StaticShared(name) => write!(f, "shared variable {name}"),
            Self::DynamicShared => f.write_str("dynamic shared memory"),
        }
    }
}

/// Zeroed storage at a stable address. All bytes can be loaded without undefined behaviour; the
/// shadow says which of them a kernel may read.
#[derive(Debug)]
pub(crate) struct Region {
    storage: NonNull<u8>,
    layout: Layout,
    /// First byte, aligned; within `storage`.
    first: NonNull<u8>,
    size: usize,
    label: Label,
    /// Unique in this process, though the address may be used again.
    number: u64,
    /// A bit for each byte.
    written: Box<[Cell<u64>]>,
    /// In shared memory, a bit for each byte: written since the last fence between ordinary stores
    /// and bulk copies.
    unfenced: Box<[Cell<u64>]>,
}

// SAFETY: only the region owns its storage, like a `Box<[u8]>`. Kernels use pointers made from its
// address only while `launch` holds the memory exclusively.
unsafe impl Send for Region {}

impl Region {
    /// Storage for `size` bytes at a multiple of `align`, or `None` when the host has none left.
    /// `align` is a power of two.
    pub(crate) fn new(size: usize, align: usize, label: Label) -> Option<Self> {
        Self::placed(size, align, 0, label)
    }

    /// Like [`Region::new`], but never at a multiple of twice `align`: more alignment than
    /// requested would hide that a kernel needs it.
    pub(crate) fn barely_aligned(size: usize, align: usize, label: Label) -> Option<Self> {
        Self::placed(size, align.checked_mul(2)?, align, label)
    }

    /// Storage at a multiple of `align`, plus `skew`, which is less than `align`.
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
        let bits = |size: usize| (0..size.div_ceil(64)).map(|_| Cell::new(0)).collect();
        let is_shared = !matches!(label, Label::Allocation(_));
        Some(Self {
            storage,
            layout,
            first,
            size,
            label,
            number: REGIONS.fetch_add(1, Ordering::Relaxed),
            written: bits(size),
            unfenced: bits(if is_shared { size } else { 0 }),
        })
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

    /// The storage from `offset` on.
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.size, "offset {offset} of a region of {} bytes", self.size);
        // SAFETY: in bounds by the assertion, or one past the end.
        unsafe { self.first.as_ptr().add(offset) }
    }

    /// The words of the shadow for `bytes` bytes from `offset`, each with its bits.
    fn shadow(&self, offset: usize, bytes: usize) -> impl Iterator<Item = (usize, u64)> {
        let (start, end) = (offset, offset + bytes);
        (start / 64..end.div_ceil(64)).map(move |word| {
            let from = start.max(word * 64) - word * 64;
            let to = end.min(word * 64 + 64) - word * 64;
            (word, u64::MAX << from & u64::MAX >> (64 - to))
        })
    }

    /// Marks these bytes, which lie in the region, as written.
    pub(crate) fn mark(&self, offset: usize, bytes: usize) {
        for (word, bits) in self.shadow(offset, bytes) {
            let written = &self.written[word];
            written.set(written.get() | bits);
            if let Some(unfenced) = self.unfenced.get(word) {
                unfenced.set(unfenced.get() | bits);
            }
        }
    }

    /// A fence between the proxies: bulk copies may now read what ordinary stores wrote to these
    /// bytes, which lie in the region.
    pub(crate) fn fence_proxies(&self, offset: usize, bytes: usize) {
        for (word, bits) in self.shadow(offset, bytes) {
            if let Some(word) = self.unfenced.get(word) {
                word.set(word.get() & !bits);
            }
        }
    }

    /// The first of these bytes, which lie in the region, that an ordinary store wrote after the
    /// last fence between the proxies.
    pub(crate) fn first_unfenced(&self, offset: usize, bytes: usize) -> Option<usize> {
        self.shadow(offset, bytes).find_map(|(word, bits)| {
            let unfenced = bits & self.unfenced.get(word)?.get();
            (unfenced != 0).then(|| word * 64 + unfenced.trailing_zeros() as usize)
        })
    }

    /// The first of these bytes, which lie in the region, that was never written.
    pub(crate) fn first_unwritten(&self, offset: usize, bytes: usize) -> Option<usize> {
        self.shadow(offset, bytes).find_map(|(word, bits)| {
            let missing = bits & !self.written[word].get();
            (missing != 0).then(|| word * 64 + missing.trailing_zeros() as usize)
        })
    }
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
}
