//! `gridsync reduce --rows` and `--axis`: reduces each row of a matrix, or each line of an array along one of
//! its dimensions, to one value.

use super::shown::Shown;
use super::{Reduce, Variant};
use crate::cli::catalogue::{Lines, listed};
use crate::cli::exit::Usage;
use crate::cli::job::{About, Done, Job, Verdict, unless_wrong};
use crate::cli::number::Number;
use crate::cli::output;
use crate::cli::sink::Sink;
use crate::data::{self, Along, Incoming, Scalar};
use bytemuck::Pod;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::reduce_rows::reduce_rows_on_cpu;
use gridsync::primitives::{Checked, RowReducer};
use gridsync::{memory, reference};
use gridsync_entries::reduce_rows::RowReducible;
use gridsync_kernels::op::{ArgMax, ArgMin, Max, Mean, Min, Sum};
use serde_json::{Map, Value, json};
use std::time::Instant;

/// The most results that are printed as text.
const MOST_PRINTED: usize = 100;

/// Reduces rows by an operation.
type Run = fn(&Reduce, &Job<'_>, Incoming, Along) -> anyhow::Result<Done>;

/// All operations that reduce rows.
fn lines() -> Lines<Run> {
    let mut lines: Lines<Run> = Lines::new();
    macro_rules! line {
        (rows $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            lines.add::<$ty>($op, |call, job, input, along| {
                call.rows_by(<$ty>::new(), job, input, along)
            });
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(line);
    macro_rules! mean {
        (mean_rows $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            lines.add::<Mean<$ty>>("mean", |call, job, input, along| {
                call.rows_by(Mean::new(<$ty>::new()), job, input, along)
            });
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(mean);
    lines
}

/// The outcome of checking each row.
#[derive(Clone, Copy, Default)]
struct RowChecks {
    wrong: usize,
    first_wrong: usize,
    /// The largest error of a row.
    abs_err: f64,
}

impl Reduce {
    /// Reduces each row of `input`.
    pub(super) fn reduce_rows(&self, job: &Job<'_>, input: Incoming) -> anyhow::Result<Done> {
        let along = self.along(&input)?;
        let flag = self.axis.flag();
        if self.variant == Variant::Tiles {
            let why = format!("--variant tiles is for one value: leave it out with {flag}");
            return Err(Usage(why).into());
        }
        let (lines, op, dtype) = (lines(), &self.op, input.dtype());
        match lines.find(op, dtype, None) {
            Some(run) => run(self, job, input, along),
            None if lines.names().contains(&op.as_str()) => Err(Usage(format!(
                "{flag} takes {op} of {}, not of {dtype}: convert them",
                listed(&lines.types_of(op))
            ))
            .into()),
            None => {
                let names = lines.names().join(" ");
                Err(Usage(format!("{flag} takes --op {names}, not {op}")).into())
            }
        }
    }

    /// The rows, if they can be reduced.
    fn along(&self, input: &Incoming) -> Result<Along, Usage> {
        let along = self.axis.along(input.shape())?;
        let rows = along.lines();
        if along.is_empty() && rows > 0 && self.op != "sum" {
            return Err(Usage(format!(
                "the {} of no elements is not defined, and there are {rows} rows of none",
                self.op
            )));
        }
        Ok(along)
    }

    /// Reduces the rows, and checks each if `--check` is given.
    fn rows_by<O>(
        &self,
        op: O,
        job: &Job<'_>,
        input: Incoming,
        along: Along,
    ) -> anyhow::Result<Done>
    where
        O: RowReducible + Checked,
        O::Element: Pod + data::Scalar,
        O::Output: Shown + Send,
    {
        let (rows, columns) = (along.lines(), along.len());
        let variant = match self.variant(job.place())? {
            "tiles" => "rows",
            other => other,
        };
        let about = About::of(&input);
        let array = along.gather(input.all()?)?;
        let input = array.as_slice::<O::Element>()?;
        // Memory for the results, and for what they are made from.
        memory::probe(rows.saturating_mul(2 * size_of::<O::Output>()))?;
        let (results, us) = match job.place().device(&format!("reduce {}", self.axis.flag()))? {
            None => {
                let start = Instant::now();
                let results = reduce_rows_on_cpu(op, input, rows, columns);
                (results, start.elapsed().as_secs_f64() * 1e6)
            }
            Some(device) => on_device(op, device, input, along)?,
        };
        let check = self.check.then(|| {
            job.doing("checking");
            check_rows(op, input, &results, columns).verdict(rows)
        });
        let mut fields = Map::new();
        fields.insert("rows".into(), rows.into());
        fields.insert("columns".into(), columns.into());
        let numbers = results.iter().map(|&x| x.number(about.dtype()));
        let (result, arrays) = match &self.output {
            Some(out) => {
                fields.insert("results".into(), Value::Null);
                let mut shape = array.shape().to_vec();
                shape.remove(self.axis.number(&shape)?);
                let write = || {
                    let results: Vec<_> = results.iter().map(|&x| x.stored()).collect();
                    let dtype = <<O::Output as Shown>::Stored as Scalar>::DTYPE;
                    Sink::of_shape(out, dtype, &shape)?.with(&results)
                };
                (None, unless_wrong(&check, write)?)
            }
            None if job.global.json => {
                let all = numbers.map(Number::json).collect();
                fields.insert("results".into(), all);
                fields.insert("output".into(), Value::Null);
                (None, Vec::new())
            }
            None => {
                let mut lines: Vec<_> = numbers.take(MOST_PRINTED).map(Number::text).collect();
                if rows > MOST_PRINTED {
                    let left = rows - MOST_PRINTED;
                    lines.push(format!(
                        "… and {left} rows more: -o FILE writes all, --json prints all"
                    ));
                }
                (Some(lines.join("\n")), Vec::new())
            }
        };
        let op = self.op.clone();
        let what = format!("{op} of {} of {}", self.axis.text(along), about.text("elements"));
        Ok(Done {
            result,
            fields,
            us,
            bytes: array.bytes().len(),
            check,
            arrays,
            ..Done::of(op, what, about, variant)
        })
    }
}

/// The results, and how many µs the kernel took.
fn on_device<O>(
    op: O,
    device: &Device,
    input: &[O::Element],
    along: Along,
) -> anyhow::Result<(Vec<O::Output>, f64)>
where
    O: RowReducible,
    O::Element: Pod,
{
    let input = device.upload(input)?;
    let mut reducer = RowReducer::new(op, device, along.lines(), along.len())?;
    reducer.compile()?;
    let us = device.time(|| reducer.launch(&input))?;
    Ok((reducer.results()?, us))
}

/// Compares each result with the reference for its row.
fn check_rows<O: Checked>(
    op: O,
    input: &[O::Element],
    results: &[O::Output],
    columns: usize,
) -> RowChecks {
    let depth = reference::reduce_depth::<O>(columns);
    let mut checks = RowChecks::default();
    for (row, &result) in results.iter().enumerate() {
        let check = op.check(&input[row * columns..][..columns], result, depth);
        checks.abs_err = checks.abs_err.max(check.abs_err);
        if !check.ok {
            if checks.wrong == 0 {
                checks.first_wrong = row;
            }
            checks.wrong += 1;
        }
    }
    checks
}

impl RowChecks {
    /// The verdict on `rows` rows.
    fn verdict(self, rows: usize) -> Verdict {
        let Self { wrong, first_wrong, abs_err } = self;
        Verdict {
            json: json!({
                "wrong_rows": wrong,
                "abs_err": output::number(abs_err),
                "ok": wrong == 0,
            }),
            line: match wrong {
                0 => format!("all rows right, off by {abs_err:e} at most"),
                wrong => format!("{wrong} rows WRONG, off by {abs_err:e} at most"),
            },
            wrong: (wrong > 0).then(|| {
                format!("{wrong} of {rows} rows are wrong, the first of them row {first_wrong}")
            }),
        }
    }
}
