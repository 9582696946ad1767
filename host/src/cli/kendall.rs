//! `gridsync kendall`: the rank correlation of two arrays.

use super::choice::Place;
use super::exit::{Usage, Wrong};
use super::files::Files;
use super::parts::{Parts, time_with_bar};
use super::reduce::median;
use super::{Global, output};
use gridsync::data::{self, Array, Dtype, Input};
use gridsync::device::Device;
use gridsync::primitives::kendall::{
    Correlatable, Correlator, Kendall, KendallError, kendall_on_cpu,
};
use gridsync::primitives::kendall_in_parts;
use gridsync::reference;
use serde_json::json;
use std::ffi::OsString;
use std::time::Instant;

/// Correlate two arrays by rank: Kendall's tau-b, and the pairs that it counts
///
/// The arrays are taken as flat, in C order, and are of one length and type: f32 f64 i32 u32 i64 u64.
/// Of all pairs of places concordant ones have the same order in both arrays, discordant ones the
/// opposite, and ties are equal in one of them or in both; -0 equals +0. The counts are exact; tau is
/// that of scipy.stats.kendalltau. It is NaN if an array is constant or has fewer than two elements.
/// A NaN among the elements is an error, as with nan_policy="raise".
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Tau {
    /// A .npy file, or raw little-endian numbers (with --dtype); `-` is standard input.
    x: OsString,
    /// Another one.
    y: OsString,
    /// The element type of raw input: f32 f64 i32 u32 i64 u64.
    #[arg(long)]
    dtype: Option<Dtype>,
    #[command(flatten)]
    parts: Parts,
    /// Count again on the CPU, and compare.
    #[arg(long)]
    check: bool,
}

/// What the arrays came to.
struct Outcome {
    kendall: Kendall,
    /// What the CPU counts, if that was asked.
    reference: Option<Kendall>,
    median_us: f64,
    /// Places of a part, if it was not all of them at once.
    part: Option<usize>,
}

impl Outcome {
    /// Whether the check, if there was one, found the same.
    fn ok(&self) -> Option<bool> {
        self.reference
            .map(|reference| self.kendall.same(&reference))
    }
}

impl Tau {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default().reads("X", &self.x).reads("Y", &self.y);
        files.refuse_what_collides(global)?;
        let read = |path: &OsString| data::read(&Input::parse(path.clone()), self.dtype);
        let (x, y) = (read(&self.x)?, read(&self.y)?);
        if x.dtype() != y.dtype() {
            return Err(Usage(format!(
                "x holds {} and y {}: convert one to the type of the other",
                x.dtype(),
                y.dtype()
            ))
            .into());
        }
        let place = global.device.place()?;
        if global.verbose {
            let (n, dtype) = (x.len(), x.dtype());
            eprintln!("{n} places of {dtype} on {}", place.name());
        }
        let outcome = self.dispatch(&x, &y, &place, global)?;
        let text = || text(global, &x, &place, &outcome);
        output::result(global, text, || json(&x, &place, &outcome))?;
        match outcome.reference {
            Some(reference) if outcome.ok() == Some(false) => Err(Wrong(format!(
                "the counts are wrong: {:?}, where the reference says {reference:?}",
                outcome.kendall
            ))
            .into()),
            _ => Ok(()),
        }
    }

    fn dispatch(
        &self,
        x: &Array,
        y: &Array,
        place: &Place,
        global: &Global,
    ) -> anyhow::Result<Outcome> {
        macro_rules! by_dtype {
            ($($dtype:ident: $ty:ty;)*) => {
                match x.dtype() {
                    $(Dtype::$dtype => {
                        self.correlate(x.as_slice::<$ty>()?, y.as_slice::<$ty>()?, place, global)
                    })*
                    dtype => Err(Usage(format!(
                        "kendall correlates f32 f64 i32 u32 i64 u64, not {dtype}: convert the arrays"
                    ))
                    .into()),
                }
            };
        }
        by_dtype! { F32: f32; F64: f64; I32: i32; U32: u32; I64: i64; U64: u64; }
    }
}

impl Tau {
    /// Correlates, checks if asked to, and times.
    fn correlate<T: Correlatable>(
        &self,
        x: &[T],
        y: &[T],
        place: &Place,
        global: &Global,
    ) -> anyhow::Result<Outcome> {
        let part = self.parts.of(place, x.len(), Correlator::<T>::BYTES)?;
        let done = match (place, part) {
            (Place::Cpu, _) => {
                let start = Instant::now();
                let kendall = kendall_on_cpu(x, y);
                let us = start.elapsed().as_secs_f64() * 1e6;
                kendall.map(|kendall| (kendall, us))
            }
            (Place::Device(device), None) => time_on_device(device, x, y),
            (Place::Device(device), Some(part)) => {
                time_with_bar(global, |step| kendall_in_parts(device, x, y, part, step))
            }
        };
        let (kendall, median_us) = done.map_err(|error| match error {
            KendallError::Device(error) => anyhow::Error::from(error),
            error => Usage(error.to_string()).into(),
        })?;
        Ok(Outcome {
            kendall,
            reference: self.check.then(|| reference::kendall(x, y)),
            median_us,
            part,
        })
    }
}

/// The correlation, and the median time of its launches in µs.
fn time_on_device<T: Correlatable>(
    device: &Device,
    x: &[T],
    y: &[T],
) -> Result<(Kendall, f64), KendallError> {
    let (x, y) = (device.upload(x)?, device.upload(y)?);
    let mut correlator = Correlator::new(device, x.len())?;
    // The first launches compile the kernels, and say what is refused.
    correlator.launch(&x, &y)?;
    let kendall = correlator.result()?;
    let mut times = Vec::new();
    let runs = if device.properties().is_emulated() {
        1
    } else {
        9
    };
    for _ in 0..runs {
        let launch = || match correlator.launch(&x, &y) {
            Err(KendallError::Device(error)) => Err(error),
            // Nothing else is refused that was not before.
            _ => Ok(()),
        };
        times.push(device.time(launch)?);
    }
    Ok((kendall, median(times)))
}

fn json(x: &Array, place: &Place, outcome: &Outcome) -> serde_json::Value {
    let Kendall {
        concordant,
        discordant,
        ties_x,
        ties_y,
        ties_both,
        tau,
    } = outcome.kendall;
    json!({
        "dtype": x.dtype().name(),
        "n": x.len(),
        "device": place.name(),
        "tau": output::number(tau),
        "concordant": concordant,
        "discordant": discordant,
        "ties_x": ties_x,
        "ties_y": ties_y,
        "ties_both": ties_both,
        "median_us": output::number(outcome.median_us),
        "part": outcome.part,
        "check": outcome.ok().map(|ok| json!({ "ok": ok })),
    })
}

fn text(global: &Global, x: &Array, place: &Place, outcome: &Outcome) -> String {
    let Kendall {
        concordant,
        discordant,
        ties_x,
        ties_y,
        ties_both,
        tau,
    } = outcome.kendall;
    let mut text = format!("{tau:?}");
    if global.quiet {
        return text;
    }
    text += &format!(
        "\nconcordant {concordant}, discordant {discordant}, ties: {ties_x} in x, {ties_y} in y, {ties_both} in both"
    );
    text += &format!(
        "\n{} places of {} on {}: {:.1} µs",
        x.len(),
        x.dtype(),
        place.name(),
        outcome.median_us
    );
    if let Some(ok) = outcome.ok() {
        let verdict = if ok { "right" } else { "WRONG" };
        text += &format!("\ncounted again on the CPU: {verdict}");
    }
    text
}
