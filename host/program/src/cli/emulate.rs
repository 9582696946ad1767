//! `gridsync emulate`: runs the protocols under many schedules of the emulator, as written and
//! weakened.

use super::choice::DeviceChoice;
use super::exit::{Usage, Wrong};
use super::progress::progress;
use super::{Global, output};
use gridsync::check::{Check, Failure, Passed, Rerun, Weakened};
use gridsync::device::Weaken;
use gridsync_lab::count::within;
use gridsync_lab::display::table;
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

/// The result of one protocol.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(untagged)]
pub enum Shown {
    /// It failed as it is written.
    Wrong {
        /// Name.
        name: String,
        /// Whether it is right.
        #[cfg_attr(feature = "schema", schemars(extend("const" = false)))]
        right: bool,
        /// The seed of the schedule. Null if the schedule has none.
        seed: Option<u64>,
        /// What was wrong.
        what: String,
        /// What happened, in lines. Null if it did not fail again.
        story: Option<String>,
    },
    /// It was right under all schedules.
    Passed {
        /// Name.
        name: String,
        /// Whether it is right.
        #[cfg_attr(feature = "schema", schemars(extend("const" = true)))]
        right: bool,
        /// Schedules that were drawn.
        schedules: u64,
        /// Different runs among them.
        distinct: u64,
    },
    /// It was right as it is written, and was then weakened.
    Weakened {
        /// Name.
        name: String,
        /// Whether it is right.
        #[cfg_attr(feature = "schema", schemars(extend("const" = true)))]
        right: bool,
        /// The operations that order memory or wait, each weakened in one way.
        sites: Vec<Site>,
    },
}

/// An operation that orders memory or waits, weakened in one way.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Site {
    /// The source file.
    file: &'static str,
    /// The line.
    line: u32,
    /// What it does as written, such as `release fence, device scope`.
    does: String,
    /// A weaker order, a smaller scope, `out` (removed) or `unordered` (orders nothing).
    #[cfg_attr(feature = "schema", schemars(extend("enum" = [
        "weak", "relaxed", "acquire", "release", "acq_rel", "block scope", "cluster scope", "device scope",
        "out", "unordered"
    ])))]
    weakened: String,
    /// What noticed. Null if all schedules passed: no run needs it, or no check sees it.
    caught: Option<Noticed>,
}

/// What noticed a weakened operation.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct Noticed {
    /// The kind of failure.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["wrong result", "race", "deadlock", "endless", "unwritten", "fault", "refused"])))]
    by: &'static str,
    /// The seed of the schedule.
    seed: u64,
    /// What was wrong.
    what: String,
}

/// The outcome of one protocol.
type Outcome = Result<Right, Box<Failure>>;

/// The result of a protocol that is correct.
enum Right {
    /// It passed under this many schedules.
    Passed(Passed),
    /// Which of its orderings are needed.
    Weakened(Vec<Weakened>),
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
                let text = self.text(global, &protocol.name, &outcome);
                bar.suspend(|| output::print(text.trim_end()))?;
            }
            outcomes.push(outcome);
            bar.inc(1);
        }
        bar.finish_and_clear();
        if global.json {
            let each = chosen.iter().zip(&outcomes);
            let protocols = each.map(|(protocol, outcome)| Shown::of(protocol, outcome)).collect();
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

    fn text(&self, global: &Global, name: &str, outcome: &Outcome) -> String {
        let weakened = match outcome {
            Err(failure) => {
                let again = match failure.rerun {
                    Rerun::Seed(seed) => {
                        format!("\nor gridsync emulate {name} --schedules 1 --seed {seed}")
                    }
                    Rerun::Path(_) => String::new(),
                };
                return format!("{name}: wrong\n{failure}{again}");
            }
            Ok(Right::Passed(Passed { schedules, distinct, .. })) => {
                return format!("{name}: right under {schedules} schedules, {distinct} different");
            }
            Ok(Right::Weakened(weakened)) => weakened,
        };
        let needless = weakened.iter().filter(|it| it.caught.is_none()).count();
        let mut text = format!(
            "{name}: {} weaker forms, {} caught, {needless} not needed by any of {} schedules\n",
            weakened.len(),
            weakened.len() - needless,
            self.schedules
        );
        if global.quiet {
            return text;
        }
        let mut rows = table();
        for it in weakened {
            let (place, does) = (it.weaken.site.place, it.weaken.site.does);
            let caught = it.caught.as_ref();
            rows.add_row([
                format!("  {}:{}", short(place.file()), place.line()),
                format!("{does} → {}", it.weaken.change),
                caught
                    .map_or("NOT NEEDED".to_owned(), |it| format!("{}, seed {}", it.by(), it.seed)),
            ]);
        }
        text += &rows.to_string();
        text
    }
}

/// The file name and its folder.
fn short(path: &str) -> &str {
    let from = path.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    &path[from..]
}

impl Shown {
    fn of(protocol: &Protocol, outcome: &Outcome) -> Self {
        let name = protocol.name.clone();
        match outcome {
            Err(failure) => Self::Wrong {
                name,
                right: false,
                seed: match failure.rerun {
                    Rerun::Seed(seed) => Some(seed),
                    Rerun::Path(_) => None,
                },
                what: failure.what.to_string(),
                story: failure.story.as_ref().map(ToString::to_string),
            },
            Ok(Right::Passed(Passed { schedules, distinct, .. })) => {
                Self::Passed { name, right: true, schedules: *schedules, distinct: *distinct }
            }
            Ok(Right::Weakened(weakened)) => {
                Self::Weakened { name, right: true, sites: weakened.iter().map(Site::of).collect() }
            }
        }
    }
}

impl Site {
    fn of(weakened: &Weakened) -> Self {
        let Weaken { site, change } = weakened.weaken;
        let caught = weakened.caught.as_ref();
        Self {
            file: site.place.file(),
            line: site.place.line(),
            does: site.does.to_string(),
            weakened: change.to_string(),
            caught: caught.map(|caught| Noticed {
                by: caught.by(),
                seed: caught.seed,
                what: caught.what.to_string(),
            }),
        }
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
    fn a_short_path_is_the_file_and_its_folder() {
        assert_eq!(short("kernels/lab/src/barrier/tree.rs"), "barrier/tree.rs");
        assert_eq!(short("tree.rs"), "tree.rs");
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
