//! The rate of reading shared memory.

use super::MemoryError;
use super::bandwidth::read_shared;
use super::curve::PACK_BYTES;
use crate::bench::{FEW, MANY, SAMPLES, Spread};
use gridsync::device::Device;
use gridsync_lab_kernels::memory::bandwidth::{SHARED_PACKS, SHARED_THREADS};
use serde::{Deserialize, Serialize};

/// Reading shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Shared {
    /// With a block on one multiprocessor.
    pub one: Rate,
    /// With a block on each multiprocessor.
    pub all: Rate,
}

/// The rate of reading shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Rate {
    /// Bytes that each multiprocessor reads in a cycle, the median.
    pub bytes_per_cycle: f64,
    /// GB/s (10⁹ bytes) of all that read.
    pub gb_per_s: f64,
}

impl Rate {
    /// The rate of `at_work` multiprocessors with a clock of `mhz` MHz.
    pub(super) fn of(bytes_per_cycle: f64, mhz: f64, at_work: u32) -> Self {
        let gb_per_s = bytes_per_cycle * mhz * f64::from(at_work) / 1e3;
        Self { bytes_per_cycle, gb_per_s }
    }
}

/// Measures both, at a clock of `mhz` MHz.
pub(super) fn measure(device: &Device, mhz: f64) -> Result<Shared, MemoryError> {
    let rate = |blocks| {
        read_shared(device, blocks, FEW)?;
        let rate = || {
            let cycles = -read_shared(device, blocks, FEW)? + read_shared(device, blocks, MANY)?;
            let packs = (MANY - FEW) as usize * SHARED_THREADS * SHARED_PACKS;
            Ok((packs * PACK_BYTES) as f64 / cycles)
        };
        let rates = (0..SAMPLES).map(|_| rate()).collect::<Result<_, MemoryError>>()?;
        let rate = Spread::of(rates).expect("there should be samples");
        Ok::<_, MemoryError>(Rate::of(rate.median, mhz, blocks))
    };
    Ok(Shared { one: rate(1)?, all: rate(device.properties().multiprocessors)? })
}
