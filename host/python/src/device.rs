//! GPUs: the memory of arrays there, the caller's streams, and the plans of the primitives.
//!
//! A plan has working memory, and the library waits for the device to free it. So plans are kept: those of
//! each GPU and stream, by their type and the sizes they were made for.

use crate::dlpack::Array;
use crate::element::Element;
use bytemuck::Pod;
use gridsync::device::{Buffer, Device, DeviceError, KERNELS};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The most plans of a stream. When there are more, all are dropped, which waits for the device.
const MOST_PLANS: usize = 256;

/// Whether functions with kernels run them in the emulator, on copies of arrays in host memory.
static EMULATES: AtomicBool = AtomicBool::new(false);

/// A GPU, or `None` for the emulator, and the handle of a stream.
type Key = (Option<i32>, usize);

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
    kept: HashMap<(TypeId, [usize; 2]), Box<dyn Any + Send>>,
}

impl Plans {
    fn new(device: Device) -> Self {
        Self { device, kept: HashMap::new() }
    }

    /// Opens the stream of a GPU, or the emulator.
    fn open((gpu, stream): Key, others: &HashMap<Key, Self>) -> Result<Self, DeviceError> {
        let Some(gpu) = gpu else {
            return Ok(Self::new(Device::emulator()));
        };
        let same = others.iter().find(|((other, _), _)| *other == Some(gpu));
        let device = match same {
            Some((_, plans)) => plans.device.clone(),
            None => Device::cuda(gpu.cast_unsigned(), &KERNELS)?,
        };
        let stream = ptr::without_provenance_mut(stream);
        // SAFETY: the caller's library has just named the stream as its current one. torch never destroys
        // its streams, and of CuPy the Python part permits the default one alone.
        unsafe { device.with_raw_stream(stream, ()) }.map(Self::new)
    }

    /// The plan of this type and these sizes, made by `make` at first.
    pub(crate) fn plan<P: Any + Send>(
        &mut self,
        sizes: [usize; 2],
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

/// Runs `work` on the device of `x`, in its `stream`, from `x` to `out`.
pub(crate) fn on_device<T: Element, E: Element, R: Pod + Send + Sync>(
    py: Python<'_>,
    (x, stream): (&Array<'_>, usize),
    out: &mut Array<'_>,
    work: impl FnOnce(&mut Plans, &Buffer<T>, &mut Buffer<R>) -> Result<(), DeviceError> + Send,
) -> PyResult<()> {
    if x.gpu != out.gpu {
        return Err(PyTypeError::new_err("the output is not on the device of the input"));
    }
    let (from, to, key) = (Memory::of::<T>(x)?, Memory::of_mut::<E, R>(out)?, (x.gpu, stream));
    let result = py.detach(|| {
        let mut all = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
        let all = all.get_or_insert_default();
        if !all.contains_key(&key) {
            let plans = Plans::open(key, all)?;
            all.insert(key, plans);
        }
        let plans = all.get_mut(&key).expect("inserted above");
        let input = from.lent(&plans.device)?;
        let mut output = to.lent(&plans.device)?;
        work(plans, &input, &mut output)?;
        match to {
            Memory::Host(elements) => output.download_to(0, elements),
            Memory::Gpu { .. } => Ok(()),
        }
    });
    result.map_err(failed)
}

/// The elements of an array.
enum Memory<S> {
    /// Of the host, for the emulator.
    Host(S),
    Gpu {
        address: u64,
        len: usize,
    },
}

impl Memory<()> {
    fn of<'a, T: Element>(x: &'a Array<'_>) -> PyResult<Memory<&'a [T]>> {
        match x.gpu {
            Some(_) => Ok(Memory::Gpu { address: x.address(), len: x.len() }),
            None => x.elements().map(Memory::Host),
        }
    }

    /// The elements, of `E` for the caller and of `R` for the kernels, which have the same size.
    fn of_mut<'a, E: Element, R: Pod>(out: &'a mut Array<'_>) -> PyResult<Memory<&'a mut [R]>> {
        match out.gpu {
            Some(_) => Ok(Memory::Gpu { address: out.address(), len: out.len() }),
            None => Ok(Memory::Host(bytemuck::cast_slice_mut(out.elements_mut::<E>()?))),
        }
    }
}

impl<S> Memory<S> {
    /// A buffer over the memory of a GPU, or over a copy in that of the emulator.
    fn lent<T: Pod>(&self, device: &Device) -> Result<Buffer<T>, DeviceError>
    where
        S: Deref<Target = [T]>,
    {
        match self {
            Self::Host(elements) => device.upload(elements),
            // SAFETY: the array is memory of this device, and its library frees it in the order of the
            // stream that it has named.
            &Self::Gpu { address, len } => unsafe { Buffer::lent(device, address, len) },
        }
    }
}

/// The error of a device for Python.
fn failed(error: DeviceError) -> PyErr {
    match error {
        DeviceError::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        error => PyRuntimeError::new_err(error.to_string()),
    }
}
