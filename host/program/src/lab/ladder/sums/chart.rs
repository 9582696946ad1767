//! The ladder as charts.

use super::{Climbed, Counted, Report};
use crate::lab::ladder::{COUNTED, row};
use crate::report::svg::{Bars, Row};

/// GB/s of each rung, below the rate of reading alone; none where nothing was timed.
#[must_use]
pub fn rates_chart(report: &Report, device: &str) -> Option<Bars> {
    let roof = report.roof.as_ref()?;
    let timed = |rung: &Climbed| Some(row(rung.number, rung.name, vec![Some(rung.gb_per_s()?)]));
    let rows: Vec<Row> = report.climbed.iter().filter_map(timed).collect();
    Some(Bars {
        title: format!("The sum of {} {} on {device}", report.len, report.dtype),
        x_label: "GB/s".into(),
        note: String::new(),
        series: vec!["rate".into()],
        rows,
        roof: Some(("reading only".into(), roof.gb_per_s)),
    })
}

/// What one block does in each rung, as the emulator counts it.
#[must_use]
pub fn operations_chart(report: &Report) -> Bars {
    let times = |counted: &Counted| {
        [
            counted.warp_additions,
            counted.bank_conflicts,
            counted.barriers,
        ]
        .map(|times| Some(times as f64))
        .to_vec()
    };
    let rungs = report.climbed.iter();
    Bars {
        title: "What a block of 256 threads does to add up".into(),
        x_label: "times in a block".into(),
        note: COUNTED.into(),
        series: [
            "additions of a warp",
            "bank conflicts",
            "barriers of the block",
        ]
        .map(Into::into)
        .into(),
        rows: rungs
            .filter_map(|rung| Some(row(rung.number, rung.name, times(rung.counted.as_ref()?))))
            .collect(),
        roof: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::Geometry;

    #[test]
    fn a_rung_is_a_row_and_what_was_counted_says_by_whom() {
        let climbed = |number, name, barriers| Climbed {
            number,
            name,
            len: 256,
            geometry: Geometry::new(1, 256),
            measured: None,
            counted: Some(Counted {
                barriers,
                ..Counted::default()
            }),
        };
        let report = Report {
            dtype: "f32",
            len: 256,
            roof: None,
            climbed: vec![climbed(5, "interleaved", 9), climbed(12, "shuffles", 1)],
            absent: vec![],
        };
        let chart = operations_chart(&report);
        let names: Vec<&str> = chart.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["5 interleaved", "12 shuffles"]);
        assert_eq!(chart.rows[0].values, [Some(0.0), Some(0.0), Some(9.0)]);
        assert!(chart.note.contains("emulator"), "{}", chart.note);
        assert_eq!(rates_chart(&report, "a GPU"), None);
    }
}
