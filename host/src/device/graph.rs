//! Graphs: launches recorded once and put into the stream again and again by one call.

use super::{Device, DeviceError, backend::Recording};
use std::fmt;

/// Launches and fillings with zero, in the order in which they were recorded, with their arguments.
///
/// Each [`launch`](Self::launch) puts all of them into the stream of the device that recorded them.
/// On CUDA that is a graph (CUDA C++ Programming Guide, "CUDA Graphs"): it costs the host one call
/// whatever the number of launches, and the device less between two of them. Cooperative launches,
/// clusters and [overlapping](super::Geometry::overlapping) launches can be part of one.
pub struct Graph(Box<dyn Recording>);

impl Graph {
    /// Puts everything that was recorded into the stream.
    ///
    /// # Errors
    /// Those of putting it there; [`DeviceError::NotRecordable`] while a graph is being recorded,
    /// and [`DeviceError::RecordingElsewhere`] while another thread does. A fault of a kernel comes
    /// from [`Device::synchronize`], under the name of the graph's last kernel; in the emulator,
    /// which runs everything at once, it comes from here.
    ///
    /// # Safety
    /// As for [`Device::launch`], of each recorded launch anew: the contracts of the kernels hold
    /// for what the memory holds now, and the buffers that the arguments view, which the graph does
    /// not own, are alive and stay so until it has run.
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
    /// `work` may launch kernels and [zero](super::Buffer::zero) buffers. What it asks of the device
    /// beyond that, such as a copy, an allocation or [`synchronize`](Self::synchronize), is refused
    /// with [`DeviceError::NotRecordable`], and what other threads ask of it meanwhile with
    /// [`DeviceError::RecordingElsewhere`]: on one stream there is no telling whose work a recording
    /// would take up. A buffer that is dropped meanwhile is freed when the recording has ended.
    ///
    /// # Errors
    /// Those of `work`, and then nothing is kept; those of the driver when it makes the graph;
    /// [`DeviceError::Unsupported`] from a backend without graphs.
    ///
    /// # Examples
    /// ```
    /// use cuda_std::prelude::*;
    /// use gridsync::device::{Device, Emulator, EmulatorConfig, Geometry};
    ///
    /// #[kernel]
    /// unsafe fn double(values: Global<u32>) {
    ///     let i = thread::index();
    ///     values.write(i, 2 * values.read(i));
    /// }
    ///
    /// let device = Device::new(Emulator::new(EmulatorConfig::default()));
    /// let values = device.upload(&[1u32; 64])?;
    /// let geometry = Geometry::new(2, 32);
    /// // SAFETY: an element for each thread; `values` outlives the graph.
    /// let graph = device.record(|| unsafe { device.launch::<double>(&geometry, (values.view(),)) })?;
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
}
