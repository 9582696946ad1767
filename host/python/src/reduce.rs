//! Reductions of rows, and dot products.

use crate::device::{Stream, expect_rows, on_device, runs_kernels};
use crate::dlpack::Array;
use crate::element::{Dtype, Element, unsupported, with_type};
use crate::lend::{input, output};
use crate::threads::on_all_cores;
use crate::write;
use cuda_std::{bf16, f16};
use gridsync::device::DeviceError;
use gridsync::op::{
    All, Any, ArgMax, ArgMin, Deviation, Indexed, LogSumExp, Max, Mean, Min, Number, Operation,
    Product, Sum, SumOfSquares, Then, Variance, WideSum, Widen,
};
use gridsync::primitives::reduce::{Reducer, Reducible};
use gridsync::primitives::reduce_rows::{Finished, RowReducer, RowReducible, reduce_rows_on_cpu};
use gridsync::primitives::{DotProduct, dot_on_cpu};
use gridsync::reference::reduce_columns;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The types in which elements are combined, and those of results.
pub(crate) trait Reduced: Element + Widen<Self::Wide> + Widen<Self::Total> {
    /// In which elements are compared.
    type Wide: Number + Element;
    /// In which elements are added and multiplied.
    type Total: Number + Element;
    /// The type of a sum or product.
    type Sum: Element;
    /// The type of a mean.
    type Real: Element;

    /// An element, from a result that is one.
    fn narrowed(wide: Self::Wide) -> Self;

    /// A sum.
    fn sum(total: Self::Total) -> Self::Sum;

    /// A mean.
    fn real(mean: f64) -> Self::Real;
}

macro_rules! reduced {
    ($($ty:ident: $wide:ident by $narrowed:expr, $total:ident -> $sum:ident by $of_total:expr,
       $real:ident by $of_real:expr;)*) => {$(
        impl Reduced for $ty {
            type Wide = $wide;
            type Total = $total;
            type Sum = $sum;
            type Real = $real;

            fn narrowed(wide: $wide) -> $ty {
                $narrowed(wide)
            }

            fn sum(total: $total) -> $sum {
                $of_total(total)
            }

            fn real(mean: f64) -> $real {
                $of_real(mean)
            }
        }
    )*};
}
reduced! {
    f16: f32 by f16::from_f32, f32 -> f16 by f16::from_f32, f16 by f16::from_f64;
    bf16: f32 by bf16::from_f32, f32 -> bf16 by bf16::from_f32, bf16 by bf16::from_f64;
    f32: f32 by same, f32 -> f32 by same, f32 by |mean| mean as f32;
    f64: f64 by same, f64 -> f64 by same, f64 by same;
    i32: i32 by same, i64 -> i64 by same, f64 by same;
    u32: u32 by same, u64 -> u64 by same, f64 by same;
    i64: i64 by same, i64 -> i64 by same, f64 by same;
    u64: u64 by same, u64 -> u64 by same, f64 by same;
}

fn same<T>(value: T) -> T {
    value
}

