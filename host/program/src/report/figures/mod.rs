//! The figures, in groups. Each is drawn if it has records.

mod accuracy;
mod dag;
mod ladders;
mod latencies;
mod launches;
mod roofline;
mod system;
mod throughputs;

use super::Of;
use super::html::sources;
use crate::records::{Document, Record, Sourced};
use gridsync_lab::display::svg::{ChartError, Estimate, Key, Lines, Series};
use gridsync_lab::{Chart, Report};

/// The values of a parameter in `records`, sorted.
fn ticks(records: &[&Sourced<Record>], name: &str) -> Vec<f64> {
    let mut ticks: Vec<f64> = records.iter().filter_map(|record| record.number(name)).collect();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    ticks
}

/// A figure.
pub(super) struct Figure {
    /// The name of its files, without `.svg` and `.csv`.
    pub(super) file: String,
    /// The chart.
    pub(super) svg: String,
    /// Its numbers.
    pub(super) csv: String,
    /// The caption, in sentences; may be empty.
    pub(super) caption: String,
    /// The files of its records.
    pub(super) sources: String,
}

/// Figures of one kind.
pub(super) struct Group {
    pub(super) title: &'static str,
    pub(super) figures: &'static [Wanted],
}

/// A figure, or several similar ones, drawn if they have records.
pub(super) struct Wanted {
    /// Description.
    pub(super) what: &'static str,
    /// The command that makes the records it needs.
    pub(super) needs: &'static str,
    /// Draws the figures; returns none without records.
    pub(super) draw: fn(&Of<'_>) -> Result<Vec<Figure>, ChartError>,
}

/// The result in `document` if it is of the experiment `name`.
macro_rules! as_variant {
    ($document:ident, $name:ident) => {
        match $document {
            Document::$name(report) => Some(report),
            _ => None,
        }
    };
}

/// All figures, in the order of the page.
pub(super) const GROUPS: &[Group] = &[
    Group {
        title: "Barriers and collectives of a grid",
        figures: &[
            Wanted {
                what: "Barrier latency by blocks",
                needs: "gridsync bench barrier --peers",
                draw: latencies::barrier,
            },
            Wanted {
                what: "The grid barrier compared with its peer at each shape",
                needs: "gridsync bench barrier --peers",
                draw: latencies::barrier_beside_peer,
            },
            Wanted {
                what: "All-reduce latency by blocks",
                needs: "gridsync bench all-reduce --peers",
                draw: latencies::all_reduce,
            },
            Wanted {
                what: "Latency of a scan over threads by blocks",
                needs: "gridsync bench scan-threads --peers",
                draw: latencies::scan_threads,
            },
        ],
    },
    Group {
        title: "Several GPUs",
        figures: &[
            Wanted {
                what: "Crossings of several GPUs",
                needs: "gridsync bench system --peers",
                draw: system::by_gpus,
            },
            Wanted {
                what: "Scaling over GPUs",
                needs: "gridsync bench scaling",
                draw: system::scaling,
            },
        ],
    },
    Group {
        title: "Bandwidth",
        figures: &[
            Wanted {
                what: "Bandwidth of reductions",
                needs: "gridsync bench reduce --peers",
                draw: throughputs::reduce,
            },
            Wanted {
                what: "Bandwidth of scans",
                needs: "gridsync bench scan --peers",
                draw: throughputs::scan,
            },
            Wanted {
                what: "Bandwidth of selections",
                needs: "gridsync bench select --peers",
                draw: throughputs::select,
            },
            Wanted { what: "The roofline", needs: "gridsync bench reduce", draw: roofline::of_all },
        ],
    },
    Group {
        title: "One computation, step by step",
        figures: &[
            Wanted {
                what: "The ladder of sums",
                needs: "gridsync lab ladder",
                draw: |of| ladders::rungs(of, "ladder"),
            },
            Wanted {
                what: "The ladder of scans",
                needs: "gridsync lab scans",
                draw: |of| ladders::rungs(of, "scans"),
            },
            Wanted {
                what: "The ladder of sorts",
                needs: "gridsync lab sorts",
                draw: |of| ladders::rungs(of, "sorts"),
            },
        ],
    },
    Group {
        title: "Many launches against one with a barrier",
        figures: &[
            Wanted {
                what: "The gain of one launch at each shape",
                needs: "gridsync lab launches --output",
                draw: launches::gains,
            },
            Wanted {
                what: "Each form by blocks",
                needs: "gridsync lab launches --output",
                draw: launches::by_blocks,
            },
            Wanted {
                what: "All forms at one shape",
                needs: "gridsync lab launches",
                draw: launches::at_one_shape,
            },
        ],
    },
    Group {
        title: "Graphs of kernels",
        figures: &[Wanted {
            what: "Graphs of kernels by every means",
            needs: "gridsync dag --json",
            draw: dag::by_method,
        }],
    },
    Group {
        title: "What the hardware does",
        figures: &[
            Wanted {
                what: "Latencies and bandwidths of memories",
                needs: "gridsync lab memory --json",
                draw: |of| charts_of(of, |document| as_variant!(document, Memory)),
            },
            Wanted {
                what: "Atomic additions",
                needs: "gridsync lab atomics --json",
                draw: |of| charts_of(of, |document| as_variant!(document, Atomics)),
            },
            Wanted {
                what: "Locks",
                needs: "gridsync lab locks --json",
                draw: |of| charts_of(of, |document| as_variant!(document, Locks)),
            },
            Wanted {
                what: "Banks of shared memory",
                needs: "gridsync lab banks --json",
                draw: |of| charts_of(of, |document| as_variant!(document, Banks)),
            },
            Wanted {
                what: "Paths of a warp",
                needs: "gridsync lab divergence --json",
                draw: |of| charts_of(of, |document| as_variant!(document, Divergence)),
            },
        ],
    },
    Group {
        title: "Accuracy",
        figures: &[
            Wanted {
                what: "Error against bound",
                needs: "gridsync lab accuracy --json",
                draw: |of| charts_of(of, |document| as_variant!(document, Accuracy)),
            },
            Wanted {
                what: "Errors of single results",
                needs: "gridsync reduce --check --json",
                draw: accuracy::errors,
            },
        ],
    },
];

/// The most lines in a chart.
const MOST_LINES: usize = 7;

/// The charts of the newest result that `choose` takes, a figure each.
fn charts_of<T: Report>(
    of: &Of<'_>,
    choose: impl Fn(&Document) -> Option<&T>,
) -> Result<Vec<Figure>, ChartError> {
    let Some((report, sources)) = of.document(choose) else { return Ok(Vec::new()) };
    let figure = |chart| of.figure_of(chart, sources.clone());
    Ok(report.charts()?.into_iter().map(figure).collect())
}

/// The records without their files.
fn records<'a>(sourced: &[&'a Sourced<Record>]) -> Vec<&'a Record> {
    sourced.iter().map(|record| &record.what).collect()
}

