//! The memory of the caller's arrays, as buffers of a device.

use crate::device::Key;
use crate::dlpack::Array;
use crate::element::Element;
use bytemuck::Pod;
use gridsync::device::{Buffer, Device, DeviceError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::ops::Deref;

/// The memory of one array, or of several.
pub(crate) trait Lend: Send {
    /// A buffer over each.
    type Lent;

    /// Buffers over the memory of a GPU, or over copies in that of the emulator.
    fn lent(&self, device: &Device) -> Result<Self::Lent, DeviceError>;

    /// Copies results of the emulator to the arrays.
    fn take_back(self, lent: &Self::Lent) -> Result<(), DeviceError>;
}

/// The elements of an array.
pub(crate) enum Memory<S> {
    /// In host memory, for the emulator.
    Host(S),
    /// On a GPU.
    Gpu {
        /// Where they begin.
        address: u64,
        /// How many there are.
        len: usize,
    },
}

/// The elements of an array that kernels read on the device of `key`: of `E` for the caller and of `R` for
/// the kernels, which have the same size.
pub(crate) fn input<'a, E: Element, R: Pod>(
    key: Key,
    x: &'a Array<'_>,
) -> PyResult<Memory<&'a [R]>> {
    const { assert!(size_of::<E>() == size_of::<R>(), "elements of one size") };
    expect_on(key, x)?;
    match x.gpu {
        Some(_) => Ok(Memory::Gpu { address: x.address::<E>()?, len: x.len() }),
        None => Ok(Memory::Host(bytemuck::cast_slice(x.elements::<E>()?))),
    }
}

/// The elements of an array that kernels write on the device of `key`. Types are as for [`input`].
pub(crate) fn output<'a, E: Element, R: Pod>(
    key: Key,
    x: &'a mut Array<'_>,
) -> PyResult<Memory<&'a mut [R]>> {
    const { assert!(size_of::<E>() == size_of::<R>(), "elements of one size") };
    expect_on(key, x)?;
    match x.gpu {
        Some(_) => Ok(Memory::Gpu { address: x.address::<E>()?, len: x.len() }),
        None => Ok(Memory::Host(bytemuck::cast_slice_mut(x.elements_mut::<E>()?))),
    }
}

/// Fails unless an array is on the device of `key`.
fn expect_on((gpu, _): Key, x: &Array<'_>) -> PyResult<()> {
    if x.gpu == gpu {
        return Ok(());
    }
    let name =
        |gpu: Option<i32>| gpu.map_or("in host memory".into(), |gpu| format!("on GPU {gpu}"));
    let (first, other) = (name(gpu), name(x.gpu));
    Err(PyTypeError::new_err(format!(
        "an array {first} and one {other}: copy both to the same device"
    )))
}

impl<S> Memory<S> {
    /// A buffer over the memory, or over a copy of it.
    fn buffer<T: Pod>(&self, device: &Device) -> Result<Buffer<T>, DeviceError>
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

impl<T: Pod + Sync> Lend for Memory<&[T]> {
    type Lent = Buffer<T>;

    fn lent(&self, device: &Device) -> Result<Buffer<T>, DeviceError> {
        self.buffer(device)
    }

    fn take_back(self, _: &Buffer<T>) -> Result<(), DeviceError> {
        Ok(())
    }
}

impl<T: Pod + Send> Lend for Memory<&mut [T]> {
    type Lent = Buffer<T>;

    fn lent(&self, device: &Device) -> Result<Buffer<T>, DeviceError> {
        self.buffer(device)
    }

    fn take_back(self, lent: &Buffer<T>) -> Result<(), DeviceError> {
        match self {
            Self::Host(elements) => lent.download_to(0, elements),
            Self::Gpu { .. } => Ok(()),
        }
    }
}

macro_rules! several {
    ($($name:ident $memory:ident $buffer:ident),+) => {
        impl<$($name: Lend),+> Lend for ($($name,)+) {
            type Lent = ($($name::Lent,)+);

            fn lent(&self, device: &Device) -> Result<Self::Lent, DeviceError> {
                let ($($memory,)+) = self;
                Ok(($($memory.lent(device)?,)+))
            }

            fn take_back(self, ($($buffer,)+): &Self::Lent) -> Result<(), DeviceError> {
                let ($($memory,)+) = self;
                $($memory.take_back($buffer)?;)+
                Ok(())
            }
        }
    };
}
several! { A a x, B b y }
several! { A a x, B b y, C c z }
several! { A a x, B b y, C c z, D d w }
