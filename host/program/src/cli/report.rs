//! `gridsync report`: writes a page with all results.

use super::Global;
use super::exit::Usage;
use super::lab::folder;
use super::output;
use crate::records::Runs;
use crate::report;
use crate::shown;
use serde_json::json;
use std::path::PathBuf;

/// Make a page of all results, with figures
///
/// It is one file of HTML, DIR/index.html, without scripts or anything from a network. Each figure is
/// an SVG in DIR too, and the numbers of each figure and table are a CSV. A figure without records is
/// left out, and the page says which records it needs.
///
/// Of each line the newest record is shown. Records have no date, so it is that of the folder whose
/// name begins with one, as 2026-11-23-nvidia-h200. Within a date the order is that of the call, then
/// that of the names of the files. Files whose names end with -before are left out of folders.
///
/// The top of the page has the driver, the clocks and other facts about the machines. What the records
/// lack can be in a file machine.json in their folder: {"device": "NVIDIA H200", "made": {"driver": "580.159.04", "cuda": "13.0",
/// "cub": "3.0.1", "sm_clock_mhz": 1980, "memory_clock_mhz": 3201, "power_limit_w": 700, "ecc": true}}.
#[derive(clap::Args)]
pub(crate) struct Report {
    /// Files of records (--output of bench and of the ladders), of JSON (--json of bench, lab, dag and
    /// --check), and folders of such files (*.jsonl, *.json).
    #[arg(required = true, value_name = "RUNS")]
    runs: Vec<PathBuf>,
    /// The folder for the page and its figures. Files of these names in it are replaced.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: PathBuf,
}

impl Report {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let runs = Runs::read(&self.runs)?;
        for unknown in &runs.unknown {
            output::say(format_args!("gridsync: no figure shows {}", shown::path(&unknown.path)));
        }
        let files = report::files(&runs).map_err(|error| Usage(error.to_string()))?;
        let files: Vec<_> =
            files.iter().map(|(name, content)| (name.as_str(), content.clone())).collect();
        let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
        folder::prepare(&self.output, &names)?;
        folder::write(&self.output, &files)?;
        let index = self.output.join(report::INDEX).display().to_string();
        let figures = names.iter().filter(|name| name.ends_with(".svg")).count();
        output::result(
            global,
            || format!("{index}: {} records, {figures} figures", runs.records.len()),
            || json!({ "page": index, "records": runs.records.len(), "files": names }),
        )
    }
}
