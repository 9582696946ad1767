//! An emulator that counts what the warps of a launch do.

use gridsync::device::{Device, Emulator, EmulatorConfig};
use simt::Counts;

/// A device that counts: [`counts`] has the numbers of its last launch.
#[must_use]
pub fn emulator() -> Device {
    Device::new(Emulator::new(EmulatorConfig { count: true, ..EmulatorConfig::default() }))
}

/// What the last launch on `device` did; nothing on a device that does not count.
#[must_use]
pub fn counts(device: &Device) -> Counts {
    device.emulated().and_then(|stats| stats.counts).unwrap_or_default()
}
