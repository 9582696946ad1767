//! Latencies of single lines of the L2 from two multiprocessors.
//!
//! The L2 of a large GPU has two partitions, and a multiprocessor is near one of them (NVIDIA A100
//! Tensor Core GPU Architecture, "A100 L2 cache"). It is not documented which line is where. But if
//! latencies differ between lines, and the lines that are slow from one multiprocessor are fast
//! from another, the cause is the distance.

use super::error::{MemoryError, expect};
use crate::bench::Spread;
use cuda_std::launch::Kernel;
use gridsync::device::{Device, Geometry};
use gridsync_lab_kernels::memory::LINE;
use gridsync_lab_kernels::memory::lines::{LOADS, memory_lines};
use serde::{Deserialize, Serialize};

/// Number of measured lines: enough for a smooth histogram, and all of them stay in the L2.
const LINES: usize = 2048;

/// The latencies of the same lines from two multiprocessors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Lines {
    /// From the first multiprocessor.
    pub from_one: Seen,
    /// From the multiprocessor whose latencies differ most from the first one's.
    pub from_another: Seen,
    /// Correlation of their latencies: 1 if both find the same lines slow, and −1 if one finds the
    /// lines slow that the other finds fast.
    pub correlation: f64,
}

/// The latencies of lines from one multiprocessor, in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Seen {
    /// 5 % of the lines are faster.
    pub p5_cycles: f64,
    /// Median.
    pub p50_cycles: f64,
    /// 5 % of the lines are slower.
    pub p95_cycles: f64,
    /// The lines above the midpoint of `p5_cycles` and `p95_cycles`, percent of all.
    pub slow_percent: f64,
    /// Median of the lines at or below the midpoint.
    pub fast_cycles: f64,
    /// Median of the lines above the midpoint; equal to `fast_cycles` if there are none.
    pub slow_cycles: f64,
    /// Latency of each line.
    pub cycles_of_lines: Vec<f64>,
}

impl Lines {
    /// Compares the first of `blocks` with the one that agrees with it least. `None` without blocks
    /// or without lines.
    #[must_use]
    pub fn of(blocks: &[Vec<f64>]) -> Option<Self> {
        let first = blocks.first().filter(|lines| !lines.is_empty())?;
        let agreement = |block: &Vec<f64>| correlation(first, block);
        let other = blocks.iter().min_by(|a, b| agreement(a).total_cmp(&agreement(b)))?;
        Some(Self {
            from_one: Seen::of(first),
            from_another: Seen::of(other),
            correlation: agreement(other),
        })
    }

    /// Ratio of the latencies of slow and fast lines, from the first multiprocessor.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.from_one.slow_cycles / self.from_one.fast_cycles
    }
}

impl Seen {
    fn of(cycles: &[f64]) -> Self {
        let mut sorted = cycles.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quantile = |part: f64| sorted[(part * (sorted.len() - 1) as f64).round() as usize];
        let (p5, p95) = (quantile(0.05), quantile(0.95));
        let (fast, slow) =
            sorted.split_at(sorted.partition_point(|&c| c <= f64::midpoint(p5, p95)));
        let median = |part: &[f64]| Spread::of(part.to_vec()).map(|spread| spread.median);
        let middle = quantile(0.5);
        let of_fast = median(fast).unwrap_or(middle);
        Self {
            p5_cycles: p5,
            p50_cycles: middle,
            p95_cycles: p95,
            slow_percent: 100.0 * (slow.len() as f64 / sorted.len() as f64),
            fast_cycles: of_fast,
            slow_cycles: median(slow).unwrap_or(of_fast),
            cycles_of_lines: cycles.to_vec(),
        }
    }
}

/// Pearson correlation of two lists, 0 if one of them is constant.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| f(a - mean_a, b - mean_b)).sum()
    };
    let spread = (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    if spread > 0.0 { sum(&|a, b| a * b) / spread } else { 0.0 }
}

/// Cycles of a load of each of `lines` lines, from each of `blocks` blocks of one thread. With as
/// many blocks as multiprocessors, each block has its own multiprocessor.
///
/// # Errors
/// [`MemoryError::Wrong`] if a load returns a wrong word; or if the device fails.
pub fn look(device: &Device, lines: usize, blocks: u32) -> Result<Vec<Vec<f64>>, MemoryError> {
    let mut words = vec![0; lines * LINE];
    words.iter_mut().enumerate().step_by(LINE).for_each(|(index, word)| *word = index as u32);
    let words = device.upload(&words)?;
    let all = lines * blocks as usize;
    let (cycles, found) = (device.zeroed::<u32>(all)?, device.zeroed::<u32>(all)?);
    let args = (words.view(), cycles.view(), found.view());
    // SAFETY: the first word of each line holds its index, and there is an element for each line of
    // each block. All buffers outlive the launch, because the downloads wait for it.
    unsafe { device.launch::<memory_lines>(&Geometry::new(blocks, 1), args)? };
    for (at, found) in found.download()?.into_iter().enumerate() {
        expect(memory_lines::NAME, found, (at % lines * LINE) as u32)?;
    }
    let cycles = cycles.download()?;
    let of_block = |block: &[u32]| block.iter().map(|&c| f64::from(c) / f64::from(LOADS)).collect();
    Ok(cycles.chunks(lines).map(of_block).collect())
}

/// Measures lines from all multiprocessors, after one pass that is not counted.
pub(super) fn measure(device: &Device) -> Result<Lines, MemoryError> {
    let blocks = device.properties().multiprocessors;
    look(device, LINES, blocks)?;
    let seen = look(device, LINES, blocks)?;
    Ok(Lines::of(&seen).expect("there should be a block, and lines"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every third line is slow from the even blocks, the others from the odd ones.
    fn partitions() -> Vec<Vec<f64>> {
        let line = |block: usize, line: usize| {
            let is_slow = line.is_multiple_of(3) == block.is_multiple_of(2);
            (if is_slow { 300.0 } else { 200.0 }) + (line % 7) as f64
        };
        (0..4).map(|block| (0..600).map(|at| line(block, at)).collect()).collect()
    }

    #[test]
    fn two_groups_are_separated_and_reversed_on_the_other_multiprocessor() {
        let lines = Lines::of(&partitions()).expect("there are lines");
        let Seen { fast_cycles, slow_cycles, slow_percent, .. } = lines.from_one;
        assert_eq!((fast_cycles, slow_cycles), (203.0, 303.0));
        assert!((slow_percent - 100.0 / 3.0).abs() < 1e-9, "{slow_percent}");
        assert!((lines.from_another.slow_percent - 200.0 / 3.0).abs() < 1e-9);
        assert!(lines.correlation < -0.9, "{}", lines.correlation);
        assert!(lines.ratio() > 1.4);
    }

    #[test]
    fn lines_at_equal_distance_have_no_slow_group() {
        let lines = Lines::of(&vec![vec![250.0; 100]; 3]).expect("there are lines");
        assert_eq!(
            (lines.from_one.slow_percent, lines.ratio(), lines.correlation),
            (0.0, 1.0, 0.0)
        );
        assert_eq!(Lines::of(&[]), None);
        assert_eq!(Lines::of(&[vec![]]), None);
    }
}
