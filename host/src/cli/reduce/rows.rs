//! `gridsync reduce --rows`: each row of a matrix to one value.

use super::outcome::median;
use super::{Op, Reduce, Variant};
use crate::cli::choice::Place;
use crate::cli::exit::{Usage, Wrong};
use crate::cli::number::Number;
use crate::cli::{Global, output};
use bytemuck::Pod;
use cuda_std::{bf16, f16};
use gridsync::data::{self, Array, Dtype, Output, write_npy};
use gridsync::device::Device;
use gridsync::primitives::reduce_rows::reduce_rows_on_cpu;
use gridsync::primitives::{Checked, RowReducer};
use gridsync::reference;
use gridsync_kernels::entry::reduce_rows::RowReducible;
use gridsync_kernels::op::{Max, Min, Sum};
use serde_json::{Value, json};
use std::time::Instant;

/// Results that are printed for a person to read, at most.
const MOST_PRINTED: usize = 100;

/// A matrix: rows of columns.
#[derive(Clone, Copy)]
struct Size {
    rows: usize,
    columns: usize,
}

/// What a reduction of rows gave.
struct Outcome {
    dtype: Dtype,
    /// The results as they go to a file.
    bytes: Vec<u8>,
    /// Those that are printed: the first ones.
    printed: Vec<Number>,
    check: Option<RowChecks>,
    median_us: f64,
}

/// What came of checking each row.
#[derive(Clone, Copy, Default)]
struct RowChecks {
    wrong: usize,
    first_wrong: Option<usize>,
    /// The greatest distance of a row from its reference.
    abs_err: f64,
}

impl Reduce {
    /// Reduces each row of `array`.
    pub(super) fn run_rows(&self, global: &Global, array: &Array) -> anyhow::Result<()> {
        let size = self.size(array)?;
        if self.variant == Variant::Tiles {
            return Err(
                Usage("--variant tiles is for one value: leave it out with --rows".into()).into(),
            );
        }
        let out = self.out.clone().map(Output::parse);
        let place = global.device.place()?;
        let variant = match self.variant(&place)? {
            "tiles" => "rows",
            other => other,
        };
        let outcome = self.dispatch_rows(global, array, size, &place)?;
        if let Some(out) = &out {
            write_npy(out, outcome.dtype, &[size.rows as u64], &outcome.bytes)?;
        }

        let gb_per_s = array.bytes().len() as f64 / outcome.median_us / 1e3;
        let text = || self.rows_text(global, array, size, &place, &outcome, gb_per_s);
        let json = || {
            json!({
                "op": self.op_name(),
                "dtype": array.dtype().name(),
                "rows": size.rows,
                "columns": size.columns,
                "device": place.name(),
                "variant": variant,
                "results": match &out {
                    Some(_) => Value::Null,
                    None => outcome.printed.iter().map(|result| result.json()).collect(),
                },
                "out": out.as_ref().map(ToString::to_string),
                "median_us": output::number(outcome.median_us),
                "gb_per_s": output::number(gb_per_s),
                "check": outcome.check.map(|check| json!({
                    "wrong_rows": check.wrong,
                    "abs_err": output::number(check.abs_err),
                    "ok": check.wrong == 0,
                })),
            })
        };
        if out != Some(Output::Stdout) {
            output::result(global, text, json)?;
        }
        match outcome.check {
            Some(RowChecks {
                wrong,
                first_wrong: Some(row),
                ..
            }) => Err(Wrong(format!(
                "{wrong} of {} rows are wrong, the first of them row {row}",
                size.rows
            ))
            .into()),
            _ => Ok(()),
        }
    }

    /// The size of the matrix, if it is one whose rows can be reduced.
    fn size(&self, array: &Array) -> Result<Size, Usage> {
        let &[rows, columns] = array.shape() else {
            return Err(Usage(format!(
                "--rows takes a matrix, an array of 2 dimensions; this one has {}",
                array.shape().len()
            )));
        };
        // A file of a few bytes may claim any number of rows without elements.
        if columns == 0 {
            return Err(Usage(format!(
                "there is nothing to reduce in {rows} rows of no elements"
            )));
        }
        let too_many = |_| Usage(format!("{rows} rows of {columns} are too many"));
        Ok(Size {
            rows: rows.try_into().map_err(too_many)?,
            columns: columns.try_into().map_err(too_many)?,
        })
    }

