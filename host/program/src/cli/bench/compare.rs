//! `gridsync bench compare`: compares two runs line by line.

use super::{Global, Usage};
use crate::cli::exit::Wrong;
use crate::cli::output;
use crate::records::{Change, Comparison, Runs, Verdict};
use gridsync_lab::display::table;
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
    /// lab ladder, lab scans, lab sorts and lab launches), or a folder of such files.
    #[arg(value_name = "BEFORE")]
    first: PathBuf,
    /// The run after.
    #[arg(value_name = "AFTER")]
    second: PathBuf,
    /// Exit with 1 if a line is slower by more than its noise plus this. Only reading or copying the
    /// elements does not count, nor does NumPy or SciPy: neither is gridsync.
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    fail_over: Option<f64>,
}

impl Compare {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let [first, second] = [&self.first, &self.second].map(|path| Runs::read(from_ref(path)));
        let compared = Comparison::of(&first?, &second?);
        if compared.lines.is_empty() {
            let lines = [&compared.only_before, &compared.only_after].map(Vec::len);
            return Err(Usage(format!(
                "nothing to compare: none of {} lines in {} and {} in {} measured the same",
                lines[0],
                self.first.display(),
                lines[1],
                self.second.display(),
            ))
            .into());
        }
        if compared.devices_differ {
            let [first, second] = &compared.devices;
            output::say(format_args!(
                "gridsync: the devices differ: {} before, {} after",
                first.join(", "),
                second.join(", ")
            ));
        }
        output::result(global, || text(&compared), || &compared)?;
        self.fail_over.map_or(Ok(()), |limit| expect_within(&compared, limit))
    }
}

/// An error if a line is slower by more than its noise plus `limit` percent.
fn expect_within(compared: &Comparison, limit: f64) -> anyhow::Result<()> {
    let is_ours = |change: &&Change| {
        let variant = &*change.what.variant;
        let is_a_peer = ["numpy.", "scipy."].iter().any(|peer| variant.starts_with(peer));
        !matches!(variant, "read" | "copy") && !is_a_peer
    };
    let excess = |change: &Change| change.change_percent - change.noise_percent;
    let slower = compared.with(Verdict::Slower).into_iter().filter(is_ours);
    let over: Vec<_> = slower.filter(|change| excess(change) > limit).collect();
    let worst = over.iter().max_by(|a, b| excess(a).total_cmp(&excess(b)));
    worst.map_or(Ok(()), |worst| {
        Err(Wrong(format!(
            "{} of {} lines are slower by more than their noise plus {limit} %; the worst, {}, is slower by {:.1} %, and its noise is {:.1} %",
            over.len(),
            compared.lines.len(),
            worst.what.line,
            worst.change_percent,
            worst.noise_percent
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
                change.what.line.to_string(),
                format!("{:.3}", change.before.median),
                format!("{:.3}", change.after.median),
                format!("{:+.1}", change.change_percent),
                format!("{:.1}", change.noise_percent),
            ]);
        }
        parts.push(table.to_string());
    }
    for (when, lines) in [("before", &compared.only_before), ("after", &compared.only_after)] {
        if !lines.is_empty() {
            let lines = lines.iter().map(|measured| format!("\n  {}", measured.line));
            parts.push(format!("Only {when}:{}", lines.collect::<String>()));
        }
    }
    parts.push(summary(compared));
    parts.join("\n\n")
}

/// The last line: how many lines are slower, faster, and unchanged.
fn summary(compared: &Comparison) -> String {
    let Comparison { lines, only_before, only_after, slower, faster, same, unknown, .. } = compared;
    let mut line =
        format!("{} lines: {slower} slower, {faster} faster, {same} within the noise", lines.len());
    if *unknown > 0 {
        line += &format!(", {unknown} with one sample only");
    }
    format!(
        "{line}; median change {:+.1} %; {} only before, {} only after",
        compared.median_change_percent,
        only_before.len(),
        only_after.len()
    )
}
