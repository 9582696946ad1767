//! The results of a selection, on a device and on the host.

use super::select::To;
use crate::device::{Buffer, Device, DeviceError};
use crate::memory::{self, NoRoom};
use bytemuck::Pod;

/// The requested results of a selection in addition to the kept elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// All other elements.
    pub rest: bool,
    /// The indices of the kept elements.
    pub positions: bool,
}

impl Wanted {
    /// All other elements.
    pub const REST: Self = Self { rest: true, positions: false };

    /// The indices of the kept elements.
    pub const POSITIONS: Self = Self { rest: false, positions: true };

    /// Bytes of device memory per element of `T`, including all outputs.
    #[must_use]
    pub const fn bytes<T>(self) -> usize {
        size_of::<T>() + self.bytes_of_results::<T>()
    }

    /// Bytes of the results per element of `T`, if each has an element for each.
    pub(super) const fn bytes_of_results<T>(self) -> usize {
        (1 + self.rest as usize) * size_of::<T>() + self.positions as usize * size_of::<u64>()
    }
}

/// The selection on the host. Results that were not requested are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sifted<T> {
    /// The elements that are kept.
    pub kept: Vec<T>,
    /// All others.
    pub rest: Option<Vec<T>>,
    /// The indices of the kept elements.
    pub positions: Option<Vec<u64>>,
}

impl<T: Copy> Sifted<T> {
    /// An empty selection, with a slot for each requested result.
    #[must_use]
    pub fn none(wanted: Wanted) -> Self {
        Self {
            kept: Vec::new(),
            rest: wanted.rest.then(Vec::new),
            positions: wanted.positions.then(Vec::new),
        }
    }

    /// Appends the results of the next part of an array.
    ///
    /// # Errors
    /// [`NoRoom`].
    pub fn extend(&mut self, found: &Self) -> Result<(), NoRoom> {
        fn push<A: Copy>(all: &mut Vec<A>, found: &[A]) -> Result<(), NoRoom> {
            memory::reserve(all, found.len())?;
            all.extend_from_slice(found);
            Ok(())
        }
        push(&mut self.kept, &found.kept)?;
        if let (Some(all), Some(found)) = (&mut self.rest, &found.rest) {
            push(all, found)?;
        }
        if let (Some(all), Some(found)) = (&mut self.positions, &found.positions) {
            push(all, found)?;
        }
        Ok(())
    }

    /// Bytes of all results.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.kept[..])
            + self.rest.as_deref().map_or(0, size_of_val)
            + self.positions.as_deref().map_or(0, size_of_val)
    }
}

/// Buffers on a device for the results of a selection.
#[derive(Debug)]
pub struct Room<T> {
    /// The elements that are kept.
    pub kept: Buffer<T>,
    /// All others, if requested.
    pub rest: Option<Buffer<T>>,
    /// The indices of the kept elements, if requested.
    pub positions: Option<Buffer<u64>>,
    /// The number of kept elements, in a buffer of one element.
    pub count: Buffer<u64>,
}

impl<T: Pod> Room<T> {
    /// Allocates the buffers, for selections from `len` elements.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], and if the fill fails.
    pub fn new(device: &Device, len: usize, wanted: Wanted) -> Result<Self, DeviceError> {
        Ok(Self {
            kept: device.alloc(len)?,
            rest: wanted.rest.then(|| device.alloc(len)).transpose()?,
            positions: wanted.positions.then(|| device.alloc(len)).transpose()?,
            count: device.zeroed(1)?,
        })
    }

    /// All buffers, as the output of
    /// [`Selector::launch_part`](crate::primitives::Selector::launch_part).
    pub fn to(&mut self) -> To<'_, T> {
        To {
            rest: self.rest.as_mut(),
            positions: self.positions.as_mut(),
            ..To::new(&mut self.kept, &mut self.count)
        }
    }

    /// The results of the last launch. Waits for the device.
    ///
    /// # Errors
    /// As for [`Buffer::download`].
    pub fn download(&self) -> Result<Sifted<T>, DeviceError> {
        let count = self.count.download()?[0] as usize;
        let rest = self.rest.as_ref();
        let positions = self.positions.as_ref();
        Ok(Sifted {
            kept: self.kept.download_part(0..count)?,
            rest: rest.map(|rest| rest.download_part(0..rest.len() - count)).transpose()?,
            positions: positions.map(|positions| positions.download_part(0..count)).transpose()?,
        })
    }
}
