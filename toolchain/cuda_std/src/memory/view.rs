//! A view: the address and the length of an array in one state space.

use super::{CacheHint, ClusterSpace, GlobalSpace, Ordering, Scalar, Scope, SharedSpace, Space};
use crate::backend::access;
use core::fmt;
use core::marker::PhantomData;
use cuda_std_macros::instruction;

/// An address in a space.
type Address<S> = <S as Space>::Address;

// Each space has its own type, instead of one type with the space as a parameter, so that compiler
// messages say `Global<f32>`, as the kernel does.
macro_rules! views {
    ($($(#[$doc:meta])* $name:ident: $space:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// A view is `Copy`: every thread has one, and nothing is borrowed. Indices count elements.
        /// Creating a view is `unsafe`, and the creator is responsible for every access through it:
        /// each index is below [`len`](Self::len), and accesses of different threads to one
        /// element, at least one of them a write, are atomic or ordered by synchronisation. On the
        /// device none of this is checked. The emulator checks every index and, with race
        /// detection, every order.
        #[repr(C)]
        pub struct $name<T> {
            base: Address<$space>,
            len: usize,
            element: PhantomData<*mut T>,
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}[{}] at {:?}", $space::KIND, self.len, self.base)
            }
        }

        impl<T: Scalar> $name<T> {
            /// A view of `len` elements, starting at `base`.
            ///
            /// # Safety
            ///
            /// As for [`Global::from_address`].
            #[inline(always)]
            #[allow(dead_code, reason = "targets without clusters have no ClusterShared")]
            pub(crate) unsafe fn from_base(base: Address<$space>, len: usize) -> Self {
                Self { base, len, element: PhantomData }
            }

            /// The number of elements.
            #[inline(always)]
            pub fn len(self) -> usize {
                self.len
            }

            /// Whether the view is empty.
            #[inline(always)]
            pub fn is_empty(self) -> bool {
                self.len == 0
            }

            /// The part of `len` elements that starts at element `start`. It must be within the
            /// view.
            #[instruction]
            pub fn part(self, start: usize, len: usize) -> Self {
                Self { base: self.run_at(start, len), len, element: PhantomData }
            }

            /// The same bytes as elements of another type. A remainder too short for one element is
            /// dropped. The first byte must be aligned for `U`.
            #[inline(always)]
            pub fn cast<U: Scalar>(self) -> $name<U> {
                let len = self.len * size_of::<T>() / size_of::<U>();
                $name { base: self.base, len, element: PhantomData }
            }

            /// The number of elements before the first one whose address is a multiple of 16 bytes,
            /// at most [`len`](Self::len).
            #[inline(always)]
            pub fn unaligned_head(self) -> usize {
                let past = $space::to_bits(self.base) as usize % 16;
                (((16 - past) % 16) / size_of::<T>()).min(self.len)
            }

            /// The address of element `i`.
            #[instruction]
            pub(crate) fn at(self, i: usize) -> Address<$space> {
                self.run_at(i, 1)
            }

            /// The address of the `len` elements starting at `i`. The emulator checks that they are
            /// in the view.
            #[instruction]
            fn run_at(self, i: usize, len: usize) -> Address<$space> {
                #[cfg(not(target_arch = "nvptx64"))]
                if len > self.len || i > self.len - len {
                    let end = i.saturating_add(len);
                    simt::trap(&format!("out of bounds: elements {i}..{end} of a view of {}", self.len));
                }
                #[cfg(target_arch = "nvptx64")]
                let _ = len;
                $space::offset(self.base, i * size_of::<T>())
            }

            /// Element `i`, by a plain (weak) load: `ld`.
            ///
            /// The compiler may reuse an earlier value or move the load. To wait for another
            /// thread, use [`read_volatile`](Self::read_volatile) or [`load`](Self::load).
            #[instruction]
            pub fn read(self, i: usize) -> T {
                // SAFETY: the contract of the view.
                unsafe { access::read::<T, $space>(self.at(i)) }
            }

            /// Sets element `i` by a plain (weak) store: `st`.
            #[instruction]
            pub fn write(self, i: usize, value: T) {
                // SAFETY: the contract of the view.
                unsafe { access::write::<T, $space>(self.at(i), value) }
            }

            /// Element `i`, reloaded at each call so that it sees stores of other threads:
            /// `ld.volatile`. Does not order other accesses: see [`load`](Self::load).
            #[instruction]
            pub fn read_volatile(self, i: usize) -> T {
                // SAFETY: the contract of the view.
                unsafe { access::read_volatile::<T, $space>(self.at(i)) }
            }

            /// Sets element `i`, at each call: `st.volatile`. Does not order other accesses.
            #[instruction]
            pub fn write_volatile(self, i: usize, value: T) {
                // SAFETY: the contract of the view.
                unsafe { access::write_volatile::<T, $space>(self.at(i), value) }
            }

            /// Element `i`, loaded with `order` as seen in `scope`: `ld.relaxed` or `ld.acquire`.
            ///
            /// `SeqCst` puts a `fence.sc` before an acquire load (PTX atomics ABI). In shared
            /// memory the scope is the block, and through a [`ClusterShared`] the cluster.
            ///
            /// # Panics
            ///
            /// In the emulator, for `Release` and `AcqRel`, which a load cannot have.
            #[instruction]
            pub fn load(self, i: usize, order: Ordering, scope: Scope) -> T {
                // SAFETY: the contract of the view.
                unsafe { access::load::<T, $space>(self.at(i), order, scope) }
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
                unsafe { access::store::<T, $space>(self.at(i), value, order, scope) }
            }

            /// The 16 bytes starting at element `i`, in one access: `ld.v4.b32`. Element `i` must
            /// be aligned to 16 bytes (see [`unaligned_head`](Self::unaligned_head)).
            #[instruction]
            pub fn read_pack(self, i: usize, hint: CacheHint) -> T::Pack<T> {
                // SAFETY: the contract of the view; a pack is 16 bytes of plain numbers.
                unsafe { access::read_16::<T::Pack<T>, $space>(self.run_at(i, T::PACK), hint) }
            }

            /// Sets the 16 bytes starting at element `i`, in one access: `st.v4.b32`. Element `i`
            /// must be aligned to 16 bytes.
            #[instruction]
            pub fn write_pack(self, i: usize, pack: T::Pack<T>, hint: CacheHint) {
                // SAFETY: the contract of the view; a pack is 16 bytes of plain numbers.
                unsafe { access::write_16::<T::Pack<T>, $space>(self.run_at(i, T::PACK), pack, hint) }
            }
        }
    )*};
}
views! {
    /// An array of `T` in device memory: the whole grid sees it.
    Global: GlobalSpace;
    /// An array of `T` in a block's shared memory: only the threads of that block see it.
    Shared: SharedSpace;
    /// An array of `T` in the shared memory of a block of the cluster, from `cluster::shared_of`:
    /// all threads of the cluster see it.
    ClusterShared: ClusterSpace;
}

impl<T: Scalar> Global<T> {
    /// A view of `len` elements of device memory, starting at the device address `address`.
    ///
    /// # Safety
    ///
    /// The memory is live while the view is used, `address` is a multiple of `size_of::<T>()`, and
    /// the accesses made through the view keep the contract of a view.
    #[inline(always)]
    pub unsafe fn from_address(address: u64, len: usize) -> Self {
        #[cfg(target_arch = "nvptx64")]
        let base = address;
        #[cfg(not(target_arch = "nvptx64"))]
        let base = core::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the caller's promise.
        unsafe { Self::from_base(base, len) }
    }

    /// The device address of the first element.
    #[inline(always)]
    pub fn address(self) -> u64 {
        GlobalSpace::to_bits(self.base)
    }
}

impl<T: Scalar> Global<T> {
    /// Prefetches the line of element `i` into the L2: `prefetch.global.L2`. A hint, for words that
    /// are needed soon and are not in the L2 yet.
    #[instruction]
    pub fn prefetch(self, i: usize) {
        access::prefetch(self.at(i));
    }
}

impl Global<u64> {
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
