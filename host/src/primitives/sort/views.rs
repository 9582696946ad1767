//! Sorts of parts of buffers, for other primitives.

use super::{How, Key, Nothing, Order, Sorter};
use crate::device::DeviceError;
use crate::reference::Index;
use cuda_std::memory::Global;
use gridsync_kernels::grid::sort::Arrays;

impl<K: Key> Sorter<K> {
    /// Submits the sort of `input` into `output`.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Safety
    /// The views are on this device, as long, and do not overlap. Nothing else writes the input or
    /// uses the output until the sort has run.
    pub(in crate::primitives) unsafe fn sort_view(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        output: Global<K::Word>,
    ) -> Result<(), DeviceError> {
        self.keys.fit(input.len())?;
        let keys = Arrays { input, spare: self.keys.view(), output };
        // SAFETY: the caller's promise.
        unsafe { self.run::<Nothing>(order, keys, None, How::default()) }
    }

    /// Submits the sort of the indices of `input` into `indices`, whose type can hold them.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Safety
    /// As for [`sort_view`](Self::sort_view).
    pub(in crate::primitives) unsafe fn argsort_view<I: Index>(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        indices: Global<I>,
    ) -> Result<(), DeviceError> {
        let len = input.len();
        // Twice, because the keys are not wanted.
        self.keys.fit(2 * len)?;
        self.spare.fit((len * size_of::<I>()).div_ceil(8))?;
        let both = self.keys.view();
        let keys = Arrays { input, spare: both.part(0, len), output: both.part(len, len) };
        let spare = self.spare.view().cast().part(0, len);
        let indices = Arrays { input: indices.part(0, 0), spare, output: indices };
        let how = How { are_indices: true, ..How::default() };
        // SAFETY: the caller's promise; the spare arrays are as long.
        unsafe { self.run_with(order, keys, indices, how) }
    }
}
