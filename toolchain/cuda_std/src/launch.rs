//! The launch interface of a kernel: its name, its argument types, its body.
//!
//! `#[kernel]` implements [`Kernel`] on the host. Both the CUDA driver and the emulator get a
//! grid's arguments through this module.
//!
//! # What does not compile
//!
//! This compiles, and each example below differs from it in one thing:
//!
//! ```
//! use cuda_std::{launch::Kernel, prelude::*};
//!
//! #[kernel(cooperative)]
//! unsafe fn fill(out: Global<u32>, value: u32) {
//!     out.write(thread::index(), value);
//! }
//!
//! fn launch<K: Kernel>(_: K::Args) {}
//! fn with(out: Global<u32>) {
//!     launch::<fill>((out, 7));
//! }
//! ```
//!
//! A kernel that is not `unsafe`, although its views need the caller's promise:
//!
//! ```compile_fail
//! use cuda_std::prelude::*;
//!
//! #[kernel(cooperative)]
//! fn fill(out: Global<u32>, value: u32) {
//!     out.write(thread::index(), value);
//! }
//! ```
//!
//! A generic kernel, which would need several names in the PTX:
//!
//! ```compile_fail
//! use cuda_std::prelude::*;
//!
//! #[kernel(cooperative)]
//! unsafe fn fill<T: Scalar>(out: Global<T>, value: T) {
//!     out.write(thread::index(), value);
//! }
//! ```
//!
//! A kernel with an explicit return type, even `()`:
//!
//! ```compile_fail
//! use cuda_std::prelude::*;
//!
//! #[kernel(cooperative)]
//! unsafe fn fill(out: Global<u32>, value: u32) -> () {
//!     out.write(thread::index(), value);
//! }
//! ```
//!
//! An option that does not exist:
//!
//! ```compile_fail
//! use cuda_std::prelude::*;
//!
//! #[kernel(co_operative)]
//! unsafe fn fill(out: Global<u32>, value: u32) {
//!     out.write(thread::index(), value);
//! }
//! ```
//!
//! A parameter type that has no meaning on the device, here a host slice:
//!
//! ```compile_fail
//! use cuda_std::prelude::*;
//!
//! #[kernel(cooperative)]
//! unsafe fn fill(out: &'static [u32], value: u32) {
//!     let _ = (out, value);
//! }
//! ```
//!
//! Arguments in the wrong order, too few of them, or of the wrong type:
//!
//! ```compile_fail,E0308
//! # use cuda_std::{launch::Kernel, prelude::*};
//! # #[kernel(cooperative)]
//! # unsafe fn fill(out: Global<u32>, value: u32) {
//! #     out.write(thread::index(), value);
//! # }
//! # fn launch<K: Kernel>(_: K::Args) {}
//! fn with(out: Global<u32>) {
//!     launch::<fill>((7, out));
//! }
//! ```
//!
//! ```compile_fail,E0308
//! # use cuda_std::{launch::Kernel, prelude::*};
//! # #[kernel(cooperative)]
//! # unsafe fn fill(out: Global<u32>, value: u32) {
//! #     out.write(thread::index(), value);
//! # }
//! # fn launch<K: Kernel>(_: K::Args) {}
//! fn with(out: Global<u32>) {
//!     launch::<fill>((out,));
//! }
//! ```
//!
//! ```compile_fail,E0308
//! # use cuda_std::{launch::Kernel, prelude::*};
//! # #[kernel(cooperative)]
//! # unsafe fn fill(out: Global<u32>, value: u32) {
//! #     out.write(thread::index(), value);
//! # }
//! # fn launch<K: Kernel>(_: K::Args) {}
//! fn with(out: Global<f32>) {
//!     launch::<fill>((out, 7));
//! }
//! ```

use crate::memory::{Global, Scalar};
use core::ffi::c_void;

/// A value that can be passed to a kernel.
///
/// # Safety
///
/// The type has the same size, alignment and meaning on the host and on the device. Any of its
/// values may be copied between them byte by byte. Its alignment is at most 8, and its size is
/// not 0.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a kernel",
    label = "not an argument of a kernel",
    note = "an argument is a number (`u8` to `u64`, `i8` to `i64`, `usize`, `isize`, `f32`, `f64`), a view of device memory, `Global<T>`, or an array of some of these, `[Global<T>; 4]`",
    note = "in place of a pointer, a reference or a slice take a `Global<T>`, which knows its length; in place of a `bool` take a `u32`"
)]
pub unsafe trait KernelArg: Copy + 'static {}

