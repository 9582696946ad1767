//! The attributes of gridsync's `cuda_std`: `#[kernel]` and `#[device]`.
//!
//! `cuda_std` re-exports both, and their expansions need it:
//!
//! ```ignore
//! use cuda_std::prelude::*;
//!
//! #[device]
//! fn twice(x: f32) -> f32 {
//!     2.0 * x
//! }
//!
//! #[kernel]
//! pub unsafe fn double(out: Global<f32>) {
//!     let i = thread::index();
//!     if i < out.len() {
//!         out.write(i, twice(out.read(i)));
//!     }
//! }
//! ```

mod device;
mod host_only;
mod kernel;
mod std_only;

use proc_macro::TokenStream;

/// Makes a function a kernel: the entry point of a grid.
///
/// The function must be a plain `unsafe fn`: no generics, no `where` clause, no return type, no
/// ABI, not `async`, not `const`. It has at most 16 parameters, all of them
/// `cuda_std::launch::KernelArg`s (numbers and memory views).
///
/// * **On the device** (nvptx64) it becomes an exported `extern "ptx-kernel"` function with that
///   name.
/// * **On the host** it becomes a *type* with that name that implements `cuda_std::launch::Kernel`:
///   its name, its argument tuple and its body. A launch uses that type, so a launch with the wrong
///   arguments does not compile, and the emulator runs the same body. It is only a type, not a
///   value, so parameters and variables may have its name.
///
/// `x.sqrt()` and other exactly rounded methods of numbers work in the body on both sides.
/// `x.exp()`, `x.sin()` and the like, which only `std` has, are rejected on both sides. Use the
/// functions of `cuda_std::math` instead.
///
/// The body is rejected on both sides if it uses the heap (`Vec`, `vec!`, `Box`, `String`,
/// `format!`), output (`println!`, `dbg!`) or a path of `std`: the device has none of them.
/// Functions that the body calls are not checked.
///
/// Lint attributes and function attributes, such as `#[inline]`, apply to the body on both sides.
///
/// A crate of kernels begins with the features that the device's ABI and the inline assembly in
/// `cuda_std`'s macros need:
///
/// ```ignore
/// #![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]
/// ```
///
/// Options, separated by commas:
///
/// * `cooperative`: the kernel has a barrier across the whole grid, so all its blocks must be
///   co-resident. A launch that cannot guarantee this is rejected.
/// * `launchable`: other kernels can launch it, with `cuda_std::device_runtime`. On the device it
///   is then also a type with the same name.
/// * `max_threads = N`: blocks have at most `N` threads (PTX `.maxntid`). A launch with more fails.
/// * `min_blocks = N`, with `max_threads`: at least `N` such blocks should fit on a multiprocessor
///   (PTX `.minnctapersm`). This limits the registers of a thread. Without it, ptxas may use so
///   many registers that fewer blocks fit and fewer loads are in flight.
/// * `max_registers = N`, instead: a thread has at most `N` registers (PTX `.maxnreg`).
///
/// # Example
///
/// ```ignore
/// #[kernel]
/// pub unsafe fn fill(out: Global<f32>, value: f32) {
///     let i = thread::index();
///     if i < out.len() {
///         out.write(i, value);
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(options.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a function part of a device library, to be called by kernels.
///
/// It is inlined into its callers. The rules of [`macro@kernel`] for methods of numbers apply. In
/// the emulator a fault in it reports the line inside it and the calling line in the kernel,
/// through all library functions in between. On the device this is free.
///
/// The option `protocol = "the mail"` names the protocol that the function is part of, for race
/// messages. It declares that the accesses in the function are ordered as the protocol requires, so
/// races are not blamed on them. Use it only for code that is known to be correct.
///
/// It works for functions of modules, `impl`s and traits that have a body and are not `const`.
///
/// # Example
///
/// ```ignore
/// #[device]
/// pub fn sum(values: Global<f32>) -> f32 {
///     (0..values.len()).map(|i| values.read(i)).sum()
/// }
/// ```
#[proc_macro_attribute]
pub fn device(options: TokenStream, item: TokenStream) -> TokenStream {
    device::expand(options.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a function represent an instruction, in `cuda_std` itself. It is inlined, and in the
/// emulator it reports the line of its caller.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn instruction(_options: TokenStream, item: TokenStream) -> TokenStream {
    device::expand_instruction(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
