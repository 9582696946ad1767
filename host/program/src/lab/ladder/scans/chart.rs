//! The ladder as charts.

use super::{Climbed, Counted, Report};
use crate::lab::ladder::{COUNTED, row};
use crate::report::svg::{Bars, Row};

/// GB/s of each rung, below the rate of a copy; none where nothing was timed.
#[must_use]
pub fn rates_chart(report: &Report, device: &str) -> Option<Bars> {
    let roof = report.roof.as_ref()?;
    let timed = |rung: &Climbed| Some(row(rung.number, rung.name, vec![Some(rung.gb_per_s()?)]));
    let rows: Vec<Row> = report.climbed.iter().filter_map(timed).collect();
    Some(Bars {
        title: format!("The scan of {} u32 on {device}", report.len),
        x_label: "GB/s".into(),
        note: String::new(),
        series: vec!["rate".into()],
        rows,
        roof: Some(("copying only".into(), roof.gb_per_s)),
    })
}

/// What one block does in each rung for 256 elements, as the emulator counts it.
#[must_use]
pub fn operations_chart(report: &Report) -> Bars {
    let times = |counted: &Counted| {
        [
            counted.warp_operations(),
            counted.bank_conflicts,
            counted.barriers,
        ]
        .map(|times| Some(counted.for_256_elements(times)))
        .to_vec()
    };
    let rungs = report.climbed.iter();
    Bars {
        title: "What a block does to scan 256 elements".into(),
        x_label: "times for 256 elements".into(),
        note: COUNTED.into(),
        series: ["warp operations", "bank conflicts", "barriers of the block"]
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

    #[test]
    fn a_rung_is_a_row_and_what_was_counted_says_by_whom() {
        let report = Report {
            len: 512,
            roof: None,
            climbed: vec![Climbed {
                number: 4,
                name: "Blelloch",
                len: 512,
                launches: 1,
                words_moved: 1024,
                measured: None,
                counted: Some(Counted {
                    elements: 512,
                    barriers: 18,
                    ..Counted::default()
                }),
            }],
            absent: vec![],
        };
        let chart = operations_chart(&report);
        assert_eq!(chart.rows[0].name, "4 Blelloch");
        assert_eq!(chart.rows[0].values, [Some(0.0), Some(0.0), Some(9.0)]);
        assert!(chart.note.contains("emulator"), "{}", chart.note);
        assert_eq!(rates_chart(&report, "a GPU"), None);
    }
}
