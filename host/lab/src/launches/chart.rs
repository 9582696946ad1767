//! Charts of records of the suite `launches`.

use super::{Figure, Form};
use crate::Chart;
use crate::bench::Record;
use crate::display::svg::{
    Axis, Bars, ChartError, Estimate, Faster, HeatMap, Lines, Role, Row, Series,
};

/// Fig. 5: the gain of one launch with the [`GridBarrier`] over many launches and over a graph of
/// them, in percent, by number of blocks and threads. None without records.
///
/// # Errors
/// If a value has no place in the chart.
///
/// [`GridBarrier`]: gridsync_kernels::grid::barrier::GridBarrier
pub fn gains(records: &[&Record]) -> Result<Vec<Chart>, ChartError> {
    if records.is_empty() {
        return Ok(Vec::new());
    }
    let ticks = |name| {
        let mut ticks: Vec<f64> = records.iter().filter_map(|record| record.number(name)).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        ticks
    };
    let (blocks, threads) = (ticks("blocks"), ticks("threads"));
    let axis = |label: &str, ticks: &[f64]| Axis {
        label: label.into(),
        ticks: ticks.iter().map(ToString::to_string).collect(),
    };
    let time = |form: Form, blocks: f64, threads: f64| {
        let at = |record: &&&Record| {
            record.variant == form.name()
                && record.number("blocks") == Some(blocks)
                && record.number("threads") == Some(threads)
        };
        records.iter().find(at).map(|record| record.median)
    };
    let chart = |many: Form, name, in_report| {
        let gain = |blocks, threads| {
            let many = time(many, blocks, threads)?;
            Some(100.0 * (many - time(Form::GRID, blocks, threads)?) / many)
        };
        let row = |&threads: &f64| blocks.iter().map(|&blocks| gain(blocks, threads)).collect();
        let chart = HeatMap {
            title: format!("X→P→X: gain of one launch over {}", described(many.name())),
            x: axis("blocks", &blocks),
            y: axis("threads of a block", &threads),
            values: threads.iter().map(row).collect(),
            unit: "%".into(),
            faster: Faster::Above,
        };
        let caption =
            "Above 0 one launch with a grid barrier is faster. An element for each thread.";
        Ok(Chart { in_report, ..Chart::new(name, caption, chart.svg()?, chart.csv()) })
    };
    Ok(vec![
        chart(Form::Launches, "fig5-launches", "launches-gain-over-many-launches")?,
        chart(Form::Graph, "fig5-graph", "launches-gain-over-a-graph")?,
    ])
}

/// Fig. 6: the time of each form by number of blocks, with the same number of threads in the grid.
/// None without records.
///
/// # Errors
/// If a value has no place in the chart.
pub fn by_blocks(records: &[&Record]) -> Result<Option<Chart>, ChartError> {
    let Some(n) = records.first().and_then(|record| record.number("n")) else { return Ok(None) };
    let series = Figure::Fig6.forms().iter().map(|form| {
        let of_form = records.iter().filter(|record| record.variant == form.name());
        let points = of_form.filter_map(|record| Some((record.number("blocks")?, time(record))));
        let role = if *form == Form::GRID { Role::Ours } else { Role::Other };
        Series::new(role.named(described(form.name())), points)
    });
    let chart = Lines {
        title: format!("X→P→X with {n} threads in all"),
        x_label: "blocks".into(),
        y_label: "µs per transform".into(),
        log2_x: true,
        series: series.filter(|series| !series.points.is_empty()).collect(),
    };
    let caption = "One launch with a grid barrier, spun in three ways, compared with a launch for \
                   each stage and a graph of these.";
    let chart = Chart::lines("fig6", caption, &chart)?;
    Ok(Some(Chart { in_report: "launches-by-blocks", ..chart }))
}

/// All forms at one shape. None without records.
///
/// # Errors
/// If a value has no place in the chart.
pub fn at_one_shape(records: &[&Record]) -> Result<Option<Chart>, ChartError> {
    let Some(first) = records.first() else { return Ok(None) };
    let param = |name| first.number(name).unwrap_or(f64::NAN);
    let row = |record: &&Record| Row::new(described(&record.variant), [Some(time(record))]);
    let chart = Bars {
        title: format!("X→P→X, {} blocks of {} threads", param("blocks"), param("threads")),
        x_label: "µs per transform".into(),
        note: String::new(),
        series: vec!["time".into()],
        rows: records.iter().map(row).collect(),
        roof: None,
    };
    Chart::bars("launches-forms", format!("{} elements.", param("n")), &chart).map(Some)
}

fn time(record: &Record) -> Estimate {
    Estimate::between(record.median, record.min, record.max)
}

/// Name of a form in charts.
fn described(variant: &str) -> &str {
    match variant {
        "launches" => "many launches",
        "graph" => "a graph",
        "overlapped" => "overlapping launches",
        "overlapped-graph" => "a graph of overlapping launches",
        "growing-volatile" => "one launch, volatile spin",
        "growing-ptx" => "one launch, PTX spin",
        "grid" => "one launch, grid barrier",
        other => other,
    }
}
