//! Grid barriers under stress: each is crossed again and again in many settings, those that are
//! right and, by the same kernel, those that are wrong on purpose. That the right ones hold says as
//! much as is found of the wrong ones.

use crate::verify::{Contender, Crossing, Outcome};
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig, Properties, Schedule};
use gridsync::launch::Blocks;
use simt::Fault;
use std::fmt;

/// Rounds of one launch, at most; and words that all its blocks read, at most, which takes a GPU
/// some seconds. Launches are kept short for the sake of displays and of those who interrupt.
const ROUNDS_PER_LAUNCH: u64 = 100_000;
const WORDS_PER_LAUNCH: u64 = 1 << 42;

/// What a round costs besides the words that are read in it, in words: some 4 µs.
const WORDS_PER_CROSSING: u64 = 1 << 22;

/// And what the far stores of a thread cost.
const WORDS_PER_FAR_STORES: u64 = 1 << 9;

/// Words that are stored to here and there, at most: many times what an L2 holds.
const FAR: u64 = 1 << 30;

/// One way to cross a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The grid, what it does, and how often.
    pub crossing: Crossing,
    /// The seed of the schedule; none on a GPU, which has its own.
    pub seed: Option<u64>,
    /// Whether the emulator looks for data races, and ends at the first. Where it does not, a wrong
    /// barrier goes on to what is read behind it.
    pub races: bool,
}

impl fmt::Display for Setting {
    /// `blocks of 40 threads, 6 in all, 1 word a thread, up to 300 cycles late, seed 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Crossing {
            blocks,
            threads,
            cells,
            skew,
            far,
            ..
        } = self.crossing;
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
            f.write_str(", behind far stores")?;
        }
        if let Some(seed) = self.seed {
            write!(f, ", seed {seed}")?;
        }
        f.write_str(if self.races {
            ", looking for races"
        } else {
            ""
        })
    }
}