macro_rules! plain_args {
    ($($ty:ty),*) => {$(
        // SAFETY: a number of fixed width; host and device are both little-endian and LP64.
        unsafe impl KernelArg for $ty {}
    )*};
}
plain_args!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, usize, isize);

// SAFETY: `repr(C)` of a 64-bit address and a 64-bit length on both sides.
unsafe impl<T: Scalar> KernelArg for Global<T> {}

// SAFETY: arguments at multiples of their size on both sides. An array without elements, which
// would be no parameter of the PTX, does not compile: see `offsets`.
unsafe impl<A: KernelArg, const N: usize> KernelArg for [A; N] {}

/// A value that the host passes for a parameter of type `A`: an `A`, or its counterpart on the
/// host, such as a reference to a gridsync buffer for a [`Global`]. An array of views is passed as
/// it is: `buffers.each_ref().map(Buffer::view)`.
#[diagnostic::on_unimplemented(
    message = "a launch cannot pass `{Self}` for a parameter `{A}` of the kernel",
    label = "the kernel takes `{A}`",
    note = "for a `Global<T>` pass `&buffer` or `&mut buffer`, with a `gridsync::device::Buffer<T>` of the same `T`",
    note = "for a number pass one of exactly its type, such as `len as u32` for a `u32`"
)]
pub trait IntoArg<A> {
    /// The argument as passed to the kernel.
    fn into_arg(self) -> A;
}

impl<A: KernelArg> IntoArg<A> for A {
    fn into_arg(self) -> A {
        self
    }
}

/// A tuple of values that the host passes to a kernel with the arguments `A`: an [`IntoArg`] each.
#[diagnostic::on_unimplemented(
    message = "a launch cannot pass `{Self}` to a kernel that takes `{A}`",
    label = "the kernel takes `{A}`",
    note = "pass a tuple with a value for each parameter of the kernel, `(&buffer,)` if there is one"
)]
pub trait IntoArgs<A> {
    /// The arguments as passed to the kernel.
    fn into_args(self) -> A;
}

/// The arguments of one kernel, as a tuple.
///
/// # Safety
///
/// [`SIZES`](Self::SIZES) and [`OFFSETS`](Self::OFFSETS) have [`COUNT`](Self::COUNT) elements.
/// [`with_pointers`](Self::with_pointers) passes the same number of addresses, of live values of
/// these sizes that are part of `self`.
///
/// ```compile_fail,E0200
/// # use core::ffi::c_void;
/// #[derive(Clone, Copy)]
/// struct Mine;
/// impl cuda_std::launch::IntoArgs<Mine> for Mine {
///     fn into_args(self) -> Mine {
///         self
///     }
/// }
/// impl cuda_std::launch::KernelArgs for Mine { // It needs `unsafe impl`.
///     const COUNT: usize = 1;
///     const SIZES: &'static [usize] = &[1 << 40];
///     const OFFSETS: &'static [usize] = &[0];
///     fn with_pointers<R>(&self, f: impl FnOnce(&[*const c_void]) -> R) -> R {
///         f(&[core::ptr::null()])
///     }
///     unsafe fn from_pointers(_: &[*const c_void]) -> Self {
///         Self
///     }
///     unsafe fn write_to(self, _: *mut c_void) {}
/// }
/// ```
pub unsafe trait KernelArgs: IntoArgs<Self> + Copy + 'static {
    /// The number of arguments.
    const COUNT: usize;

    /// The size of each argument in bytes, in order.
    const SIZES: &'static [usize];

    /// The offset of each argument, in bytes, in a buffer of all of them: the first multiple of its
    /// alignment after the previous one. PTX lays out the parameters of an entry in the same way
    /// (CUDA C++ Programming Guide, "Parameter Buffer Layout").
    const OFFSETS: &'static [usize];

    /// Calls `f` with the addresses of the arguments, in order, as the CUDA driver expects them
    /// (`kernelParams` of `cuLaunchKernel`).
    fn with_pointers<R>(&self, f: impl FnOnce(&[*const c_void]) -> R) -> R;

    /// Reads the arguments back from their addresses.
    ///
    /// # Safety
    ///
    /// `pointers` has [`COUNT`](Self::COUNT) elements, from [`with_pointers`](Self::with_pointers)
    /// of the same type, and the values that they point to are still alive.
    unsafe fn from_pointers(pointers: &[*const c_void]) -> Self;

    /// Writes each argument at its offset in `buffer`.
    ///
    /// # Safety
    ///
    /// `buffer` is aligned to 8 bytes, and its bytes are writable up to the end of the last
    /// argument.
    unsafe fn write_to(self, buffer: *mut c_void);
}

