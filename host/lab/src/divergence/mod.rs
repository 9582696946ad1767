//! Branch divergence: its counts and its cost.
//!
//! [`math`] has short kernels whose warps diverge or not. [`ways`] measures the cost of up to 32
//! different paths. A separate emulator counts, so the counts are the same on every device.

pub mod math;
pub mod ways;

use gridsync::device::{Device, Emulator, EmulatorConfig};
use simt::Counts;

/// A counting emulator.
fn counting() -> Device {
    Device::new(Emulator::new(EmulatorConfig { count: true, ..EmulatorConfig::default() }))
}

/// Counts of the last launch on `emulator`.
fn counts(emulator: &Device) -> Counts {
    emulator.emulated().and_then(|stats| stats.counts).expect("this emulator should count")
}
