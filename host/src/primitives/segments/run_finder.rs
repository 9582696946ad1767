//! Where runs of equal keys start, again and again.

use super::by_key::RunKey;
use crate::device::{Buffer, Device, DeviceError};
use crate::primitives::select::Selector;
use cuda_std::memory::Global;
use gridsync_kernels::grid::select::Outputs;

/// Finds runs of equal keys on one device, and keeps the memory: for each key its size and 8 bytes.
/// Each NaN is its own run.
pub(super) struct RunFinder<K: RunKey> {
    device: Device,
    selector: Selector<K::Firsts>,
    /// The first key of each run, where the runs start, and their number. The elements after as many
    /// as there are runs are undefined.
    pub(super) firsts: Buffer<K>,
    pub(super) starts: Buffer<u64>,
    count: Buffer<u64>,
}

impl<K: RunKey> RunFinder<K> {
    /// Allocates the memory for up to `longest` keys on `device`.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// As for [`Selector::new`].
    pub(super) fn new(device: &Device, longest: usize) -> Result<Self, DeviceError> {
        Ok(Self {
            device: device.clone(),
            selector: Selector::new(K::Firsts::default(), device, longest)?,
            firsts: device.alloc(longest)?,
            starts: device.alloc(longest)?,
            count: device.alloc(1)?,
        })
    }

    /// Finds the runs of `keys`, which are on its device, and waits for their number. Returns where
    /// they start: indices of keys, which ascend from 0. They stay until the next call.
    ///
    /// # Errors
    /// If the device fails.
    pub(super) fn find(&mut self, keys: &Buffer<K>) -> Result<Global<u64>, DeviceError> {
        let len = keys.len();
        if len == 0 {
            return Ok(self.starts.view().part(0, 0));
        }
        if len > self.firsts.len() {
            self.firsts = self.device.alloc(len)?;
        }
        if len > self.starts.len() {
            self.starts = self.device.alloc(len)?;
        }
        let (firsts, positions) =
            (self.firsts.view().part(0, len), self.starts.view().part(0, len));
        let count = self.count.view();
        let outputs = Outputs { kept: firsts, rest: firsts.part(0, 0), positions, count };
        // SAFETY: all are on this device and different buffers, and the outputs are as long as the
        // keys, which are not empty; `&mut self` and the stream order keep other launches off the
        // outputs, and a dropped buffer waits for the stream.
        unsafe { self.selector.select_view(keys.view(), outputs)? };
        Ok(positions.part(0, self.count.download()?[0] as usize))
    }
}
