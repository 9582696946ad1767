//! Settings in which a barrier is crossed.

use gridsync::device::{Device, Emulator, EmulatorConfig, Properties, Schedule};
use gridsync::launch::Blocks;
use gridsync_verify::Crossing;
use std::fmt;

/// The most rounds of one launch. Launches are short, so that displays keep working and a user can
/// interrupt.
const ROUNDS_PER_LAUNCH: u64 = 100_000;

/// The most words that all blocks of one launch read: a few seconds on a GPU.
const WORDS_PER_LAUNCH: u64 = 1 << 42;

/// Cost of a round in addition to the words that it reads, as a number of words: about 4 µs.
const WORDS_PER_CROSSING: u64 = 1 << 22;

/// Cost of the far stores of a thread, as a number of words.
const WORDS_PER_FAR_STORES: u64 = 1 << 9;

/// The most words that far stores use: many times the L2.
const FAR: u64 = 1 << 30;

/// One way to cross a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The grid, its work, and the number of rounds.
    pub crossing: Crossing,
    /// Seed of the emulator's schedule. `None` on a GPU.
    pub seed: Option<u64>,
    /// Whether the emulator checks for data races and stops at the first. If not, a broken barrier
    /// continues to the reads after it, which may return any value that weak memory allows.
    pub races: bool,
}

impl fmt::Display for Setting {
    /// `blocks of 40 threads, 6 in all, 1 word a thread, up to 300 cycles late, seed 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Crossing { blocks, threads, cells, skew, far, .. } = self.crossing;
        write!(f, "blocks of {threads} threads, ")?;
        match blocks {
            Blocks::Exactly(blocks) => write!(f, "{blocks} in all")?,
            Blocks::AtMost(blocks) => write!(f, "up to {blocks} in all")?,
            Blocks::PerMultiprocessor(blocks) => write!(f, "{blocks} per multiprocessor")?,
            Blocks::Fill => write!(f, "as many as fit")?,
        }
        let words = if cells == 1 { "word" } else { "words" };
        write!(f, ", {cells} {words} a thread")?;
        if skew > 0 {
            write!(f, ", up to {skew} cycles late")?;
        }
        if far > 0 {
            f.write_str(", after far stores")?;
        }
        if let Some(seed) = self.seed {
            write!(f, ", seed {seed}")?;
        }
        f.write_str(match (self.seed, self.races) {
            (Some(_), true) => ", checking for races",
            (Some(_), false) => ", weak memory",
            (None, _) => "",
        })
    }
}

/// The settings for a device. Together they have at least `rounds` rounds of two crossings. Each
/// setting takes about the same time, and has at least one round.
///
/// On a GPU there are 1, 2, 4 and 8 blocks for each multiprocessor, of 32, 128, 256 and 1024
/// threads, if they fit. The warps have no delay, or are up to 2000 cycles late, or first store all
/// over 4 GiB (or an eighth of the memory, if that is less). There is one word for each thread, and
/// in the smallest grids also eight. In the emulator there are small grids, each under the
/// schedules of eight seeds. Every other one checks for data races, and the rest have weak memory.
#[must_use]
pub fn settings(device: &Properties, rounds: u64) -> Vec<Setting> {
    let mut settings = if device.is_emulated() { on_the_emulator() } else { on_a_gpu(device) };
    let costs: Vec<u64> = settings.iter().map(|s| s.cost(device)).collect();
    let shares: f64 = costs.iter().map(|&cost| 1.0 / cost as f64).sum();
    for (setting, cost) in settings.iter_mut().zip(costs) {
        let share = 1.0 / cost as f64 / shares;
        let rounds = (rounds as f64 * share).ceil() as u64;
        let per_launch = (WORDS_PER_LAUNCH / cost).clamp(1, ROUNDS_PER_LAUNCH);
        let launches = rounds.div_ceil(per_launch).max(1);
        setting.crossing.launches = launches as u32;
        setting.crossing.rounds = rounds.div_ceil(launches).max(1) as u32;
    }
    settings
}

