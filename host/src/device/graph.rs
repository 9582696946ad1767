//! Graphs: launches that are recorded once and then submitted to the stream repeatedly, each time
//! with one call.

use super::{Device, DeviceError, Ordered, Way, backend::Recording};
use std::fmt;

/// Launches and zero fills, in the order in which they were recorded, with their arguments.
///
/// Each [`launch`](Self::launch) submits all of them to the stream of the device that recorded
/// them. On CUDA this is a graph (CUDA C++ Programming Guide, "CUDA Graphs"): the host makes one
/// call for any number of launches, and the device needs less time between launches. Cooperative
/// launches, clusters and [overlapping](super::Geometry::overlapping) launches can be part of one.
pub struct Graph(Box<dyn Recording>);

impl Graph {
    /// Submits everything that was recorded to the stream.
    ///
    /// # Errors
    /// If it cannot be submitted; [`DeviceError::NotRecordable`] while this thread records a graph,
    /// and [`DeviceError::RecordingElsewhere`] while another thread does. [`Device::synchronize`]
    /// reports a fault of a kernel, under the name of the graph's last kernel. Unless it is
    /// [concurrent](super::EmulatorConfig::concurrent), the emulator runs everything immediately and
    /// reports the fault here.
    ///
    /// # Safety
    /// As for [`Device::launch`], for each recorded launch again: the contracts of the kernels hold
    /// for the current contents of the memory. The graph does not own the buffers that its
    /// arguments view: they must stay alive until it has run.
    pub unsafe fn launch(&self) -> Result<(), DeviceError> {
        // SAFETY: the caller upholds the contract, which is that of `Recording::launch`.
        unsafe { self.0.launch() }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Graph")
    }
}

impl Device {
    /// Runs `work` once, and records its launches instead of running them.
    ///
    /// `work` may launch kernels and [zero](super::Buffer::zero) buffers. Every other call to the
    /// device in `work`, such as a copy, an allocation or [`synchronize`](Self::synchronize), is
    /// refused with [`DeviceError::NotRecordable`]. Concurrent calls of other threads are refused
    /// with [`DeviceError::RecordingElsewhere`]: there is only one stream, and the recording would
    /// capture their work too. [Other streams](Self::new_stream) of the device keep running. A
    /// buffer that is dropped during the recording is freed afterwards. Waits for the stream first.
    ///
    /// # Errors
    /// The error of `work`, after which nothing is kept; if the driver fails to make the graph;
    /// [`DeviceError::Unsupported`] from a backend without graphs.
    ///
    /// # Examples
    ///
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
    ///     // SAFETY: an element for each thread; `values` is still alive.
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

    /// Checks launches that depend on each other, and prepares them for repeated runs. Unless it
    /// is [concurrent](super::EmulatorConfig::concurrent), the emulator draws an order from all valid
    /// ones.
    ///
    /// # Errors
    /// As for [`Backend::assemble`](super::Backend::assemble).
    pub fn assemble(&self, launches: &[Ordered<'_>], way: Way) -> Result<Graph, DeviceError> {
        self.0.clone().assemble(launches, way).map(Graph)
    }
}
