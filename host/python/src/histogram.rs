//! Histograms.

use crate::device::{Stream, on_device, runs_kernels};
use crate::dlpack::Array;
use crate::element::{Dtype, Element, unsupported, with_type};
use crate::groups::expect_same;
use crate::lend::{input, output};
use crate::threads::on_all_cores;
use crate::write;
use gridsync::primitives::histogram::{Binned, Bins, BinsError, Histogram, Weight};
use gridsync::primitives::sort::Key;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Bins by Python's arguments: their number and range, or their edges.
#[derive(FromPyObject)]
pub(crate) enum Wanted {
    /// Of the same width: the first edge, the last one, and the number of bins.
    Even(f64, f64, usize),
    /// Between these edges.
    Edges(Vec<f64>),
}

/// The number of elements of `x` in each bin, or the sum of their weights, and the edges of the bins.
#[pyfunction]
pub(crate) fn histogram(
    py: Python<'_>,
    x: Array<'_>,
    bins: Wanted,
    weights: Option<Array<'_>>,
    mut out: Array<'_>,
    mut edges: Array<'_>,
    stream: Stream,
) -> PyResult<()> {
    if let Some(weights) = &weights {
        expect_same(x.len(), weights.len(), "weights")?;
    }
    with_type!(any, "histogram", x.dtype, T => {
        let bins = bins.of::<T>().map_err(|error| PyValueError::new_err(error.to_string()))?;
        if runs_kernels(&x) {
            let (from, to) = ((&x, stream), (&mut out, &mut edges));
            return match weights.as_ref().map(|weights| (weights, weights.dtype)) {
                None => count_on_device(py, bins, from, to),
                Some((weights, Dtype::F32)) => weigh_on_device::<T, f32>(py, bins, from, weights, to),
                Some((weights, Dtype::F64)) => weigh_on_device::<T, f64>(py, bins, from, weights, to),
                Some((_, other)) => Err(unsupported("histogram with weights", other)),
            };
        }
        let from = x.elements::<T>()?;
        if let Some(weights) = weights {
            let sums = weigh(py, &bins, from, &weights)?;
            write(&mut out, sums.into_iter())?;
        } else {
            let counts = on_all_cores(py, || bins.count_on_cpu(from))?;
            write(&mut out, counts.into_iter().map(u64::cast_signed))?;
        }
        write(&mut edges, bins.edge_list().into_iter())
    })
}

impl Wanted {
    fn of<T: Binned>(&self) -> Result<Bins<T>, BinsError> {
        match self {
            Self::Even(low, high, bins) => Bins::even(*low, *high, *bins),
            Self::Edges(edges) => Bins::edges(edges),
        }
    }
}

/// The sums of weights, computed on all cores of the CPU.
fn weigh<T: Binned + Key>(
    py: Python<'_>,
    bins: &Bins<T>,
    from: &[T],
    weights: &Array<'_>,
) -> PyResult<Vec<f64>> {
    match weights.dtype {
        Dtype::F32 => {
            let weights = weights.elements::<f32>()?;
            on_all_cores(py, || bins.weigh_on_cpu(from, weights).sums)
        }
        Dtype::F64 => {
            let weights = weights.elements::<f64>()?;
            on_all_cores(py, || bins.weigh_on_cpu(from, weights).sums)
        }
        other => Err(unsupported("histogram with weights", other)),
    }
}

/// Writes the number of elements in each bin, on the device of `x`.
fn count_on_device<T: Binned + Element>(
    py: Python<'_>,
    bins: Bins<T>,
    (x, stream): (&Array<'_>, Stream),
    (out, edges): (&mut Array<'_>, &mut Array<'_>),
) -> PyResult<()> {
    let key = (x.gpu, stream);
    let to = (output::<i64, u64>(key, out)?, output::<f64, f64>(key, edges)?);
    on_device(py, key, (input::<T, T>(key, x)?, to), |plans, (x, (out, edges))| {
        edges.copy_from(&bins.edge_list())?;
        Ok(Histogram::new(&plans.device, bins)?.launch(x, out)?)
    })
}

/// Writes the sum of the weights in each bin, on the device of `x`.
fn weigh_on_device<T: Binned + Element + Key, W: Weight + Element>(
    py: Python<'_>,
    bins: Bins<T>,
    (x, stream): (&Array<'_>, Stream),
    weights: &Array<'_>,
    (out, edges): (&mut Array<'_>, &mut Array<'_>),
) -> PyResult<()> {
    let key = (x.gpu, stream);
    let from = (input::<T, T>(key, x)?, input::<W, W>(key, weights)?);
    let to = (output::<f64, f64>(key, out)?, output::<f64, f64>(key, edges)?);
    on_device(py, key, (from, to), |plans, ((x, weights), (out, edges))| {
        edges.copy_from(&bins.edge_list())?;
        let weighed = Histogram::new(&plans.device, bins)?.weigh(x, weights)?;
        Ok(out.copy_from(&weighed.sums)?)
    })
}
