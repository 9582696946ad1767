//! X→P→X by many launches and by one with a barrier: figures 5 and 6 of `lab launches`.

use super::{Figure, add_point, in_charts, ticks};
use crate::records::{Record, Sourced};
use crate::report::Of;
use gridsync_lab::display::svg::{Axis, Bars, ChartError, Faster, HeatMap, Lines, Role, Row};

/// The form with the grid barrier.
const GRID: &str = "grid";

/// The records of a figure, or those without a figure.
fn of_figure<'a>(of: &Of<'a>, figure: Option<f64>) -> Vec<&'a Sourced<Record>> {
    let mut records = of.suite("launches");
    records.retain(|record| record.number("figure") == figure);
    records
}

/// The gain of one launch over many launches and over a graph of them, at each shape.
pub(super) fn gains(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let records = of_figure(of, Some(5.0));
    if records.is_empty() {
        return Ok(Vec::new());
    }
    let time = |form: &str, blocks: f64, threads: f64| {
        let at = |record: &&&Sourced<Record>| {
            record.variant == form
                && record.number("blocks") == Some(blocks)
                && record.number("threads") == Some(threads)
        };
        records.iter().find(at).map(|record| record.median)
    };
    let (blocks, threads) = (ticks(&records, "blocks"), ticks(&records, "threads"));
    let texts = |ticks: &[f64]| ticks.iter().map(ToString::to_string).collect();
    let mut figures = Vec::new();
    for (many, name) in [("launches", "many launches"), ("graph", "a graph")] {
        let gain = |blocks, threads| {
            let many = time(many, blocks, threads)?;
            Some(100.0 * (many - time(GRID, blocks, threads)?) / many)
        };
        let row = |&threads: &f64| blocks.iter().map(|&blocks| gain(blocks, threads)).collect();
        let chart = HeatMap {
            title: format!("X→P→X: gain of one launch over {name}"),
            x: Axis { label: "blocks".into(), ticks: texts(&blocks) },
            y: Axis { label: "threads of a block".into(), ticks: texts(&threads) },
            values: threads.iter().map(row).collect(),
            unit: "%".into(),
            faster: Faster::Above,
        };
        let caption =
            "Above 0 one launch with a grid barrier is faster. An element for each thread.";
        let file = format!("launches-gain-over-{}", name.replace(' ', "-"));
        figures.push(of.figure(
            &file,
            (chart.svg()?, chart.csv()),
            caption,
            records.iter().copied(),
        ));
    }
    Ok(figures)
}

/// The time of each form by blocks, with the same number of threads in total.
pub(super) fn by_blocks(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let records = of_figure(of, Some(6.0));
    let Some(n) = records.first().and_then(|record| record.number("n")) else {
        return Ok(Vec::new());
    };
    let mut series = Vec::new();
    for record in &records {
        if let Some(blocks) = record.number("blocks") {
            let role = if record.variant == GRID { Role::Ours } else { Role::Other };
            let key = role.named(form(&record.variant));
            add_point(&mut series, key, (blocks, super::time(record)));
        }
    }
    let chart = Lines {
        title: format!("X→P→X with {n} threads in all"),
        x_label: "blocks".into(),
        y_label: "µs per transform".into(),
        log2_x: true,
        series,
    };
    let mut figures = Vec::new();
    for (number, chart) in in_charts(chart).enumerate() {
        let file = match number {
            0 => "launches-by-blocks".to_owned(),
            _ => format!("launches-by-blocks-{}", number + 1),
        };
        let caption = "One launch with a grid barrier, spun in three ways, compared with a launch for each stage and a graph of these.";
        figures.push(of.figure(
            &file,
            (chart.svg()?, chart.csv()),
            caption,
            records.iter().copied(),
        ));
    }
    Ok(figures)
}

/// All forms, at the shape of the last record without a figure.
pub(super) fn at_one_shape(of: &Of<'_>) -> Result<Vec<Figure>, ChartError> {
    let mut records = of_figure(of, None);
    let Some(last) = records.last().copied() else { return Ok(Vec::new()) };
    records.retain(|record| record.params == last.params);
    let row =
        |record: &&Sourced<Record>| Row::new(form(&record.variant), [Some(super::time(record))]);
    let param = |name| last.number(name).unwrap_or(f64::NAN);
    let chart = Bars {
        title: format!("X→P→X, {} blocks of {} threads", param("blocks"), param("threads")),
        x_label: "µs per transform".into(),
        note: String::new(),
        series: vec!["time".into()],
        rows: records.iter().map(row).collect(),
        roof: None,
    };
    let caption = format!("{} elements.", param("n"));
    Ok(vec![of.figure("launches-forms", (chart.svg()?, chart.csv()), caption, records)])
}

/// The name of a form in a figure.
fn form(variant: &str) -> &str {
    match variant {
        "launches" => "many launches",
        "graph" => "a graph",
        "overlapped" => "overlapping launches",
        "overlapped-graph" => "a graph of overlapping launches",
        GRID => "one launch, grid barrier",
        other => other,
    }
}
