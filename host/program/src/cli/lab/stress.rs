//! `gridsync lab stress`: crosses correct and broken grid barriers repeatedly.

use super::{Experiment, Found, RunsOn};
use crate::cli::Global;
use crate::cli::exit::Usage;
use crate::cli::output;
use crate::cli::progress::progress;
use clap::builder::PossibleValuesParser;
use gridsync::device::Device;
use gridsync_lab::count::within;
use gridsync_lab::display::table;
use gridsync_lab::stress::{self, Found as Times, Run, Tally};
use gridsync_verify::{Contender, DESIGNS, MUTANTS};
use serde_json::{Value, json};

/// Cross every grid barrier in many settings, and wrong barriers in the same settings
///
/// Each thread writes the number of the round, crosses the barrier, and looks for words of another
/// round. On a GPU with 1 to 8 blocks on every multiprocessor, of 32 to 1024 threads: in step, out
/// of step, and after stores to far memory. On the emulator in small grids under schedules drawn
/// from seeds, looking for data races under every other one. Some barriers are wrong on purpose:
/// the more of them are caught, the more it means that a right one holds.
#[derive(clap::Args)]
pub(crate) struct Stress {
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

/// The results.
struct Report {
    device: String,
    settings: usize,
    designs: Run,
    mutants: Run,
}

impl Experiment for Stress {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const IN_ALL: &'static [&'static str] = &["--brief"];

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        let properties = device.properties();
        let default = match (properties.is_emulated(), self.brief) {
            (true, _) => ON_THE_EMULATOR,
            (false, true) => ON_A_GPU / 10,
            (false, false) => ON_A_GPU,
        };
        let settings = stress::settings(properties, self.rounds.unwrap_or(default));
        let designs: Vec<Contender> = DESIGNS
            .iter()
            .filter(|design| {
                self.designs.is_empty() || self.designs.iter().any(|n| n == design.name)
            })
            .copied()
            .collect();

        let mutants = if self.right_only { &[] } else { MUTANTS };
        let bar = progress(global, (designs.len() + mutants.len()) * settings.len());
        let mut step = |contender: &Contender, setting: &stress::Setting| {
            bar.set_message(format!("{}, {setting}", contender.name));
            bar.inc(1);
        };
        let report = Report {
            device: properties.name.clone(),
            settings: settings.len(),
            designs: stress::stress(device, &designs, &settings, &mut step)?,
            mutants: stress::stress(device, mutants, &settings, &mut step)?,
        };
        bar.finish_and_clear();

        for (name, error) in report.designs.absent.iter().chain(&report.mutants.absent) {
            output::say(format_args!("gridsync: leaving out {name}: {error}"));
        }
        if report.designs.tallies.iter().all(|tally| tally.crossings == 0) {
            let asked = designs.len();
            let on = &report.device;
            return Err(Usage(format!(
                "nothing was crossed: of {asked} designs {on} runs none (gridsync devices tells its limits)"
            ))
            .into());
        }
        let fallen = report.designs.tallies.iter().find(|tally| !tally.held());
        let wrong = fallen.map(|tally| {
            let first = tally.first.as_deref().unwrap_or_default();
            format!("the {} barrier did not hold: {first}", tally.name)
        });
        Ok(Found { text: report.text(global), json: report.json(), wrong, ..Found::default() })
    }
}

impl Report {
    fn caught(&self) -> usize {
        let tallies = &self.mutants.tallies;
        tallies.iter().filter(|tally| !tally.held()).count()
    }

    fn text(&self, global: &Global) -> String {
        let mut parts = Vec::new();
        if !global.quiet {
            let (settings, device) = (self.settings, &self.device);
            parts.push(format!("Grid barriers crossed in {settings} settings on {device}"));
        }
        let mut right = table();
        right.set_header(["barrier", "crossings", "settings", ""]);
        for tally in &self.designs.tallies {
            right.add_row([
                tally.name.to_owned(),
                tally.crossings.to_string(),
                tally.settings.to_string(),
                verdict(tally),
            ]);
        }
        parts.push(right.to_string());
        if self.mutants.tallies.is_empty() {
            return parts.join("\n\n");
        }
        let mut wrong = table();
        wrong.set_header(["what is wrong", "crossings", "settings", "caught in", "by"]);
        for tally in &self.mutants.tallies {
            wrong.add_row([
                tally.name.to_owned(),
                tally.crossings.to_string(),
                tally.settings.to_string(),
                tally.wrong_in().to_string(),
                caught_by(tally),
            ]);
        }
        parts.push(wrong.to_string());
        let (caught, all) = (self.caught(), self.mutants.tallies.len());
        parts.push(format!("{caught} of {all} broken barriers caught"));
        parts.join("\n\n")
    }

    fn json(&self) -> Value {
        let tallies = |run: &Run| run.tallies.iter().map(tally_json).collect::<Vec<_>>();
        let absent = self.designs.absent.iter().chain(&self.mutants.absent);
        let absent = absent.map(|(name, error)| json!({ "name": name, "why": error.to_string() }));
        json!({
            "device": self.device,
            "settings": self.settings,
            "designs": tallies(&self.designs),
            "mutants": tallies(&self.mutants),
            "caught": self.caught(),
            "absent": absent.collect::<Vec<_>>(),
        })
    }
}

/// `held`, or the error in capital letters.
fn verdict(tally: &Tally) -> String {
    if tally.held() {
        return "held".into();
    }
    let ways = [
        ("STALE", tally.stale),
        ("GAVE UP", tally.given_up),
        ("RACES", tally.races),
        ("STOPPED", tally.stopped),
    ];
    let ways = ways.iter().filter(|(_, found)| found.settings > 0);
    let ways: Vec<_> = ways.map(|(how, found)| format!("{how} {}", found.times)).collect();
    ways.join(", ")
}

/// How a mutant was caught, and in how many settings in each way.
fn caught_by(tally: &Tally) -> String {
    let ways = [
        ("stale words", tally.stale),
        ("waits given up", tally.given_up),
        ("data races", tally.races),
        ("the emulator", tally.stopped),
    ];
    let ways = ways.iter().filter(|(_, found)| found.settings > 0);
    let ways: Vec<_> = ways.map(|(how, found)| format!("{how} ({})", found.settings)).collect();
    ways.join(", ")
}

fn tally_json(tally: &Tally) -> Value {
    let found = |found: Times| json!({ "settings": found.settings, "times": found.times });
    json!({
        "name": tally.name,
        "crossings": tally.crossings,
        "settings": tally.settings,
        "held": tally.held(),
        "stale": found(tally.stale),
        "given_up": found(tally.given_up),
        "races": found(tally.races),
        "stopped": found(tally.stopped),
        "first": tally.first,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_design_is_in_capitals_with_every_kind_of_error() {
        let mut tally = Tally {
            name: "phase",
            settings: 9,
            crossings: 90,
            stale: Times::default(),
            given_up: Times::default(),
            races: Times::default(),
            stopped: Times::default(),
            first: None,
        };
        assert_eq!((tally.held(), verdict(&tally).as_str()), (true, "held"));
        tally.stale = Times { settings: 2, times: 70 };
        tally.given_up = Times { settings: 1, times: 3 };
        assert_eq!((tally.held(), tally.wrong_in()), (false, 3));
        assert_eq!(verdict(&tally), "STALE 70, GAVE UP 3");
        assert_eq!(caught_by(&tally), "stale words (2), waits given up (1)");
    }
}
