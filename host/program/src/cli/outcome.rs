//! The outcome of a check of a kernel or a protocol: as text and as JSON.

use super::Global;
use gridsync::check::{Every, Failure, Passed, Rerun, Weakened};
use gridsync::device::Weaken;
use gridsync_lab::display::table;
use serde::Serialize;

/// The result of the check of one kernel or protocol.
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
    /// It was right in all executions that were explored.
    Explored {
        /// Name.
        name: String,
        /// Whether it is right.
        #[cfg_attr(feature = "schema", schemars(extend("const" = true)))]
        right: bool,
        /// Executions that differ in more than the order of independent steps.
        executions: u64,
        /// Whether they are all.
        exhausted: bool,
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

/// The outcome of the check of one kernel or protocol.
pub(super) type Outcome = Result<Right, Box<Failure>>;

/// The result of a check that has found nothing wrong.
pub(super) enum Right {
    /// It passed under this many schedules.
    Passed(Passed),
    /// It passed in the executions that were explored.
    Explored(Every),
    /// Which of its orderings are needed.
    Weakened(Vec<Weakened>),
}

/// The text of an outcome. `again` is the call that repeats a failure under a seed, without the
/// seed, and `schedules` the number of schedules of each weaker form.
pub(super) fn text(
    global: &Global,
    name: &str,
    outcome: &Outcome,
    schedules: u64,
    again: &str,
) -> String {
    let weakened = match outcome {
        Err(failure) => {
            let again = match &failure.rerun {
                Rerun::Seed(seed) => format!("\nor {again} --schedules 1 --seed {seed}"),
                Rerun::Path(_) => String::new(),
            };
            return format!("{name}: wrong\n{failure}{again}");
        }
        Ok(Right::Passed(Passed { schedules, distinct, .. })) => {
            return format!("{name}: right under {schedules} schedules, {distinct} different");
        }
        Ok(Right::Explored(every)) => {
            let all = if every.exhausted { "all" } else { "the first" };
            return format!("{name}: right in {all} {} executions", every.executions);
        }
        Ok(Right::Weakened(weakened)) => weakened,
    };
    let needless = weakened.iter().filter(|it| it.caught.is_none()).count();
    let mut text = format!(
        "{name}: {} weaker forms, {} caught, {needless} not needed by any of {schedules} schedules\n",
        weakened.len(),
        weakened.len() - needless,
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
            caught.map_or("NOT NEEDED".to_owned(), |it| format!("{}, seed {}", it.by(), it.seed)),
        ]);
    }
    text += &rows.to_string();
    text
}

/// The file name and its folder.
fn short(path: &str) -> &str {
    let from = path.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    &path[from..]
}

impl Shown {
    pub(super) fn of(name: &str, outcome: &Outcome) -> Self {
        let name = name.to_owned();
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
            Ok(Right::Explored(Every { executions, exhausted, .. })) => {
                Self::Explored { name, right: true, executions: *executions, exhausted: *exhausted }
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

    #[test]
    fn a_short_path_is_the_file_and_its_folder() {
        assert_eq!(short("kernels/lab/src/barrier/tree.rs"), "barrier/tree.rs");
        assert_eq!(short("tree.rs"), "tree.rs");
    }
}
