//! Your own predicate on gridsync's selection: it keeps every n-th element if that is above a
//! bound, to thin out a long recording.
//!
//! A predicate gets an element and its index, and decides whether to keep the element. A kernel
//! names the predicate. `select`, `partition` and `Selector` do the rest, on a GPU or, as here, on
//! the emulator.
//!
//! `cargo run --release -p gridsync --example own_predicate`

use cuda_std::prelude::*;
use gridsync::device::{Device, Emulator, EmulatorConfig};
use gridsync::primitives::Entry;
use gridsync::primitives::select::{Arguments, select, select_on_cpu};
use gridsync_kernels::grid::select::Predicate;

/// Keeps an element whose index is a multiple of `step`, if it is above `bound`.
// `repr(C)` because it is a kernel parameter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Thinned {
    bound: f32,
    step: u32,
}

// SAFETY: `repr(C)` of two numbers of 32 bits on both sides.
unsafe impl cuda_std::launch::KernelArg for Thinned {}

impl Predicate for Thinned {
    type Element = f32;

    #[inline(always)]
    fn keeps(self, element: f32, index: u64) -> bool {
        index.is_multiple_of(self.step.into()) & (element > self.bound)
    }
}

/// Selects by [`Thinned`]. For a GPU, put this kernel and the predicate into a separate `no_std`
/// crate.
///
/// # Safety
///
/// As for `gridsync_kernels::grid::select`.
#[kernel(max_threads = 256, min_blocks = 3)]
unsafe fn select_thinned(common: Arguments<f32>, predicate: Thinned) {
    common.select(predicate);
}

// For the host: the kernel and its arguments.
// SAFETY: the kernel is a call of `grid::select` with its arguments.
unsafe impl Entry<Arguments<f32>> for Thinned {
    type Kernel = select_thinned;

    fn arguments(self, common: Arguments<f32>) -> (Arguments<f32>, Self) {
        (common, self)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // On a GPU: `Device::cuda(0, &[PtxImage::text(compute, text)])` with the image of that crate.
    // Here the emulator runs it under several schedules and checks for data races.
    for seed in 0..8 {
        let device = Device::new(Emulator::new(EmulatorConfig::checking(seed)));
        thin_out(&device)?;
    }
    Ok(())
}

fn thin_out(device: &Device) -> Result<(), Box<dyn std::error::Error>> {
    let host: Vec<f32> = (0..10_000u16).map(|i| f32::from(i % 1000)).collect();
    let by = Thinned { bound: 500.0, step: 100 };

    let kept = select(by, &device.upload(&host)?)?.download()?;
    println!("{} of {} are kept: {:?} …", kept.len(), host.len(), &kept[..4]);

    // 600, 700, 800 and 900, ten times.
    assert_eq!(kept.len(), 40);
    assert_eq!(kept, select_on_cpu(by, &host));
    Ok(())
}
