//! The result of climbing a ladder, and the page about it.

use super::sums::NO_INTEGER_RUNG;
use super::{Kind, chart, scans, sorts, sums};
use crate::bench::{Notes, Record, Times, Warning};
use crate::display::svg::ChartError;
use crate::display::{Page, table};
use crate::{Chart, Report};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The result of climbing a ladder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Climbed {
    /// The name of the device.
    pub device: String,
    /// The type of the elements.
    pub dtype: String,
    /// Elements of the array.
    pub n: usize,
    /// The best rate that a rung can reach.
    #[serde(flatten)]
    pub roof: Roof,
    /// The rungs, all of them right.
    pub rungs: Vec<Measured>,
    /// The rungs that were left out.
    pub absent: Vec<Absent>,
    /// Blocks of the grid with the best rate.
    #[serde(skip)]
    pub roof_blocks: u32,
}

/// The best rate of a kernel that only moves the bytes that every rung has to move, GB/s (10⁹
/// bytes). Null in the emulator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Roof {
    /// Of a kernel that only reads.
    #[serde(rename = "reading_gb_per_s")]
    Reading(Option<f64>),
    /// Of a copy.
    #[serde(rename = "copy_gb_per_s")]
    Copying(Option<f64>),
    /// Of a copy, which moves as many bytes as a single pass of a sort.
    #[serde(rename = "pass_gb_per_s")]
    Pass(Option<f64>),
}

/// A rung whose result was right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Measured {
    /// Its number.
    pub rung: u32,
    /// Its name.
    pub name: String,
    /// Elements that it was measured with.
    pub n: usize,
    /// µs of all its launches, the median. Null in the emulator.
    pub us: Option<f64>,
    /// The least sample.
    pub min: Option<f64>,
    /// The greatest sample.
    pub max: Option<f64>,
    /// Number of samples.
    pub samples: Option<usize>,
    /// GB/s (10⁹ bytes) of the bytes that every rung has to move. Null in the emulator.
    pub gb_per_s: Option<f64>,
    /// The measurement rules that were broken. Null in the emulator.
    pub warnings: Option<Vec<Warning>>,
    /// Accesses of a warp to shared memory, counted by the emulator in one block, as all counts.
    /// Null for a rung that has no blocks to count.
    pub shared_accesses: Option<u64>,
    /// The additional passes of these accesses, because lanes accessed different words of one bank.
    pub bank_conflicts: Option<u64>,
    /// Barriers of the block.
    pub barriers: Option<u64>,
    /// The fields that not all ladders have.
    #[serde(flatten)]
    pub own: Own,
}

/// The fields of a rung that not all ladders have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Own {
    /// A scan or a sort: the result is an array.
    Array {
        /// The rate, in percent of that of a copy.
        percent_of_copying: Option<f64>,
        /// Launches, and setting words to 0 if the rung does that.
        launches: usize,
        /// Words read and written of the array and of arrays of sums or counts.
        words_moved: usize,
        /// Elements of the block that was counted.
        tile: Option<u64>,
        /// `shared_accesses` and `shuffles`.
        warp_operations: Option<u64>,
        /// Shuffles of a warp.
        shuffles: Option<u64>,
    },
    /// A sum.
    Sum {
        /// The rate, in percent of that of only reading.
        percent_of_reading: Option<f64>,
        /// Additions of a warp.
        warp_additions: Option<u64>,
        /// Blocks, and threads of a block, of the first launch.
        #[serde(skip)]
        geometry: Option<[u64; 2]>,
    },
}

/// A rung that is not available on the device, or for this length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Absent {
    /// Its name.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl Measured {
    /// The number of the rung and its name, for a chart.
    pub(super) fn label(&self) -> String {
        format!("{} {}", self.rung, self.name)
    }

    /// The first cells of every row: the number of the rung, its name, and its elements.
    fn heads(&self) -> [String; 3] {
        [self.rung.to_string(), self.name.clone(), self.n.to_string()]
    }

    /// The rate in percent of that of the roof.
    const fn percent(&self) -> Option<f64> {
        match self.own {
            Own::Array { percent_of_copying: percent, .. }
            | Own::Sum { percent_of_reading: percent, .. } => percent,
        }
    }

    /// The cells of the counts.
    fn counts(&self) -> Vec<String> {
        let Self { shared_accesses, bank_conflicts, barriers, .. } = *self;
        let (moved, [first, second]) = match self.own {
            Own::Sum { warp_additions, .. } => (Vec::new(), [warp_additions, shared_accesses]),
            Own::Array { launches, words_moved, tile, warp_operations, .. } => {
                let words = format!("{:.2}", words_moved as f64 / self.n as f64);
                (vec![launches.to_string(), words], [tile, warp_operations])
            }
        };
        let counted = [first, second, bank_conflicts, barriers].into_iter().flatten();
        moved.into_iter().chain(counted.map(|times| times.to_string())).collect()
    }
}

