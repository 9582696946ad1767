//! `gridsync emulate`: runs the protocols under many schedules of the emulator, as written and
//! weakened.

use super::choice::DeviceChoice;
use super::exit::{Usage, Wrong};
use super::outcome::{Right, Shown, text};
use super::progress::progress;
use super::{Global, output};
use gridsync::check::Check;
use gridsync_lab::count::within;
use gridsync_lab::protocols::{Protocol, protocols};
use serde::Serialize;

/// Run barriers, locks and primitives under many schedules
///
/// Each grid barrier, exchange, lock and primitive runs in a small grid whose results are checked: under schedules
/// drawn from seeds, with weak memory, and checking for data races under every other one. With --weaken
/// each place that orders memory or waits is then made weaker, one at a time, to see which runs fail. If
/// none fails, no run needs that ordering, or no check sees the failure.
#[derive(clap::Args)]
pub(crate) struct Emulate {
    /// What to run: whole names or their beginnings, such as `barrier` or `barrier/tree` [default: all].
    names: Vec<String>,
    /// Print the names only.
    #[arg(long, conflicts_with_all = ["weaken", "seed", "schedules"])]
    list: bool,
    /// Make each place that orders or waits weaker, one at a time.
    #[arg(long)]
    weaken: bool,
    /// Schedules for each.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = within::<u64>(1..=1 << 40))]
    schedules: u64,
    /// The seed of the first schedule.
    #[arg(long, default_value_t = 0, value_name = "SEED", value_parser = within::<u64>(0..=1 << 40))]
    seed: u64,
}

/// The result of `gridsync emulate`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(untagged)]
pub enum Emulated {
    /// With `--list`.
    List {
        /// The names.
        protocols: Vec<String>,
    },
    /// Without `--list`.
    Run {
        /// Schedules that were requested for each protocol.
        schedules: u64,
        /// The result of each protocol.
        protocols: Vec<Shown>,
    },
}

impl Emulate {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        match &global.device {
            DeviceChoice::Auto | DeviceChoice::Emulator(1) => {}
            // Every emulator runs the PTX then.
            DeviceChoice::Ptx(_) => drop(global.device.device()?),
            _ => {
                let why = "this runs in the emulator: leave --device out, or use --device ptx";
                return Err(Usage(why.to_owned()).into());
            }
        }
        let chosen = self.chosen()?;
        if self.list {
            let names: Vec<_> = chosen.into_iter().map(|protocol| protocol.name).collect();
            let text = || names.join("\n");
            return output::result(global, text, || Emulated::List { protocols: names.clone() });
        }
        let bar = progress(global, chosen.len());
        let mut outcomes = Vec::new();
        for protocol in &chosen {
            bar.set_message(protocol.name.clone());
            let check = Check::default().on(protocol.config);
            let check = check.from(self.seed).schedules(self.schedules);
            let outcome = if self.weaken {
                check.weaken(|device| protocol.run(device)).map(Right::Weakened)
            } else {
                check.run(|device| protocol.run(device)).map(Right::Passed)
            };
            if !global.json {
                let name = &protocol.name;
                let again = format!("gridsync emulate {name}");
                let text = text(global, name, &outcome, self.schedules, &again);
                bar.suspend(|| output::print(text.trim_end()))?;
            }
            outcomes.push(outcome);
            bar.inc(1);
        }
        bar.finish_and_clear();
        if global.json {
            let each = chosen.iter().zip(&outcomes);
            let protocols =
                each.map(|(protocol, outcome)| Shown::of(&protocol.name, outcome)).collect();
            output::print_json(&Emulated::Run { schedules: self.schedules, protocols })?;
        }
        let wrong = outcomes.iter().filter(|outcome| outcome.is_err()).count();
        match wrong {
            0 => Ok(()),
            _ => Err(Wrong(format!("{wrong} of {} protocols failed", chosen.len())).into()),
        }
    }

    /// The protocols to run.
    fn chosen(&self) -> anyhow::Result<Vec<Protocol>> {
        let all = protocols();
        let is = |protocol: &Protocol, name: &String| {
            let rest = protocol.name.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || name.ends_with('/'))
        };
        if let Some(unknown) =
            self.names.iter().find(|name| !all.iter().any(|protocol| is(protocol, name)))
        {
            let message = format!("no protocol is named {unknown}: see gridsync emulate --list");
            return Err(Usage(message).into());
        }
        let asked = |protocol: &Protocol| {
            self.names.is_empty() || self.names.iter().any(|name| is(protocol, name))
        };
        Ok(all.into_iter().filter(asked).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZero;
    use std::sync::Mutex;
    use std::thread;

    fn names(asked: &[&str]) -> anyhow::Result<Vec<String>> {
        let names = asked.iter().map(|&name| name.to_owned()).collect();
        let emulate = Emulate { names, schedules: 1, seed: 0, weaken: false, list: false };
        Ok(emulate.chosen()?.into_iter().map(|protocol| protocol.name).collect())
    }

    #[test]
    fn a_name_selects_its_protocol_or_its_group() {
        assert_eq!(names(&["barrier/split"]).expect("known"), ["barrier/split"]);
        assert!(names(&["barrier"]).expect("known").len() > 15);
        let unknown = names(&["barrier/sp"]).expect_err("unknown").to_string();
        assert!(unknown.contains("barrier/sp") && unknown.contains("--list"), "{unknown}");
    }

    #[test]
    fn names_are_unique() {
        let mut names = names(&[]).expect("all");
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn blocks_wait_only_for_blocks_that_have_started_or_are_resident() {
        let left = Mutex::new(protocols().into_iter());
        let next = || left.lock().expect("nothing panics with the lock").next();
        let run_each = || {
            while let Some(protocol) = next() {
                let check = Check::default().on(protocol.config).schedules(3);
                let passed = check.run(|device| protocol.run(device));
                let passed =
                    passed.unwrap_or_else(|failure| panic!("{}: {failure}", protocol.name));
                assert_eq!(passed.warning(), None, "{}", protocol.name);
            }
        };
        // A run has one thread.
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
                scope.spawn(run_each);
            }
        });
    }
}
