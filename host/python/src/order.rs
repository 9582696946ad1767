//! Sorts of rows, selections by rank, and distinct values.

use crate::device::{on_device, runs_kernels};
use crate::dlpack::Array;
use crate::element::with_type;
use crate::lend::{input, output};
use crate::threads::on_all_cores;
use crate::write;
use gridsync::parallel::{CHUNK, map_chunks};
use gridsync::primitives::rank::{
    QuantileMethod, RankError, kth_rows_on_cpu, quantiles_rows_on_cpu, top_k_rows_on_cpu,
};
use gridsync::primitives::select::run_lengths;
use gridsync::primitives::sort::{
    Order, Sorter, argsort_on_cpu, argsort_rows_on_cpu, sort_in_place_on_cpu, sort_on_cpu,
    sort_rows_on_cpu,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

const fn order(is_descending: bool) -> Order {
    if is_descending { Order::DESCENDING } else { Order::ASCENDING }
}

/// Sorts each row of `x`.
#[pyfunction]
pub(crate) fn sort(
    py: Python<'_>,
    x: Array<'_>,
    is_descending: bool,
    mut out: Array<'_>,
    stream: usize,
) -> PyResult<()> {
    let ((rows, columns), order) = (x.rows(), order(is_descending));
    with_type!(any, "sort", x.dtype, T => {
        if runs_kernels(&x) {
            let key = (x.gpu, stream);
            let arrays = (input::<T>(key, &x)?, output::<T, T>(key, &mut out)?);
            return on_device(py, key, arrays, |plans, (x, out)| {
                let sorter = plans.plan([0; 2], |device| Sorter::<T>::new(device, 0))?;
                Ok(sorter.rows(rows, columns).launch(order, x, out)?)
            });
        }
        let (from, to) = (x.elements::<T>()?, out.elements_mut::<T>()?);
        if rows == 1 && from.len() == to.len() {
            return on_all_cores(py, || {
                to.copy_from_slice(from);
                sort_in_place_on_cpu(order, to);
            });
        }
        let sorted = on_all_cores(py, || sort_rows_on_cpu(order, from, rows, columns))?;
        write(&mut out, sorted.into_iter())
    })
}

/// The indices that sort each row of `x`.
#[pyfunction]
pub(crate) fn argsort(
    py: Python<'_>,
    x: Array<'_>,
    is_descending: bool,
    mut out: Array<'_>,
    stream: usize,
) -> PyResult<()> {
    let ((rows, columns), order) = (x.rows(), order(is_descending));
    with_type!(any, "argsort", x.dtype, T => {
        if runs_kernels(&x) {
            let key = (x.gpu, stream);
            let arrays = (input::<T>(key, &x)?, output::<i64, u64>(key, &mut out)?);
            return on_device(py, key, arrays, |plans, (x, out)| {
                let sorter = plans.plan([0; 2], |device| Sorter::<T>::new(device, 0))?;
                Ok(sorter.rows(rows, columns).launch_argsort(order, x, out)?)
            });
        }
        let from = x.elements::<T>()?;
        let indices: Vec<u64> = on_all_cores(py, || {
            if rows == 1 {
                argsort_on_cpu(order, from)
            } else {
                argsort_rows_on_cpu(order, from, rows, columns)
            }
        })?;
        write(&mut out, indices.into_iter().map(u64::cast_signed))
    })
}

/// The first `k` elements of each row in the order, and their indices.
#[pyfunction]
pub(crate) fn top_k(
    py: Python<'_>,
    x: Array<'_>,
    k: usize,
    is_descending: bool,
    mut values: Array<'_>,
    mut indices: Array<'_>,
) -> PyResult<()> {
    let (shape, order) = (x.rows(), order(is_descending));
    with_type!(any, "topk", x.dtype, T => {
        let input = x.elements::<T>()?;
        let top = on_all_cores(py, || top_k_rows_on_cpu(order, input, shape, k))?;
        let (elements, places) = top.map_err(refused)?;
        write(&mut values, elements.into_iter())?;
        write(&mut indices, places.into_iter().map(u64::cast_signed))
    })
}

/// The element of rank `rank` of each row, and its index.
#[pyfunction]
pub(crate) fn kth(
    py: Python<'_>,
    x: Array<'_>,
    rank: usize,
    mut values: Array<'_>,
    mut indices: Array<'_>,
) -> PyResult<()> {
    let shape = x.rows();
    with_type!(any, "kth_value", x.dtype, T => {
        let input = x.elements::<T>()?;
        let found = on_all_cores(py, || {
            kth_rows_on_cpu(Order::ASCENDING, input, shape, rank)
        })?;
        let found = found.map_err(refused)?;
        write(&mut values, found.iter().map(|&(element, _)| element))?;
        write(&mut indices, found.iter().map(|&(_, index)| index.cast_signed()))
    })
}

/// The quantiles `qs` of each row of `x`, by NumPy's name of the method.
#[pyfunction]
pub(crate) fn quantile(
    py: Python<'_>,
    x: Array<'_>,
    qs: Vec<f64>,
    method: &str,
    mut out: Array<'_>,
) -> PyResult<()> {
    let Some(method) = QuantileMethod::ALL.into_iter().find(|known| known.name() == method) else {
        let names = QuantileMethod::ALL.map(QuantileMethod::name).join(", ");
        return Err(PyValueError::new_err(format!("method {method} is not one of {names}")));
    };
    let shape = x.rows();
    with_type!(any, "quantile", x.dtype, T => {
        let input = x.elements::<T>()?;
        let found = on_all_cores(py, || {
            quantiles_rows_on_cpu(input, shape, &qs, method)
        })?;
        write(&mut out, found.map_err(refused)?.into_iter())
    })
}

/// The distinct elements of `x` in ascending order, and the number of each. Each NaN is distinct. Writes
/// to the first elements of the outputs, which are as long as `x`, and returns how many.
#[pyfunction]
pub(crate) fn unique(
    py: Python<'_>,
    x: Array<'_>,
    mut values: Array<'_>,
    mut counts: Array<'_>,
) -> PyResult<usize> {
    with_type!(any, "unique", x.dtype, T => {
        let (input, values) = (x.elements::<T>()?, values.elements_mut::<T>()?);
        let counts = counts.elements_mut::<i64>()?;
        on_all_cores(py, || {
            let sorted = sort_on_cpu(Order::ASCENDING, input);
            let is_first = |&at: &usize| at == 0 || sorted[at] != sorted[at - 1];
            let starts = map_chunks(sorted.len(), CHUNK, &|chunk| {
                chunk.filter(is_first).map(|at| at as u64).collect::<Vec<_>>()
            });
            let starts = starts.concat();
            let lengths = run_lengths(&starts, sorted.len());
            for (at, (start, length)) in starts.iter().zip(lengths).enumerate() {
                values[at] = sorted[*start as usize];
                counts[at] = length.cast_signed();
            }
            starts.len()
        })
    })
}

/// The error for a rank, a number of elements or a quantile.
fn refused(error: RankError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
