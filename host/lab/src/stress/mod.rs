//! `gridsync lab stress`: grid barriers under stress: each is crossed repeatedly in many settings. The same kernel also
//! crosses deliberately broken barriers. The more of these are caught, the stronger the evidence
//! that the correct ones hold.

mod report;
mod setting;
mod tally;

pub use report::{Absent, Stress as Report};
pub use setting::{Setting, settings};
pub use tally::{Found, Tally};

use crate::count::within;
use crate::{Experiment, ExperimentError, RunsOn};
use clap::builder::PossibleValuesParser;
use gridsync::device::{Device, DeviceError};
use gridsync_verify::{Contender, DESIGNS, MUTANTS};
use indicatif::ProgressBar;

/// Cross every grid barrier in many settings, and wrong barriers in the same settings
///
/// Each thread writes the number of the round, crosses the barrier, and looks for words of another
/// round. On a GPU with 1 to 8 blocks on every multiprocessor, of 32 to 1024 threads: in step, out
/// of step, and after stores to far memory. On the emulator in small grids under schedules drawn
/// from seeds, looking for data races under every other one. Some barriers are wrong on purpose:
/// the more of them are caught, the more it means that a right one holds.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Rounds of two crossings for each barrier, shared out among the settings [default: 200000 on
    /// a GPU, 500 on the emulator].
    #[arg(long, value_name = "N", value_parser = within::<u64>(1..=1_000_000_000))]
    rounds: Option<u64>,
    /// Cross these designs only [default: all]; the wrong ones are crossed all the same.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(DESIGNS.iter().map(|design| design.name))
    )]
    designs: Vec<String>,
    /// Take a tenth of the default rounds on a GPU, for `lab all`.
    #[arg(long, hide = true, conflicts_with = "rounds")]
    brief: bool,
    /// Leave out the barriers that are wrong.
    #[arg(long)]
    right_only: bool,
}

/// Default number of rounds.
const ON_A_GPU: u64 = 200_000;
const ON_THE_EMULATOR: u64 = 500;

impl Experiment for Args {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const IN_ALL: &'static [&'static str] = &["--brief"];

    type Report = Report;

    fn run(&self, device: &Device, bar: &ProgressBar) -> Result<Report, ExperimentError> {
        let properties = device.properties();
        let default = match (properties.is_emulated(), self.brief) {
            (true, _) => ON_THE_EMULATOR,
            (false, true) => ON_A_GPU / 10,
            (false, false) => ON_A_GPU,
        };
        let settings = settings(properties, self.rounds.unwrap_or(default));
        let is_chosen = |design: &&Contender| {
            self.designs.is_empty() || self.designs.iter().any(|name| name == design.name)
        };
        let designs: Vec<Contender> = DESIGNS.iter().filter(is_chosen).copied().collect();
        let mutants = if self.right_only { &[] } else { MUTANTS };
        bar.set_length(((designs.len() + mutants.len()) * settings.len()) as u64);
        let mut step = |contender: &Contender, setting: &Setting| {
            bar.set_message(format!("{}, {setting}", contender.name));
            bar.inc(1);
        };
        let of_designs = stress(device, &designs, &settings, &mut step)?;
        let of_mutants = stress(device, mutants, &settings, &mut step)?;
        let report = Report::of(&properties.name, settings.len(), of_designs, of_mutants);
        if report.designs.iter().all(|tally| tally.crossings == 0) {
            let reasons = report.absent.iter().map(|absent| format!("; {absent}"));
            return Err(ExperimentError::Usage(format!(
                "nothing was crossed: of {} designs {} runs none (gridsync devices tells its \
                 limits){}",
                designs.len(),
                report.device,
                reasons.collect::<String>()
            )));
        }
        Ok(report)
    }
}

/// The result of crossing some barriers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// A tally for each barrier that was crossed at all.
    pub tallies: Vec<Tally>,
    /// The other barriers.
    pub absent: Vec<Absent>,
}

/// Crosses each barrier in each setting whose grid fits. Calls `step` before each crossing.
///
/// # Errors
/// If the device fails.
pub fn stress(
    device: &Device,
    contenders: &[Contender],
    settings: &[Setting],
    mut step: impl FnMut(&Contender, &Setting),
) -> Result<Run, DeviceError> {
    let mut run = Run { tallies: Vec::new(), absent: Vec::new() };
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
            Some(error) if tally.settings == 0 => {
                run.absent.push(Absent { name: tally.name, why: error.to_string() });
            }
            _ => run.tallies.push(tally),
        }
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::setting::on_the_emulator;
    use super::*;
    use gridsync::device::{Emulator, EmulatorConfig};
    use gridsync_verify::Outcome;

    #[test]
    fn an_absent_kernel_is_not_a_failing_device() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let absent = Contender {
            name: "absent",
            cross: |_, _| Err(DeviceError::UnknownKernel { name: "absent", image: 75 }),
            ..DESIGNS[0]
        };
        let stale = Contender {
            name: "stale",
            cross: |_, crossing| {
                Ok(if crossing.skew == 0 { Outcome::Held } else { Outcome::Stale(7) })
            },
            ..DESIGNS[0]
        };
        let settings = &on_the_emulator()[..16];
        let run = stress(&device, &[absent, stale], settings, |_, _| ())
            .expect("neither is a failure of the device");
        assert!(matches!(&run.absent[..], [Absent { name, .. }] if name == "absent"), "{run:?}");
        let [tally] = &run.tallies[..] else { panic!("{run:?}") };
        assert_eq!((tally.settings, tally.crossings), (16, 16 * 40));
        assert_eq!(tally.stale, Found { settings: 8, times: 56 });
        assert_eq!(tally.wrong_in(), 8);
        let first = "blocks of 64 threads, 2 in all, 1 word a thread, up to 300 cycles late, seed 0, checking for races: 7 stale words";
        assert_eq!(tally.first.as_deref(), Some(first));

        let lost = Contender {
            name: "lost",
            cross: |_, _| Err(DeviceError::NoSuchDevice { ordinal: 1, count: 1 }),
            ..DESIGNS[0]
        };
        assert!(stress(&device, &[DESIGNS[0], lost], &settings[..1], |_, _| ()).is_err());
    }
}