impl Of<'_> {
    /// A figure of these records, in an SVG and a CSV file of this name.
    fn figure<'r>(
        &self,
        name: &str,
        chart: (String, String),
        caption: impl Into<String>,
        records: impl IntoIterator<Item = &'r Sourced<Record>>,
    ) -> Figure {
        self.figure_from(name, chart, caption, sources(records))
    }

    /// A chart of the contents of these files.
    fn figure_of(&self, chart: Chart, sources: String) -> Figure {
        let Chart { in_report, caption, svg, csv, .. } = chart;
        self.figure_from(in_report, (svg, csv), caption, sources)
    }

    /// A figure of the contents of these files, in an SVG and a CSV file of this name.
    fn figure_from(
        &self,
        name: &str,
        (svg, csv): (String, String),
        caption: impl Into<String>,
        sources: String,
    ) -> Figure {
        Figure { file: self.file(name), svg, csv, caption: caption.into(), sources }
    }
}

/// The time of a record.
fn time(record: &Record) -> Estimate {
    Estimate::between(record.median, record.min, record.max)
}

/// The rate of a record in GB/s.
fn rate(record: &Record) -> Option<Estimate> {
    let bytes = record.bytes? as f64;
    Some(time(record).map(|us| bytes / us / 1e3))
}

/// Adds a point to the line with this name, which is created if it does not exist.
fn add_point(series: &mut Vec<Series>, key: impl Into<Key>, (x, y): (f64, impl Into<Estimate>)) {
    let key = key.into();
    match series.iter_mut().find(|series| series.key == key) {
        Some(series) => series.points.push((x, y.into())),
        None => series.push(Series::new(key, [(x, y)])),
    }
}

/// Splits `lines` into charts of at most [`MOST_LINES`] lines.
fn in_charts(lines: Lines) -> impl Iterator<Item = Lines> {
    let charts: Vec<_> = lines.series.chunks(MOST_LINES).map(<[_]>::to_vec).collect();
    charts.into_iter().map(move |series| Lines { series, ..lines.clone() })
}
