//! Arrays of other libraries, by DLPack: their memory is used where it is.
//!
//! The structures are those of DLPack 1.0 (dlpack.h), which any later 1.x only adds to, and of 1.3.

use crate::element::{Dtype, Element};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::slice;

/// The kinds of memory, `DLDeviceType`.
const CPU: i32 = 1;
const CUDA: i32 = 2;
const CUDA_HOST: i32 = 3;

/// The name of a capsule with a version and flags, and of one without.
const VERSIONED: &CStr = c"dltensor_versioned";
const UNVERSIONED: &CStr = c"dltensor";

/// The name of a capsule of an [`Exchange`].
const EXCHANGE: &CStr = c"dlpack_exchange_api";

/// The flag of an array that must not be written.
const READ_ONLY: u64 = 1;

/// The producer does not wait for any stream.
const DO_NOT_SYNCHRONISE: i64 = -1;

/// `DLTensor`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: *const c_void,
    flags: u64,
    tensor: Tensor,
}

/// The beginning of `DLPackExchangeAPI`, since DLPack 1.3: functions of a library without a capsule for
/// each array.
#[repr(C)]
struct Exchange {
    major: u32,
    minor: u32,
    before: *const c_void,
    allocate: *const c_void,
    from_object: *const c_void,
    to_object: *const c_void,
    /// Describes an array as long as it lives, or returns something else than 0 and raises an error.
    describe: Option<unsafe extern "C" fn(object: *mut c_void, tensor: *mut Tensor) -> i32>,
}

/// A contiguous array of another library. It is kept itself, or by a capsule, which frees its memory when
/// it is dropped without having been consumed.
pub(crate) struct Array<'py> {
    _owner: Bound<'py, PyAny>,
    data: *mut c_void,
    /// Its dimensions. Elements along the last one are adjacent.
    pub(crate) shape: Vec<usize>,
    /// The type of its elements.
    pub(crate) dtype: Dtype,
    /// The number of its GPU, or `None` in host memory.
    pub(crate) gpu: Option<i32>,
    is_read_only: bool,
}

impl<'py> FromPyObject<'_, 'py> for Array<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Self::of(&object)
    }
}

