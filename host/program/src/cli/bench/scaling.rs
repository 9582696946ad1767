//! The suite `scaling`: sums and scans over several GPUs.

use super::flags::{Sizes, by_default};
use super::rows::{Rows, number, param, times, variant};
use super::suites::{Measure, Records};
use super::system::gpus;
use super::{Global, of_measurement};
use crate::cli::output;
use crate::data::{Output, write_raw};
use clap::{Arg, Args};
use gridsync::device::Devices;
use gridsync_lab::bench::{
    self, PeerKind, PeerKinds, Record, SCALED, SCALING_SIZES, Sampling, ScalingPoint, Step,
};
use gridsync_lab::count::power_of_two;
use gridsync_lab::display::svg::Estimate;
use gridsync_lab::display::{Scaled, scaling_chart};
use gridsync_lab::images;
use std::ffi::OsString;

/// The suite.
pub(super) struct Scaling;

#[derive(Args)]
pub(super) struct Flags {
    #[command(flatten)]
    sizes: Sizes,
    /// Elements of a stripe, a power of two of at least a tile [default: 2^20, and a tile of the sum
    /// above 2^32].
    #[arg(long, value_name = "N", value_parser = power_of_two)]
    stripe: Option<usize>,
    /// Draw the times by the number of GPUs to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<OsString>,
}

impl Measure for Scaling {
    type Flags = Flags;

    fn describe(&self, flag: Arg) -> Arg {
        match flag.get_id().as_str() {
            // There is no peer. The flag is accepted, so that a loop over all suites may have it.
            "peers" => flag.hide(true),
            "sizes" => by_default(flag, &SCALING_SIZES),
            _ => flag,
        }
    }

    fn kinds(&self) -> Vec<PeerKind> {
        Vec::new()
    }

    fn measure(&self, flags: Flags, _peers: &PeerKinds, global: &Global) -> Records {
        let Flags { sizes, stripe, svg } = flags;
        let (ordinals, devices) = gpus(global)?;
        drop(devices);
        let scaling = bench::Scaling {
            ordinals: &ordinals,
            sizes: sizes.or(&SCALING_SIZES),
            stripe,
            sampling: Sampling::default(),
        };
        let mut rows = Rows::new(global, SCALED.len() * scaling.points().len(), cells());
        let step = |step: Step<'_, ScalingPoint>| {
            rows.step(step, |ScalingPoint { gpus, n }| format!("{n} elements on {gpus}"));
        };
        let images = images::all();
        let done =
            scaling.run(|gpus| Devices::cuda(gpus, &images), step).map_err(of_measurement)?;
        rows.finish(&done.records)?;
        for ScalingPoint { gpus, n } in &done.too_large {
            output::say(format_args!(
                "gridsync: leaving out {n} elements on {gpus} GPUs: they do not fit"
            ));
        }
        if let Some(svg) = svg {
            let scaled = |record: &Record| {
                let (gpus, n) = (record.number("gpus")?, record.number("n")?);
                let us = Estimate::between(record.median, record.min, record.max);
                Some(Scaled { what: record.variant.clone(), gpus, n, us })
            };
            let times: Vec<_> = done.records.iter().filter_map(scaled).collect();
            write_raw(&Output::parse(svg), scaling_chart(&times).svg()?.as_bytes())?;
        }
        Ok(done.records)
    }
}

/// The columns of the table. "Of one" is the speedup over the same length on one GPU.
fn cells() -> impl Iterator<Item = super::rows::Cell> {
    let of_one = |so_far: &[Record], record: &Record| {
        let same = |one: &&Record| {
            one.variant == record.variant
                && one.params["gpus"] == 1
                && one.params["n"] == record.params["n"]
        };
        let one = so_far.iter().find(same).filter(|_| record.params["gpus"] != 1)?;
        Some(one.median / record.median)
    };
    [variant("what", SCALED.into_iter()), param("GPUs", 4, "gpus"), param("elements", 11, "n")]
        .into_iter()
        .chain(times(9, 1))
        .chain([
            number("GB/s", 7, 0, |_, record| record.gb_per_s()),
            number("of one", 6, 3, of_one),
        ])
}
