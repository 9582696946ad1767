//! `gridsync lab banks`: bank conflicts in shared memory.

mod chart;
mod load;
mod meaning;
mod report;
mod tile;

pub use load::{Load, STRIDES, WARPS, WIDTHS, Width, load};
pub use report::Banks as Report;
pub use tile::{LAYOUTS, Layout, Tile, transpose};

use crate::bench::{SAMPLES, Spread};
use crate::{Experiment, ExperimentError, RunsOn, counting};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gridsync::device::{Device, DeviceError};
use indicatif::ProgressBar;
use std::path::{Path, PathBuf};

/// Banks of shared memory.
const BANKS: usize = 32;
/// Bytes that a bank serves in a pass.
const WORD: usize = 4;
/// Lanes of a warp.
const LANES: u32 = 32;

/// Show which accesses to shared memory conflict, and what a conflict costs
///
/// Each lane of a warp loads element lane × stride, for strides from 0 to 33 and elements of 4, 8
/// and 16 bytes. The passes through the banks that the rule predicts are compared with those that
/// the emulator counts; a difference is an error. Then a tile of 32 × 32 numbers is transposed:
/// plain, padded and swizzled. On a GPU, cycles by slopes over the rounds, the median of 7: of 32
/// warps together, which hide each other's latency, and of one warp alone.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The bytes of an element [default: all of them].
    #[arg(long, value_name = "BYTES", value_parser = widths())]
    bytes: Option<u32>,
    /// Write banks.svg and banks-tile.svg to this folder.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

/// The bytes that one instruction can load for a lane.
fn widths() -> impl TypedValueParser<Value = u32> {
    PossibleValuesParser::new(["4", "8", "16"]).map(|bytes| bytes.parse().expect("a number"))
}

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["banks.svg", "banks-tile.svg"];

    type Report = Report;

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        let gpu = Some(device).filter(|device| !device.properties().is_emulated());
        let counting = counting::emulator();
        let widths: Vec<_> = WIDTHS
            .iter()
            .filter(|width| self.bytes.is_none_or(|bytes| bytes == width.bytes))
            .collect();
        bar.set_length((widths.len() * STRIDES.count() + LAYOUTS.len()) as u64);
        bar.set_message("loads and tiles");
        let mut loads = Vec::new();
        for width in widths {
            for stride in STRIDES {
                loads.push(load(gpu, &counting, width, stride)?);
                bar.inc(1);
            }
        }
        let mut tiles = Vec::new();
        for layout in LAYOUTS {
            tiles.push(transpose(gpu, &counting, layout)?);
            bar.inc(1);
        }
        Ok(Report { device: device.properties().name.clone(), loads, tiles })
    }
}

/// The passes through the banks that one access of a warp takes. `addresses` has the first byte
/// that each lane wants, a multiple of `bytes`, which is 4, 8 or 16.
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
