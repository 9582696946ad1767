//! Your own predicate on gridsync's selection: every so manyth element of those above a bound, as one
//! thins out a long recording.
//!
//! A predicate says of one element, and of its index, whether it is kept; a kernel names it; and
//! `select`, `partition` and `Selector` do the rest, on a GPU or, as here, on the emulator.
//!
//! `cargo run --release -p gridsync --example own_predicate`

use cuda_std::prelude::*;
use gridsync::device::{Device, Emulator, EmulatorConfig};
use gridsync::primitives::select::{select, select_on_cpu};
use gridsync_entries::select::{Arguments, Selectable};
use gridsync_kernels::grid::select::{Outputs, Predicate};
use gridsync_kernels::grid::{self, scan::Workspace};

/// Keeps an element whose index is a multiple of `step`, if it is above `bound`.
// `repr(C)`: it is a kernel's parameter.
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

/// Selects by [`Thinned`]. For a GPU this kernel stands in a `no_std` crate of its own, with the
/// predicate.
///
/// # Safety
///
/// As for [`grid::select()`].
#[kernel(max_threads = 256, min_blocks = 3)]
unsafe fn select_thinned(
    input: Global<f32>,
    outputs: Outputs<f32>,
    words: Global<u64>,
    state: Global<u32>,
    rows: u32,
    group: u32,
    predicate: Thinned,
) {
    let workspace = Workspace { words, state };
    grid::select(predicate, input, outputs, workspace, rows, group);
}

// On the host: which kernel it is, what it is launched with, and the same on the CPU.
// SAFETY: the kernel is a call of `grid::select` with these arguments in this order.
unsafe impl Selectable for Thinned {
    type Element = f32;
    type Kernel = select_thinned;

    fn arguments(
        self,
        (input, outputs, words, state, rows, group): Arguments<f32>,
    ) -> <select_thinned as cuda_std::launch::Kernel>::Args {
        (input, outputs, words, state, rows, group, self)
    }

    fn is_kept(self, input: &[f32], index: usize) -> bool {
        self.keeps(input[index], index as u64)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // On a GPU: `Device::cuda(0, &[PtxImage { compute, text }])` with the image of that crate. On the
    // emulator under several schedules, with a look for data races.
    for seed in 0..8 {
        let device = Device::new(Emulator::new(EmulatorConfig::checking(seed)));
        thin_out(&device)?;
    }
    Ok(())
}

fn thin_out(device: &Device) -> Result<(), Box<dyn std::error::Error>> {
    let host: Vec<f32> = (0..10_000u16).map(|i| f32::from(i % 1000)).collect();
    let by = Thinned {
        bound: 500.0,
        step: 100,
    };

    let kept = select(by, &device.upload(&host)?)?.download()?;
    println!(
        "{} of {} are kept: {:?} …",
        kept.len(),
        host.len(),
        &kept[..4]
    );

    // 600, 700, 800 and 900, ten times.
    assert_eq!(kept.len(), 40);
    assert_eq!(kept, select_on_cpu(by, &host));
    Ok(())
}
