//! The limits of a device: kernels that hold many values, and launches at each limit and one past
//! it.

use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::memory::{Global, Scalar};
use gridsync::device::{Device, DeviceError, Geometry, KernelInfo, Occupancy};
use gridsync_lab_kernels::limits::{
    limits_hold_8_u32, limits_hold_32_u32, limits_hold_64_u32, limits_hold_64_u64,
};

/// A kernel that holds many values, for testing the limits.
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

/// One limit, tested with a launch at the limit and one past it.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The limited resource.
    pub what: &'static str,
    /// A launch at the limit, and whether its results were right. `None` if it would run too long.
    pub at: Option<(Geometry, bool)>,
    /// A launch one past the limit.
    pub past: Geometry,
    /// The error that refused it. `None` if it ran.
    pub refused: Option<DeviceError>,
}

/// Tests each limit of the device with kernels that hold few values, and the limit of registers
/// with one that holds many.
///
/// # Errors
/// If a launch at a limit is refused, or if the device fails.
pub fn try_all(device: &Device) -> Result<Vec<Tried>, DeviceError> {
    let [few, _, many, _] = HOLDERS;
    let p = device.properties();
    let (threads, y) = (p.max_threads_per_block, Geometry::MOST_ALONG_Y);
    let shared = p.shared_per_block_optin.max(p.shared_per_block);
    let with_shared = |bytes| Geometry::new(1, 32).with_dynamic_shared(bytes);
    let resident = device.backend().occupancy(&few.kernel, 256, 0)? * p.multiprocessors;
    let together = |blocks: u32| Geometry::new(blocks, 256).cooperative();
    let mut tries = vec![
        ("threads of a block", few, Some(Geometry::new(1, threads)), Geometry::new(1, threads + 1)),
        ("shared memory of a block", few, Some(with_shared(shared)), with_shared(shared + 1)),
        ("blocks that wait for each other", few, Some(together(resident)), together(resident + 1)),
    ];
    if !p.is_emulated() {
        let registers = device.backend().attributes(&many.kernel)?.registers;
        let fits = |&threads: &u32| Occupancy::most_registers(p, threads) >= registers;
        let most = (1..=threads / 32).map(|warps| 32 * warps).rfind(fits).unwrap_or(32);
        tries.extend([
            (
                "threads of a block along z",
                few,
                Some(Geometry::new(1, (1, 1, 64))),
                Geometry::new(1, (1, 1, 65)),
            ),
            (
                "registers of a block",
                many,
                Some(Geometry::new(1, most)),
                Geometry::new(1, most + 1),
            ),
            (
                "blocks of a grid along y",
                few,
                Some(Geometry::new((1, y), 1)),
                Geometry::new((1, y + 1), 1),
            ),
            // A grid of 2^31 − 1 blocks runs for seconds.
            ("blocks of a grid", few, None, Geometry::new(p.max_grid_x + 1, 1)),
        ]);
        if p.cluster {
            let clusters = |blocks: u32| Geometry::new(blocks, 32).clusters_of(blocks);
            tries.push(("blocks of a cluster", few, Some(clusters(16)), clusters(17)));
        }
    }
    let tried = tries.into_iter().map(|(what, holder, at, past)| {
        let at = at.map(|at| Ok::<_, DeviceError>((at, holder.run(device, &at)?)));
        Ok(Tried { what, at: at.transpose()?, past, refused: refused(device, &holder, &past)? })
    });
    tried.collect()
}

/// The error with which a launch of `holder` is refused. `None` if it runs.
fn refused(
    device: &Device,
    holder: &Holder,
    geometry: &Geometry,
) -> Result<Option<DeviceError>, DeviceError> {
    match holder.run(device, geometry) {
        Ok(_) => Ok(None),
        Err(lost @ (DeviceError::Lost { .. } | DeviceError::Stopped { .. })) => Err(lost),
        Err(refused) => Ok(Some(refused)),
    }
}
