//! Cost of a section under a lock on a GPU, and the distribution of the lock among the threads.
//!
//! The cost is a **slope**: the time of a launch of many sections, minus that of a launch of few,
//! divided by the difference. This cancels the launch, and also its end, where each thread acquires
//! the lock once more to find that the work is done.

use super::field::Field;
use super::{Grid, Tried};
use crate::bench::Spread;
use gridsync::device::{Device, DeviceError};

/// Number of slopes; their median counts. Few, because a lock under contention is slow.
pub const SAMPLES: usize = 3;

/// The longest wait of a thread in a launch of this many sections, in nanoseconds: a second, or 100
/// µs for each section if that is more. Even a thread that starves until the others are done waits
/// less.
#[must_use]
pub const fn patience_ns(sections: u32) -> u64 {
    let for_all = sections as u64 * 100_000;
    if for_all > 1_000_000_000 { for_all } else { 1_000_000_000 }
}

/// The grids for a GPU with `multiprocessors`, up to `blocks` blocks. First one thread per block,
/// from one block up to `blocks`. Then blocks of `threads` threads, up to one per multiprocessor.
#[must_use]
pub fn grids(multiprocessors: u32, blocks: u32, threads: u32) -> [Vec<Grid>; 2] {
    let up_to = |most: u32, threads| {
        let powers = (0..32).map(|log| 1 << log).take_while(|&blocks| blocks < most);
        let whole = [1, 2, 4].map(|each| each * multiprocessors).into_iter();
        let mut all: Vec<u32> = powers.take_while(|&blocks| blocks < multiprocessors).collect();
        all.extend(whole.filter(|&blocks| blocks < most));
        all.push(most);
        all.into_iter().map(|blocks| Grid { blocks, threads }).collect()
    };
    [up_to(blocks, 1), up_to(blocks.min(multiprocessors), threads)]
}

/// Measurement of a lock in one grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The grid.
    pub grid: Grid,
    /// Microseconds per section. `None` if a thread gave up, a result was wrong, or more sections
    /// did not take longer.
    pub us: Option<Spread>,
    /// Sections of each block in the last launch that counted. Empty if there was none.
    pub by_block: Vec<u32>,
    /// Threads that gave up. The measurement ends with the first launch in which a thread gives up.
    pub gave_up: u32,
    /// The first error, if any.
    pub wrong: Option<String>,
}

impl Point {
    /// Million sections per second.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        self.us.map(|us| 1.0 / us.median)
    }

    /// Whether no thread gave up and no result was wrong so far.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.gave_up == 0 && self.wrong.is_none()
    }

    /// Records the outcome of a launch.
    fn note(&mut self, gave_up: u32, wrong: Option<String>) {
        self.gave_up += gave_up;
        self.wrong = self.wrong.take().or(wrong);
    }
}

/// Measures sections under a lock in `grid`, from launches of `sections` and of a quarter of them,
/// and makes the threads push as many nodes. Stops early if a thread gives up or a result is wrong.
///
/// # Errors
/// If the device fails.
pub fn measure(
    device: &Device,
    tried: Tried,
    grid: Grid,
    sections: u32,
) -> Result<Point, DeviceError> {
    let field = Field::new(device, tried, grid, patience_ns(sections))?;
    let mut point = Point { grid, us: None, by_block: vec![], gave_up: 0, wrong: None };
    let pushed = field.push(sections.div_ceil(grid.contenders() as u32))?;
    point.note(pushed.gave_up, pushed.wrong());

    let few = sections / 4;
    let count = |point: &mut Point, sections| -> Result<f64, DeviceError> {
        let counted = field.count(sections)?;
        point.note(counted.gave_up, counted.wrong());
        point.by_block = counted.by_block(grid.threads);
        Ok(counted.us)
    };
    if point.is_sound() {
        // The first launch of a kernel loads it.
        count(&mut point, few)?;
    }
    let mut slopes = Vec::new();
    while slopes.len() < SAMPLES && point.is_sound() {
        let short = count(&mut point, few)?;
        let long = count(&mut point, sections)?;
        slopes.push((long - short) / f64::from(sections - few));
    }
    point.us = Spread::of(slopes).filter(|us| point.is_sound() && us.median > 0.0);
    Ok(point)
}

/// Jain's index of fairness: 1 if all threads got equally many sections, 1/n if one of n got all
/// ("A quantitative measure of fairness", DEC-TR-301, 1984). Also 1 without any sections.
#[must_use]
pub fn jain(taken: &[u32]) -> f64 {
    let sum: f64 = taken.iter().map(|&taken| f64::from(taken)).sum();
    let squares: f64 = taken.iter().map(|&taken| f64::from(taken).powi(2)).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (taken.len() as f64 * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_grow_by_powers_of_two_up_to_the_requested_size() {
        let blocks = |grids: &[Grid]| grids.iter().map(|grid| grid.blocks).collect::<Vec<_>>();
        let [single, warps] = grids(132, 528, 32);
        assert_eq!(blocks(&single), [1, 2, 4, 8, 16, 32, 64, 128, 132, 264, 528]);
        assert_eq!(blocks(&warps), [1, 2, 4, 8, 16, 32, 64, 128, 132]);
        assert!(warps.iter().all(|grid| grid.threads == 32));
        assert_eq!(blocks(&grids(8, 3, 2)[0]), [1, 2, 3]);
        assert_eq!(blocks(&grids(8, 1, 2)[1]), [1]);
    }

    #[test]
    fn fairness_is_1_for_equal_shares_and_1_over_n_for_a_single_winner() {
        assert!((jain(&[7, 7, 7]) - 1.0).abs() < 1e-12);
        assert!((jain(&[9, 0, 0]) - 1.0 / 3.0).abs() < 1e-12);
        assert!((jain(&[0, 0]) - 1.0).abs() < 1e-12);
    }
}
