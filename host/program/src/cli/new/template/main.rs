//! Divides numbers by their sum, in one launch: on a GPU, or in the emulator.

#[cfg(feature = "gpu")]
use gridsync::device::cuda::PtxImage;
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig};
use gridsync::launch::{Blocks, barrier_words, cooperative};
use gridsync_kernels::grid::barrier::GridBarrier;

use {{crate}} as kernels;

fn main() -> Result<(), DeviceError> {
    let device = device()?;
    let numbers: Vec<f32> = (1..=1000u16).map(f32::from).collect();
    let shares = shares(&device, &numbers)?;
    println!(
        "{}: 1000 of 1..=1000 is {} of their sum",
        device.properties().name,
        shares[999]
    );
    Ok(())
}

/// The kernels for a GPU, from build.rs.
#[cfg(feature = "gpu")]
const PTX: PtxImage = PtxImage::text(75, include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx")));

/// The first GPU. Without one, or without the feature `gpu`, the emulator.
fn device() -> Result<Device, DeviceError> {
    #[cfg(feature = "gpu")]
    match Device::cuda(0, &[PTX]) {
        Err(DeviceError::NoCuda(why)) => eprintln!("no GPU, using the emulator: {why}"),
        device => return device,
    }
    Ok(Device::new(Emulator::new(EmulatorConfig::checking(0))))
}

/// Divides each of `numbers` by the sum of all.
fn shares(device: &Device, numbers: &[f32]) -> Result<Vec<f32>, DeviceError> {
    let geometry = cooperative::<kernels::shares>(device, Blocks::AtMost(8), 128, 0)?;
    let values = device.upload(numbers)?;
    let sums = device.zeroed(geometry.grid.volume() as usize)?;
    let barrier = barrier_words::<GridBarrier>(device, &geometry)?;
    let args = (values.view(), sums.view(), barrier.view());
    // SAFETY: an element of `sums` for each block, the words of the barrier, and a resident grid. All live until the
    // download.
    unsafe { device.launch::<kernels::shares>(&geometry, args)? };
    values.download()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::check::Check;

    #[test]
    fn shares_are_right_under_two_hundred_schedules() {
        let numbers: Vec<f32> = (1..=1000u16).map(f32::from).collect();
        let sum: f32 = numbers.iter().sum();
        let expected: Vec<f32> = numbers.iter().map(|number| number / sum).collect();
        let checked = Check::default().run(|device| {
            let found = shares(device, &numbers)?;
            match (0..found.len()).find(|&i| found[i] != expected[i]) {
                None => Ok(()),
                Some(i) => Err(format!("share {i} is {}, not {}", found[i], expected[i]).into()),
            }
        });
        checked.unwrap_or_else(|failure| panic!("{failure}"));
    }
}
