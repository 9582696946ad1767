//! The operations of `gridsync segments` and `gridsync group`.

use crate::cli::catalogue::{Lines, PlainAcc, listed};
use crate::cli::exit::Usage;
use crate::cli::job::{Job, Verdict, on_cpu};
use crate::cli::reduce::{LineChecks, Shown};
use crate::cli::sink::Sink;
use crate::data::{self, Array, Dtype};
use crate::number::Number;
use gridsync::device::Device;
use gridsync::primitives::Checked;
use gridsync::primitives::segments::by_key::{Groups, GroupsOnCpu};
use gridsync::primitives::segments::{
    Offsets, SegmentReducer, SegmentReducible, reduce_segments_on_cpu,
};
use gridsync::primitives::sort::Key;
use gridsync_kernels::grid::segments::{depth, tiles};
use gridsync_kernels::op::{ArgMax, ArgMin, Max, Mean, Min, Sum};

/// What each segment is reduced by.
#[derive(clap::Args)]
pub(in crate::cli) struct By {
    /// The operation: sum min max mean, and argmin argmax for f32 i32 u32.
    #[arg(long, default_value = "sum")]
    pub(in crate::cli) op: String,
    /// The accumulator for sums and means of f32. Default: f32
    #[arg(long)]
    acc: Option<PlainAcc>,
}

/// The segments, where they are reduced.
pub(in crate::cli) enum Place<'a> {
    /// On the CPU.
    Cpu(&'a [u64]),
    GroupsOnCpu(&'a GroupsOnCpu),
    /// On a device.
    Segments(&'a Offsets),
    Groups(&'a Groups),
}

/// Where segments start and end, and the indices of their elements if these are not in the order of
/// the array.
pub(in crate::cli) type Members<'a> = (&'a [u64], Option<&'a [u64]>);

/// Reduces segments by an operation, and checks the results if it gets their members.
pub(in crate::cli) type Run = fn(
    &Job<'_>,
    &Array,
    Option<&Device>,
    &Place<'_>,
    Option<Members<'_>>,
) -> anyhow::Result<Reduced>;

/// The results of all segments.
pub(in crate::cli) struct Reduced {
    pub(in crate::cli) results: Box<dyn Results>,
    /// Time in µs.
    pub(in crate::cli) us: f64,
    pub(in crate::cli) check: Option<Verdict>,
}

/// Results of any type.
pub(in crate::cli) trait Results {
    /// The results as numbers.
    fn numbers(&self) -> Vec<Number>;

    /// Writes them to the array that `begin` creates.
    fn write(&self, begin: &dyn Fn(Dtype) -> anyhow::Result<Sink>) -> anyhow::Result<Sink>;
}

impl<T: Shown> Results for (Vec<T>, Dtype) {
    fn numbers(&self) -> Vec<Number> {
        self.0.iter().map(|result| result.number(self.1)).collect()
    }

    fn write(&self, begin: &dyn Fn(Dtype) -> anyhow::Result<Sink>) -> anyhow::Result<Sink> {
        T::write(&self.0, self.1, begin)
    }
}

impl By {
    /// What reduces values of this type, in a command of this name.
    pub(in crate::cli) fn find(&self, command: &str, dtype: Dtype) -> Result<Run, Usage> {
        let (lines, op) = (lines(), &self.op);
        if !lines.names().contains(&op.as_str()) {
            let names = lines.names().join(" ");
            return Err(Usage(format!("{command} supports --op {names}, not {op}")));
        }
        if lines.find(op, dtype, None).is_none() {
            return Err(Usage(format!(
                "{command} supports {op} of {}, not of {dtype}: convert them",
                listed(&lines.types_of(op))
            )));
        }
        let found = lines.find(op, dtype, self.acc.map(Into::into));
        found.ok_or_else(|| Usage(format!("--acc has no such accumulator for {op} of {dtype}")))
    }
}

fn lines() -> Lines<Run> {
    let mut lines: Lines<Run> = Lines::new();
    macro_rules! line {
        (segments $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            lines.add::<$ty>($op, |job, values, device, place, checked| {
                reduce(<$ty>::new(), job, values, device, place, checked)
            });
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(line);
    // 64-bit integers would have to be summed in 128 bits.
    macro_rules! means {
        ($($ty:ty),*) => {$(
            lines.add::<Mean<$ty>>("mean", |job, values, device, place, checked| {
                reduce(Mean::new(<$ty>::new()), job, values, device, place, checked)
            });
        )*};
    }
    means! {
        Sum<f32>, Sum<f32, f64>, Sum<f64>, Sum<i32, i64>, Sum<u32, u64>
    }
    lines
}

/// Reduces the segments of `values` by `op`.
fn reduce<O>(
    op: O,
    job: &Job<'_>,
    values: &Array,
    device: Option<&Device>,
    place: &Place<'_>,
    checked: Option<Members<'_>>,
) -> anyhow::Result<Reduced>
where
    O: SegmentReducible<Element: Key + data::Scalar, Output: Shown + 'static> + Checked,
{
    let array = values.as_slice::<O::Element>()?;
    let (results, us) = if let Some(device) = device {
        let input = device.upload(array)?;
        let mut results = Vec::new();
        let mut reducer = SegmentReducer::new(op, device)?;
        let mut reduce = || -> Result<(), gridsync::device::DeviceError> {
            results = match place {
                Place::Segments(offsets) => reducer.reduce(&input, offsets)?,
                Place::Groups(groups) => groups.reduce(op, &input)?,
                Place::Cpu(_) | Place::GroupsOnCpu(_) => {
                    unreachable!("the segments are on the CPU")
                }
            };
            Ok(())
        };
        // The first call allocates, and compiles the kernels.
        if !device.properties().is_emulated() {
            reduce()?;
        }
        let us = device.time(reduce)?;
        (results, us)
    } else {
        on_cpu(2 * size_of_val(array), || match place {
            Place::Cpu(offsets) => reduce_segments_on_cpu(op, array, offsets),
            Place::GroupsOnCpu(groups) => groups.reduce(op, array),
            Place::Segments(_) | Place::Groups(_) => unreachable!("the segments are on a device"),
        })?
    };
    let check = checked.map(|members| {
        job.doing("checking");
        check(op, array, members, &results)
    });
    Ok(Reduced { results: Box::new((results, values.dtype())), us, check })
}

/// Compares the result of each segment with the reference.
fn check<O: Checked>(
    op: O,
    array: &[O::Element],
    (offsets, order): Members<'_>,
    results: &[O::Output],
) -> Verdict {
    let depth = depth::<O::Element>(tiles::<O::Element>(array.len(), results.len()));
    let mut checks = LineChecks::default();
    for (segment, (pair, &result)) in offsets.windows(2).zip(results).enumerate() {
        let part = pair[0] as usize..pair[1] as usize;
        let check = if let Some(order) = order {
            let own: Vec<_> = order[part].iter().map(|&at| array[at as usize]).collect();
            op.check(&own, result, depth.into())
        } else {
            op.check(&array[part], result, depth.into())
        };
        checks.take(segment, check);
    }
    checks.verdict("segments", results.len())
}
