//! The Python package `gridsync`, without its Python part: functions over rows of contiguous arrays, which
//! they get by DLPack. The caller has made the outputs, in the type and the memory of its arrays.
//!
//! The Python part moves the axis of a function to the end, copies what is not contiguous, converts types
//! that a function does not have, and refuses arguments. So a wrong argument here is an error too, but with
//! a shorter message.

mod allocator;
mod device;
mod dlpack;
mod element;
mod groups;
mod histogram;
mod lend;
mod order;
mod reduce;
mod scan;
mod search;
mod softmax;
mod threads;

use dlpack::Array;
use element::Element;
use gridsync::memory::NoRoom;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

/// Writes results to an output, which has to be as long.
fn write<R: Element>(
    out: &mut Array<'_>,
    results: impl ExactSizeIterator<Item = R>,
) -> PyResult<()> {
    let (output, given) = (out.elements_mut::<R>()?, results.len());
    if output.len() != given {
        let room = output.len();
        let message = format!("{given} results do not fit in an output of {room} elements");
        return Err(PyValueError::new_err(message));
    }
    output.iter_mut().zip(results).for_each(|(to, result)| *to = result);
    Ok(())
}

/// The error for an array that does not fit in memory.
fn no_room(error: NoRoom) -> PyErr {
    PyMemoryError::new_err(error.to_string())
}

/// The functions of the package `gridsync` that compute.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::allocator::register_allocator;
    #[pymodule_export]
    use super::device::emulate;
    #[pymodule_export]
    use super::groups::{scatter_sum, segment_sum, select};
    #[pymodule_export]
    use super::histogram::histogram;
    #[pymodule_export]
    use super::order::{argsort, kth, quantile, sort, top_k, unique};
    #[pymodule_export]
    use super::reduce::{dot, reduce};
    #[pymodule_export]
    use super::scan::scan;
    #[pymodule_export]
    use super::search::searchsorted;
    #[pymodule_export]
    use super::softmax::softmax;
    #[pymodule_export]
    use super::threads::after_fork;
}
