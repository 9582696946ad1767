//! Kernels that hold many values.

use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::memory::{Global, Scalar};
use gridsync::device::{Device, DeviceError, Geometry, KernelInfo};
use gridsync_lab_kernels::limits::{
    limits_hold_8_u32, limits_hold_32_u32, limits_hold_64_u32, limits_hold_64_u64,
};

/// A kernel that holds many values, for testing limits.
#[derive(Clone, Copy, Debug)]
pub struct Holder {
    /// Entry point.
    pub kernel: KernelInfo,
    /// 32-bit words that each thread holds.
    pub words: u32,
    /// [`hold`] with this kernel.
    run: fn(&Device, &Geometry) -> Result<bool, DeviceError>,
}

/// All holders, by the number of words that they hold.
pub const HOLDERS: [Holder; 4] = [
    Holder::of::<limits_hold_8_u32, u32, 8>(),
    Holder::of::<limits_hold_32_u32, u32, 32>(),
    Holder::of::<limits_hold_64_u32, u32, 64>(),
    Holder::of::<limits_hold_64_u64, u64, 64>(),
];

/// Rounds of a launch.
const ROUNDS: u32 = 3;

/// A type of the values that a thread holds.
trait Value: Scalar + Pod + Eq {
    fn of(number: u64) -> Self;

    /// Result of a thread that starts with these values.
    fn held(values: &[Self], thread: usize) -> Self;
}

macro_rules! values {
    ($($ty:ident),*) => {$(
        impl Value for $ty {
            fn of(number: u64) -> Self {
                number.wrapping_mul(0x9E37_79B9_7F4A_7C15) as Self
            }

            fn held(values: &[Self], thread: usize) -> Self {
                let mut held: Vec<Self> = values.iter().map(|value| value ^ thread as Self).collect();
                for _ in 0..ROUNDS {
                    let next = held.iter().cycle().skip(1);
                    held = held.iter().zip(next).map(|(a, b)| a.rotate_left(5) ^ b).collect();
                }
                held.iter().fold(0, |all: Self, value| all.rotate_left(1) ^ value)
            }
        }
    )*};
}
values! { u32, u64 }

/// Maximum number of results that a launch keeps.
const KEPT: usize = 1 << 16;

/// Launches `K` and returns whether the kept results are right.
fn hold<K, T, const VALUES: usize>(
    device: &Device,
    geometry: &Geometry,
) -> Result<bool, DeviceError>
where
    K: Kernel<Args = (Global<T>, Global<T>, u32)>,
    T: Value,
{
    let values: Vec<T> = (1..=VALUES as u64).map(T::of).collect();
    let threads = geometry.grid.volume() * geometry.block.volume();
    let words = device.upload(&values)?;
    let results = device.alloc::<T>(KEPT.min(threads as usize))?;
    let args = (words.view(), results.view(), ROUNDS);
    // SAFETY: `words` has the values of a thread. Both buffers outlive the launch, because the
    // download waits for it.
    unsafe { device.launch::<K>(geometry, args)? };
    let results = results.download()?;
    Ok((0..).zip(results).all(|(thread, result)| result == T::held(&values, thread)))
}

impl Holder {
    const fn of<K, T, const VALUES: usize>() -> Self
    where
        K: Kernel<Args = (Global<T>, Global<T>, u32)>,
        T: Value,
    {
        Self {
            kernel: KernelInfo::of::<K>(),
            words: (VALUES * size_of::<T>() / 4) as u32,
            run: hold::<K, T, VALUES>,
        }
    }

    /// Launches the kernel and returns whether the results of the first threads are right.
    ///
    /// # Errors
    /// If the device fails.
    pub fn run(&self, device: &Device, geometry: &Geometry) -> Result<bool, DeviceError> {
        (self.run)(device, geometry)
    }
}
