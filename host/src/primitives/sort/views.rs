//! Sorts of parts of buffers, for other primitives.

use super::run::How;
use super::{Key, Nothing, Order, Sorter};
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
        unsafe { self.run::<Nothing>(order, keys, None, How::whole(input.len())) }
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
        // SAFETY: the caller's promise.
        unsafe { self.run_argsort(order, input, indices, How::whole(input.len())) }
    }

    /// Submits the sort of `input` and of its indices, whose type can hold them, into `keys` and
    /// `indices`.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Safety
    /// As for [`sort_view`](Self::sort_view).
    pub(in crate::primitives) unsafe fn sort_with_indices_view<I: Index>(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        to: (Global<K::Word>, Global<I>),
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.run_with_indices(order, input, to, How::whole(input.len())) }
    }

    /// Submits the sort of the rows of `input`, which are sorted [in blocks](How::in_blocks). Writes
    /// the elements that are kept, and their indices in the row.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Safety
    /// As for [`sort_view`](Self::sort_view); both outputs have the elements that are kept.
    pub(in crate::primitives) unsafe fn sort_rows_view(
        &mut self,
        order: Order,
        input: Global<K::Word>,
        (output, indices): (Global<K::Word>, Global<u64>),
        how: How,
    ) -> Result<(), DeviceError> {
        let keys = Arrays { input, spare: input.part(0, 0), output };
        let none = indices.part(0, 0);
        let indices = Arrays { input: none, spare: none, output: indices };
        // SAFETY: the caller's promise.
        unsafe { self.run::<u64>(order, keys, Some(indices), how.with_indices()) }
    }
}
