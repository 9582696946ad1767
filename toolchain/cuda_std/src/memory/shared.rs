//! Shared memory: declared by name, or sized by the launch.

use super::{Scalar, Shared};
use crate::backend::shared as backend;
use cuda_std_macros::instruction;

/// The dynamic shared memory of the block, sized by the launch, as elements of `T`.
///
/// Every thread of the block gets the same memory. It starts unwritten and is aligned to 128 bytes
/// (PTX `.extern .shared`).
#[instruction]
pub fn dynamic_shared<T: Scalar>() -> Shared<T> {
    let (base, bytes) = backend::dynamic();
    // SAFETY: the block's own memory, live while the block runs. The kernel that calls this is
    // responsible for the accesses, by the contract of a view.
    unsafe { Shared::from_base(base, bytes / size_of::<T>()) }
}

/// The view for [`shared_array!`](crate::shared_array). Only for its expansion.
///
/// # Safety
///
/// `base` is the address of `bytes` bytes of this block's shared memory.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn static_shared<T: Scalar>(
    base: <super::SharedSpace as super::Space>::Address,
    len: usize,
) -> Shared<T> {
    // SAFETY: the caller's promise.
    unsafe { Shared::from_base(base, len) }
}

/// Declares an array in the block's shared memory, and a function that returns its view to every
/// thread of the block.
///
/// The array is aligned to 16 bytes, starts unwritten, and uses shared memory in every kernel that
/// calls the function. Rust has no shared statics on nvptx64, so the array is declared in assembly
/// under the name `shared_` + function name. That name must be unique among all crates of a kernel.
///
/// ```
/// cuda_std::shared_array! {
///     /// One partial sum per warp.
///     fn warp_sums() -> [f32; 32];
/// }
/// ```
#[macro_export]
macro_rules! shared_array {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident() -> [$ty:ty; $len:expr];)*) => {$(
        $(#[$meta])*
        #[$crate::device]
        $vis fn $name() -> $crate::memory::Shared<$ty> {
            const LEN: usize = $len;
            const BYTES: usize = LEN * size_of::<$ty>();

            #[cfg(target_arch = "nvptx64")]
            let base = {
                mod declaration {
                    #[allow(unused_imports)]
                    use super::*;
                    core::arch::global_asm!(
                        concat!(".shared .align 16 .b8 shared_", stringify!($name), "[{bytes}];"),
                        bytes = const ($len) * size_of::<$ty>(),
                    );
                }
                let base: u32;
                // SAFETY: takes an address; does not access memory.
                unsafe {
                    core::arch::asm!(
                        concat!("mov.u32 {}, shared_", stringify!($name), ";"),
                        out(reg32) base,
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                let _ = BYTES;
                base
            };
            #[cfg(not(target_arch = "nvptx64"))]
            let base = $crate::emulated_shared(concat!("shared_", stringify!($name)), BYTES);

            // SAFETY: the address of `BYTES` bytes declared above.
            unsafe { $crate::memory::static_shared(base, LEN) }
        }
    )*};
}
