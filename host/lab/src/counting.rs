//! An emulator that counts what the warps of a launch do.

use gridsync::device::{Device, Emulator, EmulatorConfig};
use simt::Counts;

/// An emulator that counts. [`counts`] returns the numbers of its last launch.
#[must_use]
pub fn emulator() -> Device {
    Device::new(Emulator::new(EmulatorConfig { count: true, ..EmulatorConfig::default() }))
}

/// Counts of the last launch on `device`; all 0 if the device does not count.
#[must_use]
pub fn counts(device: &Device) -> Counts {
    device.emulated().and_then(|stats| stats.counts).unwrap_or_default()
}