impl Climbed {
    /// The ladder.
    pub(super) const fn kind(&self) -> &'static Kind {
        match self.roof {
            Roof::Reading(_) => &sums::KIND,
            Roof::Copying(_) => &scans::KIND,
            Roof::Pass(_) => &sorts::KIND,
        }
    }

    /// The rate of the roof, GB/s.
    const fn roof(&self) -> Option<f64> {
        match self.roof {
            Roof::Reading(rate) | Roof::Copying(rate) | Roof::Pass(rate) => rate,
        }
    }

    /// The times as records.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        let kind = self.kind();
        let record = |rung: &Measured| {
            let mut params = json!({
                "rung": rung.rung, "dtype": self.dtype, "n": rung.n, (kind.rate): self.roof(),
            });
            match rung.own {
                Own::Array { launches, words_moved, .. } => {
                    params["launches"] = launches.into();
                    params["words_moved"] = words_moved.into();
                }
                Own::Sum { geometry: Some([blocks, threads]), .. } => {
                    params["blocks"] = blocks.into();
                    params["threads"] = threads.into();
                }
                Own::Sum { geometry: None, .. } => {}
            }
            let times = Times {
                median: rung.us?,
                min: rung.min?,
                max: rung.max?,
                samples: rung.samples?,
                warnings: rung.warnings.clone().unwrap_or_default(),
            };
            let record = Record::new(kind.suite, &rung.name, &self.device, params, times);
            Some(record.moving((rung.n * kind.bytes) as u64))
        };
        self.rungs.iter().filter_map(record).collect()
    }

    /// The times of the rungs and their percentage of the roof's rate, and the meaning of the marks
    /// below them.
    fn times(&self) -> String {
        let mut table = table();
        let percent = format!("% of {}", self.kind().roof);
        table.set_header(["", "rung", "elements", "µs", "GB/s", &percent, ""]);
        let mut notes = Notes::default();
        for rung in &self.rungs {
            let rounded = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.1}"));
            let marks = notes.marks(rung.warnings.as_deref().unwrap_or_default());
            let values = [rung.us, rung.gb_per_s, rung.percent()].map(rounded);
            table.add_row(rung.heads().into_iter().chain(values).chain([marks]));
        }
        let notes: String = notes.lines().map(|note| format!("\n{note}")).collect();
        format!("{table}\n{notes}")
    }
}

impl Report for Climbed {
    fn page(&self) -> Page {
        let Self { device, dtype, n, .. } = self;
        let Kind { name, right, only: [only, then], heads, note, records, .. } = self.kind();
        let moved = self.roof().map_or(String::new(), |rate| {
            let blocks = self.roof_blocks;
            format!("; only {only} by {blocks} blocks, it is {then} at {rate:.0} GB/s")
        });
        let mut page =
            Page::new(format!("The {name} of {n} {dtype} on {device}, each time {right}{moved}"));
        if self.roof().is_some() {
            page.drawing("", &self.times());
            page.file(records, Record::lines_made_now(&self.records()));
        }
        let mut counts = table();
        counts.set_header(["", "rung", "elements"].iter().chain(*heads));
        for rung in &self.rungs {
            counts.add_row(rung.heads().into_iter().chain(rung.counts()));
        }
        page.table("", &counts);
        for Absent { name, why } in &self.absent {
            page.drawing("", &format!("without {name}: {why}"));
        }
        if chart::lacks_the_integer_rung(self.kind().suite, dtype) {
            page.means(NO_INTEGER_RUNG);
        }
        page.means(*note);
        page
    }

    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        let records = self.records();
        let rates = chart::rates(&records.iter().collect::<Vec<_>>())?;
        Ok(rates.into_iter().chain([chart::operations(self)?]).collect())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Experiment;

