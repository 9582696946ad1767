//! Working memory on a GPU: that of the caller's library, from its own allocator.

use gridsync::device::Allocator;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The functions that allocate, by their numbers.
static ALLOCATORS: Mutex<Vec<Py<PyAny>>> = Mutex::new(Vec::new());

/// Registers a function of a number of bytes and of a GPU that makes an array of so many bytes there, for
/// work in the current stream, and returns its address and the array. Returns the number of the function,
/// which is part of a stream here.
#[pyfunction]
pub(crate) fn register_allocator(function: Py<PyAny>) -> usize {
    let mut all = ALLOCATORS.lock().unwrap_or_else(PoisonError::into_inner);
    all.push(function);
    all.len() - 1
}

/// The allocator of a library for one GPU, and the arrays whose memory is in use.
pub(crate) struct Framework {
    number: usize,
    gpu: i32,
    arrays: Mutex<HashMap<u64, Py<PyAny>>>,
}

impl Framework {
    /// The allocator with this number.
    pub(crate) fn numbered(number: usize, gpu: i32) -> Self {
        Self { number, gpu, arrays: Mutex::default() }
    }

    fn array(&self, py: Python<'_>, bytes: usize) -> PyResult<(u64, Py<PyAny>)> {
        let all = ALLOCATORS.lock().unwrap_or_else(PoisonError::into_inner);
        let function = all[self.number].clone_ref(py);
        drop(all);
        function.bind(py).call1((bytes, self.gpu))?.extract()
    }
}

// SAFETY: the libraries of Python align arrays to 256 bytes or more, and make them for the current stream,
// which is the one of the device while a function of the package runs. They free an array in the order of
// that stream.
unsafe impl Allocator for Framework {
    fn allocate(&self, bytes: usize) -> Option<u64> {
        // An error is one of memory: the function does nothing else.
        let (address, array) = Python::attach(|py| self.array(py, bytes)).ok()?;
        let mut arrays = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        arrays.insert(address, array);
        Some(address)
    }

    fn free(&self, address: u64) {
        let mut arrays = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        let array = arrays.remove(&address);
        drop(arrays);
        Python::attach(|_| drop(array));
    }
}