pub(super) fn on_the_emulator() -> Vec<Setting> {
    let mut settings = Vec::new();
    for (blocks, threads, cells) in [(2, 64, 1), (3, 33, 2), (6, 40, 1)] {
        for skew in [0, 300] {
            for seed in 0..8 {
                let crossing = Crossing::of(Blocks::Exactly(blocks), threads);
                settings.push(Setting {
                    crossing: Crossing { cells, skew, ..crossing },
                    seed: Some(seed),
                    races: seed.is_multiple_of(2),
                });
            }
        }
    }
    settings
}

fn on_a_gpu(device: &Properties) -> Vec<Setting> {
    let far = FAR.min(device.memory_bytes / 32) as usize;
    let mut settings = Vec::new();
    for each in [1, 2, 4, 8] {
        for threads in [32, 128, 256, 1024] {
            let fits = threads * each <= device.max_threads_per_multiprocessor
                && threads <= device.max_threads_per_block
                && each <= device.max_blocks_per_multiprocessor;
            // Every block reads the words of all blocks, so only small grids have more than one
            // word per thread.
            let cells: &[u32] = match (fits, each) {
                (false, _) => &[],
                (true, 1) => &[1, 8],
                (true, _) => &[1],
            };
            for &cells in cells {
                for (skew, far) in [(0, 0), (2000, 0), (0, far)] {
                    let crossing = Crossing::of(Blocks::PerMultiprocessor(each), threads);
                    settings.push(Setting {
                        crossing: Crossing { cells, skew, far, ..crossing },
                        seed: None,
                        races: false,
                    });
                }
            }
        }
    }
    settings
}

impl Setting {
    /// Cost of a round, as a number of words that are read: the words that all blocks read, plus as
    /// many as could be read in the time of its crossings and far stores.
    fn cost(&self, device: &Properties) -> u64 {
        let blocks = match self.crossing.blocks {
            Blocks::PerMultiprocessor(each) => each * device.multiprocessors,
            Blocks::Exactly(blocks) | Blocks::AtMost(blocks) => blocks,
            Blocks::Fill => device.max_blocks_per_multiprocessor * device.multiprocessors,
        };
        let (blocks, threads) = (u64::from(blocks), u64::from(self.crossing.threads));
        let far_stores = match self.crossing.far {
            0 => 0,
            _ => WORDS_PER_FAR_STORES * blocks * threads,
        };
        let words = threads * u64::from(self.crossing.cells);
        WORDS_PER_CROSSING + far_stores + blocks * blocks * words
    }

    /// The device itself, or an emulator with the schedule of the setting.
    pub(super) fn device(&self, device: &Device) -> Device {
        match self.seed {
            None => device.clone(),
            Some(seed) => Device::new(Emulator::new(EmulatorConfig {
                schedule: Schedule::from_seed(seed),
                races: self.races,
                weak_memory: !self.races,
                ..EmulatorConfig::default()
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn h200() -> Properties {
        Properties {
            name: "a GPU".into(),
            compute: 90,
            multiprocessors: 132,
            max_threads_per_block: 1024,
            max_threads_per_multiprocessor: 2048,
            max_blocks_per_multiprocessor: 32,
            memory_bytes: 1 << 37,
            ..Properties::default()
        }
    }

    #[test]
    fn rounds_are_distributed_and_no_launch_is_long() {
        for rounds in [1, 1000, 1_000_000, 1_000_000_000] {
            let settings = settings(&h200(), rounds);
            assert_eq!(settings.len(), 3 * (4 * 4 - 2 + 4));
            let crossed = settings.iter().map(|setting| {
                let Crossing { launches, rounds, .. } = setting.crossing;
                assert!(launches >= 1 && rounds >= 1, "{setting:?}");
                let words = u64::from(rounds) * setting.cost(&h200());
                assert!(
                    u64::from(rounds) <= ROUNDS_PER_LAUNCH && words <= WORDS_PER_LAUNCH,
                    "{setting:?}"
                );
                u64::from(launches) * u64::from(rounds)
            });
            let crossed: u64 = crossed.sum();
            let spare = 2 * settings.len() as u64 + rounds / 100;
            assert!((rounds..=rounds + spare).contains(&crossed), "{crossed} of {rounds}");
        }
    }
}