/// The settings for a device, with at least so many `rounds` of two crossings between them: as many
/// in each as make all settings take about the same time, one at least.
///
/// On a GPU: 1, 2, 4 and 8 blocks for each multiprocessor, of 32, 128, 256 and 1024 threads, as far
/// as they fit; warps that come as they come, up to 2000 cycles late, and with their words behind
/// stores all over 4 GiB (an eighth of the memory, if that is less); with one word for each thread,
/// and in the smallest grids with eight. On the emulator: small grids, each under the
/// schedules of eight seeds, looking for data races under every other one.
#[must_use]
pub fn settings(device: &Properties, rounds: u64) -> Vec<Setting> {
    let mut settings = if device.is_emulated() {
        on_the_emulator()
    } else {
        on_a_gpu(device)
    };
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

fn on_the_emulator() -> Vec<Setting> {
    let mut settings = Vec::new();
    for (blocks, threads, cells) in [(2, 64, 1), (3, 33, 2), (6, 40, 1)] {
        for skew in [0, 300] {
            for seed in 0..8 {
                let crossing = Crossing::of(Blocks::Exactly(blocks), threads);
                settings.push(Setting {
                    crossing: Crossing {
                        cells,
                        skew,
                        ..crossing
                    },
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
            // All blocks read the words of all: more than one word only where that is not much.
            let cells: &[u32] = match (fits, each) {
                (false, _) => &[],
                (true, 1) => &[1, 8],
                (true, _) => &[1],
            };
            for &cells in cells {
                for (skew, far) in [(0, 0), (2000, 0), (0, far)] {
                    let crossing = Crossing::of(Blocks::PerMultiprocessor(each), threads);
                    settings.push(Setting {
                        crossing: Crossing {
                            cells,
                            skew,
                            far,
                            ..crossing
                        },
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
    /// What a round costs in words that are read: those that all blocks read in it, and as many as
    /// its crossings and its far stores take the time of.
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
    fn device(&self, device: &Device) -> Device {
        match self.seed {
            None => device.clone(),
            Some(seed) => Device::new(Emulator::new(EmulatorConfig {
                schedule: Schedule::from_seed(seed),
                races: self.races,
                ..EmulatorConfig::default()
            })),
        }
    }
}

/// How something wrong was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// In so many settings.
    pub settings: u32,
    /// So many times in all.
    pub times: u64,
}

impl Found {
    fn add(&mut self, times: u32) {
        self.settings += 1;
        self.times += u64::from(times);
    }
}

/// What came of one barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The barrier.
    pub name: &'static str,
    /// Settings that it was crossed in.
    pub settings: u32,
    /// Crossings of the whole grid.
    pub crossings: u64,
    /// Words that were not of the round.
    pub stale: Found,
    /// Waits that were given up.
    pub given_up: Found,
    /// Data races, each of which has ended its grid.
    pub races: Found,
    /// Grids that the emulator stopped for another reason.
    pub stopped: Found,
    /// What was wrong first, and in which setting.
    pub first: Option<String>,
}

impl Tally {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            settings: 0,
            crossings: 0,
            stale: Found::default(),
            given_up: Found::default(),
            races: Found::default(),
            stopped: Found::default(),
            first: None,
        }
    }

    /// Settings in which something was wrong: each is counted once.
    #[must_use]
    pub const fn wrong_in(&self) -> u32 {
        let [stale, given_up] = [self.stale.settings, self.given_up.settings];
        stale + given_up + self.races.settings + self.stopped.settings
    }

    /// Whether nothing was wrong in any setting.
    #[must_use]
    pub const fn held(&self) -> bool {
        self.wrong_in() == 0
    }

    /// Counts what came of a setting.
    ///
    /// # Errors
    /// Those of the device, but not a fault in the emulator, which is the kernel's.
    fn count(
        &mut self,
        setting: &Setting,
        outcome: Result<Outcome, DeviceError>,
    ) -> Result<(), DeviceError> {
        let wrong = match outcome {
            Ok(Outcome::Held) => None,
            Ok(Outcome::Stale(times)) => {
                self.stale.add(times);
                Some(format!("{times} stale words"))
            }
            Ok(Outcome::GivenUp(times)) => {
                self.given_up.add(times);
                Some(format!("{times} waits given up"))
            }
            Err(DeviceError::Fault(fault)) => {
                match *fault {
                    Fault::Race(_) => self.races.add(1),
                    _ => self.stopped.add(1),
                }
                Some(fault.to_string())
            }
            Err(error) => return Err(error),
        };
        let Crossing {
            launches, rounds, ..
        } = setting.crossing;
        self.settings += 1;
        self.crossings += 2 * u64::from(launches) * u64::from(rounds);
        if let Some(wrong) = wrong {
            self.first.get_or_insert(format!("{setting}: {wrong}"));
        }
        Ok(())
    }
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// A tally for each barrier that was crossed at all.
    pub tallies: Vec<Tally>,
    /// The others, and why not: the device lacks the kernel or what it takes, or no grid fits.
    pub absent: Vec<(&'static str, DeviceError)>,
}

/// Crosses each barrier in each setting that its grid fits in. `step` hears of each before.
///
/// # Errors
/// Those of the device.
pub fn stress(
    device: &Device,
    contenders: &[Contender],
    settings: &[Setting],
    mut step: impl FnMut(&Contender, &Setting),
) -> Result<Run, DeviceError> {
    let mut run = Run {
        tallies: Vec::new(),
        absent: Vec::new(),
    };
    for contender in contenders {
        let mut tally = Tally::new(contender.name);
        let mut refused = None;
        for setting in settings {
            step(contender, setting);
            match (contender.cross)(&setting.device(device), &setting.crossing) {
                Err(
                    error @ (DeviceError::UnknownKernel { .. }
                    | DeviceError::Unsupported { .. }
                    | DeviceError::GridTooLarge { .. }
                    | DeviceError::BadBlock { .. }
                    | DeviceError::PartialCluster { .. }),
                ) => refused = Some(error),
                outcome => tally.count(setting, outcome)?,
            }
        }
        match refused {
            Some(error) if tally.settings == 0 => run.absent.push((contender.name, error)),
            _ => run.tallies.push(tally),
        }
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::DESIGNS;

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
    fn the_rounds_are_shared_out_and_no_launch_is_long() {
        for rounds in [1, 1000, 1_000_000, 1_000_000_000] {
            let settings = settings(&h200(), rounds);
            assert_eq!(settings.len(), 3 * (4 * 4 - 2 + 4));
            let crossed = settings.iter().map(|setting| {
                let Crossing {
                    launches, rounds, ..
                } = setting.crossing;
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
            assert!(
                (rounds..=rounds + spare).contains(&crossed),
                "{crossed} of {rounds}"
            );
        }
    }

    #[test]
    fn what_is_not_there_is_told_from_what_fails() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let absent = Contender {
            name: "absent",
            cross: |_, _| {
                Err(DeviceError::UnknownKernel {
                    name: "absent",
                    image: 75,
                })
            },
        };
        let stale = Contender {
            name: "stale",
            cross: |_, crossing| {
                Ok(if crossing.skew == 0 {
                    Outcome::Held
                } else {
                    Outcome::Stale(7)
                })
            },
        };
        let settings = &on_the_emulator()[..16];
        let run = stress(&device, &[absent, stale], settings, |_, _| ())
            .expect("neither is a failure of the device");
        assert!(matches!(&run.absent[..], [("absent", _)]), "{run:?}");
        let [tally] = &run.tallies[..] else {
            panic!("{run:?}")
        };
        assert_eq!((tally.settings, tally.crossings), (16, 16 * 40));
        assert_eq!(
            tally.stale,
            Found {
                settings: 8,
                times: 56
            }
        );
        assert_eq!(tally.wrong_in(), 8);
        let first = "blocks of 64 threads, 2 in all, 1 word a thread, up to 300 cycles late, seed 0, looking for races: 7 stale words";
        assert_eq!(tally.first.as_deref(), Some(first));

        let lost = Contender {
            name: "lost",
            cross: |_, _| {
                Err(DeviceError::NoSuchDevice {
                    ordinal: 1,
                    count: 1,
                })
            },
        };
        assert!(stress(&device, &[DESIGNS[0], lost], &settings[..1], |_, _| ()).is_err());
    }
}
