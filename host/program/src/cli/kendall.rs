//! `gridsync kendall`: the rank correlation of two arrays.

use super::choice::Place;
use super::computed::{Check, Fields};
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job, Verdict};
use super::parts::Parts;
use super::work::Cost;
use super::{Global, output};
use crate::data::{self, Array, DataError, Incoming, Stored};
use gridsync::primitives::PartCorrelator;
use gridsync::primitives::kendall::{Correlatable, Correlator, Kendall};
use std::ffi::OsString;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

/// Correlate two arrays by rank: Kendall's tau-b
///
/// The arrays are flattened in C order, and must have the same length and type: f32 f64 i32
/// u32 i64 u64. All pairs of indices are counted: concordant pairs have the same order in both
/// arrays, discordant pairs the opposite order, and ties are equal in one array or in both; -0
/// equals +0. The counts are exact; tau is the same as from scipy.stats.kendalltau. It is NaN if an
/// array is constant or has fewer than two elements. A NaN among the elements is an error, as with
/// nan_policy="raise".
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Tau {
    /// A .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers (with
    /// --dtype); `-` is standard input.
    x: OsString,
    /// Another array.
    y: OsString,
    /// Count again on the CPU, and compare.
    #[arg(long)]
    check: bool,
    /// The element type of raw input: f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16
    /// bool, which are widened.
    #[arg(long)]
    dtype: Option<Stored>,
    #[command(flatten)]
    parts: Parts,
}

impl Tau {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default().reads("X", &self.x).reads("Y", &self.y);
        let remedy = "sort fewer elements at a time with --part, or correlate a sample of them";
        job::run(global, &files, remedy, |job| {
            let open = |path| job.open(path, self.dtype);
            let (x, y) = (open(&self.x)?, open(&self.y)?);
            if x.dtype() != y.dtype() {
                return Err(Usage(format!(
                    "x holds {} and y {}: convert one to the type of the other",
                    x.dtype(),
                    y.dtype()
                ))
                .into());
            }
            let about = About::of(&x);
            // Both are read while a device opens.
            let (x, y) = thread::scope(|scope| {
                let read = |input: Incoming| {
                    let reader = thread::Builder::new().spawn_scoped(scope, move || input.all());
                    reader.map_err(|cause| DataError::NoThread { cause })
                };
                let (x, y) = (read(x)?, read(y)?);
                let chosen = job.choose(Cost::KENDALL.of(about.len), &about.text("places"));
                let (x, y) = (joined(x)?, joined(y)?);
                chosen.map(|()| (x, y))
            })?;
            self.dispatch(job, about, &x, &y)
        })
    }

    fn dispatch(&self, job: &Job<'_>, about: About, x: &Array, y: &Array) -> anyhow::Result<Done> {
        macro_rules! by_dtype {
            ($ty:ty, $($kernels:tt)*) => {
                if x.dtype() == <$ty as data::Scalar>::DTYPE {
                    return self.correlate::<$ty>(job, about, x, y);
                }
            };
        }
        gridsync_entries::correlated_elements!(by_dtype);
        Err(Usage(format!(
            "kendall supports f32 f64 i32 u32 i64 u64, not {}: convert the arrays",
            x.dtype()
        ))
        .into())
    }

    /// Correlates, and checks the result if `--check` is given.
    fn correlate<T>(
        &self,
        job: &Job<'_>,
        about: About,
        x: &Array,
        y: &Array,
    ) -> anyhow::Result<Done>
    where
        T: Correlatable + data::Scalar,
    {
        let len = x.len();
        let bytes = x.bytes().len() + y.bytes().len();
        let (x, y) = (x.as_slice::<T>()?, y.as_slice::<T>()?);
        let place = job.place();
        let part = self.parts.of_held(job, len, Correlator::<T>::BYTES)?;
        let mut correlator = match place {
            Place::Cpu => PartCorrelator::on_cpu(len, part),
            Place::Devices(devices) => PartCorrelator::new(devices, len, part)?,
        };
        let taken = self.parts.taken(job, correlator.part(), len);
        if let Some(part) = taken {
            warn_of_many(job, len, part);
        }
        let kendall = correlator.correlate(x, y, |done, of| job.step(done, of))?;
        let check = if self.check {
            job.doing("checking");
            Some(verdict(&kendall, &checked(x, y)?))
        } else {
            None
        };
        let Kendall { concordant, discordant, ties_x, ties_y, ties_both, tau } = kendall;
        let fields = Fields::Kendall {
            op: "kendall",
            tau: tau.into(),
            concordant,
            discordant,
            ties_x,
            ties_y,
            ties_both,
        };
        let variant = match place {
            Place::Devices(_) => "counts",
            Place::Cpu => "rayon",
        };
        let what = format!("tau of {}", about.text("places"));
        Ok(Done {
            result: Some(format!("{tau:?}")),
            lines: vec![format!(
                "concordant {concordant}, discordant {discordant}, ties: {ties_x} in x, {ties_y} in y, {ties_both} in both"
            )],
            us: correlator.us(),
            bytes,
            part: taken,
            check,
            ..Done::of(fields, what, about, variant)
        })
    }
}

/// From this many correlations of parts, a warning is printed.
const MANY: usize = 1 << 10;

/// Warns if `len` pairs in parts of this size need many correlations.
fn warn_of_many(job: &Job<'_>, len: usize, part: usize) {
    let halves = len.div_ceil(part / 2);
    let steps = halves.saturating_mul(halves + 1) / 2;
    if steps >= MANY && !job.global.quiet && !job.global.json {
        output::say(format_args!(
            "gridsync: parts of {part} of {len} elements need {steps} correlations: a larger --part is faster"
        ));
    }
}

/// The array read by a thread.
fn joined(reading: ScopedJoinHandle<'_, Result<Array, DataError>>) -> Result<Array, DataError> {
    reading.join().unwrap_or_else(|payload| resume_unwind(payload))
}

/// The result of the CPU.
fn checked<T: Correlatable>(x: &[T], y: &[T]) -> anyhow::Result<Kendall> {
    Ok(PartCorrelator::on_cpu(x.len(), x.len()).correlate(x, y, |_, _| ())?)
}

fn verdict(got: &Kendall, reference: &Kendall) -> Verdict {
    let ok = got.same(reference);
    let verdict = if ok { "right" } else { "WRONG" };
    Verdict {
        json: Check::Whole { ok },
        line: format!("counted again on the CPU: {verdict}"),
        wrong: (!ok)
            .then(|| format!("the counts are wrong: {got:?}, the reference is {reference:?}")),
    }
}
