//! The limits of a device: what a block may have, how many blocks a multiprocessor holds, and what
//! happens one past each limit.

use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::memory::{Global, Scalar};
use gridsync::device::{Device, DeviceError, Geometry, KernelAttributes, KernelInfo, Properties};
use gridsync_lab_kernels::limits::{
    limits_hold_8_u32, limits_hold_32_u32, limits_hold_64_u32, limits_hold_64_u64,
};

/// Registers of a thread, at most (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
pub const MOST_REGISTERS: u32 = 255;

/// A warp gets registers in units of 256, so a thread in units of 8 (NVIDIA, `cuda_occupancy.h`).
const UNIT: u32 = 8;

/// The parts of a multiprocessor. Each has a fourth of the registers, for its own warps.
const PARTS: u32 = 4;

/// The registers that a thread may have in a block of `threads` threads: 0 if there is no such block.
#[must_use]
pub fn most_registers(device: &Properties, threads: u32) -> u32 {
    if threads == 0 || threads > device.max_threads_per_block {
        return 0;
    }
    let warps = threads.div_ceil(device.warp_size).next_multiple_of(PARTS);
    let fair = device.registers_per_block / (warps * device.warp_size);
    (fair / UNIT * UNIT).min(MOST_REGISTERS)
}

/// How many blocks of one kernel a multiprocessor holds, and what limits their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks at once.
    pub blocks: u32,
    /// What there would be too much of with one block more.
    pub limited_by: &'static str,
}

impl Occupancy {
    /// Computes it from the limits of the device and the needs of the kernel, for blocks of `threads`
    /// threads with `dynamic_shared` bytes of dynamic shared memory.
    #[must_use]
    pub fn of(
        device: &Properties,
        kernel: &KernelAttributes,
        threads: u32,
        dynamic_shared: u32,
    ) -> Self {
        let warps = threads.div_ceil(device.warp_size).max(1);
        let by_threads = device.max_threads_per_multiprocessor / (warps * device.warp_size);
        let registers = (kernel.registers.next_multiple_of(UNIT) * device.warp_size).max(1);
        let by_registers = match kernel.registers {
            0 => u32::MAX,
            _ => device.registers_per_multiprocessor / PARTS / registers * PARTS / warps,
        };
        let shared = match kernel.static_shared + dynamic_shared {
            0 => device.shared_reserved_per_block,
            // Shared memory is given in units of 128 bytes.
            bytes => (bytes + device.shared_reserved_per_block).next_multiple_of(128),
        };
        let by_shared = device.shared_per_multiprocessor.checked_div(shared).unwrap_or(u32::MAX);
        let limits = [
            (by_threads, "threads"),
            (device.max_blocks_per_multiprocessor, "blocks"),
            (by_registers, "registers"),
            (by_shared, "shared memory"),
        ];
        let least = limits.into_iter().min_by_key(|(blocks, _)| *blocks);
        let (blocks, limited_by) = least.expect("there are limits");
        let too_large = threads > kernel.max_threads && kernel.max_threads > 0;
        Self { blocks: if too_large { 0 } else { blocks }, limited_by }
    }

    /// The share of the threads that the multiprocessor can hold, percent.
    #[must_use]
    pub fn percent(self, device: &Properties, threads: u32) -> f64 {
        let warps = self.blocks * threads.div_ceil(device.warp_size);
        100.0 * f64::from(warps * device.warp_size)
            / f64::from(device.max_threads_per_multiprocessor)
    }
}

/// A kernel that holds many values, to try the limits with.
#[derive(Clone, Copy, Debug)]
pub struct Holder {
    /// Its entry point.
    pub kernel: KernelInfo,
    /// 32-bit words that each thread holds.
    pub words: u32,
    /// [`hold`] with this kernel.
    run: fn(&Device, &Geometry) -> Result<bool, DeviceError>,
}

/// All of them, by the words that they hold.
pub const HOLDERS: [Holder; 4] = [
    Holder::of::<limits_hold_8_u32, u32, 8>(),
    Holder::of::<limits_hold_32_u32, u32, 32>(),
    Holder::of::<limits_hold_64_u32, u32, 64>(),
    Holder::of::<limits_hold_64_u64, u64, 64>(),
];

/// Rounds of a launch.
const ROUNDS: u32 = 3;

/// Values of a thread.
trait Value: Scalar + Pod + Eq {
    fn of(number: u64) -> Self;

    /// What a thread with these first values computes.
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

/// Results that a launch keeps, at most.
const KEPT: usize = 1 << 16;

/// Launches `K` and tells whether the results that it keeps are right.
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
    // SAFETY: `words` has the values of a thread; both buffers outlive the launch, which the download
    // waits for.
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

    /// Launches the kernel, and tells whether the results of the first threads are right.
    ///
    /// # Errors
    /// Those of the device.
    pub fn run(&self, device: &Device, geometry: &Geometry) -> Result<bool, DeviceError> {
        (self.run)(device, geometry)
    }
}

/// One limit, tried at it and one past it.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What is limited.
    pub what: &'static str,
    /// A launch at the limit, and whether its results were right. None if it would take too long.
    pub at: Option<(Geometry, bool)>,
    /// A launch that is one past the limit.
    pub past: Geometry,
    /// Why it was refused. None if it ran.
    pub refused: Option<DeviceError>,
}

/// Tries each limit of the device with kernels that hold few values, and the limit of registers with
/// one that holds many.
///
/// # Errors
/// A launch at a limit that is refused, and other errors of the device.
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
        let fits = |&threads: &u32| most_registers(p, threads) >= registers;
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
            // A grid of 2^31 − 1 blocks takes seconds.
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

/// Why a launch of `holder` is refused. None if it runs.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// An H200, as far as blocks are concerned.
    fn hopper() -> Properties {
        Properties {
            warp_size: 32,
            max_threads_per_block: 1024,
            max_threads_per_multiprocessor: 2048,
            max_blocks_per_multiprocessor: 32,
            registers_per_block: 65_536,
            registers_per_multiprocessor: 65_536,
            shared_per_multiprocessor: 228 << 10,
            shared_reserved_per_block: 1024,
            ..Properties::default()
        }
    }

    #[test]
    fn a_thread_may_have_what_65536_registers_leave_it_and_255_at_most() {
        let most =
            [32, 256, 257, 512, 768, 1024, 1025].map(|threads| most_registers(&hopper(), threads));
        assert_eq!(most, [255, 255, 168, 128, 80, 64, 0]);
    }

    #[test]
    fn each_limit_of_a_multiprocessor_can_be_the_one_that_counts() {
        let of = |registers, static_shared, threads| {
            let kernel = KernelAttributes { registers, static_shared, local: 0, max_threads: 1024 };
            let found = Occupancy::of(&hopper(), &kernel, threads, 0);
            (found.blocks, found.limited_by)
        };
        assert_eq!(of(32, 0, 256), (8, "threads"));
        assert_eq!(of(16, 0, 32), (32, "blocks"));
        assert_eq!(of(33, 0, 256), (6, "registers"));
        assert_eq!(of(255, 0, 256), (1, "registers"));
        assert_eq!(of(72, 0, 1024), (0, "registers"));
        assert_eq!(of(32, 48 << 10, 128), (4, "shared memory"));
    }
}
