//! The suite `scaling`: sums and scans over several GPUs.

use super::rows::Rows;
use super::system::ordinals;
use super::{Bench, Global};
use crate::cli::exit::Wrong;
use crate::cli::output;
use crate::data::{Output, write_raw};
use anyhow::Context;
use gridsync::device::Devices;
use gridsync_lab::bench::{
    MeasureError, Record, SCALED, SCALING_SIZES, Sampling, Scaling, ScalingPoint, Step,
};
use gridsync_lab::display::svg::Estimate;
use gridsync_lab::display::{Column, Scaled, scaling_chart};
use gridsync_lab::images;

impl Bench {
    pub(super) fn scaling(&self, global: &Global) -> anyhow::Result<Vec<Record>> {
        let ordinals = ordinals(global)?;
        let images = images::all();
        let sizes = match &self.sizes[..] {
            [] => &SCALING_SIZES,
            sizes => sizes,
        };
        let (stripe, sampling) = (self.stripe, Sampling::default());
        let scaling = Scaling { ordinals: &ordinals, sizes, stripe, sampling };
        // Open all GPUs first, so that one that does not work is reported before anything is
        // measured.
        drop(Devices::cuda(&ordinals, &images).context("bench needs GPUs that work together")?);
        let points = SCALED.len() * scaling.points().len();
        let mut rows = Rows::new(global, points, columns(), cells);
        let step = |step: Step<'_, ScalingPoint>| match step {
            Step::Next(ScalingPoint { gpus, n }) => rows.next(format!("{n} elements on {gpus}")),
            Step::Measured(record) => rows.add(record),
        };
        let done = scaling.run(|gpus| Devices::cuda(gpus, &images), step);
        let done = done.map_err(|error| match error {
            MeasureError::Wrong(what) => anyhow::Error::new(Wrong(what)),
            error => error.into(),
        })?;
        rows.finish(&done.records)?;
        for ScalingPoint { gpus, n } in &done.too_large {
            output::say(format_args!(
                "gridsync: leaving out {n} elements on {gpus} GPUs: they do not fit"
            ));
        }
        if let Some(svg) = &self.svg {
            let scaled = |record: &Record| {
                let number = |name: &str| record.params[name].as_f64();
                let (gpus, n) = (number("gpus")?, number("n")?);
                let us = Estimate::between(record.median, record.min, record.max);
                Some(Scaled { what: record.variant.clone(), gpus, n, us })
            };
            let times: Vec<_> = done.records.iter().filter_map(scaled).collect();
            let figure = scaling_chart(&times).svg()?;
            write_raw(&Output::parse(svg.clone()), figure.as_bytes())?;
        }
        Ok(done.records)
    }
}

/// The columns of the table.
fn columns() -> Vec<Column> {
    vec![
        Column::words("what", SCALED.iter().map(|name| name.len()).max().unwrap_or(0)),
        Column::numbers("GPUs", 4),
        Column::numbers("elements", 11),
        Column::numbers("µs", 9),
        Column::numbers("min", 9),
        Column::numbers("max", 9),
        Column::numbers("GB/s", 7),
        Column::numbers("of one", 6),
        Column::words("", 0),
    ]
}

/// The row of a record. "Of one" is the speedup over the same length on one GPU.
fn cells(so_far: &[Record], record: &Record) -> Vec<String> {
    let same = |one: &&Record| {
        one.variant == record.variant
            && one.params["gpus"] == 1
            && one.params["n"] == record.params["n"]
    };
    let one = so_far.iter().find(same).filter(|_| record.params["gpus"] != 1);
    let times = one.map(|one| one.median / record.median);
    vec![
        record.variant.clone(),
        record.params["gpus"].to_string(),
        record.params["n"].to_string(),
        format!("{:.1}", record.median),
        format!("{:.1}", record.min),
        format!("{:.1}", record.max),
        record.gb_per_s().map_or(String::new(), |rate| format!("{rate:.0}")),
        times.map_or(String::new(), |times| format!("{times:.3}")),
    ]
}
