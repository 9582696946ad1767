//! Cost of a section under a lock on a GPU, and the distribution of the lock among the threads.
//!
//! The cost is a **slope**: the time of a launch of many sections, minus that of a launch of few,
//! divided by the difference. This cancels the launch, and also its end, where each thread acquires
//! the lock once more to find that the work is done.

use super::field::Field;
use super::lock::{Grid, LOCKS, Tried};
use crate::bench::Spread;
use crate::display::svg::Estimate;
use gridsync::device::{Device, DeviceError};
use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};

/// Number of slopes; their median counts. Few, because a lock under contention is slow.
const SAMPLES: usize = 3;

/// The longest wait of a thread in a launch of this many sections, in nanoseconds: a second, or 100
/// µs for each section if that is more. Even a thread that starves until the others are done waits
/// less.
pub(super) const fn patience_ns(sections: u32) -> u64 {
    let for_all = sections as u64 * 100_000;
    if for_all > 1_000_000_000 { for_all } else { 1_000_000_000 }
}

/// The grids for a GPU with `multiprocessors`, up to `blocks` blocks. First one thread per block,
/// from one block up to `blocks`. Then blocks of `threads` threads, up to one per multiprocessor.
fn grids(multiprocessors: u32, blocks: u32, threads: u32) -> [Vec<Grid>; 2] {
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

/// The locks on a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measured {
    /// The multiprocessors of the device.
    pub multiprocessors: u32,
    /// Each lock.
    pub locks: Vec<Lock>,
}

/// A lock on a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Lock {
    /// The name of the lock.
    pub lock: String,
    /// The grids that contended for it: first one thread of each block, then whole blocks, each from
    /// one block up.
    pub points: Vec<Point>,
}

/// A grid that contended for a lock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Point {
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// All threads.
    pub contenders: usize,
    /// Million sections per second. Null where `us` is null.
    pub million_per_s: Option<f64>,
    /// Microseconds of a section, the median. Null if a thread gave up, a result was wrong, or more
    /// sections did not take longer.
    pub us: Option<f64>,
    /// The least sample.
    pub min: Option<f64>,
    /// The greatest sample.
    pub max: Option<f64>,
    /// Threads that gave up. The measurement ends with the first launch in which a thread gives up.
    pub gave_up: u32,
    /// The first error, if any.
    pub wrong: Option<String>,
    /// Sections of the block with the fewest, in the last launch that counted.
    pub least_of_a_block: Option<u32>,
    /// Sections of the median block.
    pub median_of_a_block: Option<u32>,
    /// Sections of the block with the most.
    pub most_of_a_block: Option<u32>,
    /// Jain's index of fairness: 1 if all blocks got as many, 1/n if one of n got all.
    pub jain: f64,
}

impl Lock {
    /// The points with one thread of each block, and those with whole blocks.
    pub(super) fn forms(&self) -> [&[Point]; 2] {
        let second = self.points.iter().rposition(|point| point.blocks == 1).unwrap_or(0);
        let (single, whole) = self.points.split_at(second);
        [single, whole]
    }
}

impl Point {
    /// Nothing measured yet.
    pub(super) fn new(grid: Grid) -> Self {
        Self {
            blocks: grid.blocks,
            threads: grid.threads,
            contenders: grid.contenders(),
            million_per_s: None,
            us: None,
            min: None,
            max: None,
            gave_up: 0,
            wrong: None,
            least_of_a_block: None,
            median_of_a_block: None,
            most_of_a_block: None,
            jain: jain(&[]),
        }
    }

    /// The same with a time of a section, and the sections of each block.
    pub(super) fn with(self, us: Option<Spread>, mut taken: Vec<u32>) -> Self {
        taken.sort_unstable();
        Self {
            million_per_s: us.map(|us| 1.0 / us.median),
            us: us.map(|us| us.median),
            min: us.map(|us| us.min),
            max: us.map(|us| us.max),
            least_of_a_block: taken.first().copied(),
            median_of_a_block: taken.get(taken.len() / 2).copied(),
            most_of_a_block: taken.last().copied(),
            jain: jain(&taken),
            ..self
        }
    }

    /// The grid.
    pub(super) const fn grid(&self) -> Grid {
        Grid { blocks: self.blocks, threads: self.threads }
    }

    /// Million sections per second with the range of the samples, for a chart.
    pub(super) fn rates(&self) -> Option<Estimate> {
        let us = crate::ranged(self.us?, self.min, self.max);
        // The rate falls as the time grows.
        Some(us.map(|us| 1.0 / us))
    }

    /// Whether no thread gave up and no result was wrong so far.
    const fn is_sound(&self) -> bool {
        self.gave_up == 0 && self.wrong.is_none()
    }

    /// Records the outcome of a launch.
    fn note(&mut self, gave_up: u32, wrong: Option<String>) {
        self.gave_up += gave_up;
        self.wrong = self.wrong.take().or(wrong);
    }
}

/// Measures each lock by the number of contending threads, up to those of `most`.
pub(super) fn measure_all(
    device: &Device,
    most: Grid,
    sections: u32,
    bar: &ProgressBar,
) -> Result<Measured, DeviceError> {
    let multiprocessors = device.properties().multiprocessors;
    let grids = grids(multiprocessors, most.blocks, most.threads);
    bar.set_length((LOCKS.len() * (grids[0].len() + grids[1].len())) as u64);
    let mut locks = Vec::new();
    for tried in LOCKS {
        bar.set_message(tried.name);
        let mut points = Vec::new();
        for grids in &grids {
            for &grid in grids {
                let point = measure(device, tried, grid, sections)?;
                bar.inc(1);
                let ends = !point.is_sound();
                points.push(point);
                if ends {
                    break;
                }
            }
        }
        locks.push(Lock { lock: tried.name.to_owned(), points });
    }
    Ok(Measured { multiprocessors, locks })
}

/// Measures sections under a lock in `grid`, from launches of `sections` and of a quarter of them,
/// and makes the threads push as many nodes. Stops early if a thread gives up or a result is wrong.
fn measure(device: &Device, tried: Tried, grid: Grid, sections: u32) -> Result<Point, DeviceError> {
    let field = Field::new(device, tried, grid, patience_ns(sections))?;
    let mut point = Point::new(grid);
    let pushed = field.push(sections.div_ceil(grid.contenders() as u32))?;
    point.note(pushed.gave_up, pushed.wrong());

    let few = sections / 4;
    let mut by_block = Vec::new();
    let mut count = |point: &mut Point, sections| -> Result<f64, DeviceError> {
        let counted = field.count(sections)?;
        point.note(counted.gave_up, counted.wrong());
        by_block = counted.by_block(grid.threads);
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
    let us = Spread::of(slopes).filter(|us| point.is_sound() && us.median > 0.0);
    Ok(point.with(us, by_block))
}

/// Jain's index of fairness: 1 if all threads got equally many sections, 1/n if one of n got all
/// ("A quantitative measure of fairness", DEC-TR-301, 1984). Also 1 without any sections.
fn jain(taken: &[u32]) -> f64 {
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