/// Reduces `x` along an axis by the operation named `op`. `correction` is the number that a variance
/// subtracts from that of the elements.
#[pyfunction]
pub(crate) fn reduce(
    py: Python<'_>,
    op: &str,
    x: Array<'_>,
    axis: usize,
    correction: u64,
    mut out: Array<'_>,
    stream: Stream,
) -> PyResult<()> {
    if x.len() == 0 {
        return Ok(());
    }
    let (x, out) = (From { array: &x, axis, correction: correction as usize, stream }, &mut out);
    match op {
        "sum" => with_type!(wide, op, x.array.dtype, T => {
            to(py, Sum::<T, <T as Reduced>::Total>::new(), x, out, T::sum)
        }),
        "prod" => with_type!(wide, op, x.array.dtype, T => {
            to(py, Product::<T, <T as Reduced>::Total>::new(), x, out, T::sum)
        }),
        "max" => with_type!(wide, op, x.array.dtype, T => {
            to(py, Max::<T, <T as Reduced>::Wide>::new(), x, out, T::narrowed)
        }),
        "min" => with_type!(wide, op, x.array.dtype, T => {
            to(py, Min::<T, <T as Reduced>::Wide>::new(), x, out, T::narrowed)
        }),
        "argmax" => with_type!(wide, op, x.array.dtype, T => {
            to(py, ArgMax::<T, <T as Reduced>::Wide>::new(), x, out, index)
        }),
        "argmin" => with_type!(wide, op, x.array.dtype, T => {
            to(py, ArgMin::<T, <T as Reduced>::Wide>::new(), x, out, index)
        }),
        // In 64 bits the sums of these could wrap around.
        "mean" if x.array.dtype == Dtype::I64 => {
            one_by_one(py, Mean::new(WideSum::<i64>::new()), x, out, or_nan::<i64>)
        }
        "mean" if x.array.dtype == Dtype::U64 => {
            one_by_one(py, Mean::new(WideSum::<u64>::new()), x, out, or_nan::<u64>)
        }
        "mean" => with_type!(narrow, op, x.array.dtype, T => {
            to(py, Mean::new(Sum::<T, <T as Reduced>::Total>::new()), x, out, or_nan::<T>)
        }),
        "var" => with_type!(full, op, x.array.dtype, T => {
            to(py, Variance::<T>::with_ddof(correction), x, out, or_nan::<T>)
        }),
        "std" => with_type!(full, op, x.array.dtype, T => {
            let deviation: Deviation<T> = Then::of(Variance::with_ddof(correction));
            to(py, deviation, x, out, or_nan::<T>)
        }),
        "sum_squares" => with_type!(wide, op, x.array.dtype, T => {
            to(py, SumOfSquares::<T>::new(), x, out, T::real)
        }),
        "logsumexp" => with_type!(floats, op, x.array.dtype, T => {
            to(py, LogSumExp::<T>::new(), x, out, T::real)
        }),
        "any" => {
            with_type!(any, op, x.array.dtype, T => on_cpu(py, Any::<T>::new(), x, out, u8::from))
        }
        "all" => {
            with_type!(any, op, x.array.dtype, T => on_cpu(py, All::<T>::new(), x, out, u8::from))
        }
        other => Err(PyValueError::new_err(format!("{other} is not a reduction"))),
    }
}

/// The most rows that are reduced one by one on a GPU, because each waits for it.
const MOST_ROWS: usize = 64;

/// Where elements come from.
#[derive(Clone, Copy)]
struct From<'a, 'py> {
    array: &'a Array<'py>,
    axis: usize,
    /// The parameter of a variance.
    correction: usize,
    stream: Stream,
}

/// Reduces on the device of the array.
fn to<R: Element, O>(
    py: Python<'_>,
    op: O,
    x: From<'_, '_>,
    out: &mut Array<'_>,
    result: impl Fn(O::Output) -> R,
) -> PyResult<()>
where
    O: RowReducible<Element: Element, Output: Send> + Finished<R>,
{
    if !runs_kernels(x.array) {
        return on_cpu(py, op, x, out, result);
    }
    let (rows, len, columns) = x.array.matrices(x.axis)?;
    expect_rows(columns)?;
    let (key, sizes) = ((x.array.gpu, x.stream), [rows, len, x.correction]);
    let arrays = (input::<O::Element, O::Element>(key, x.array)?, output::<R, R>(key, out)?);
    on_device(py, key, arrays, |plans, (x, out)| {
        let reducer = plans.plan(sizes, |device| RowReducer::new(op, device, rows, len))?;
        Ok(reducer.launch_into(x, out)?)
    })
}

