//! Findings about a barrier.

use super::Setting;
use gridsync::device::DeviceError;
use gridsync_verify::{Crossing, Outcome};
use serde::{Deserialize, Serialize};
use simt::Fault;

/// Number of errors of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Found {
    /// Number of settings in which it was found.
    pub settings: u32,
    /// Total number of times.
    pub times: u64,
}

impl Found {
    fn add(&mut self, times: u32) {
        self.settings += 1;
        self.times += u64::from(times);
    }
}

/// The findings about one barrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Tally {
    /// The barrier.
    pub name: String,
    /// Settings in which it was crossed.
    pub settings: u32,
    /// Crossings of the whole grid.
    pub crossings: u64,
    /// Whether every setting was free of errors.
    pub held: bool,
    /// Words that were not from the round in which they were read.
    pub stale: Found,
    /// Waits that were given up.
    pub given_up: Found,
    /// Data races. Each stopped its grid.
    pub races: Found,
    /// Grids that the emulator stopped for another reason.
    pub stopped: Found,
    /// The first error, and its setting.
    pub first: Option<String>,
}

impl Tally {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            settings: 0,
            crossings: 0,
            held: true,
            stale: Found::default(),
            given_up: Found::default(),
            races: Found::default(),
            stopped: Found::default(),
            first: None,
        }
    }

    /// Number of settings with an error.
    #[must_use]
    pub const fn wrong_in(&self) -> u32 {
        let [stale, given_up] = [self.stale.settings, self.given_up.settings];
        stale + given_up + self.races.settings + self.stopped.settings
    }

    /// Adds the findings of a setting.
    ///
    /// # Errors
    /// If the device fails. A fault in the emulator is not an error here, because it is the
    /// kernel's.
    pub(super) fn count(
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
        let Crossing { launches, rounds, .. } = setting.crossing;
        self.settings += 1;
        self.crossings += 2 * u64::from(launches) * u64::from(rounds);
        if let Some(wrong) = wrong {
            self.held = false;
            self.first.get_or_insert(format!("{setting}: {wrong}"));
        }
        Ok(())
    }
}
