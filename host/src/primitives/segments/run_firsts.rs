//! The first value of each run of equal keys, again and again.

use super::by_key::{RunKey, expect_pairs};
use super::groups::gather_into;
use super::run_finder::RunFinder;
use crate::device::{Buffer, Device, DeviceError};
use crate::primitives::sort::Key;

/// Keeps the first key and the first value of each run of equal keys on one device, with the memory:
/// for each key its size and 8 bytes, and the size of a value.
///
/// Keys are equal by `==`, so −0 equals +0 and each NaN is its own run, as with
/// [`Nans::Apart`](super::by_key::Nans::Apart).
///
/// ```
/// use gridsync::device::{Device, DeviceError};
/// use gridsync::primitives::segments::by_key::RunFirsts;
///
/// let device = Device::emulator();
/// let mut firsts = RunFirsts::new(&device, 4)?;
/// let keys = device.upload(&[7u32, 7, 2, 7])?;
/// let values = device.upload(&[1.0f32, 2.0, 4.0, 8.0])?;
/// let runs = firsts.find(&keys, &values)?;
/// assert_eq!(firsts.keys().download_part(0..runs)?, [7, 2, 7]);
/// assert_eq!(firsts.values().download_part(0..runs)?, [1.0, 4.0, 8.0]);
/// # Ok::<(), DeviceError>(())
/// ```
pub struct RunFirsts<K: RunKey, V: Key> {
    device: Device,
    finder: RunFinder<K>,
    values: Buffer<V>,
}

impl<K: RunKey, V: Key> RunFirsts<K, V> {
    /// Allocates the memory for up to `longest` keys on `device`, which may all differ.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// As for [`Selector::new`](crate::primitives::select::Selector::new).
    pub fn new(device: &Device, longest: usize) -> Result<Self, DeviceError> {
        Ok(Self {
            device: device.clone(),
            finder: RunFinder::new(device, longest)?,
            values: device.alloc(longest)?,
        })
    }

    /// Finds the first key and the first of the `values` of each run of `keys`, and returns the
    /// number of runs.
    ///
    /// One launch finds the runs, and another gathers their values. Waits for the number of runs, so
    /// a graph cannot record it, but not for the values. Both stay on the device until the next call.
    /// Allocates only if there are more keys than in all earlier calls and than the length passed to
    /// [`new`](Self::new).
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if there are not as many values as keys,
    /// [`DeviceError::OtherDevice`] if they are not on the device of this object, and if the device
    /// fails.
    pub fn find(&mut self, keys: &Buffer<K>, values: &Buffer<V>) -> Result<usize, DeviceError> {
        self.device.expect_own(keys)?;
        expect_pairs(keys, values)?;
        if keys.len() > self.values.len() {
            self.values = self.device.alloc(keys.len())?;
        }
        let starts = self.finder.find(keys)?;
        gather_into(values, starts, &mut self.values)?;
        Ok(starts.len())
    }

    /// The buffer that begins with the first key of each run of the last [`find`](Self::find). The
    /// elements after as many as there are runs are undefined.
    #[must_use]
    pub fn keys(&self) -> &Buffer<K> {
        &self.finder.firsts
    }

    /// The buffer that begins with the first value of each run of the last [`find`](Self::find). The
    /// elements after as many as there are runs are undefined.
    #[must_use]
    pub fn values(&self) -> &Buffer<V> {
        &self.values
    }
}