/// Reduces on the device of the array, by an operation whose kernels reduce one row.
fn one_by_one<O: Reducible<Element: Element, Output: Send>, R: Element>(
    py: Python<'_>,
    op: O,
    x: From<'_, '_>,
    out: &mut Array<'_>,
    result: impl Fn(O::Output) -> R + Send,
) -> PyResult<()> {
    if !runs_kernels(x.array) {
        return on_cpu(py, op, x, out, result);
    }
    let (rows, len, columns) = x.array.matrices(x.axis)?;
    expect_rows(columns)?;
    if rows > MOST_ROWS {
        let message = format!(
            "{rows} rows on a GPU, where this function reduces them one by one: \
             pass at most {MOST_ROWS}, or an array in host memory"
        );
        return Err(PyTypeError::new_err(message));
    }
    let key = (x.array.gpu, x.stream);
    let arrays = (input::<O::Element, O::Element>(key, x.array)?, output::<R, R>(key, out)?);
    on_device(py, key, arrays, |plans, (x, out)| {
        let reducer = plans.plan([0; 3], |device| Reducer::new(op, device))?;
        let of_row = |row| {
            reducer.launch_part(x, row * len..(row + 1) * len)?;
            reducer.result()
        };
        let results: Result<Vec<_>, DeviceError> = (0..rows).map(of_row).collect();
        let results: Vec<R> = results?.into_iter().map(result).collect();
        Ok(out.copy_from(&results)?)
    })
}

fn on_cpu<O: Operation<Element: Element, Output: Send>, R: Element>(
    py: Python<'_>,
    op: O,
    x: From<'_, '_>,
    out: &mut Array<'_>,
    result: impl Fn(O::Output) -> R,
) -> PyResult<()> {
    let ((rows, len, columns), from) = (x.array.matrices(x.axis)?, x.array.elements()?);
    let results = on_all_cores(py, || {
        if columns == 1 {
            reduce_rows_on_cpu(op, from, rows, len)
        } else {
            reduce_columns(op, from, len, columns)
        }
    })?;
    write(out, results.into_iter().map(result))
}

/// The index of an extreme of a row, which is not empty.
fn index<A>(extreme: Option<Indexed<A>>) -> i64 {
    extreme.map_or(-1, |extreme| extreme.index as i64)
}

/// A statistic, NaN if there are too few elements.
fn or_nan<T: Reduced>(statistic: Option<f64>) -> T::Real {
    T::real(statistic.unwrap_or(f64::NAN))
}

/// The dot product of two arrays of one length.
#[pyfunction]
pub(crate) fn dot(
    py: Python<'_>,
    x: Array<'_>,
    y: Array<'_>,
    mut out: Array<'_>,
    stream: Stream,
) -> PyResult<()> {
    macro_rules! of {
        ($ty:ident, $sum:ident by $result:expr) => {{
            if runs_kernels(&x) {
                let key = (x.gpu, stream);
                let from = (input::<$ty, $ty>(key, &x)?, input::<$ty, $ty>(key, &y)?);
                let arrays = (from, output::<$sum, $sum>(key, &mut out)?);
                return on_device(py, key, arrays, |plans, ((x, y), out)| {
                    let product = plans.plan([0; 3], DotProduct::<$ty>::new)?.dot(x, y)?;
                    Ok(out.copy_from(&[$result(product)])?)
                });
            }
            let (x, y) = (x.elements::<$ty>()?, y.elements::<$ty>()?);
            let product = on_all_cores(py, || dot_on_cpu(x, y))?;
            write(&mut out, [$result(product)].into_iter())
        }};
    }
    match x.dtype {
        Dtype::F16 => of!(f16, f16 by f16::from_f64),
        Dtype::BF16 => of!(bf16, bf16 by bf16::from_f64),
        Dtype::F32 => of!(f32, f32 by |product| product as f32),
        Dtype::F64 => of!(f64, f64 by same),
        Dtype::I32 => of!(i32, i64 by same),
        Dtype::U32 => of!(u32, u64 by same),
        other => Err(unsupported("dot", other)),
    }
}
