//! Branch divergence: what it is counted to be, and what it costs.
//!
//! [`math`] has short kernels whose warps part or not. [`ways`] has the cost of up to 32 different
//! paths. Counts come from an emulator of their own, so they are the same on every device.

pub mod math;
pub mod ways;

use gridsync::device::{Device, Emulator, EmulatorConfig};
use simt::Counts;

/// An emulated GPU that counts what warps do.
fn counting() -> Device {
    Device::new(Emulator::new(EmulatorConfig { count: true, ..EmulatorConfig::default() }))
}

/// What the last launch on `emulator` did.
fn counts(emulator: &Device) -> Counts {
    emulator.emulated().and_then(|stats| stats.counts).expect("this emulator should count")
}
