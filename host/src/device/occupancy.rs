//! How many blocks of a kernel a multiprocessor holds, computed from the limits of the device.
//!
//! [`Backend::occupancy`](super::Backend::occupancy) asks the driver about one loaded kernel. This
//! works for any number of registers and threads, and reports what limits the number of blocks.

use super::{KernelAttributes, Properties};

/// A warp gets registers in units of 256, so a thread gets them in units of 8 (NVIDIA,
/// `cuda_occupancy.h`).
const UNIT: u32 = 8;

/// The partitions of a multiprocessor. Each has a fourth of the registers, for its own warps.
const PARTS: u32 = 4;

/// Blocks get shared memory in units of this many bytes (NVIDIA, `cuda_occupancy.h`).
const SHARED_UNIT: u32 = 128;

/// Lanes of a warp.
const LANES: u32 = 32;

/// How many blocks of one kernel a multiprocessor holds, and what limits their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks at once.
    pub blocks: u32,
    /// The resource that one more block would exceed.
    pub limited_by: &'static str,
}

impl Occupancy {
    /// The most registers of a thread (CUDA C++ Programming Guide, "Technical Specifications per
    /// Compute Capability").
    pub const MOST_REGISTERS: u32 = 255;

    /// Computes the occupancy from the limits of the device and the needs of the kernel, for blocks
    /// of `threads` threads with `dynamic_shared` bytes of dynamic shared memory. Returns no blocks
    /// if a single one is too large.
    #[must_use]
    pub fn of(
        device: &Properties,
        kernel: &KernelAttributes,
        threads: u32,
        dynamic_shared: u32,
    ) -> Self {
        let warps = threads.div_ceil(LANES).max(1);
        let by_threads = device.max_threads_per_multiprocessor / (warps * LANES);
        let of_a_part = device.registers_per_multiprocessor / PARTS;
        let warps_of_a_part = of_a_part.checked_div(of_a_warp(kernel.registers));
        let by_registers = warps_of_a_part.map_or(u32::MAX, |held| held * PARTS / warps);
        let shared = match kernel.static_shared + dynamic_shared {
            0 => device.shared_reserved_per_block,
            bytes => (bytes + device.shared_reserved_per_block).next_multiple_of(SHARED_UNIT),
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

    /// The most registers per thread in a block of `threads` threads; 0 if such a block is not
    /// possible.
    #[must_use]
    pub fn most_registers(device: &Properties, threads: u32) -> u32 {
        if threads == 0 || threads > device.max_threads_per_block {
            return 0;
        }
        let warps = warps_with_registers(threads.into()) as u32;
        let fair = device.registers_per_block / (warps * LANES);
        (fair / UNIT * UNIT).min(Self::MOST_REGISTERS)
    }

    /// The percentage of the multiprocessor's threads that are resident.
    #[must_use]
    pub fn percent(self, device: &Properties, threads: u32) -> f64 {
        let resident = self.blocks * threads.div_ceil(LANES) * LANES;
        100.0 * f64::from(resident) / f64::from(device.max_threads_per_multiprocessor)
    }
}

/// Registers of a warp whose threads use `registers` each.
fn of_a_warp(registers: u32) -> u32 {
    registers.next_multiple_of(UNIT) * LANES
}

/// The number of warps for which a block of `threads` threads allocates registers: the same number
/// from each partition of the multiprocessor.
fn warps_with_registers(threads: u64) -> u64 {
    threads.div_ceil(LANES.into()).next_multiple_of(PARTS.into())
}

/// Registers of a block of `threads` threads that use `registers` each.
#[cfg(feature = "cuda")]
pub(super) fn registers_of_a_block(threads: u64, registers: u32) -> u64 {
    warps_with_registers(threads) * u64::from(of_a_warp(registers))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The properties of an H200 that determine the occupancy.
    fn hopper() -> Properties {
        Properties {
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
    fn a_thread_gets_its_share_of_65536_registers_up_to_255() {
        let most = [32, 256, 257, 512, 768, 1024, 1025]
            .map(|threads| Occupancy::most_registers(&hopper(), threads));
        assert_eq!(most, [255, 255, 168, 128, 80, 64, 0]);
    }

    #[test]
    fn each_limit_of_a_multiprocessor_can_limit_the_occupancy() {
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
