//! The properties of a device.

/// The properties of a device.
///
/// A number that the device does not report is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// The vendor's name of the device.
    pub name: String,
    /// Whether it is emulated.
    pub emulated: bool,
    /// Compute capability, 10·major + minor. An emulator that runs PTX has that of the PTX.
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
    /// Whether ECC is enabled for that memory.
    pub ecc: bool,
    /// Bytes of L2 cache.
    pub l2_bytes: u32,
    /// Lanes of a warp.
    pub warp_size: u32,
    /// The most blocks of a grid in x.
    pub max_grid_x: u32,
    /// The most threads per block.
    pub max_threads_per_block: u32,
    /// The most threads resident on an SM.
    pub max_threads_per_multiprocessor: u32,
    /// The most blocks resident on an SM.
    pub max_blocks_per_multiprocessor: u32,
    /// The most 32-bit registers of a block.
    pub registers_per_block: u32,
    /// 32-bit registers of an SM.
    pub registers_per_multiprocessor: u32,
    /// Bytes of shared memory of a block without opt-in.
    pub shared_per_block: u32,
    /// Bytes of shared memory of a block with opt-in.
    pub shared_per_block_optin: u32,
    /// Bytes of shared memory of an SM.
    pub shared_per_multiprocessor: u32,
    /// Bytes of shared memory that the driver reserves in each block.
    pub shared_reserved_per_block: u32,
    /// Whether cooperative launches are supported.
    pub cooperative: bool,
    /// Whether cluster launches are supported.
    pub cluster: bool,
}

impl Properties {
    /// Whether this is the emulator.
    #[must_use]
    pub const fn is_emulated(&self) -> bool {
        self.emulated
    }

    /// Memory bandwidth from clock and bus width, GB/s (10⁹ bytes), at two transfers per clock;
    /// `None` if the device does not report them.
    #[must_use]
    pub fn peak_gb_per_s(&self) -> Option<f64> {
        let bytes_per_clock = 2.0 * f64::from(self.memory_bus_bits) / 8.0;
        let peak = f64::from(self.memory_clock_khz) * 1e3 * bytes_per_clock / 1e9;
        (peak > 0.0).then_some(peak)
    }
}
