//! `gridsync bench compare`: compares two runs line by line.

use super::{Global, Usage};
use crate::cli::exit::Wrong;
use crate::cli::output;
use crate::records::{Change, Comparison, Record, Runs, Verdict};
use gridsync_lab::display::table;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::slice::from_ref;

/// Compare the records of two runs, line by line
///
/// A line is what was measured: the suite, the variant and its parameters. It counts as slower or
/// faster if the medians differ by more than the distance from the least to the greatest sample of
/// either run. Runs on two GPUs of one model may differ by more than that.
///
/// If several records measured the same, the newest is compared. Files whose names end with -before
/// are left out of folders.
#[derive(clap::Args)]
pub(super) struct Compare {
    /// The run before: a file of records (--output of bench and of the ladders; --json of bench, dag,
    /// lab ladder, lab scans and lab launches), or a folder of such files.
    #[arg(value_name = "BEFORE")]
    first: PathBuf,
    /// The run after.
    #[arg(value_name = "AFTER")]
    second: PathBuf,
    /// Exit with 1 if a line is slower by more than this, and by more than the noise. Only reading or copying
    /// the elements does not count, nor does NumPy or SciPy: neither is gridsync.
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    fail_over: Option<f64>,
}

impl Compare {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let [first, second] = [&self.first, &self.second].map(|path| Runs::read(from_ref(path)));
        let compared = Comparison::of(&first?, &second?);
        if compared.changes.is_empty() {
            let lines = [&compared.only_first, &compared.only_second].map(Vec::len);
            return Err(Usage(format!(
                "nothing to compare: none of {} lines in {} and {} in {} measured the same",
                lines[0],
                self.first.display(),
                lines[1],
                self.second.display(),
            ))
            .into());
        }
        if let Some([first, second]) = &compared.devices {
            output::say(format_args!(
                "gridsync: the devices differ: {} before, {} after",
                first.join(", "),
                second.join(", ")
            ));
        }
        output::result(global, || text(&compared), || as_json(&compared))?;
        self.fail_over.map_or(Ok(()), |limit| expect_within(&compared, limit))
    }
}

/// An error if a line is slower by more than `limit` percent.
fn expect_within(compared: &Comparison, limit: f64) -> anyhow::Result<()> {
    let slower = compared.with(Verdict::Slower);
    let is_ours = |change: &&Change| {
        let variant = &*change.line.variant;
        let is_a_peer = ["numpy.", "scipy."].iter().any(|peer| variant.starts_with(peer));
        !matches!(variant, "read" | "copy") && !is_a_peer
    };
    let over: Vec<_> =
        slower.into_iter().filter(is_ours).filter(|change| change.percent() > limit).collect();
    over.first().map_or(Ok(()), |worst| {
        Err(Wrong(format!(
            "{} of {} lines are slower by more than {limit} %; the worst, {}, takes {:+.1} %",
            over.len(),
            compared.changes.len(),
            worst.line,
            worst.percent()
        ))
        .into())
    })
}

/// Parses a percentage of at least 0.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok();
    number
        .filter(|percent| percent.is_finite() && *percent >= 0.0)
        .ok_or_else(|| "give a percentage of 0 or more, such as 2 or 0.5".into())
}

fn text(compared: &Comparison) -> String {
    let mut parts = Vec::new();
    for verdict in [Verdict::Slower, Verdict::Faster, Verdict::Unknown] {
        let changes = compared.with(verdict);
        if changes.is_empty() {
            continue;
        }
        let mut table = table();
        table.set_header([verdict.name(), "µs before", "after", "%", "noise %"]);
        for change in changes {
            table.add_row([
                change.line.to_string(),
                format!("{:.3}", change.first.median),
                format!("{:.3}", change.second.median),
                format!("{:+.1}", change.percent()),
                format!("{:.1}", change.noise()),
            ]);
        }
        parts.push(table.to_string());
    }
    for (when, records) in [("before", &compared.only_first), ("after", &compared.only_second)] {
        if !records.is_empty() {
            let lines = records.iter().map(|record| format!("\n  {}", record.line()));
            parts.push(format!("Only {when}:{}", lines.collect::<String>()));
        }
    }
    parts.push(summary(compared));
    parts.join("\n\n")
}

/// The last line: how many lines are slower, faster, and unchanged.
fn summary(compared: &Comparison) -> String {
    let count = |verdict| compared.with(verdict).len();
    let mut line = format!(
        "{} lines: {} slower, {} faster, {} within the noise",
        compared.changes.len(),
        count(Verdict::Slower),
        count(Verdict::Faster),
        count(Verdict::Same),
    );
    if count(Verdict::Unknown) > 0 {
        line += &format!(", {} with one sample only", count(Verdict::Unknown));
    }
    format!(
        "{line}; median change {:+.1} %; {} only before, {} only after",
        median(compared),
        compared.only_first.len(),
        compared.only_second.len()
    )
}

/// The median of the changes in percent. Needs at least one change.
fn median(compared: &Comparison) -> f64 {
    let mut percents: Vec<_> = compared.changes.iter().map(Change::percent).collect();
    percents.sort_by(f64::total_cmp);
    let middle = percents.len() / 2;
    match percents.len() % 2 {
        0 => (percents[middle - 1] + percents[middle]) / 2.0,
        _ => percents[middle],
    }
}

fn as_json(compared: &Comparison) -> Value {
    let time = |record: &Record| {
        json!({
            "device": record.device, "median": record.median, "min": record.min,
            "max": record.max, "samples": record.samples,
        })
    };
    let what = |record: &Record| json!({ "suite": record.suite, "variant": record.variant, "params": record.params });
    let line = |change: &Change| {
        let mut line = what(&change.second);
        line["before"] = time(&change.first);
        line["after"] = time(&change.second);
        line["change_percent"] = output::number(change.percent());
        line["noise_percent"] = output::number(change.noise());
        line["verdict"] = change.verdict().name().into();
        line
    };
    let count = |verdict| compared.with(verdict).len();
    json!({
        "lines": compared.changes.iter().map(line).collect::<Value>(),
        "only_before": compared.only_first.iter().map(what).collect::<Value>(),
        "only_after": compared.only_second.iter().map(what).collect::<Value>(),
        "slower": count(Verdict::Slower),
        "faster": count(Verdict::Faster),
        "same": count(Verdict::Same),
        "unknown": count(Verdict::Unknown),
        "median_change_percent": output::number(median(compared)),
        "devices_differ": compared.devices.is_some(),
    })
}
