//! Sums of segments and of scattered values, and selections.

use crate::device::{Plans, Stream, on_device, runs_kernels};
use crate::dlpack::Array;
use crate::element::{Dtype, Element, unsupported, with_type};
use crate::lend::{input, output};
use crate::reduce::Reduced;
use crate::threads::on_all_cores;
use crate::write;
use bytemuck::Pod;
use cuda_std::{bf16, f16};
use gridsync::device::{Buffer, Device, DeviceError};
use gridsync::op::{Operation, Sum};
use gridsync::primitives::segments::scatter::{
    Index, Scatterable, scatter_reduce, scatter_reduce_on_cpu,
};
use gridsync::primitives::segments::{Offsets, SegmentReducer, reduce_segments_on_cpu};
use gridsync::primitives::select::{
    Comparable, Selectable, Selector, To, Within, positions_on_cpu,
};
use gridsync::primitives::sort::Key;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

/// The sum of each segment of `x`, between offsets.
#[pyfunction]
pub(crate) fn segment_sum(
    py: Python<'_>,
    x: Array<'_>,
    offsets: Array<'_>,
    mut out: Array<'_>,
    stream: Stream,
) -> PyResult<()> {
    with_type!(full, "segment_sum", x.dtype, T => {
        type Total = <T as Reduced>::Total;
        let (op, len) = (Sum::<T, Total>::new(), x.len());
        if runs_kernels(&x) {
            let key = (x.gpu, stream);
            let from = (input::<T, T>(key, &x)?, input::<i64, i64>(key, &offsets)?);
            let arrays = (from, output::<Total, Total>(key, &mut out)?);
            return on_device(py, key, arrays, |plans, ((x, offsets), out)| {
                let offsets = offsets.download()?;
                expect_offsets(&offsets, len)?;
                let offsets = Offsets::new(&plans.device, bytemuck::cast_slice(&offsets))?;
                let reducer = plans.plan([0; 3], |device| SegmentReducer::new(op, device))?;
                Ok(out.copy_from(&reducer.reduce(x, &offsets)?)?)
            });
        }
        let (from, offsets) = (x.elements::<T>()?, offsets.elements::<i64>()?);
        expect_offsets(offsets, len)?;
        let offsets: &[u64] = bytemuck::cast_slice(offsets);
        let sums = on_all_cores(py, || reduce_segments_on_cpu(op, from, offsets))?;
        write(&mut out, sums.into_iter())
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
    stream: Stream,
) -> PyResult<()> {
    expect_same(values.len(), indices.len(), "indices")?;
    if runs_kernels(&values) {
        let from = (&indices, &values, stream);
        return match out.dtype {
            Dtype::F32 => scatter_on_device(py, Sum::<f32>::new(), from, &mut out),
            Dtype::F64 => scatter_on_device(py, Sum::<f64>::new(), from, &mut out),
            Dtype::I64 => scatter_on_device(py, Sum::<i64>::new(), from, &mut out),
            Dtype::U64 => scatter_on_device(py, Sum::<u64>::new(), from, &mut out),
            other => Err(unsupported("scatter_sum on a GPU", other)),
        };
    }
    let (places, len) = (indices.elements::<i64>()?, out.len());
    let is_outside = |index: &&i64| usize::try_from(**index).map_or(true, |index| index >= len);
    if let Some(&index) = places.iter().find(is_outside) {
        return Err(no_such_index(index, len));
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

/// Adds on all cores of the CPU.
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

/// The same on the device of the values.
fn scatter_on_device<O>(
    py: Python<'_>,
    op: O,
    (indices, values, stream): (&Array<'_>, &Array<'_>, Stream),
    out: &mut Array<'_>,
) -> PyResult<()>
where
    O: Scatterable<Element: Element + Key, Output: Element, Accumulator = <O as Operation>::Output>,
{
    let key = (values.gpu, stream);
    let from = (input::<i64, u64>(key, indices)?, input::<O::Element, O::Element>(key, values)?);
    let arrays = (from, output::<O::Output, O::Output>(key, out)?);
    on_device(py, key, arrays, |_, ((indices, values), out)| {
        match scatter_reduce(op, indices, values, out) {
            Err(DeviceError::NoSuchIndex { index, len }) => {
                Err(no_such_index(index.cast_signed(), len).into())
            }
            done => Ok(done?),
        }
    })
}

/// The error for an index that an array does not have.
fn no_such_index(index: i64, len: usize) -> PyErr {
    let message =
        format!("index {index} is not in an array of {len} elements: pass 0 to {len} − 1");
    PyIndexError::new_err(message)
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
    stream: Stream,
) -> PyResult<usize> {
    macro_rules! of {
        ($ty:ident, $as:expr) => {{
            let bound = |bound: Option<Bound<'_, PyAny>>, default: $ty| match bound {
                Some(bound) => Ok::<$ty, PyErr>($as(bound.extract()?)),
                None => Ok(default),
            };
            let low = bound(low, <$ty as Comparable>::LEAST)?;
            let high = bound(high, <$ty as Comparable>::GREATEST)?;
            let by = Within::between(low, high);
            if runs_kernels(&x) {
                let key = (x.gpu, stream);
                let to =
                    (output::<$ty, $ty>(key, &mut values)?, output::<i64, u64>(key, &mut indices)?);
                let arrays = (input::<$ty, $ty>(key, &x)?, to);
                return on_device(py, key, arrays, |plans, (x, (values, indices))| {
                    Ok(select_by(plans, by, x, (values, indices))?)
                });
            }
            let from = x.elements::<$ty>()?;
            let places = on_all_cores(py, || positions_on_cpu(by, from))?;
            let kept = values.elements_mut::<$ty>()?.iter_mut().zip(&places);
            kept.for_each(|(to, &at)| *to = from[at as usize]);
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

/// Writes the elements that `by` keeps and their indices to the first elements of the outputs. Waits for
/// the device, and returns how many there are.
pub(crate) fn select_by<S: Selectable<Element: Pod>>(
    plans: &mut Plans,
    by: S,
    from: &Buffer<S::Element>,
    (values, indices): (&mut Buffer<S::Element>, &mut Buffer<u64>),
) -> Result<usize, DeviceError> {
    let make = |device: &Device| Ok((Selector::new(by, device, 0)?, device.alloc::<u64>(1)?));
    let (selector, count) = plans.plan([0; 3], make)?;
    selector.set_predicate(by);
    let to = To { positions: Some(indices), ..To::new(values, count) };
    selector.launch_part(from, 0..from.len(), to)?;
    Ok(count.download()?[0] as usize)
}

/// Fails unless there are as many of these as elements.
pub(crate) fn expect_same(elements: usize, others: usize, what: &str) -> PyResult<()> {
    if elements == others {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{others} {what} for {elements} elements: pass one for each"
    )))
}
