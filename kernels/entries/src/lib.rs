//! The kernels that gridsync launches: entry points that only call [`gridsync_kernels`].
//!
//! On the host each is a type that implements `cuda_std::launch::Kernel`. A crate with its own
//! kernels does not need this crate: it calls `gridsync_kernels`.
//!
//! ```
//! use cuda_std::launch::Kernel;
//! use gridsync_entries::{reduce, scan};
//!
//! assert_eq!(reduce::sum_f32::NAME, "reduce_sum_f32");
//! assert_eq!(scan::max_i64::NAME, "scan_max_i64");
//! ```

#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]

#[macro_use]
mod catalogue;

/// The operation of a kernel: its parameter, if it has one.
macro_rules! operation {
    ($ty:ty) => {
        <$ty>::new()
    };
    ($ty:ty, $op:ident) => {
        $op
    };
}

/// The common arguments on the host: with a count, if the kernel has one.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! common {
    ($common:ty) => {
        $common
    };
    ($common:ty, $count:ident) => {
        $crate::counted::Counted<$common>
    };
}

/// A kernel, and the [`Entry`] that names it.
///
/// * `entry! { ROW COMMON }` for a row with a twin: the kernel of the twin.
/// * `entry! { ROW COMMON, METHOD (OPTIONS) DOC, FUNCTION }` defines the kernel. It calls `METHOD`
///   of the arguments, which is `FUNCTION` of the library.
/// * `entry! { ROW COMMON [COUNT], … }`: its last parameter is `COUNT`, and it uses only
///   that many elements.
///
/// `ROW` is a row of [`operations!`](crate::operations), and `COMMON` a type with the operation as
/// its parameter. The forms with `@` are for other types.
macro_rules! entry {
    (($name:ident: $program:literal $ty:ty, $inputs:ident) $common:ident $($rest:tt)+) => {
        entry! { @ $name $ty [] $common<$ty> $($rest)+ }
    };
    (($name:ident: $program:literal $ty:ty { $example:expr }, $inputs:ident) $common:ident $($rest:tt)+) => {
        entry! { @ $name $ty [op] $common<$ty> $($rest)+ }
    };
    (($name:ident: $program:literal $ty:ty as $twin:ty, $inputs:ident) $common:ident) => {
        entry! { @ $ty as $twin, $common<$ty> as $common<$twin> }
    };
    (@ $ty:ty as $twin:ty, $common:ty as $of_twin:ty) => {
        // SAFETY: the twin does the same with the same bits, and only the element type differs.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::Entry<$common> for $ty {
            type Kernel = $crate::KernelOf<$twin, $of_twin>;

            fn arguments(self, common: $common) -> <Self::Kernel as cuda_std::launch::Kernel>::Args {
                // SAFETY: as above.
                let twin: $twin = unsafe { $crate::entry::as_twin(self) };
                // SAFETY: as above.
                twin.arguments(unsafe { $crate::entry::as_twin::<_, $of_twin>(common) })
            }
        }
    };
    (@ $name:ident $ty:ty [$($op:ident)?] $common:ty $([$count:ident])?, $method:ident ($($options:tt)*) $doc:literal, $function:literal) => {
        #[doc = concat!($doc, " [`", stringify!($ty), "`]: see [`", $function, "`](gridsync_kernels::", $function, ").")]
        ///
        /// # Safety
        ///
        /// The arguments and the grid are valid for that function. No other launch uses the
        /// workspace, if there is one, until this one has ended. Nothing writes the count, if
        /// there is one, during the launch.
        #[kernel($($options)*)]
        pub unsafe fn $name(common: $common, $($op: $ty,)? $($count: Global<u64>)?) {
            $(let common = common.up_to($count);)?
            common.$method(operation!($ty $(, $op)?));
        }

        // SAFETY: the kernel only calls that function with its arguments.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::Entry<common!($common $(, $count)?)> for $ty {
            type Kernel = $name;

            fn arguments(
                self,
                common: common!($common $(, $count)?),
            ) -> <$name as cuda_std::launch::Kernel>::Args {
                $(let $op = self;)?
                $(let $crate::counted::Counted { common, $count } = common;)?
                (common, $($op,)? $($count)?)
            }
        }
    };
}

/// `absent! { COMMON ROW }`: the operation of the row has no kernel for these arguments.
macro_rules! absent {
    ($common:ident ($name:ident: $program:literal $ty:ty $(as $twin:ty)? $({ $example:expr })?, $inputs:ident)) => {
        // SAFETY: no kernel is launched.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl $crate::Entry<$common<$ty>> for $ty {
            type Kernel = $crate::NoKernel;

            fn arguments(self, _: $common<$ty>) {}
        }
    };
}

#[cfg(not(target_arch = "nvptx64"))]
mod by_kernel;
pub mod counted;
pub mod dot;
#[cfg(not(target_arch = "nvptx64"))]
mod entry;
pub mod finish;
pub mod histogram;
pub mod kendall;
pub mod merge_sort;
pub mod range_sum;
pub mod rank;
pub mod reduce;
pub mod reduce_rows;
pub mod scan;
pub mod scan_rows;
pub mod search;
pub mod segments;
pub mod select;
pub mod softmax;
pub mod sort;
pub mod spread;

#[cfg(not(target_arch = "nvptx64"))]
pub use by_kernel::ByKernel;
#[cfg(not(target_arch = "nvptx64"))]
pub use entry::{Entry, KernelOf, NoKernel, name_of};
use gridsync_kernels::op::Operation;

/// The elements that `O` combines.
pub type ElementOf<O> = <O as Operation>::Element;

/// The results of `O`.
pub type OutputOf<O> = <O as Operation>::Output;