impl<'py> Array<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Some(array) = Self::described(object)? {
            return Ok(array);
        }
        let py = object.py();
        let (device_type, _): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
        let options = PyDict::new(py);
        options.set_item("max_version", (1, 0))?;
        if device_type == CUDA {
            options.set_item("stream", DO_NOT_SYNCHRONISE)?;
        }
        let capsule = object.call_method("__dlpack__", (), Some(&options))?;
        let capsule = capsule.cast_into::<PyCapsule>()?;
        // Both are read only while the capsule is held, and this copies what it needs.
        let (tensor, flags): (*const Tensor, u64) = if capsule.is_valid_checked(Some(VERSIONED)) {
            let versioned = capsule.pointer_checked(Some(VERSIONED))?.cast::<Versioned>();
            // SAFETY: the producer promises a structure of version 1, which the capsule keeps.
            let versioned = unsafe { versioned.as_ref() };
            if versioned.major != 1 {
                let found = versioned.major;
                return Err(PyValueError::new_err(format!("DLPack {found}, but 1 was asked for")));
            }
            (&raw const versioned.tensor, versioned.flags)
        } else {
            (capsule.pointer_checked(Some(UNVERSIONED))?.cast::<Tensor>().as_ptr(), 0)
        };
        // SAFETY: the producer promises a tensor, which the capsule keeps.
        Self::over(unsafe { &*tensor }, capsule.into_any(), flags)
    }

    /// The array, if its library describes arrays without a capsule.
    fn described(object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let py = object.py();
        let Ok(exchange) = object.get_type().getattr(intern!(py, "__dlpack_c_exchange_api__"))
        else {
            return Ok(None);
        };
        let exchange = exchange.cast_into::<PyCapsule>()?;
        let exchange = exchange.pointer_checked(Some(EXCHANGE))?.cast::<Exchange>();
        // SAFETY: the library promises this structure for as long as it is loaded.
        let exchange = unsafe { exchange.as_ref() };
        let (1, Some(describe)) = (exchange.major, exchange.describe) else {
            return Ok(None);
        };
        let mut tensor = MaybeUninit::<Tensor>::uninit();
        // SAFETY: the object is of the type whose library has this function, and the tensor is valid for
        // writes. The lock of the interpreter is held.
        if unsafe { describe(object.as_ptr().cast(), tensor.as_mut_ptr()) } != 0 {
            return Err(PyErr::take(py).unwrap_or_else(|| {
                PyTypeError::new_err("the array cannot be described to other libraries")
            }));
        }
        // SAFETY: the function has filled it, and what it points to belongs to the object.
        Self::over(unsafe { tensor.assume_init_ref() }, object.clone(), 0).map(Some)
    }

    /// The array that a tensor describes, as long as `owner` lives.
    fn over(tensor: &Tensor, owner: Bound<'py, PyAny>, flags: u64) -> PyResult<Self> {
        let dtype = Dtype::of_dlpack(tensor.code, tensor.bits, tensor.lanes)?;
        let gpu = match tensor.device_type {
            CPU | CUDA_HOST => None,
            CUDA => Some(tensor.device_id),
            other => {
                let message =
                    format!("an array on a device of DLPack's type {other}: use CPU or CUDA");
                return Err(PyTypeError::new_err(message));
            }
        };
        let shape = tensor.dimensions()?;
        if !tensor.is_contiguous(&shape) {
            return Err(PyValueError::new_err("the array is not contiguous"));
        }
        let data = tensor.data.wrapping_byte_add(tensor.byte_offset as usize);
        let is_read_only = flags & READ_ONLY != 0;
        Ok(Self { _owner: owner, data, shape, dtype, gpu, is_read_only })
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The rows along the last dimension, and the elements of each.
    pub(crate) fn rows(&self) -> (usize, usize) {
        match self.shape.split_last() {
            Some((&columns, rows)) => (rows.iter().product(), columns),
            None => (1, 1),
        }
    }

    /// The matrices along an axis: how many, the elements of each along the axis, and its columns.
    pub(crate) fn matrices(&self, axis: usize) -> PyResult<(usize, usize, usize)> {
        let Some((&len, after)) = self.shape.get(axis..).and_then(<[usize]>::split_first) else {
            let dimensions = self.shape.len();
            let message = format!("axis {axis} is not in an array of {dimensions} dimensions");
            return Err(PyValueError::new_err(message));
        };
        Ok((self.shape[..axis].iter().product(), len, after.iter().product()))
    }

    /// The address of the elements on its GPU, which have to be of `T`.
    pub(crate) fn address<T: Element>(&self) -> PyResult<u64> {
        self.expect_type::<T>()?;
        Ok(self.data as u64)
    }

    /// The elements of an array in host memory.
    pub(crate) fn elements<T: Element>(&self) -> PyResult<&[T]> {
        self.expect::<T>()?;
        if self.len() == 0 {
            return Ok(&[]);
        }
        // SAFETY: the producer promises these elements, which the capsule keeps. Like every library that
        // computes without the lock of the interpreter, this relies on the caller not to write to an
        // array at the same time.
        Ok(unsafe { slice::from_raw_parts(self.data.cast(), self.len()) })
    }

    /// The elements of an array in host memory, to write them.
    pub(crate) fn elements_mut<T: Element>(&mut self) -> PyResult<&mut [T]> {
        self.expect::<T>()?;
        if self.is_read_only {
            return Err(PyValueError::new_err("the output is read-only"));
        }
        if self.len() == 0 {
            return Ok(&mut []);
        }
        // SAFETY: as above, and the producer permits to write. The package makes every output itself, so
        // nothing else refers to it yet.
        Ok(unsafe { slice::from_raw_parts_mut(self.data.cast(), self.len()) })
    }

    /// Checks that the elements are of `T`, in host memory, and aligned.
    fn expect<T: Element>(&self) -> PyResult<()> {
        self.expect_type::<T>()?;
        if let Some(gpu) = self.gpu {
            let message =
                format!("the array is on GPU {gpu}: this function needs one in host memory");
            return Err(PyTypeError::new_err(message));
        }
        if self.data.cast::<T>().is_aligned() || self.len() == 0 {
            return Ok(());
        }
        let (address, alignment) = (self.data as u64, align_of::<T>());
        let message = format!("the address {address:#x} is not a multiple of {alignment} bytes");
        Err(PyValueError::new_err(message))
    }

    /// Checks that the elements are of `T`.
    fn expect_type<T: Element>(&self) -> PyResult<()> {
        if self.dtype == T::DTYPE {
            return Ok(());
        }
        let (wanted, given) = (T::DTYPE, self.dtype);
        Err(PyTypeError::new_err(format!("expected an array of {wanted}, not of {given}")))
    }
}

impl Tensor {
    fn dimensions(&self) -> PyResult<Vec<usize>> {
        if self.dimensions == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: the producer promises as many numbers as dimensions.
        let shape = unsafe { slice::from_raw_parts(self.shape, self.dimensions as usize) };
        let shape: Result<Vec<usize>, _> = shape.iter().map(|&len| usize::try_from(len)).collect();
        shape.map_err(|_| PyValueError::new_err("a dimension is negative"))
    }

    /// Whether the elements are stored in row-major order without gaps.
    fn is_contiguous(&self, shape: &[usize]) -> bool {
        if self.strides.is_null() || shape.is_empty() || shape.contains(&0) {
            return true;
        }
        // SAFETY: the producer promises as many numbers as dimensions.
        let strides = unsafe { slice::from_raw_parts(self.strides, shape.len()) };
        let mut expected = 1;
        shape.iter().zip(strides).rev().all(|(&len, &stride)| {
            let fits = len == 1 || stride == expected;
            expected *= len as i64;
            fits
        })
    }
}
