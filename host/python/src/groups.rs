//! Histograms, sums of segments and of scattered values, and selections.

use crate::dlpack::Array;
use crate::element::{Dtype, Element, unsupported, with_type};
use crate::reduce::Reduced;
use crate::threads::on_all_cores;
use crate::write;
use cuda_std::{bf16, f16};
use gridsync::op::{Operation, Sum};
use gridsync::primitives::histogram::{Binned, Bins, BinsError};
use gridsync::primitives::segments::reduce_segments_on_cpu;
use gridsync::primitives::segments::scatter::{Index, scatter_reduce_on_cpu};
use gridsync::primitives::select::{Comparable, Within, positions_on_cpu};
use gridsync::primitives::sort::Key;
use pyo3::exceptions::{PyIndexError, PyValueError};
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
) -> PyResult<()> {
    with_type!(any, "histogram", x.dtype, T => {
        let bins = bins.of::<T>().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let input = x.elements::<T>()?;
        if let Some(weights) = weights {
            let sums = weigh(py, &bins, input, &weights)?;
            write(&mut out, sums.into_iter())?;
        } else {
            let counts = on_all_cores(py, || bins.count_on_cpu(input))?;
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

fn weigh<T: Binned + Key>(
    py: Python<'_>,
    bins: &Bins<T>,
    input: &[T],
    weights: &Array<'_>,
) -> PyResult<Vec<f64>> {
    expect_same(input.len(), weights.len(), "weights")?;
    match weights.dtype {
        Dtype::F32 => {
            let weights = weights.elements::<f32>()?;
            on_all_cores(py, || bins.weigh_on_cpu(input, weights).sums)
        }
        Dtype::F64 => {
            let weights = weights.elements::<f64>()?;
            on_all_cores(py, || bins.weigh_on_cpu(input, weights).sums)
        }
        other => Err(unsupported("histogram with weights", other)),
    }
}

/// The sum of each segment of `x`, between offsets.
#[pyfunction]
pub(crate) fn segment_sum(
    py: Python<'_>,
    x: Array<'_>,
    offsets: Array<'_>,
    mut out: Array<'_>,
) -> PyResult<()> {
    let offsets = offsets.elements::<i64>()?;
    expect_offsets(offsets, x.len())?;
    let offsets: &[u64] = bytemuck::cast_slice(offsets);
    with_type!(wide, "segment_sum", x.dtype, T => {
        let (op, input) = (Sum::<T, <T as Reduced>::Total>::new(), x.elements::<T>()?);
        let sums = on_all_cores(py, || reduce_segments_on_cpu(op, input, offsets))?;
        write(&mut out, sums.into_iter().map(T::sum))
    })
}

/// Fails unless these are the offsets of segments of `len` elements.
fn expect_offsets(offsets: &[i64], len: usize) -> PyResult<()> {
    let fault = match offsets {
        [] => "there are no offsets: pass one more than segments".into(),
        [first, ..] if *first != 0 => format!("the first offset is {first}: it has to be 0"),
        [.., last] if *last != len as i64 => {
            format!("the last offset is {last}: it has to be the number of elements, {len}")
        }
        _ => match offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            Some(at) => {
                let [before, after] = [offsets[at], offsets[at + 1]];
                format!("offset {} is {after}, less than {before} before it", at + 1)
            }
            None => return Ok(()),
        },
    };
    Err(PyValueError::new_err(fault))
}

/// Adds each of `values` to the element of `out` at its index.
#[pyfunction]
pub(crate) fn scatter_sum(
    py: Python<'_>,
    indices: Array<'_>,
    values: Array<'_>,
    mut out: Array<'_>,
) -> PyResult<()> {
    expect_same(values.len(), indices.len(), "indices")?;
    let (places, len) = (indices.elements::<i64>()?, out.len());
    let is_outside = |index: &&i64| usize::try_from(**index).map_or(true, |index| index >= len);
    if let Some(index) = places.iter().find(is_outside) {
        let message =
            format!("index {index} is not in an array of {len} elements: pass 0 to {len} − 1");
        return Err(PyIndexError::new_err(message));
    }
    let places: &[u64] = bytemuck::cast_slice(places);
    match out.dtype {
        Dtype::F32 => scatter(py, Sum::<f32>::new(), places, &values, &mut out),
        Dtype::F64 => scatter(py, Sum::<f64>::new(), places, &values, &mut out),
        Dtype::I32 => scatter(py, Sum::<i32>::new(), places, &values, &mut out),
        Dtype::U32 => scatter(py, Sum::<u32>::new(), places, &values, &mut out),
        Dtype::I64 => scatter(py, Sum::<i64>::new(), places, &values, &mut out),
        Dtype::U64 => scatter(py, Sum::<u64>::new(), places, &values, &mut out),
        other => Err(unsupported("scatter_sum", other)),
    }
}

fn scatter<O, I: Index>(
    py: Python<'_>,
    op: O,
    indices: &[I],
    values: &Array<'_>,
    out: &mut Array<'_>,
) -> PyResult<()>
where
    O: Operation<Element: Element, Output: Element, Accumulator = <O as Operation>::Output>,
{
    let (values, into) = (values.elements::<O::Element>()?, out.elements_mut::<O::Output>()?);
    on_all_cores(py, || scatter_reduce_on_cpu(op, indices, values, into))
}

/// The elements of `x` from `low` to `high`, both included, and their indices. Writes to the first
/// elements of the outputs, which are as long as `x`, and returns how many.
#[pyfunction]
pub(crate) fn select(
    py: Python<'_>,
    x: Array<'_>,
    low: Option<Bound<'_, PyAny>>,
    high: Option<Bound<'_, PyAny>>,
    mut values: Array<'_>,
    mut indices: Array<'_>,
) -> PyResult<usize> {
    macro_rules! of {
        ($ty:ident, $as:expr) => {{
            let bound = |bound: Option<Bound<'_, PyAny>>, default: $ty| match bound {
                Some(bound) => Ok::<$ty, PyErr>($as(bound.extract()?)),
                None => Ok(default),
            };
            let low = bound(low, <$ty as Comparable>::LEAST)?;
            let high = bound(high, <$ty as Comparable>::GREATEST)?;
            let input = x.elements::<$ty>()?;
            let places = on_all_cores(py, || positions_on_cpu(Within::between(low, high), input))?;
            let kept = values.elements_mut::<$ty>()?.iter_mut().zip(&places);
            kept.for_each(|(to, &at)| *to = input[at as usize]);
            let indices = indices.elements_mut::<i64>()?.iter_mut().zip(&places);
            indices.for_each(|(to, &at)| *to = at.cast_signed());
            Ok(places.len())
        }};
    }
    match x.dtype {
        Dtype::F16 => of!(f16, f16::from_f64),
        Dtype::BF16 => of!(bf16, bf16::from_f64),
        Dtype::F32 => of!(f32, |bound: f64| bound as f32),
        Dtype::F64 => of!(f64, |bound: f64| bound),
        Dtype::I32 => of!(i32, |bound: i32| bound),
        Dtype::I64 => of!(i64, |bound: i64| bound),
        Dtype::U32 => of!(u32, |bound: u32| bound),
        Dtype::U64 => of!(u64, |bound: u64| bound),
        other => Err(unsupported("select", other)),
    }
}

/// Fails unless there are as many of these as elements.
fn expect_same(elements: usize, others: usize, what: &str) -> PyResult<()> {
    if elements == others {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{others} {what} for {elements} elements: pass one for each"
    )))
}
