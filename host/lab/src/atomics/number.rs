//! The four element types, and their kernels.

use super::{Cost, Target, job};
use bytemuck::Pod;
use cuda_std::launch::{Kernel, KernelArg};
use cuda_std::memory::Global;
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_lab_kernels::atomics::{
    Number, atomics_add_f32, atomics_add_f64, atomics_add_u32, atomics_add_u64,
    atomics_fetch_add_f32, atomics_fetch_add_f64, atomics_fetch_add_u32, atomics_fetch_add_u64,
    atomics_shared_first_f32, atomics_shared_first_f64, atomics_shared_first_u32,
    atomics_shared_first_u64, atomics_warp_first_f32, atomics_warp_first_f64,
    atomics_warp_first_u32, atomics_warp_first_u64,
};

/// Words, threads per word, words apart, the value, rounds.
type Args<T> = (Global<T>, u32, u32, T, u32);

/// The same, with the value that each thread has seen after the words.
type WithSeen<T> = (Global<T>, Global<u64>, u32, u32, T, u32);

/// Measures the cost in a grid, of a target with or without result, with the rate if it is known.
type MeasureCost = fn(&Device, Geometry, (Target, bool), Option<f64>) -> Result<Cost, DeviceError>;

/// A type of the additions, and the function that measures its costs.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    pub(super) name: &'static str,
    pub(super) cost: MeasureCost,
}

/// A type with kernels.
pub(super) trait Added: Number + KernelArg + Pod + PartialEq {
    const NAME: &str;
    type Add: Kernel<Args = Args<Self>>;
    type FetchAdd: Kernel<Args = WithSeen<Self>>;
    type SharedFirst: Kernel<Args = Args<Self>>;
    type WarpFirst: Kernel<Args = Args<Self>>;

    /// A count of at most 2^24, which is exact in every type.
    fn of(count: u32) -> Self;
}

macro_rules! numbers {
    ($($ty:ident: |$count:ident| $of:expr,
       $add:ident $fetch_add:ident $shared_first:ident $warp_first:ident;)*) => {
        $(
            impl Added for $ty {
                const NAME: &str = stringify!($ty);
                type Add = $add;
                type FetchAdd = $fetch_add;
                type SharedFirst = $shared_first;
                type WarpFirst = $warp_first;

                fn of($count: u32) -> Self {
                    $of
                }
            }
        )*

        /// All element types.
        pub const NUMBERS: [Type; 4] = [
            $(Type { name: <$ty as Added>::NAME, cost: job::cost::<$ty> }),*
        ];
    };
}
numbers! {
    u32: |count| count,
        atomics_add_u32 atomics_fetch_add_u32 atomics_shared_first_u32 atomics_warp_first_u32;
    u64: |count| count.into(),
        atomics_add_u64 atomics_fetch_add_u64 atomics_shared_first_u64 atomics_warp_first_u64;
    f32: |count| count as f32,
        atomics_add_f32 atomics_fetch_add_f32 atomics_shared_first_f32 atomics_warp_first_f32;
    f64: |count| count.into(),
        atomics_add_f64 atomics_fetch_add_f64 atomics_shared_first_f64 atomics_warp_first_f64;
}