    fn dispatch_rows(
        &self,
        global: &Global,
        array: &Array,
        size: Size,
        place: &Place,
    ) -> anyhow::Result<Outcome> {
        let printed = match (&self.out, global.json) {
            (Some(_), _) => 0,
            (None, true) => size.rows,
            (None, false) => size.rows.min(MOST_PRINTED),
        };
        macro_rules! by_dtype {
            ($($dtype:ident: $op:ty;)*) => {
                match array.dtype() {
                    $(Dtype::$dtype => reduce_rows(<$op>::new(), array, size, place, self.check, printed),)*
                    #[allow(unreachable_patterns)]
                    dtype => Err(Usage(format!(
                        "there is no {} of rows of {dtype}: convert them to f32",
                        self.op_name()
                    ))
                    .into()),
                }
            };
        }
        match self.op {
            Op::Sum => by_dtype! {
                F16: Sum<f16, f32>; Bf16: Sum<bf16, f32>; F32: Sum<f32>; F64: Sum<f64>;
                I32: Sum<i32, i64>; U32: Sum<u32, u64>; I64: Sum<i64>; U64: Sum<u64>;
            },
            Op::Min => by_dtype! {
                F32: Min<f32>; F64: Min<f64>;
                I32: Min<i32>; U32: Min<u32>; I64: Min<i64>; U64: Min<u64>;
            },
            Op::Max => by_dtype! {
                F32: Max<f32>; F64: Max<f64>;
                I32: Max<i32>; U32: Max<u32>; I64: Max<i64>; U64: Max<u64>;
            },
            _ => Err(Usage(format!(
                "--rows takes --op sum, min and max, not {}",
                self.op_name()
            ))
            .into()),
        }
    }

    fn rows_text(
        &self,
        global: &Global,
        array: &Array,
        size: Size,
        place: &Place,
        outcome: &Outcome,
        gb_per_s: f64,
    ) -> String {
        let mut lines: Vec<String> = outcome.printed.iter().map(|result| result.text()).collect();
        let left = size.rows - outcome.printed.len();
        match &self.out {
            None if left > 0 => lines.push(format!(
                "… and {left} rows more: -o FILE writes all, --json prints all"
            )),
            _ => {}
        }
        if !global.quiet {
            lines.push(format!(
                "{} of each of {} rows of {} {} elements on {}: {:.1} µs, {gb_per_s:.1} GB/s",
                self.op_name(),
                size.rows,
                size.columns,
                array.dtype(),
                place.name(),
                outcome.median_us
            ));
            lines.extend(outcome.check.map(|check| match check.wrong {
                0 => format!("all rows right, off by {:e} at most", check.abs_err),
                wrong => format!("{wrong} rows WRONG, off by {:e} at most", check.abs_err),
            }));
        }
        lines.join("\n")
    }
}

/// Reduces the rows, checks if asked to, and times: the median of several runs where a run is cheap.
fn reduce_rows<O>(
    op: O,
    array: &Array,
    size: Size,
    place: &Place,
    check: bool,
    printed: usize,
) -> anyhow::Result<Outcome>
where
    O: RowReducible + Checked,
    O::Element: Pod + data::Scalar,
    O::Output: Pod + Send + data::Scalar + Into<Number>,
{
    let input = array.as_slice::<O::Element>()?;
    let (results, median_us) = match place {
        Place::Cpu => {
            let start = Instant::now();
            let results = reduce_rows_on_cpu(op, input, size.rows, size.columns);
            (results, start.elapsed().as_secs_f64() * 1e6)
        }
        Place::Device(device) => time_on_device(op, device, input, size)?,
    };
    Ok(Outcome {
        dtype: <O::Output as data::Scalar>::DTYPE,
        printed: results[..printed].iter().map(|&x| x.into()).collect(),
        check: check.then(|| check_rows(op, input, &results, size.columns)),
        bytes: bytemuck::cast_slice(&results).to_vec(),
        median_us,
    })
}

/// The results, and the median time of the kernel in µs.
fn time_on_device<O>(
    op: O,
    device: &Device,
    input: &[O::Element],
    size: Size,
) -> anyhow::Result<(Vec<O::Output>, f64)>
where
    O: RowReducible,
    O::Element: Pod,
{
    let input = device.upload(input)?;
    let mut reducer = RowReducer::with(op, device, size.rows, size.columns)?;
    let emulated = device.properties().is_emulated();
    if !emulated {
        // The first launch compiles the kernel.
        reducer.launch(&input)?;
    }
    let runs = if emulated { 1 } else { 9 };
    let times = (0..runs).map(|_| device.time(|| reducer.launch(&input)));
    let median_us = median(times.collect::<Result<_, _>>()?);
    Ok((reducer.results()?, median_us))
}

/// Holds each result against the reference for its row.
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
            checks.wrong += 1;
            checks.first_wrong.get_or_insert(row);
        }
    }
    checks
}
