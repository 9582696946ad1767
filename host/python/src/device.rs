//! GPUs: the caller's streams, and the plans of the primitives.
//!
//! Working memory is that of the caller's library, which frees it in the order of the stream. Plans whose
//! memory is small are kept for each GPU and stream, by their type and the sizes they were made for. While
//! the stream is being recorded in a graph, plans are new: their memory is then the graph's, and stays.

use crate::allocator::Framework;
use crate::dlpack::Array;
use crate::lend::Lend;
use gridsync::device::{Device, DeviceError, KERNELS};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{mem, ptr};

/// The most plans of a stream. When there are more, all are dropped.
const MOST_PLANS: usize = 256;

/// Whether functions with kernels run them in the emulator, on copies of arrays in host memory.
static EMULATES: AtomicBool = AtomicBool::new(false);

/// The handle of a stream, and the number of the allocator for work in it.
pub(crate) type Stream = (usize, usize);

/// A GPU, or `None` for the emulator, and a stream.
pub(crate) type Key = (Option<i32>, Stream);

/// The devices so far. None is ever closed, as the caller's arrays may use it until the end.
static PLANS: Mutex<Option<HashMap<Key, Plans>>> = Mutex::new(None);

/// Makes functions run their kernels in the emulator. For tests: it is slow.
#[pyfunction]
pub(crate) fn emulate(is_on: bool) {
    EMULATES.store(is_on, Ordering::Relaxed);
}

/// Whether the function has to run its kernels for this array.
pub(crate) fn runs_kernels(x: &Array<'_>) -> bool {
    x.gpu.is_some() || EMULATES.load(Ordering::Relaxed)
}

/// Fails unless elements along the axis are adjacent, as kernels need them.
pub(crate) fn expect_rows(columns: usize) -> PyResult<()> {
    if columns == 1 {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{columns} columns: kernels need the axis to be the last one"
    )))
}

/// One stream of a device, and the plans for it.
pub(crate) struct Plans {
    pub(crate) device: Device,
    kept: HashMap<(TypeId, [usize; 3]), Box<dyn Any + Send>>,
}

impl Plans {
    fn new(device: Device) -> Self {
        Self { device, kept: HashMap::new() }
    }

    /// Opens the stream of a GPU, or the emulator.
    fn open(
        (gpu, (stream, allocator)): Key,
        others: &HashMap<Key, Self>,
    ) -> Result<Self, DeviceError> {
        let Some(gpu) = gpu else {
            return Ok(Self::new(Device::emulator()));
        };
        let same = others.iter().find(|((other, _), _)| *other == Some(gpu));
        let device = match same {
            Some((_, plans)) => plans.device.clone(),
            None => Device::cuda(gpu.cast_unsigned(), &KERNELS)?,
        };
        let stream = ptr::without_provenance_mut(stream);
        let allocator = Framework::numbered(allocator, gpu);
        // SAFETY: the caller's library has just named the stream as its current one. torch never destroys
        // its streams, and the Python part keeps the ones of CuPy.
        unsafe { device.with_allocator(stream, allocator) }.map(Self::new)
    }

    /// Runs `work`, without the plans of other calls while the stream is recorded in a graph.
    fn run<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        if !self.device.is_captured() {
            return work(self);
        }
        let kept = mem::take(&mut self.kept);
        let found = work(self);
        self.kept = kept;
        found
    }

    /// The plan of this type and these sizes, made by `make` at first.
    pub(crate) fn plan<P: Any + Send>(
        &mut self,
        sizes: [usize; 3],
        make: impl FnOnce(&Device) -> Result<P, DeviceError>,
    ) -> Result<&mut P, DeviceError> {
        let key = (TypeId::of::<P>(), sizes);
        if !self.kept.contains_key(&key) {
            if self.kept.len() >= MOST_PLANS {
                self.kept.clear();
            }
            self.kept.insert(key, Box::new(make(&self.device)?));
        }
        let plan = self.kept.get_mut(&key).and_then(|plan| plan.downcast_mut());
        Ok(plan.expect("the type is part of the key"))
    }
}

/// Runs `work` in a stream of a device, with buffers over the memory of `arrays`.
pub(crate) fn on_device<A: Lend, R: Send>(
    py: Python<'_>,
    key: Key,
    arrays: A,
    work: impl FnOnce(&mut Plans, &mut A::Lent) -> Result<R, Failed> + Send,
) -> PyResult<R> {
    let result = py.detach(|| {
        let mut all = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
        let all = all.get_or_insert_default();
        if !all.contains_key(&key) {
            let plans = Plans::open(key, all)?;
            all.insert(key, plans);
        }
        let plans = all.get_mut(&key).expect("inserted above");
        let mut lent = arrays.lent(&plans.device)?;
        let found = plans.run(|plans| work(plans, &mut lent))?;
        arrays.take_back(&lent)?;
        Ok(found)
    });
    result.map_err(|failed: Failed| match failed {
        Failed::OnDevice(error) => of_device(error),
        Failed::Refused(error) => error,
    })
}

/// Why work on a device ended early.
pub(crate) enum Failed {
    /// The device failed.
    OnDevice(DeviceError),
    /// The arguments are wrong.
    Refused(PyErr),
}

impl From<DeviceError> for Failed {
    fn from(error: DeviceError) -> Self {
        Self::OnDevice(error)
    }
}

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Self {
        Self::Refused(error)
    }
}

/// The error of a device for Python.
fn of_device(error: DeviceError) -> PyErr {
    match error {
        DeviceError::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        error => PyRuntimeError::new_err(error.to_string()),
    }
}
