//! Selections from parts of buffers, for other primitives.

use super::{Selectable, Selector};
use crate::device::DeviceError;
use bytemuck::Pod;
use cuda_std::memory::Global;
use gridsync_kernels::grid::select::Outputs;

impl<S: Selectable<Element: Pod>> Selector<S> {
    /// Submits the selection from `input`, which is not empty, to `outputs`.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    ///
    /// # Safety
    /// The views are on this device and do not overlap. Those of the outputs that are wanted are as
    /// long as the input, and the count has one element. Nothing else writes the input or uses the
    /// outputs until the selection has run.
    pub(in crate::primitives) unsafe fn select_view(
        &mut self,
        input: Global<S::Element>,
        outputs: Outputs<S::Element>,
    ) -> Result<(), DeviceError> {
        let (geometry, common) = self.planned(input, outputs)?;
        // SAFETY: the caller's promise; the arguments are made for the launch; a selection starts
        // with the wait for the previous kernel.
        unsafe { self.device.launch_in_a_row::<S::Kernel>(&geometry, self.by.arguments(common)) }
    }
}
