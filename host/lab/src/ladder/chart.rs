//! Charts of a ladder.

use super::{Climbed, Counted, Ladder, Report};
use crate::display::svg::{Bars, Estimate, Role, Row};

/// The chart of the counts.
#[derive(Clone, Copy, Debug)]
pub struct Operations {
    /// Its title.
    pub title: &'static str,
    /// Label of the axis.
    pub x_label: &'static str,
    /// Label of the first bar of each rung. The other bars are bank conflicts and barriers.
    pub first: &'static str,
    /// The three bars of a rung.
    pub bars: fn(&Counted) -> [f64; 3],
}

/// GB/s of each rung, and the rate of the roof. `None` if nothing was timed.
#[must_use]
pub fn rates_chart<L: Ladder>(report: &Report<L>, device: &str) -> Option<Bars> {
    let roof = report.roof.as_ref()?;
    Some(Bars {
        title: format!("The {} of {} {} on {device}", L::NAME, report.len, L::DTYPE),
        x_label: "GB/s".into(),
        note: String::new(),
        series: vec![Role::Ours.named("rate")],
        rows: rows(report, |rung| Some(vec![rung.gb_per_s()?.into()])),
        roof: Some((format!("{} only", L::ROOF), roof.gb_per_s)),
    })
}

/// Counts of one block for each rung.
#[must_use]
pub fn operations_chart<L: Ladder>(report: &Report<L>) -> Bars {
    let Operations { title, x_label, first, bars } = L::OPERATIONS;
    Bars {
        title: title.into(),
        x_label: x_label.into(),
        note: "counted by the emulator, not measured on a GPU".into(),
        series: [first, "bank conflicts", "barriers of the block"].map(Into::into).into(),
        rows: rows(report, |rung| Some(bars(rung.counted.as_ref()?).map(Estimate::from).into())),
        roof: None,
    }
}

/// A row for each rung that has `values`.
fn rows<L: Ladder>(
    report: &Report<L>,
    values: impl Fn(&Climbed<L>) -> Option<Vec<Estimate>>,
) -> Vec<Row> {
    let row = |rung: &Climbed<L>| {
        let name = format!("{} {}", rung.number, rung.name);
        Some(Row::new(name, values(rung)?.into_iter().map(Some)))
    };
    report.climbed.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::{scans, sums};
    use gridsync::device::Geometry;

    /// A chart of two rungs; only the second was counted.
    fn chart<L: Ladder>(plan: L::Plan, counted: Counted) -> Bars {
        let climbed = |number, name, counted| Climbed {
            number,
            name,
            len: 512,
            plan: plan.clone(),
            measured: None,
            counted,
        };
        let report = Report::<L> {
            len: 512,
            roof: None,
            climbed: vec![climbed(1, "one thread", None), climbed(5, "padded", Some(counted))],
            absent: vec![],
        };
        assert_eq!(rates_chart(&report, "a GPU"), None);
        operations_chart(&report)
    }

    #[test]
    fn a_counted_rung_is_a_row_and_the_note_names_the_emulator() {
        let counted = Counted { elements: 512, barriers: 18, ..Counted::default() };
        let sums = chart::<sums::Climb<f32>>(Geometry::new(1, 256), counted);
        let scans = chart::<scans::Climb>(scans::Moves::default(), counted);
        // The counts of a scan are shown for 256 elements.
        for (chart, barriers) in [(sums, 18.0), (scans, 9.0)] {
            assert_eq!(chart.rows.len(), 1);
            assert_eq!(chart.rows[0].name, "5 padded");
            assert_eq!(chart.rows[0].values, [0.0, 0.0, barriers].map(|value| Some(value.into())));
            assert!(chart.note.contains("emulator"), "{}", chart.note);
        }
    }
}
