//! A view: the address and the length of an array in one state space.

use super::{CacheHint, GlobalSpace, Ordering, Scalar, Scope, Space};
use crate::backend::access;
use core::fmt;
use core::marker::PhantomData;
use cuda_std_macros::instruction;

/// An array of `T` in state space `S`, shared by threads.
///
/// A view is `Copy`: every thread has one, and nothing is borrowed. Indices count elements. Making
/// a view is `unsafe`, and answers for every access through it: each index is below
/// [`len`](Self::len), and accesses of different threads to one element, at least one of them a
/// write, are atomic or ordered by synchronisation. On the device none of this is checked. The
/// emulator checks every index and, if races are looked for, every order.
#[repr(C)]
pub struct View<T, S: Space> {
    base: S::Address,
    len: usize,
    element: PhantomData<*mut T>,
}

impl<T, S: Space> Clone for View<T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S: Space> Copy for View<T, S> {}

impl<T, S: Space> fmt::Debug for View<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}[{}] at {:?}", S::KIND, self.len, self.base)
    }
}

impl<T: Scalar> View<T, GlobalSpace> {
    /// A view of `len` elements of device memory, starting at the device address `address`.
    ///
    /// # Safety
    ///
    /// The memory is live while the view is used, `address` is a multiple of `size_of::<T>()`, and
    /// the accesses made through the view keep the contract of [`View`].
    #[inline(always)]
    pub unsafe fn from_address(address: u64, len: usize) -> Self {
        #[cfg(target_arch = "nvptx64")]
        let base = address;
        #[cfg(not(target_arch = "nvptx64"))]
        let base = core::ptr::with_exposed_provenance_mut(address as usize);
        Self { base, len, element: PhantomData }
    }

    /// The device address of the first element.
    #[inline(always)]
    pub fn address(self) -> u64 {
        GlobalSpace::to_bits(self.base)
    }
}

impl<T: Scalar, S: Space> View<T, S> {
    /// A view of `len` elements, starting at `base`.
    ///
    /// # Safety
    ///
    /// As for [`from_address`](View::from_address).
    #[inline(always)]
    pub(crate) unsafe fn from_base(base: S::Address, len: usize) -> Self {
        Self { base, len, element: PhantomData }
    }

    /// The number of elements.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The part that starts at element `start` and has `len` elements. It must be within the view.
    #[instruction]
    pub fn part(self, start: usize, len: usize) -> Self {
        Self { base: self.run_at(start, len), len, element: PhantomData }
    }

    /// The same bytes as elements of another type. A rest too short for one element is dropped.
    /// The first byte must be aligned for `U`.
    #[inline(always)]
    pub fn cast<U: Scalar>(self) -> View<U, S> {
        let len = self.len * size_of::<T>() / size_of::<U>();
        View { base: self.base, len, element: PhantomData }
    }

    /// The number of elements before the first one whose address is a multiple of 16 bytes, at most
    /// [`len`](Self::len).
    #[inline(always)]
    pub fn unaligned_head(self) -> usize {
        let past = S::to_bits(self.base) as usize % 16;
        (((16 - past) % 16) / size_of::<T>()).min(self.len)
    }

    /// The address of element `i`.
    #[instruction]
    pub(crate) fn at(self, i: usize) -> S::Address {
        self.run_at(i, 1)
    }

    /// The address of `len` elements from `i` on. The emulator checks that the view has them.
    #[instruction]
    fn run_at(self, i: usize, len: usize) -> S::Address {
        #[cfg(not(target_arch = "nvptx64"))]
        if len > self.len || i > self.len - len {
            let end = i.saturating_add(len);
            simt::trap(&format!("out of bounds: elements {i}..{end} of a view of {}", self.len));
        }
        #[cfg(target_arch = "nvptx64")]
        let _ = len;
        S::offset(self.base, i * size_of::<T>())
    }

    /// Element `i`, by a plain (weak) load: `ld`.
    ///
    /// The compiler may reuse an earlier value or move the load. To wait for another thread, use
    /// [`read_volatile`](Self::read_volatile) or [`load`](Self::load).
    #[instruction]
    pub fn read(self, i: usize) -> T {
        // SAFETY: the contract of the view.
        unsafe { access::read::<T, S>(self.at(i)) }
    }

