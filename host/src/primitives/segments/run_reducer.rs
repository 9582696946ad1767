//! Reductions of runs of equal keys, again and again.

use super::by_key::{RunKey, expect_pairs};
use super::run_finder::RunFinder;
use super::{SegmentReducer, SegmentReducible};
use crate::device::{Buffer, Device, DeviceError};
use crate::reference::run_lengths;
use bytemuck::Pod;

/// Reduces the values of each run of equal keys by one operation on one device, and keeps the memory:
/// for each key its size and 8 bytes, and 4 bytes for each word of an accumulator.
///
/// Keys are equal by `==`, so −0 equals +0 and each NaN is its own run, as with
/// [`Nans::Apart`](super::by_key::Nans::Apart). The bits of a result are those of
/// [`reduce_by_key`](super::by_key::reduce_by_key).
///
/// ```
/// use gridsync::device::{Device, DeviceError};
/// use gridsync::op::Sum;
/// use gridsync::primitives::segments::by_key::RunReducer;
///
/// let device = Device::emulator();
/// let mut sums = RunReducer::new(Sum::<f64>::new(), &device, 4)?;
/// let keys = device.upload(&[7u32, 7, 2, 7])?;
/// let values = device.upload(&[1.0f64, 2.0, 4.0, 8.0])?;
/// assert_eq!(sums.reduce(&keys, &values)?, 3);
/// assert_eq!((sums.keys()?, sums.results()?), (vec![7, 2, 7], vec![3.0, 4.0, 8.0]));
/// assert_eq!(sums.starts().download_part(0..3)?, [0, 2, 3]);
/// # Ok::<(), DeviceError>(())
/// ```
pub struct RunReducer<K: RunKey, O: SegmentReducible> {
    device: Device,
    finder: RunFinder<K>,
    reducer: SegmentReducer<O>,
    found: Option<Found>,
}

/// The runs of the last reduction.
#[derive(Clone, Copy)]
struct Found {
    runs: usize,
    /// The number of all keys.
    keys: usize,
}

impl<K: RunKey, O: SegmentReducible<Element: Pod>> RunReducer<K, O> {
    /// Allocates the memory for reductions by `op` on `device` of up to `longest` values, which may
    /// all have different keys.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// As for [`Selector::new`](crate::primitives::select::Selector::new).
    pub fn new(op: O, device: &Device, longest: usize) -> Result<Self, DeviceError> {
        let mut reducer = SegmentReducer::new(op, device)?;
        reducer.fit(longest, longest)?;
        Ok(Self {
            device: device.clone(),
            finder: RunFinder::new(device, longest)?,
            reducer,
            found: None,
        })
    }

    /// Reduces the values of each run of `keys`, and returns the number of runs.
    ///
    /// One launch finds the runs, and another reduces. Waits for the number of runs, the only thing
    /// that is copied to the host, but not for the reduction. So a graph cannot record it. Keys and
    /// results stay on the device until the next call. Allocates only if there are more keys than in
    /// all earlier calls and than the length passed to [`new`](Self::new).
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if there are not as many values as keys,
    /// [`DeviceError::OtherDevice`] if they are not on the device of this reducer, and if the device
    /// fails. An error leaves neither keys nor results.
    pub fn reduce(
        &mut self,
        keys: &Buffer<K>,
        values: &Buffer<O::Element>,
    ) -> Result<usize, DeviceError> {
        self.found = None;
        self.device.expect_own(keys)?;
        expect_pairs(keys, values)?;
        let starts = self.finder.find(keys)?;
        // SAFETY: the values are on this device, and so are the starts, which ascend from 0 and are
        // indices of keys, of which there are as many; `&mut self` and the stream order keep other
        // launches off the starts, and a dropped buffer waits for the stream.
        unsafe { self.reducer.launch_view(values.view(), starts)? };
        self.found = Some(Found { runs: starts.len(), keys: keys.len() });
        Ok(starts.len())
    }

    /// The buffer that begins with the first key of each run of the last [`reduce`](Self::reduce).
    /// The elements after as many as there are runs are undefined.
    #[must_use]
    pub fn firsts(&self) -> &Buffer<K> {
        &self.finder.firsts
    }

    /// The buffer that begins with the index at which each run of the last [`reduce`](Self::reduce)
    /// starts. The elements after as many as there are runs are undefined.
    #[must_use]
    pub fn starts(&self) -> &Buffer<u64> {
        &self.finder.starts
    }

    /// Copies the first key of each run of the last [`reduce`](Self::reduce) to the host. Waits for
    /// the device.
    ///
    /// # Errors
    /// [`DeviceError::NoResult`] before the first reduction and after a failed one, and if the device
    /// fails.
    pub fn keys(&self) -> Result<Vec<K>, DeviceError> {
        self.finder.firsts.download_part(0..self.found()?.runs)
    }

    /// The values of each run of the last [`reduce`](Self::reduce), combined. Waits for them, and
    /// copies where the runs start too, because a result may depend on the length of its run.
    ///
    /// # Errors
    /// As for [`keys`](Self::keys).
    pub fn results(&self) -> Result<Vec<O::Output>, DeviceError> {
        let Found { runs, keys } = self.found()?;
        let starts = self.finder.starts.download_part(0..runs)?;
        self.reducer.results_of(run_lengths(&starts, keys))
    }

    /// The runs of the last reduction.
    fn found(&self) -> Result<Found, DeviceError> {
        self.found.ok_or(DeviceError::NoResult { what: "result of a reduction of runs" })
    }
}
