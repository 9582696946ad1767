//! One reduction of an array: its result, its check, its time.

use crate::cli::choice::Place;
use crate::cli::number::Number;
use bytemuck::Pod;
use gridsync::data::{self, Array};
use gridsync::device::Device;
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::{Check, Checked, Reducer};
use gridsync::reference;
use gridsync_kernels::entry::reduce::Reducible;
use gridsync_kernels::op::Indexed;
use std::time::Instant;

/// What a reduction gave.
pub(super) struct Outcome {
    pub(super) result: Number,
    /// The element that the result is the index of, if it is one.
    pub(super) value: Option<Number>,
    pub(super) check: Option<Check<Number>>,
    pub(super) median_us: f64,
}

/// A result that can be printed.
pub(super) trait Shown: Copy {
    /// The result as a number.
    fn number(self) -> Number;

    /// The element that it is the index of, if it is one.
    fn value(self) -> Option<Number> {
        None
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Shown for $ty {
            fn number(self) -> Number {
                self.into()
            }
        }
    )*};
}
numbers!(f32, f64, i32, u32, i64, u64);

impl<A: Into<Number> + Copy> Shown for Option<Indexed<A>> {
    fn number(self) -> Number {
        let Some(found) = self else {
            unreachable!("an empty array is refused before");
        };
        found.index.into()
    }

    fn value(self) -> Option<Number> {
        self.map(|found| found.value.into())
    }
}

impl Outcome {
    /// The mean that this sum makes, in f64.
    pub(super) fn divided_by(self, n: usize) -> Self {
        let mean = |sum: Number| Number::Float(sum.to_f64() / n as f64);
        let check = self.check.map(|check| {
            let reference = mean(check.reference);
            // The division rounds both means once more.
            let rounding = f64::EPSILON * reference.to_f64().abs();
            let bound = check.bound / n as f64 + rounding;
            Check {
                reference,
                abs_err: check.abs_err / n as f64,
                bound,
                ok: check.ok,
            }
        });
        Self {
            result: mean(self.result),
            value: None,
            check,
            median_us: self.median_us,
        }
    }
}

/// Reduces, checks if asked to, and times: the median of several runs where a run is cheap.
pub(super) fn reduce<O>(op: O, array: &Array, place: &Place, check: bool) -> anyhow::Result<Outcome>
where
    O: Reducible + Checked,
    O::Element: Pod + data::Scalar,
    O::Output: Shown,
{
    let input = array.as_slice::<O::Element>()?;
    let (result, median_us) = match place {
        Place::Cpu => time_on_cpu(op, input),
        Place::Device(device) => time_on_device(op, device, input)?,
    };
    let depth = reference::reduce_depth::<O>(input.len());
    let check = check
        .then(|| op.check(input, result, depth))
        .map(|check| Check {
            reference: check.reference.number(),
            abs_err: check.abs_err,
            bound: check.bound,
            ok: check.ok,
        });
    Ok(Outcome {
        result: result.number(),
        value: result.value(),
        check,
        median_us,
    })
}

fn time_on_cpu<O: Reducible>(op: O, input: &[O::Element]) -> (O::Output, f64) {
    let timed = || {
        let start = Instant::now();
        let result = reduce_on_cpu(op, input);
        (result, start.elapsed().as_secs_f64() * 1e6)
    };
    let [(result, first), (_, second), (_, third)] = [timed(), timed(), timed()];
    (result, median(vec![first, second, third]))
}

/// The result, and the median time of the kernel in µs.
fn time_on_device<O>(
    op: O,
    device: &Device,
    input: &[O::Element],
) -> anyhow::Result<(O::Output, f64)>
where
    O: Reducible,
    O::Element: Pod,
{
    let input = device.upload(input)?;
    let mut reducer = Reducer::with(op, device)?;
    let emulated = device.properties().is_emulated();
    if !emulated {
        // The first launch compiles the kernel.
        reducer.launch(&input)?;
    }
    let runs = if emulated { 1 } else { 9 };
    let times = (0..runs).map(|_| device.time(|| reducer.launch(&input)));
    let median_us = median(times.collect::<Result<_, _>>()?);
    Ok((reducer.result()?, median_us))
}

/// The middle one of some times.
pub(in crate::cli) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
