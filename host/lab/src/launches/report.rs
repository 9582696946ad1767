//! The result of `gridsync lab launches`.

use super::cost;
use super::{Comparison, Figure, Form, Planned, chart};
use crate::bench::{Notes, Record};
use crate::display::svg::ChartError;
use crate::display::{Page, table};
use crate::{Chart, Report};
use serde::{Deserialize, Serialize};
use std::mem::discriminant;

/// The result of `gridsync lab launches`. Its JSON is the comparison at one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Launches {
    /// The comparison at one shape.
    pub compared: Comparison,
    /// The comparisons of the figures, if they were measured.
    #[serde(skip)]
    pub swept: Vec<(Figure, Comparison)>,
    /// The highest clock of the device, MHz.
    #[serde(skip)]
    pub mhz: f64,
}

impl Report for Launches {
    fn page(&self) -> Page {
        let Comparison { device, n, blocks, threads, rounds, plan, .. } = &self.compared;
        let plan = match plan {
            Planned::Single => "all of them can be resident, so that one launch will do",
            Planned::Stages => "not all can be resident, so that each stage takes a launch",
        };
        let mut page = Page::new(format!(
            "X→P→X {rounds} times on {device}: {n} elements, {blocks} blocks of {threads} threads; \
             {plan}"
        ));
        page.drawing("", &self.compared.text());
        if let Some(model) = cost::table([&self.compared]) {
            page.lists(format!("What one launch with the grid barrier saves:\n{model}"));
        }
        if !self.swept.is_empty() {
            let all = [&self.compared].into_iter().chain(self.swept.iter().map(|(_, at)| at));
            let model = cost::table(all).unwrap_or_default();
            let formulas = cost::formulas(device, self.mhz);
            let records: Vec<_> =
                self.compared.records(None).into_iter().chain(self.swept(|_| true)).collect();
            page.file("launches.jsonl", Record::lines_made_now(&records));
            page.file("cost-model.txt", format!("{formulas}\n{model}\n"));
        }
        page
    }

    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        if self.swept.is_empty() {
            return Ok(Vec::new());
        }
        let of = |figure| self.swept(|of| of == figure);
        let (fig5, fig6) = (of(Figure::Fig5), of(Figure::Fig6));
        let mut charts = chart::gains(&fig5.iter().collect::<Vec<_>>())?;
        charts.extend(chart::by_blocks(&fig6.iter().collect::<Vec<_>>())?);
        Ok(charts)
    }
}

impl Launches {
    /// The records of the figures that `wanted` accepts.
    fn swept(&self, wanted: impl Fn(Figure) -> bool) -> Vec<Record> {
        let points = self.swept.iter().filter(|(figure, _)| wanted(*figure));
        points.flat_map(|(figure, point)| point.records(Some(figure.number()))).collect()
    }
}

impl Comparison {
    /// The table of the times, and notes about it.
    fn text(&self) -> String {
        let mut table = table();
        table.set_header(["form", "µs per transform", "gain over launches, %", ""]);
        let mut notes = Notes::default();
        for timed in &self.forms {
            let gain = timed.gain_over_launches_percent;
            table.add_row([
                timed.form.name().to_owned(),
                format!("{:.3}", timed.us_per_transform),
                gain.map_or(String::new(), |gain| format!("{gain:+.1}")),
                notes.marks(&timed.warnings),
            ]);
        }
        let mut lines = format!("{table}\n");
        for note in notes.lines() {
            lines += &format!("\n{note}");
        }
        let kind = |form: &super::Absent| form.error.as_ref().map(discriminant);
        for of_one_kind in self.absent.chunk_by(|a, b| kind(a) == kind(b)) {
            let names: Vec<_> = of_one_kind.iter().map(|absent| absent.form.name()).collect();
            lines += &format!("\nwithout {}: {}", names.join(", "), of_one_kind[0].why);
        }
        lines
    }

    /// The median of microseconds per transform of `form`. `None` if it did not run.
    #[must_use]
    pub fn time(&self, form: Form) -> Option<f64> {
        let timed = self.forms.iter().find(|timed| timed.form == form)?;
        Some(timed.us_per_transform)
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare::made;
    use super::*;
    use crate::Experiment;
    use crate::launches::{Absent, Args};
    use gridsync::device::DeviceError;
    use serde_json::json;

    /// A result with all points of the figures: many launches take 8 µs, the graph 4 µs, and all
    /// other forms 5 µs plus 0.1 µs per block.
    fn swept() -> Launches {
        let point = |figure: Figure, setup: crate::xpx::Setup| {
            let us = |form: &Form| match form {
                Form::Launches => 8.0,
                Form::Graph => 4.0,
                _ => 5.0 + 0.1 * f64::from(setup.blocks),
            };
            let forms = figure.forms().iter();
            (figure, made(&setup, &forms.map(|form| (*form, us(form))).collect::<Vec<_>>()))
        };
        let setups = |figure: Figure| figure.setups().into_iter().map(move |at| point(figure, at));
        let swept: Vec<_> = Figure::ALL.into_iter().flat_map(setups).collect();
        Launches { compared: swept[0].1.clone(), swept, mhz: 1980.0 }
    }

    #[test]
    fn charts_and_records_are_the_files_of_the_output() {
        let report = swept();
        let charts = report.charts().expect("whole charts");
        let mut names: Vec<_> = charts.iter().map(Chart::file).collect();
        let page = report.page();
        assert!(page.text(false).contains("saves:\n") && !page.text(true).contains("saves:"));
        let (files, _) = page.into_files_and_wrong();
        assert_eq!(files[0].1.lines().count(), 3 + super::super::POINTS);
        assert!(files[1].1.contains("1980 MHz"), "{}", files[1].1);
        names.extend(files.iter().map(|(name, _)| (*name).to_owned()));
        assert_eq!(names, Args::FILES);
        // 5.1 µs against 8 in one block, and 8.2 against 8 in 32.
        assert!(charts[0].svg.contains("+36.3 faster") && charts[0].svg.contains("−2.5"));
        assert!(
            charts[2].csv.contains("\"one launch, grid barrier\",32,8.2,"),
            "{}",
            charts[2].csv
        );
    }

    #[test]
    fn json_is_the_comparison_alone_and_is_read_back() {
        let report = swept();
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!(json, serde_json::to_value(&report.compared).expect("JSON"));
        assert_eq!(json["forms"][2]["form"], json!("grid"));
        assert_eq!(json["plan"], json!("single"));
        let read: Comparison = serde_json::from_value(json).expect("a comparison");
        assert_eq!(read, report.compared);
    }

    #[test]
    fn forms_that_are_absent_for_the_same_reason_share_a_line() {
        let unknown = |name| DeviceError::UnknownKernel { name, image: 75 };
        let empty = DeviceError::EmptyGrid { kernel: "k" };
        let mut report = Launches { swept: Vec::new(), ..swept() };
        let errors = [unknown("a"), unknown("b"), empty];
        let absent = Form::ALL.into_iter().zip(errors);
        report.compared.absent = absent.map(|(form, error)| Absent::new(form, error)).collect();
        report.compared.plan = Planned::Stages;
        assert_eq!(report.charts().map(|charts| charts.len()), Ok(0));
        let text = report.page().text(false);
        let absent: Vec<_> = text.lines().filter(|l| l.starts_with("without ")).collect();
        assert_eq!(absent.len(), 2, "{text}");
        assert!(absent[0].starts_with("without launches, graph: "), "{text}");
        assert!(text.contains("each stage takes"), "{text}");
    }
}
