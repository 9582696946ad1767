//! Kernels for the codegen tests. `../codegen/claims` lists what each must compile to.
//!
//! A probe takes its operands as parameters, so that the PTX shows where each one is used. It
//! stores its result with a volatile store, which is part of its claim.

#![no_std]
#![feature(abi_ptx, asm_experimental_arch)]

mod access;
mod atomic;
#[cfg(compute_ge_90)]
mod bulk;
#[cfg(compute_ge_90)]
mod cluster;
mod flow;
mod math;
mod shared;
mod thread;
mod warp;

/// A kernel that stores the body's result to the first parameter.
macro_rules! gives {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $result:ty $body:block)*) => {$(
        #[cuda_std::kernel]
        unsafe fn $name(out: cuda_std::memory::Global<$result>, $($arg: $ty),*) {
            let result: $result = $body;
            out.write_volatile(0, result);
        }
    )*};
}
pub(crate) use gives;

/// A kernel without a result.
macro_rules! does {
    ($($name:ident($($arg:ident: $ty:ty),*) $body:block)*) => {$(
        #[cuda_std::kernel]
        unsafe fn $name($($arg: $ty),*) $body
    )*};
}
pub(crate) use does;

/// The body once for each listed ordering and each scope, unrolled: a loop would stay a loop.
macro_rules! in_each_order_and_scope {
    ($order:ident $scope:ident in $orders:tt => $body:block) => {
        $crate::in_each_order_and_scope!(@ Block $order $scope $orders $body);
        $crate::in_each_order_and_scope!(@ Device $order $scope $orders $body);
        $crate::in_each_order_and_scope!(@ System $order $scope $orders $body);
    };
    (@ $in:ident $order:ident $scope:ident [$($each:ident)*] $body:block) => {$({
        let $order = cuda_std::memory::Ordering::$each;
        let $scope = cuda_std::memory::Scope::$in;
        $body
    })*};
}
pub(crate) use in_each_order_and_scope;
