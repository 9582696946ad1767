//! What a device has.

/// What a device is and how much it has.
///
/// A number that the device does not tell is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Its name, as the vendor gives it.
    pub name: String,
    /// Compute capability, 10·major + minor.
    pub compute: u32,
    /// CUDA version of the driver, 1000·major + 10·minor.
    pub driver_version: u32,
    /// PCI address, `domain:bus:device.0`.
    pub pci: String,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Highest SM clock, kHz.
    pub clock_khz: u32,
    /// Highest memory clock, kHz.
    pub memory_clock_khz: u32,
    /// Width of the memory bus, bits.
    pub memory_bus_bits: u32,
    /// Bytes of device memory.
    pub memory_bytes: u64,
    /// Whether that memory has ECC on.
    pub ecc: bool,
    /// Bytes of L2 cache.
    pub l2_bytes: u32,
    /// Lanes of a warp.
    pub warp_size: u32,
    /// Blocks of a grid in x, at most.
    pub max_grid_x: u32,
    /// Threads of a block, at most.
    pub max_threads_per_block: u32,
    /// Threads resident on an SM, at most.
    pub max_threads_per_multiprocessor: u32,
    /// Blocks resident on an SM, at most.
    pub max_blocks_per_multiprocessor: u32,
    /// 32-bit registers of a block, at most.
    pub registers_per_block: u32,
    /// 32-bit registers of an SM.
    pub registers_per_multiprocessor: u32,
    /// Bytes of shared memory of a block that has not opted in to more.
    pub shared_per_block: u32,
    /// Bytes of shared memory of a block that has.
    pub shared_per_block_optin: u32,
    /// Bytes of shared memory of an SM.
    pub shared_per_multiprocessor: u32,
    /// Bytes of shared memory that the driver keeps of each block.
    pub shared_reserved_per_block: u32,
    /// Whether cooperative launches work.
    pub cooperative: bool,
    /// Whether cluster launches work.
    pub cluster: bool,
}

impl Properties {
    /// Whether this is the emulator, which has no compute capability.
    #[must_use]
    pub const fn is_emulated(&self) -> bool {
        self.compute == 0
    }

    /// Memory bandwidth by clock and bus width, GB/s (10⁹ bytes), two transfers a clock; none if
    /// the device does not tell them.
    #[must_use]
    pub fn peak_gb_per_s(&self) -> Option<f64> {
        let bytes_per_clock = 2.0 * f64::from(self.memory_bus_bits) / 8.0;
        let peak = f64::from(self.memory_clock_khz) * 1e3 * bytes_per_clock / 1e9;
        (peak > 0.0).then_some(peak)
    }
}
