//! Graphs: launches recorded once and put into the stream again and again by one call.

use super::{Device, DeviceError, Ordered, Way, backend::Recording};
use std::fmt;

/// Launches and fillings with zero, in the order in which they were recorded, with their arguments.
///
/// Each [`launch`](Self::launch) puts all of them into the stream of the device that recorded them.
/// On CUDA that is a graph (CUDA C++ Programming Guide, "CUDA Graphs"): the host makes one call for
/// any number of launches, and the device takes less time between two of them. Cooperative
/// launches, clusters and [overlapping](super::Geometry::overlapping) launches can be part of one.
pub struct Graph(Box<dyn Recording>);

impl Graph {
    /// Puts everything that was recorded into the stream.
    ///
    /// # Errors
    /// If it cannot be put there; [`DeviceError::NotRecordable`] while this thread records a graph,
    /// and [`DeviceError::RecordingElsewhere`] while another thread does. [`Device::synchronize`]
    /// reports a fault of a kernel, under the name of the graph's last kernel. The emulator runs
    /// everything at once, so it reports the fault here.
    ///
    /// # Safety
    /// As for [`Device::launch`], for each recorded launch again: the contracts of the kernels hold
    /// for what the memory contains now. The graph does not own the buffers that its arguments
    /// view: they stay alive until it has run.
    pub unsafe fn launch(&self) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.0.launch() }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Graph")
    }
}

impl Device {
    /// Runs `work` once, and records what it launches instead of running it.
    ///
    /// `work` may launch kernels and [zero](super::Buffer::zero) buffers. Every other call of it to
    /// the device, such as a copy, an allocation or [`synchronize`](Self::synchronize), is refused
    /// with [`DeviceError::NotRecordable`]. Calls of other threads meanwhile are refused with
    /// [`DeviceError::RecordingElsewhere`]: there is one stream, and a recording would take up
    /// their work too. [Other streams](Self::new_stream) of the device go on. A buffer that is dropped
    /// meanwhile is freed when the recording has ended. Waits for the stream first.
    ///
    /// # Errors
    /// The error of `work`, and then nothing is kept; errors of the driver when it makes the graph;
    /// [`DeviceError::Unsupported`] from a backend without graphs.
    ///
    /// # Examples
    /// ```
    /// use cuda_std::prelude::*;
    /// use gridsync::device::{Device, Geometry};
    ///
    /// #[kernel]
    /// unsafe fn double(values: Global<u32>) {
    ///     let i = thread::index();
    ///     values.write(i, 2 * values.read(i));
    /// }
    ///
    /// let device = Device::emulator();
    /// let values = device.upload(&[1u32; 64])?;
    /// let geometry = Geometry::new(2, 32);
    /// // SAFETY: an element for each thread; `values` outlives the graph.
    /// let graph = device.record(|| unsafe { device.launch::<double>(&geometry, (&values,)) })?;
    /// for _ in 0..10 {
    ///     // SAFETY: as above.
    ///     unsafe { graph.launch()? };
    /// }
    /// assert_eq!(values.download()?, [1024; 64]);
    /// # Ok::<(), gridsync::device::DeviceError>(())
    /// ```
    pub fn record(
        &self,
        mut work: impl FnMut() -> Result<(), DeviceError>,
    ) -> Result<Graph, DeviceError> {
        self.0.clone().record(&mut work).map(Graph)
    }

    /// Checks launches that depend on each other, and gets them ready to be run again and again. The
    /// emulator draws an order from those that are possible.
    ///
    /// # Errors
    /// As for [`Backend::assemble`](super::Backend::assemble).
    pub fn assemble(&self, launches: &[Ordered<'_>], way: Way) -> Result<Graph, DeviceError> {
        self.0.clone().assemble(launches, way).map(Graph)
    }
}
