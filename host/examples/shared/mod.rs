//! Shared by the examples whose kernels have their own image: devices and timing.

use gridsync::device::cuda::PtxImage;
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig, KERNELS};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The kernels of `gridsync-example-kernels`, built by `cargo xtask build-kernels`.
static EXAMPLES: [PtxImage; 2] = [
    PtxImage::packed(include_bytes!("../ptx/examples_compute_75.ptxz")),
    PtxImage::packed(include_bytes!("../ptx/examples_compute_90.ptxz")),
];

/// How often each timed function runs. The median is shown.
const RUNS: usize = 9;

/// Whether times are shown.
static SHOWS_TIMES: AtomicBool = AtomicBool::new(false);

/// Runs `example` on the first GPU, or without one on the emulator under eight schedules, with a
/// check for data races.
pub(crate) fn run(example: impl Fn(&Device) -> Result<(), DeviceError>) -> Result<(), DeviceError> {
    let images: Vec<PtxImage> = KERNELS.into_iter().chain(EXAMPLES).collect();
    match Device::cuda(0, &images) {
        Ok(device) => {
            println!("{}, medians of {RUNS} runs", device.properties().name);
            SHOWS_TIMES.store(true, Relaxed);
            example(&device)?;
            println!("all results equal the CPU's");
            Ok(())
        }
        Err(DeviceError::NoCuda(why)) => {
            println!("no GPU, hence no times: {why}");
            for seed in 0..8 {
                let device = Device::new(Emulator::new(EmulatorConfig::checking(seed)));
                example(&device)?;
            }
            println!("equal to the CPU's under eight schedules of the emulator, and no data race");
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Whether the device is a GPU.
pub(crate) fn is_gpu(device: &Device) -> bool {
    device.emulated().is_none()
}

/// Runs `work`, after `prepare`, and returns its result. In an example on a GPU it runs both
/// several times, and prints the median of the device time of `work`.
pub(crate) fn time<T>(
    device: &Device,
    what: &str,
    mut prepare: impl FnMut() -> Result<(), DeviceError>,
    mut work: impl FnMut() -> Result<T, DeviceError>,
) -> Result<T, DeviceError> {
    prepare()?;
    let mut result = work()?;
    if SHOWS_TIMES.load(Relaxed) {
        let mut times = Vec::new();
        for _ in 0..RUNS {
            times.push(device.time_behind(&mut prepare, || {
                result = work()?;
                Ok(())
            })?);
        }
        times.sort_by(f64::total_cmp);
        println!("{:>12.1} µs  {what}", times[RUNS / 2]);
    }
    Ok(result)
}

/// Pseudorandom numbers: number `i` of the sequence (the finaliser of MurmurHash3).
pub(crate) fn noise(i: u32) -> u32 {
    let i = (i ^ i >> 16).wrapping_mul(0x85EB_CA6B);
    let i = (i ^ i >> 13).wrapping_mul(0xC2B2_AE35);
    i ^ i >> 16
}
