//! `gridsync emulate`: runs the protocols under many schedules of the emulator, as written and
//! weakened.

use super::choice::DeviceChoice;
use super::exit::{Usage, Wrong};
use super::progress::progress;
use super::{Global, output};
use gridsync::check::{Check, Failure, Passed, Rerun, Weakened};
use gridsync_lab::count::within;
use gridsync_lab::display::table;
use gridsync_lab::protocols::{Protocol, protocols};
use serde_json::{Value, json};

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

/// The result of one protocol.
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
        if !matches!(global.device, DeviceChoice::Auto | DeviceChoice::Emulator(1)) {
            return Err(Usage("this runs in the emulator: leave --device out".to_owned()).into());
        }
        let chosen = self.chosen()?;
        if self.list {
            let names = || chosen.iter().map(|protocol| protocol.name.as_str());
            return output::result(
                global,
                || names().collect::<Vec<_>>().join("\n"),
                || json!({ "protocols": names().collect::<Vec<_>>() }),
            );
        }
        let bar = progress(global, chosen.len());
        let mut outcomes = Vec::new();
        for protocol in &chosen {
            bar.set_message(protocol.name.clone());
            let check = Check::default().on(protocol.config);
            let check = check.from(self.seed).schedules(self.schedules);
            let outcome = match self.weaken {
                true => check.weaken(|device| protocol.run(device)).map(Right::Weakened),
                false => check.run(|device| protocol.run(device)).map(Right::Passed),
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
            let all =
                chosen.iter().zip(&outcomes).map(|(protocol, outcome)| json(protocol, outcome));
            output::print(
                &json!({ "schedules": self.schedules, "protocols": all.collect::<Vec<_>>() })
                    .to_string(),
            )?;
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

fn json(protocol: &Protocol, outcome: &Outcome) -> Value {
    let name = &protocol.name;
    match outcome {
        Err(failure) => {
            let seed = match failure.rerun {
                Rerun::Seed(seed) => Some(seed),
                Rerun::Path(_) => None,
            };
            let what = failure.what.to_string();
            let story = failure.story.as_ref().map(ToString::to_string);
            json!({ "name": name, "right": false, "seed": seed, "what": what, "story": story })
        }
        Ok(Right::Passed(Passed { schedules, distinct, .. })) => {
            json!({ "name": name, "right": true, "schedules": schedules, "distinct": distinct })
        }
        Ok(Right::Weakened(weakened)) => {
            let sites: Vec<Value> = weakened.iter().map(site).collect();
            json!({ "name": name, "right": true, "sites": sites })
        }
    }
}

fn site(weakened: &Weakened) -> Value {
    let place = weakened.weaken.site.place;
    let caught = weakened.caught.as_ref().map(
        |caught| json!({ "by": caught.by(), "seed": caught.seed, "what": caught.what.to_string() }),
    );
    json!({
        "file": place.file(),
        "line": place.line(),
        "does": weakened.weaken.site.does.to_string(),
        "weakened": weakened.weaken.change.to_string(),
        "caught": caught,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for protocol in protocols() {
            let check = Check::default().on(protocol.config).schedules(3);
            let passed = check.run(|device| protocol.run(device));
            let passed = passed.unwrap_or_else(|failure| panic!("{}: {failure}", protocol.name));
            assert_eq!(passed.warning(), None, "{}", protocol.name);
        }
    }
}
