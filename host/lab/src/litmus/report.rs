//! The result of `gridsync lab litmus`.

use super::shapes_table;
use crate::Report;
use crate::display::{Page, Table, table};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The final value of each register and location that a test names, such as `P0:r0` or `x`.
pub type State = BTreeMap<String, i32>;

/// The result of `gridsync lab litmus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Litmus {
    /// The result of each test.
    pub tests: Vec<Answer>,
    /// How many tests, from the first, are classic shapes. Not in the JSON.
    #[serde(skip)]
    pub shapes: usize,
    /// The name of the GPU that ran the tests, if one did. Not in the JSON.
    #[serde(skip)]
    pub gpu: Option<String>,
}

/// The result of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Answer {
    /// The file, or the name of a built-in test.
    pub file: String,
    /// The kind of the question.
    pub quantifier: Question,
    /// The model's answer: `reachable` or `unreachable` for `exists` and `~exists`, `holds` or
    /// `violated` for `forall`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["reachable", "unreachable", "holds", "violated"])))]
    pub model: String,
    /// Whether, by the model, every fair run ends.
    pub terminates: bool,
    /// The final states that the model allows.
    pub states: Vec<State>,
    /// Result of the emulator. Null if it cannot run the test.
    pub emulator: Option<Emulator>,
    /// Result of the GPU. Null if there is none, or if it cannot run the test.
    pub gpu: Option<OnGpu>,
    /// More for the page. Not in the JSON.
    #[serde(skip)]
    pub shown: Shown,
}

/// The kind of a question about the final states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Question {
    /// Is there a state that satisfies the formula?
    Exists,
    /// Is there none?
    #[serde(rename = "~exists")]
    NotExists,
    /// Do all states satisfy it?
    Forall,
}

/// Result of the emulator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Emulator {
    /// The final states that it reached.
    pub states: Vec<State>,
    /// Schedules that it ran.
    pub schedules: u64,
    /// Whether a thread waited forever in some run.
    pub endless: bool,
}

/// Result of a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct OnGpu {
    /// The final states that it reached.
    pub states: Vec<Counted>,
    /// Runs that ended.
    pub runs: u64,
    /// Runs in which a thread iterated a loop 4096 times.
    pub endless: u64,
}

/// A final state that a GPU reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Counted {
    /// The state.
    pub state: State,
    /// Runs that ended in it.
    pub count: u64,
}

/// What the page shows of a test in addition to the JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Whether the emulator reached a state that satisfies the formula.
    pub by_emulator: bool,
    /// Whether the GPU did.
    pub by_gpu: bool,
    /// Why the emulator cannot run the test.
    pub not_in_emulator: &'static str,
    /// Why the GPU cannot run the test.
    pub not_on_gpu: &'static str,
    /// A state of the emulator or the GPU that the model forbids, as a sentence.
    pub contradiction: Option<String>,
}

impl Answer {
    /// Number of states that the model allows and the emulator did not show.
    fn not_seen(&self) -> usize {
        let Some(emulator) = &self.emulator else { return 0 };
        self.states.iter().filter(|state| !emulator.states.contains(state)).count()
    }

    /// `all`, or how many states were seen; and whether a run had no end.
    fn seen(&self, states: usize, endless: bool) -> String {
        let all = self.states.len();
        let seen = if states == all { "all".to_owned() } else { format!("{states} of {all}") };
        seen + if endless { ", and no end" } else { "" }
    }

    /// The cells of a row about the test, with those of a GPU if there is one.
    fn cells(&self, has_gpu: bool) -> Vec<String> {
        let [emulated, schedules] = match &self.emulator {
            None => [format!("not run: {}", self.shown.not_in_emulator), String::new()],
            Some(emulator) => {
                let seen = self.states.len() - self.not_seen();
                [self.seen(seen, emulator.endless), emulator.schedules.to_string()]
            }
        };
        let mut cells = vec![
            self.file.replace('\n', "\\n").replace('\t', "\\t"),
            self.model.clone(),
            if self.terminates { "yes" } else { "no" }.to_owned(),
            self.states.len().to_string(),
            emulated,
            schedules,
        ];
        match &self.gpu {
            _ if !has_gpu => {}
            None => cells.push(format!("not run: {}", self.shown.not_on_gpu)),
            Some(gpu) => cells.extend([
                self.seen(gpu.states.len(), gpu.endless > 0),
                (gpu.runs + gpu.endless).to_string(),
            ]),
        }
        cells
    }
}

impl Litmus {
    /// A row for each of `tests`.
    fn table_of(&self, tests: &[Answer]) -> Table {
        let mut table = table();
        let columns = ["test", "asked", "every run ends", "states", "in the emulator", "schedules"];
        let of_gpu = ["on the GPU", "runs"].into_iter().filter(|_| self.gpu.is_some());
        table.set_header(columns.into_iter().chain(of_gpu));
        for test in tests {
            table.add_row(test.cells(self.gpu.is_some()));
        }
        table
    }

    /// What ran on the GPU.
    fn on_gpu(&self) -> String {
        let Some(name) = &self.gpu else { return "No GPU ran the tests.".to_owned() };
        let ran = || self.tests.iter().filter_map(|test| test.gpu.as_ref());
        let runs: u64 = ran().map(|gpu| gpu.runs).sum();
        format!("{} tests ran on {name}, {runs} runs in all.", ran().count())
    }
}

impl Report for Litmus {
    const ONE_A_LINE: bool = true;

    fn page(&self) -> Page {
        let (shapes, others) = self.tests.split_at(self.shapes);
        let mut page = Page::new(if shapes.is_empty() { "" } else { shapes_table::WHAT });
        if !shapes.is_empty() {
            page.table("", &shapes_table::table_of(shapes));
        }
        page.table("", &self.table_of(others));
        page.means(self.on_gpu());
        let not_seen: usize = self.tests.iter().map(Answer::not_seen).sum();
        page.means(format!(
            "States are final values of what the question names. {not_seen} states that the model \
             allows were not seen in the emulator. Some never are, such as a read of a write that \
             comes later in the run (load buffering): toolchain/simt/README.md, \"Weak memory\". A \
             state that it shows and the model forbids would be an error."
        ));
        for test in &self.tests {
            if let Some(what) = &test.shown.contradiction {
                page.wrong(format!("{}: {what}", test.file));
            }
        }
        page
    }
}
