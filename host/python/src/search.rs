//! Searches in a sorted array.

use crate::device::{Stream, on_device, runs_kernels};
use crate::dlpack::Array;
use crate::element::with_type;
use crate::lend::{input, output};
use crate::threads::on_all_cores;
use crate::write;
use gridsync::primitives::search::{Side, search_into, search_on_cpu};
use gridsync::primitives::sort::Order;
use pyo3::prelude::*;

/// The index of each of `values` in `sorted`, before or after equal elements.
#[pyfunction]
pub(crate) fn searchsorted(
    py: Python<'_>,
    sorted: Array<'_>,
    values: Array<'_>,
    is_right: bool,
    mut out: Array<'_>,
    stream: Stream,
) -> PyResult<()> {
    let side = if is_right { Side::Right } else { Side::Left };
    with_type!(full, "searchsorted", sorted.dtype, T => {
        if runs_kernels(&sorted) {
            let key = (sorted.gpu, stream);
            let from = (input::<T, T>(key, &sorted)?, input::<T, T>(key, &values)?);
            let arrays = (from, output::<i64, u64>(key, &mut out)?);
            return on_device(py, key, arrays, |_, ((sorted, values), out)| {
                Ok(search_into(Order::ASCENDING, side, sorted, values, out)?)
            });
        }
        let (from, values) = (sorted.elements::<T>()?, values.elements::<T>()?);
        let found = on_all_cores(py, || search_on_cpu(Order::ASCENDING, side, from, values))?;
        write(&mut out, found.into_iter().map(u64::cast_signed))
    })
}