    /// A plausible result of a GPU: 2^20 elements in 4 µs, for which the roof is 2 µs.
    pub(in crate::ladder) fn timed(roof: Roof, rung: u32, name: &str, own: Own) -> Climbed {
        let rung = Measured {
            rung,
            name: name.into(),
            n: 1 << 20,
            us: Some(4.0),
            min: Some(4.0),
            max: Some(4.0),
            samples: Some(1),
            gb_per_s: Some(1048.6),
            warnings: Some(Warning::too_short(4.0).into_iter().collect()),
            shared_accesses: Some(0),
            bank_conflicts: Some(0),
            barriers: Some(18),
            own,
        };
        Climbed {
            device: "a GPU".into(),
            dtype: "u32".into(),
            n: 1 << 20,
            roof,
            rungs: vec![rung],
            absent: Vec::new(),
            roof_blocks: 1056,
        }
    }

    fn last_block() -> Climbed {
        let geometry = Some([256, 256]);
        let own = Own::Sum { percent_of_reading: Some(50.0), warp_additions: Some(90), geometry };
        timed(Roof::Reading(Some(2097.2)), 16, "last block", own)
    }

    fn array(words_moved: usize) -> Own {
        Own::Array {
            percent_of_copying: Some(50.0),
            launches: 2,
            words_moved,
            tile: Some(2048),
            warp_operations: Some(100),
            shuffles: Some(60),
        }
    }

    fn look_back() -> Climbed {
        timed(Roof::Copying(Some(4194.3)), 9, "look-back", array(2 << 20))
    }

    fn one_sweep() -> Climbed {
        timed(Roof::Pass(Some(4194.3)), 6, "one sweep", array(9 << 20))
    }

    #[test]
    fn a_timed_rung_shows_its_rate_its_counts_and_its_warning() {
        for (climbed, times, counts) in [
            (
                last_block(),
                "16 last block 1048576 4.0 1048.6 50.0 [1]",
                "16 last block 1048576 90 0 0 18",
            ),
            (
                look_back(),
                "9 look-back 1048576 4.0 1048.6 50.0 [1]",
                "9 look-back 1048576 2 2.00 2048 100 0 18",
            ),
            (
                one_sweep(),
                "6 one sweep 1048576 4.0 1048.6 50.0 [1]",
                "6 one sweep 1048576 2 9.00 2048 100 0 18",
            ),
        ] {
            let text = climbed.page().text(true);
            let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            let lines: Vec<_> = text.lines().map(words).collect();
            for row in [times, counts] {
                assert!(lines.iter().any(|line| line == row), "{row}: {text}");
            }
            assert!(lines.iter().any(|line| line.starts_with("[1] too short: ")), "{text}");
            let in_the_tables = text.lines().filter(|line| !line.starts_with('['));
            let widest = in_the_tables.map(|line| line.chars().count()).max();
            assert!(widest <= Some(80), "{text}");
        }
    }

    #[test]
    fn a_timed_climb_has_charts_and_records() {
        for (climbed, files, parts) in [
            (
                last_block(),
                sums::Args::FILES,
                ["16 last block", "only reading", "reading_gb_per_s"],
            ),
            (look_back(), scans::Args::FILES, ["9 look-back", "only copying", "copy_gb_per_s"]),
            (one_sweep(), sorts::Args::FILES, ["6 one sweep", "only copying", "pass_gb_per_s"]),
        ] {
            let charts = climbed.charts().expect("whole charts");
            let (records, _) = climbed.page().into_files_and_wrong();
            let names = charts.iter().map(Chart::file);
            let names: Vec<_> = names.chain([records[0].0.to_owned()]).collect();
            assert_eq!(names, files);
            let all = format!("{}{}", charts[0].svg, records[0].1);
            for part in parts {
                assert!(all.contains(part), "{part}: {all}");
            }
        }
    }

    #[test]
    fn json_is_read_back_and_has_the_names_of_its_ladder() {
        for (climbed, roof, percent) in [
            (last_block(), "reading_gb_per_s", "percent_of_reading"),
            (look_back(), "copy_gb_per_s", "percent_of_copying"),
            (one_sweep(), "pass_gb_per_s", "percent_of_copying"),
        ] {
            let json = serde_json::to_value(&climbed).expect("JSON");
            assert!(json[roof].is_number() && json["rungs"][0][percent].is_number(), "{json}");
            let read: Climbed = serde_json::from_value(json.clone()).expect("a result");
            assert_eq!(serde_json::to_value(&read).ok(), Some(json));
            let [record] = &read.records()[..] else { panic!("one rung: {read:?}") };
            let bytes = climbed.kind().bytes as u64;
            assert_eq!((record.bytes, record.number(roof)), (Some(bytes << 20), climbed.roof()));
        }
    }
}