/// The offsets of consecutive values of these sizes and alignments.
const fn offsets<const N: usize>(layouts: [(usize, usize); N]) -> [usize; N] {
    let (mut offsets, mut end, mut i) = ([0; N], 0usize, 0);
    while i < N {
        let (size, align) = layouts[i];
        assert!(size > 0, "an argument of a kernel has one byte or more");
        offsets[i] = end.next_multiple_of(align);
        end = offsets[i] + size;
        i += 1;
    }
    offsets
}

macro_rules! tuple_args {
    ($($name:ident $from:ident $index:tt),*) => {
        impl<$($name: KernelArg, $from: IntoArg<$name>),*> IntoArgs<($($name,)*)> for ($($from,)*) {
            #[allow(clippy::unused_unit)]
            fn into_args(self) -> ($($name,)*) {
                ($(self.$index.into_arg(),)*)
            }
        }

        // SAFETY: each element has a size, an offset and an address, in this order.
        unsafe impl<$($name: KernelArg),*> KernelArgs for ($($name,)*) {
            const COUNT: usize = Self::SIZES.len();

            const SIZES: &'static [usize] = &[$(size_of::<$name>()),*];

            const OFFSETS: &'static [usize] =
                &offsets([$((size_of::<$name>(), align_of::<$name>())),*]);

            fn with_pointers<R>(&self, f: impl FnOnce(&[*const c_void]) -> R) -> R {
                f(&[$((&raw const self.$index).cast()),*])
            }

            #[allow(unused_variables, unused_unsafe, clippy::unused_unit)]
            unsafe fn from_pointers(pointers: &[*const c_void]) -> Self {
                // SAFETY: the caller passes the addresses of live values of exactly these types.
                unsafe { ($(pointers[$index].cast::<$name>().read(),)*) }
            }

            #[allow(unused_variables, unused_unsafe)]
            #[inline(always)]
            unsafe fn write_to(self, buffer: *mut c_void) {
                // SAFETY: the caller passes a buffer with room for all arguments, and each offset
                // is a multiple of its argument's alignment.
                unsafe {
                    $(buffer.byte_add(Self::OFFSETS[$index]).cast::<$name>().write(self.$index);)*
                }
            }
        }
    };
}

/// Implements the traits for the tuples of each beginning of a list.
macro_rules! tuples_args {
    ($($name:ident $from:ident $index:tt,)*;) => {
        tuple_args!($($name $from $index),*);
    };
    ($($done:ident $from:ident $index:tt,)*; $name:ident $its:ident $at:tt, $($more:tt)*) => {
        tuple_args!($($done $from $index),*);
        tuples_args!($($done $from $index,)* $name $its $at,; $($more)*);
    };
}
tuples_args!(;
    A A1 0, B B1 1, C C1 2, D D1 3, E E1 4, F F1 5, G G1 6, H H1 7,
    I I1 8, J J1 9, K K1 10, L L1 11, M M1 12, N N1 13, O O1 14, P P1 15,
);

/// A kernel as a type. Implemented by `#[kernel]` on the host, and on the device for kernels that
/// are [`Launchable`].
pub trait Kernel: 'static {
    /// The name of the entry point in the PTX.
    const NAME: &'static str;
    /// Whether the kernel has a barrier across the whole grid, so that all blocks must be
    /// co-resident.
    const COOPERATIVE: bool;
    /// The names of the parameters, for messages of the emulator. Empty if unknown.
    const PARAMETERS: &'static [&'static str] = &[];
    /// The argument tuple.
    type Args: KernelArgs;

    /// Runs the body as one thread of an emulated grid.
    ///
    /// # Safety
    ///
    /// Called in an emulated thread, with arguments that meet the kernel's own contract.
    #[cfg(not(target_arch = "nvptx64"))]
    unsafe fn run(args: Self::Args);
}

/// A kernel that other kernels can launch: see `device_runtime`. Implemented by
/// `#[kernel(launchable)]`.
///
/// # Safety
///
/// `entry` is the address of the entry point whose parameters are `Args`.
pub unsafe trait Launchable: Kernel {
    /// The address of the entry point, for the device runtime.
    #[cfg(target_arch = "nvptx64")]
    fn entry() -> *const c_void;
}