    /// Sets element `i` by a plain (weak) store: `st`.
    #[instruction]
    pub fn write(self, i: usize, value: T) {
        // SAFETY: the contract of the view.
        unsafe { access::write::<T, S>(self.at(i), value) }
    }

    /// Element `i`, loaded again each time from where other threads' stores arrive: `ld.volatile`.
    /// Orders nothing else: see [`load`](Self::load).
    #[instruction]
    pub fn read_volatile(self, i: usize) -> T {
        // SAFETY: the contract of the view.
        unsafe { access::read_volatile::<T, S>(self.at(i)) }
    }

    /// Sets element `i`, at each call: `st.volatile`. Orders nothing else.
    #[instruction]
    pub fn write_volatile(self, i: usize, value: T) {
        // SAFETY: the contract of the view.
        unsafe { access::write_volatile::<T, S>(self.at(i), value) }
    }

    /// Element `i`, loaded with `order` as seen in `scope`: `ld.relaxed` or `ld.acquire`.
    ///
    /// `SeqCst` puts a `fence.sc` before an acquire load (PTX atomics ABI). In shared memory the
    /// scope is the block, and through a [`ClusterShared`](super::ClusterShared) the cluster.
    ///
    /// # Panics
    ///
    /// In the emulator, for `Release` and `AcqRel`, which a load cannot have.
    #[instruction]
    pub fn load(self, i: usize, order: Ordering, scope: Scope) -> T {
        // SAFETY: the contract of the view.
        unsafe { access::load::<T, S>(self.at(i), order, scope) }
    }

    /// Sets element `i` with `order` as seen in `scope`: `st.relaxed` or `st.release`.
    ///
    /// `SeqCst` puts a `fence.sc` before a relaxed store (PTX atomics ABI).
    ///
    /// # Panics
    ///
    /// In the emulator, for `Acquire` and `AcqRel`, which a store cannot have.
    #[instruction]
    pub fn store(self, i: usize, value: T, order: Ordering, scope: Scope) {
        // SAFETY: the contract of the view.
        unsafe { access::store::<T, S>(self.at(i), value, order, scope) }
    }

    /// The 16 bytes from element `i` on, in one access: `ld.v4.b32`. Element `i` must be aligned to
    /// 16 bytes (see [`unaligned_head`](Self::unaligned_head)).
    #[instruction]
    pub fn read_pack(self, i: usize, hint: CacheHint) -> T::Pack<T> {
        // SAFETY: the contract of the view; a pack is 16 bytes of plain numbers.
        unsafe { access::read_16::<T::Pack<T>, S>(self.run_at(i, T::PACK), hint) }
    }

    /// Sets the 16 bytes from element `i` on, in one access: `st.v4.b32`. Element `i` must be
    /// aligned to 16 bytes.
    #[instruction]
    pub fn write_pack(self, i: usize, pack: T::Pack<T>, hint: CacheHint) {
        // SAFETY: the contract of the view; a pack is 16 bytes of plain numbers.
        unsafe { access::write_16::<T::Pack<T>, S>(self.run_at(i, T::PACK), pack, hint) }
    }
}

impl<T: Scalar> View<T, GlobalSpace> {
    /// Asks to bring the line of element `i` into the L2: `prefetch.global.L2`. A hint, for words
    /// that will be needed soon and would otherwise come from device memory only then.
    #[instruction]
    pub fn prefetch(self, i: usize) {
        access::prefetch(self.at(i));
    }
}

impl View<u64, GlobalSpace> {
    /// Elements `i` and `i + 1`, both loaded relaxed at `scope` by one instruction:
    /// `ld.relaxed.v2.b64`. Element `i` must be aligned to 16 bytes.
    ///
    /// Each of the two is single-copy atomic, but the pair is not: the two may be from different
    /// times (PTX ISA, "Vector Data-types" of the memory consistency model).
    #[instruction]
    pub fn load_pair(self, i: usize, scope: Scope) -> [u64; 2] {
        // SAFETY: the contract of the view.
        unsafe { access::load_pair(self.run_at(i, 2), scope) }
    }
}
