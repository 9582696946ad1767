//! Bank conflicts in shared memory: by the rule, as counted by the emulator, and as timed on a GPU.
//!
//! * [`load`]: strided loads of a warp.
//! * [`transpose`]: a tile that is stored by rows and loaded by columns.

mod strides;
mod tile;

pub use strides::{Load, STRIDES, Timed, WARPS, WIDTHS, Width, load};
pub use tile::{LAYOUTS, Layout, Tile, transpose};

use crate::bench::{SAMPLES, Spread};
use gridsync::device::DeviceError;

/// Banks of shared memory.
const BANKS: usize = 32;
/// Bytes that a bank serves in a pass.
const WORD: usize = 4;
/// Lanes of a warp.
const LANES: u32 = 32;

/// Number of passes through the banks of one access of a warp. `addresses` has the address of the
/// first byte for each lane, a multiple of `bytes`, which is 4, 8 or 16.
///
/// The rule (CUDA C++ Programming Guide, "Shared Memory" of the compute capabilities): successive
/// words of 4 bytes are in successive banks, and there are 32 banks. A bank serves one word in a
/// pass, to all lanes that access it. Accesses of 8 bytes are split into half warps and those of 16
/// bytes into quarter warps, so that each part accesses no more than 32 words.
#[must_use]
pub fn passes(addresses: &[usize], bytes: usize) -> u64 {
    let lanes_at_once = BANKS * WORD / bytes;
    let part = |addresses: &[usize]| {
        let first_words = addresses.iter().map(|address| address / WORD);
        let mut words: Vec<_> = first_words.flat_map(|first| first..first + bytes / WORD).collect();
        words.sort_unstable();
        words.dedup();
        let wanted = |bank| words.iter().filter(|&word| word % BANKS == bank).count() as u64;
        (0..BANKS).map(wanted).max().unwrap_or(0)
    };
    addresses.chunks(lanes_at_once).map(part).sum()
}

/// The slope of `cycles(rounds)` between `few` and `many` rounds: the median of several, after one
/// launch that is not counted.
fn slope(
    few: u32,
    many: u32,
    mut cycles: impl FnMut(u32) -> Result<f64, DeviceError>,
) -> Result<Spread, DeviceError> {
    cycles(few)?;
    let rounds = f64::from(many - few);
    let samples: Result<Vec<_>, DeviceError> =
        (0..SAMPLES).map(|_| Ok((cycles(many)? - cycles(few)?) / rounds)).collect();
    Ok(Spread::of(samples?).expect("there should be a sample"))
}

/// Cycles of the thread in the middle.
fn middle(cycles: Vec<u64>) -> f64 {
    let cycles = cycles.into_iter().map(|cycles| cycles as f64).collect();
    Spread::of(cycles).expect("a launch should have threads").median
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stride_needs_as_many_passes_as_its_common_factor_with_the_banks() {
        let common = |mut a: usize, mut b: usize| {
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        for bytes in [4, 8, 16] {
            let (parts, lanes) = (bytes / WORD, 32 * WORD / bytes);
            for stride in 1..=33 {
                let addresses: Vec<_> = (0..32).map(|lane| lane * stride * bytes).collect();
                let expected = (parts * common(stride, lanes)) as u64;
                assert_eq!(passes(&addresses, bytes), expected, "{bytes} bytes, stride {stride}");
            }
            assert_eq!(passes(&[64; 32], bytes), parts as u64, "{bytes} bytes, one element");
        }
    }
}
