//! Sorts of rows, selections by rank, and distinct values.

use crate::device::{Failed, Plans, Stream, on_device, runs_kernels};
use crate::dlpack::Array;
use crate::element::with_type;
use crate::groups::select_by;
use crate::lend::{input, output};
use crate::threads::on_all_cores;
use crate::write;
use gridsync::device::DeviceError;
use gridsync::parallel::{CHUNK, map_chunks};
use gridsync::primitives::rank::{
    QuantileMethod, RankError, Ranker, kth_rows_on_cpu, quantiles_rows_on_cpu, top_k_rows_on_cpu,
};
use gridsync::primitives::select::{FirstOfRun, run_lengths};
use gridsync::primitives::sort::{
    Key, Order, Sorter, argsort_on_cpu, argsort_rows_on_cpu, sort_in_place_on_cpu, sort_on_cpu,
    sort_rows_on_cpu,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

const fn order(is_descending: bool) -> Order {
    if is_descending { Order::DESCENDING } else { Order::ASCENDING }
}

/// The most elements for which the memory of a sort is kept.
const MOST_KEPT: usize = 1 << 20;

/// A sort of `len` elements: the plan that is kept, or a new one in `large`.
fn sorter<'a, T: Key>(
    plans: &'a mut Plans,
    large: &'a mut Option<Sorter<T>>,
    len: usize,
) -> Result<&'a mut Sorter<T>, DeviceError> {
    if len <= MOST_KEPT {
        return plans.plan([0; 3], |device| Sorter::new(device, 0));
    }
    Ok(large.insert(Sorter::new(&plans.device, len)?))
}

/// Sorts each row of `x`.
#[pyfunction]
pub(crate) fn sort(
    py: Python<'_>,
    x: Array<'_>,
    is_descending: bool,
    mut out: Array<'_>,
    stream: Stream,
) -> PyResult<()> {
    let ((rows, columns), order) = (x.rows(), order(is_descending));
    with_type!(any, "sort", x.dtype, T => {
        if runs_kernels(&x) {
            let key = (x.gpu, stream);
            let arrays = (input::<T, T>(key, &x)?, output::<T, T>(key, &mut out)?);
            return on_device(py, key, arrays, |plans, (x, out)| {
                let mut large = None;
                let sorter = sorter::<T>(plans, &mut large, x.len())?;
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
    stream: Stream,
) -> PyResult<()> {
    let ((rows, columns), order) = (x.rows(), order(is_descending));
    with_type!(any, "argsort", x.dtype, T => {
        if runs_kernels(&x) {
            let key = (x.gpu, stream);
            let arrays = (input::<T, T>(key, &x)?, output::<i64, u64>(key, &mut out)?);
            return on_device(py, key, arrays, |plans, (x, out)| {
                let mut large = None;
                let sorter = sorter::<T>(plans, &mut large, x.len())?;
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
    stream: Stream,
) -> PyResult<()> {
    let (shape, order) = (x.rows(), order(is_descending));
    with_type!(any, "topk", x.dtype, T => {
        if runs_kernels(&x) {
            let key = (x.gpu, stream);
            let to = (output::<T, T>(key, &mut values)?, output::<i64, u64>(key, &mut indices)?);
            return on_device(py, key, (input::<T, T>(key, &x)?, to), |plans, (x, to)| {
                let ranker = plans.plan([0; 3], |device| Ranker::<T>::new(device, 0))?;
                Ok(ranker.top_k_rows(order, x, shape, (&mut to.0, &mut to.1))?)
            });
        }
        let from = x.elements::<T>()?;
        let top = on_all_cores(py, || top_k_rows_on_cpu(order, from, shape, k))?;
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
    stream: Stream,
) -> PyResult<()> {
    let (shape, order) = (x.rows(), Order::ASCENDING);
    with_type!(any, "kth_value", x.dtype, T => {
        if runs_kernels(&x) {
            let key = (x.gpu, stream);
            let to = (output::<T, T>(key, &mut values)?, output::<i64, u64>(key, &mut indices)?);
            return on_device(py, key, (input::<T, T>(key, &x)?, to), |plans, (x, to)| {
                let ranker = plans.plan([0; 3], |device| Ranker::<T>::new(device, 0))?;
                let found = ranker.kth_rows(order, x, shape, rank)?;
                let (elements, places): (Vec<T>, Vec<u64>) = found.into_iter().unzip();
                to.0.copy_from(&elements)?;
                Ok(to.1.copy_from(&places)?)
            });
        }
        let from = x.elements::<T>()?;
        let found = on_all_cores(py, || kth_rows_on_cpu(order, from, shape, rank))?;
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
    stream: Stream,
) -> PyResult<()> {
    let Some(method) = QuantileMethod::ALL.into_iter().find(|known| known.name() == method) else {
        let names = QuantileMethod::ALL.map(QuantileMethod::name).join(", ");
        return Err(PyValueError::new_err(format!("method {method} is not one of {names}")));
    };
    let shape = x.rows();
    with_type!(any, "quantile", x.dtype, T => {
        if runs_kernels(&x) {
            let key = (x.gpu, stream);
            let arrays = (input::<T, T>(key, &x)?, output::<f64, f64>(key, &mut out)?);
            return on_device(py, key, arrays, |plans, (x, out)| {
                let ranker = plans.plan([0; 3], |device| Ranker::<T>::new(device, 0))?;
                let found = ranker.quantiles_rows(x, shape, &qs, method)?;
                Ok(out.copy_from(&found)?)
            });
        }
        let from = x.elements::<T>()?;
        let found = on_all_cores(py, || quantiles_rows_on_cpu(from, shape, &qs, method))?;
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
    stream: Stream,
) -> PyResult<usize> {
    if runs_kernels(&x) {
        let key = (x.gpu, stream);
        return with_type!(wide, "unique on a GPU", x.dtype, T => {
            let to = (output::<T, T>(key, &mut values)?, output::<i64, u64>(key, &mut counts)?);
            on_device(py, key, (input::<T, T>(key, &x)?, to), |plans, (x, (values, counts))| {
                let mut sorted = plans.device.alloc(x.len())?;
                Sorter::<T>::new(&plans.device, x.len())?.launch(Order::ASCENDING, x, &mut sorted)?;
                // The counts are first where the runs start.
                let found = select_by(plans, FirstOfRun::new(), &sorted, (values, counts))?;
                let starts = counts.download_part(0..found)?;
                counts.copy_part_from(0, &run_lengths(&starts, x.len()))?;
                Ok(found)
            })
        });
    }
    with_type!(any, "unique", x.dtype, T => {
        let (from, values) = (x.elements::<T>()?, values.elements_mut::<T>()?);
        let counts = counts.elements_mut::<i64>()?;
        on_all_cores(py, || {
            let sorted = sort_on_cpu(Order::ASCENDING, from);
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

impl From<RankError> for Failed {
    fn from(error: RankError) -> Self {
        match error {
            RankError::Device(error) => error.into(),
            error => refused(error).into(),
        }
    }
}
