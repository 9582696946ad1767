//! Your own operation on gridsync's reduction: the mean and the variance of an array in one pass.
//! The order of the partial results does not matter, but the way they are merged does.
//!
//! An operation defines the partial result of one element and how two partial results combine. A
//! kernel names the operation. `Reducer` does the rest, on a GPU or, as here, on the emulator.
//!
//! `cargo run --release -p gridsync --example own_operation`

use cuda_std::prelude::*;
use gridsync::device::{Device, Emulator, EmulatorConfig};
use gridsync::primitives::reduce::{Arguments, reduce_on_cpu};
use gridsync::primitives::{Entry, Reducer};

use gridsync_kernels::op::{Carried, Operation, Words, words_of};

/// The partial result for some elements. It can have up to four words.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moments {
    count: u32,
    mean: f32,
    /// The sum of the squared distances from the mean.
    squares: f32,
}

// How lanes, warps and blocks pass it on.
// SAFETY: there are three words, and one to `MOST_WORDS` are allowed.
unsafe impl Carried for Moments {
    const WORDS: usize = 3;

    #[inline(always)]
    fn to_words(self) -> Words {
        words_of([self.count, self.mean.to_bits(), self.squares.to_bits()])
    }

    #[inline(always)]
    fn from_words([count, mean, squares, ..]: Words) -> Self {
        Self { count, mean: f32::from_bits(mean), squares: f32::from_bits(squares) }
    }
}

/// Mean and variance of f32. `shift` is subtracted from every element first; it is a parameter,
/// known at run time.
// `repr(C)` because it is a kernel parameter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Variance {
    shift: f32,
}

// SAFETY: `repr(C)` of one f32 on both sides.
unsafe impl cuda_std::launch::KernelArg for Variance {}

impl Operation for Variance {
    type Element = f32;
    type Accumulator = Moments;
    type Output = (f32, f32);
    const COMMUTATIVE: bool = true;

    #[inline(always)]
    fn identity(self) -> Moments {
        Moments { count: 0, mean: 0.0, squares: 0.0 }
    }

    #[inline(always)]
    fn lift(self, element: f32, _index: u64) -> Moments {
        Moments { count: 1, mean: element - self.shift, squares: 0.0 }
    }

    /// Chan, Golub and LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample
    /// Variances", 1979.
    #[inline(always)]
    fn combine(self, a: Moments, b: Moments) -> Moments {
        // Combining with the identity changes nothing. This also avoids a division by 0 for two
        // identities.
        if a.count == 0 {
            return b;
        }
        if b.count == 0 {
            return a;
        }
        let count = a.count + b.count;
        let (of_a, of_b) = (a.count as f32, b.count as f32);
        let (all, apart) = (count as f32, b.mean - a.mean);
        Moments {
            count,
            mean: a.mean + apart * (of_b / all),
            squares: a.squares + b.squares + apart * apart * (of_a * of_b / all),
        }
    }

    fn finish(self, all: Moments) -> (f32, f32) {
        (all.mean + self.shift, all.squares / all.count as f32)
    }
}

/// Reduces by [`Variance`]. For a GPU, put this kernel and the operation into a separate `no_std`
/// crate. An operation without a parameter has no last argument.
///
/// # Safety
///
/// As for `gridsync_kernels::grid::reduce`.
#[kernel(max_threads = 512, min_blocks = 1)]
unsafe fn reduce_variance(common: Arguments<f32>, op: Variance) {
    common.reduce(op);
}

// For the host: the kernel and its arguments.
// SAFETY: the kernel is a call of `grid::reduce` with its arguments.
unsafe impl Entry<Arguments<f32>> for Variance {
    type Kernel = reduce_variance;

    fn arguments(self, common: Arguments<f32>) -> (Arguments<f32>, Self) {
        (common, self)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // On a GPU: `Device::cuda(0, &[PtxImage::text(compute, text)])` with the image of that crate.
    // Here the emulator runs it under several schedules and checks for data races.
    for seed in 0..8 {
        let device = Device::new(Emulator::new(EmulatorConfig::checking(seed)));
        mean_and_variance(&device)?;
    }
    Ok(())
}

fn mean_and_variance(device: &Device) -> Result<(), Box<dyn std::error::Error>> {
    let host: Vec<f32> = (0..10_000u16).map(|i| 1e4 + f32::from(i % 100)).collect();
    let op = Variance { shift: 1e4 };

    let input = device.upload(&host)?;
    let (mean, variance) = Reducer::new(op, device)?.reduce(&input)?;
    println!("{} elements: mean {mean}, variance {variance}", host.len());

    // 0 to 99, a hundred times: (100² − 1) / 12.
    assert_eq!(mean, 10_049.5);
    assert!((variance - 833.25).abs() < 1e-2);
    // Bit-identical, like any reduction.
    assert_eq!((mean, variance), reduce_on_cpu(op, &host));
    Ok(())
}
