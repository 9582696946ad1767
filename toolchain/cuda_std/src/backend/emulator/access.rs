//! Checked loads and stores.

use super::{order_of, scope_in, space_of};
use crate::memory::{CacheHint, Global, GlobalSpace, Ordering, Scalar, Scope, Space, SpaceKind};
use core::any::TypeId;
use core::mem::{MaybeUninit, zeroed};
use simt::{Access, Order};

/// The pointer for an address. In the emulator an address is a pointer.
fn pointer<V, S: Space>(at: S::Address) -> *mut V {
    core::ptr::with_exposed_provenance_mut(S::to_bits(at) as usize)
}

/// Reports an access to `bytes` bytes, which are one or more `T`, to the emulator.
#[track_caller]
pub(super) fn announce<T: 'static>(pointer: *const u8, bytes: usize, access: Access) -> bool {
    let is = |other| TypeId::of::<T>() == other;
    if is(TypeId::of::<f32>()) || is(TypeId::of::<f64>()) {
        simt::access_float(pointer, bytes, access)
    } else {
        simt::access(pointer, bytes, access)
    }
}

/// Loads a `V`, made of plain numbers, as `T`s. A thread that is unwinding after a fault gets zero.
#[track_caller]
unsafe fn checked_load<V: Copy, T: 'static, S: Space>(at: S::Address, access: Access) -> V {
    let pointer = pointer::<V, S>(at);
    if announce::<T>(pointer.cast(), size_of::<V>(), access) {
        // SAFETY: the emulator found these bytes live, aligned and written.
        unsafe { pointer.read() }
    } else {
        // SAFETY: `V` is made of plain numbers, and zero is one.
        unsafe { zeroed() }
    }
}

/// Stores a `V`, made of plain numbers, as `T`s.
#[track_caller]
unsafe fn checked_store<V: Copy, T: 'static, S: Space>(at: S::Address, value: V, access: Access) {
    let pointer = pointer::<MaybeUninit<V>, S>(at);
    if announce::<T>(pointer.cast(), size_of::<V>(), access) {
        // SAFETY: the emulator found these bytes live and aligned.
        unsafe { pointer.write(MaybeUninit::new(value)) }
    }
}

/// Does nothing: the emulator has no caches.
pub(crate) fn prefetch(_: *mut u8) {}

fn weak_read<S: Space>() -> Access {
    Access::read(space_of::<S>())
}

fn weak_write<S: Space>() -> Access {
    Access::write(space_of::<S>())
}

#[track_caller]
pub(crate) unsafe fn read<T: Scalar, S: Space>(at: S::Address) -> T {
    // SAFETY: a `Scalar` is a plain number.
    unsafe { checked_load::<T, T, S>(at, weak_read::<S>()) }
}

#[track_caller]
pub(crate) unsafe fn write<T: Scalar, S: Space>(at: S::Address, value: T) {
    // SAFETY: a `Scalar` is a plain number.
    unsafe { checked_store::<T, T, S>(at, value, weak_write::<S>()) }
}

// PTX ISA, "volatile": the same as `relaxed` with system scope.
#[track_caller]
pub(crate) unsafe fn read_volatile<T: Scalar, S: Space>(at: S::Address) -> T {
    let access = weak_read::<S>().ordered(Order::Volatile, simt::Scope::System);
    // SAFETY: a `Scalar` is a plain number.
    unsafe { checked_load::<T, T, S>(at, access) }
}

#[track_caller]
pub(crate) unsafe fn write_volatile<T: Scalar, S: Space>(at: S::Address, value: T) {
    let access = weak_write::<S>().ordered(Order::Volatile, simt::Scope::System);
    // SAFETY: a `Scalar` is a plain number.
    unsafe { checked_store::<T, T, S>(at, value, access) }
}

#[track_caller]
pub(crate) unsafe fn load<T: Scalar, S: Space>(at: S::Address, order: Ordering, scope: Scope) -> T {
    if matches!(order, Ordering::Release | Ordering::AcqRel) {
        simt::trap("a load cannot have release ordering: use Relaxed, Acquire or SeqCst");
    }
    let access = weak_read::<S>().ordered(order_of(order), scope_in::<S>(scope));
    // SAFETY: a `Scalar` is a plain number.
    unsafe { checked_load::<T, T, S>(at, access) }
}

/// Two loads, because the pair is not atomic on the device either.
#[track_caller]
pub(crate) unsafe fn load_pair(at: *mut u8, scope: Scope) -> [u64; 2] {
    if !(at as usize).is_multiple_of(16) {
        simt::trap("a pair of words that does not begin at a multiple of 16 bytes");
    }
    // SAFETY: the contract of a view, of both elements.
    unsafe {
        [
            load::<u64, GlobalSpace>(at, Ordering::Relaxed, scope),
            load::<u64, GlobalSpace>(at.wrapping_add(8), Ordering::Relaxed, scope),
        ]
    }
}

#[track_caller]
pub(crate) unsafe fn wait_while_nonzero(at: *mut u8) {
    // SAFETY: the contract of a view.
    while unsafe { load::<u32, GlobalSpace>(at, Ordering::Relaxed, Scope::Device) } != 0
        && super::thread::spin()
    {}
}

#[track_caller]
pub(crate) unsafe fn store<T: Scalar, S: Space>(
    at: S::Address,
    value: T,
    order: Ordering,
    scope: Scope,
) {
    if matches!(order, Ordering::Acquire | Ordering::AcqRel) {
        simt::trap("a store cannot have acquire ordering: use Relaxed, Release or SeqCst");
    }
    let access = weak_write::<S>().ordered(order_of(order), scope_in::<S>(scope));
    // SAFETY: a `Scalar` is a plain number.
    unsafe { checked_store::<T, T, S>(at, value, access) }
}

/// Sixteen bytes as one access, aligned to 16 as on the device; Rust's arrays are not.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Aligned16<P>(P);

#[track_caller]
pub(crate) unsafe fn read_16<P: Copy, S: Space>(at: S::Address, hint: CacheHint) -> P {
    let access = match (S::KIND, hint) {
        (SpaceKind::Global, CacheHint::ReadOnly) => Access::read(simt::Space::ReadOnly),
        _ => weak_read::<S>(),
    };
    // SAFETY: a pack is 16 bytes of plain numbers.
    unsafe { checked_load::<Aligned16<P>, (), S>(at, access).0 }
}

#[track_caller]
pub(crate) unsafe fn write_16<P: Copy, S: Space>(at: S::Address, pack: P, _hint: CacheHint) {
    // SAFETY: a pack is 16 bytes of plain numbers.
    unsafe { checked_store::<Aligned16<P>, (), S>(at, Aligned16(pack), weak_write::<S>()) }
}

#[track_caller]
pub(crate) fn spin_until_reached(word: Global<u32>, goal: u32) {
    while (word.read_volatile(0).wrapping_sub(goal) as i32) < 0 && simt::spin() {}
}
