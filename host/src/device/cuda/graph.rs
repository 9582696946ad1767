//! Driver graphs, made by capturing the stream.

use super::{Cuda, Last, lock, stream::Given};
use crate::device::{DeviceError, Recording, gate::Recorder};
use libcuda::{CU_STREAM_CAPTURE_MODE_RELAXED, CUgraph, CUgraphExec};
use std::{
    ptr,
    sync::{Arc, Mutex},
};

/// Work to do after a capture has ended.
#[derive(Default)]
pub(super) struct Capture {
    /// The last launch.
    pub(super) last: Mutex<Option<Last>>,
    /// Memory released during the capture. It is freed afterwards, because neither waiting for the
    /// stream nor freeing can be captured.
    pub(super) given: Mutex<Vec<Given>>,
}

impl Cuda {
    /// [`Backend::record`].
    pub(super) fn capture(
        self: Arc<Self>,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Box<dyn Recording>, DeviceError> {
        self.gpu.enter()?;
        let mut capturing = Capturing::begin(&self)?;
        work()?;
        // `work` may have made another device's context current.
        self.gpu.enter()?;
        let graph = capturing.end()?;
        let exec = self.instantiate(&graph)?;
        let last = capturing.close();
        drop(capturing);
        Ok(Box::new(Replay {
            cuda: self,
            exec: Mutex::new(exec),
            last: last.map(|last| Last { of_graph: true, ..last }),
        }))
    }

    /// Instantiates a graph and uploads it to the device; nothing runs.
    pub(super) fn instantiate(&self, graph: &Graph) -> Result<Exec, DeviceError> {
        let mut exec = Exec(ptr::null_mut());
        // SAFETY: the graph is live, and the pointer to the handle is valid for writes; flags are
        // not used.
        let made = unsafe { libcuda::cuGraphInstantiateWithFlags(&raw mut exec.0, graph.0, 0) };
        DeviceError::check(made, || "instantiating a graph".into())?;
        // SAFETY: the executable graph and the stream are live.
        let uploaded = unsafe { libcuda::cuGraphUpload(exec.0, self.raw_stream()) };
        DeviceError::check(uploaded, || self.after_last("uploading a graph"))?;
        Ok(exec)
    }
}

/// A capture of a stream. Dropping it ends the capture and frees the memory that was released
/// during the capture.
pub(super) struct Capturing<'a> {
    cuda: &'a Cuda,
    recorder: Recorder<'a, Capture>,
    /// Whether the capture must still be ended in the driver.
    open: bool,
}

impl<'a> Capturing<'a> {
    pub(super) fn begin(cuda: &'a Cuda) -> Result<Self, DeviceError> {
        if cuda.stream.is_default() {
            return Err(DeviceError::Unsupported {
                what: "recording in the default stream",
                device: cuda.gpu.properties.name.clone(),
                needs: "record in a separate stream (Device::new_stream)",
            });
        }
        let recorder = {
            let _turn = cuda.gpu.turn();
            cuda.stream.gate.begin(Capture::default())?
        };
        let mut capturing = Self { cuda, recorder, open: false };
        // Nothing runs in the stream while it is being recorded, so no call has to wait for it
        // then.
        cuda.wait("waiting for the stream before recording")?;
        // Relaxed: the gate has already refused what cannot be captured. Other modes may refuse to
        // compile and load a kernel for its first launch.
        // SAFETY: the stream is live, and not the default one, which cannot capture.
        let begun = unsafe {
            libcuda::cuStreamBeginCapture_v2(cuda.raw_stream(), CU_STREAM_CAPTURE_MODE_RELAXED)
        };
        DeviceError::check(begun, || cuda.after_last("beginning to record a graph"))?;
        capturing.open = true;
        Ok(capturing)
    }

    /// Ends the capture and returns its graph.
    pub(super) fn end(&mut self) -> Result<Graph, DeviceError> {
        let mut graph = Graph(ptr::null_mut());
        // SAFETY: the stream is live and captures; the pointer to the handle is valid for writes.
        let ended =
            unsafe { libcuda::cuStreamEndCapture(self.cuda.raw_stream(), &raw mut graph.0) };
        DeviceError::check(ended, || "recording a graph".into())?;
        self.open = false;
        Ok(graph)
    }

    /// Reopens the gate, frees the memory that waited for this, and returns the last launch.
    pub(super) fn close(&mut self) -> Option<Last> {
        let capture = self.recorder.end()?;
        for given in lock(&capture.given).drain(..) {
            // SAFETY: the caller that released it promised that it came from `alloc`, had not been
            // freed, and that nothing launched later uses it.
            unsafe { self.cuda.give_back(given) };
        }
        *lock(&capture.last)
    }
}

impl Drop for Capturing<'_> {
    fn drop(&mut self) {
        if self.open {
            // The work failed, or ending the capture did, and that error is reported already. The
            // stream must not keep capturing.
            let _current = self.cuda.gpu.enter_to_free();
            drop(self.end());
        }
        self.close();
    }
}

/// A driver graph, destroyed when dropped.
pub(super) struct Graph(pub(super) CUgraph);

impl Drop for Graph {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the handle came from `cuStreamEndCapture` and is destroyed only here. A
            // failure means that the context is already gone.
            let _lost = unsafe { libcuda::cuGraphDestroy(self.0) };
        }
    }
}

/// An executable driver graph, destroyed when dropped, once it no longer runs.
pub(super) struct Exec(CUgraphExec);

// SAFETY: the driver API may be called from any thread on which the context is current; the mutex
// in `Replay` makes calls on one executable graph exclude each other.
unsafe impl Send for Exec {}

impl Drop for Exec {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the handle came from `cuGraphInstantiateWithFlags` and is destroyed only
            // here. The driver waits for its last launch. A failure means that the context is
            // already gone.
            let _lost = unsafe { libcuda::cuGraphExecDestroy(self.0) };
        }
    }
}

/// An executable graph and its device.
pub(super) struct Replay {
    // Fields drop in order: the graph is destroyed before its context.
    pub(super) exec: Mutex<Exec>,
    pub(super) cuda: Arc<Cuda>,
    /// The last kernel, named when the stream reports an error.
    pub(super) last: Option<Last>,
}

impl Recording for Replay {
    unsafe fn launch(&self) -> Result<(), DeviceError> {
        let _entered = self.cuda.stream.gate.unrecorded("launching a graph")?;
        self.cuda.gpu.enter()?;
        let exec = lock(&self.exec);
        // SAFETY: the executable graph and the stream are live, and no other thread uses the graph;
        // the caller vouches for the recorded arguments and the kernels' contracts.
        let result = unsafe { libcuda::cuGraphLaunch(exec.0, self.cuda.raw_stream()) };
        DeviceError::check(result, || self.cuda.after_last("launching a graph"))?;
        if self.last.is_some() {
            *lock(&self.cuda.last) = self.last;
        }
        Ok(())
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        // The graph can be destroyed only while the context is current. After a fault the driver
        // frees everything when the process exits.
        let _lost = self.cuda.gpu.enter_to_free();
    }
}
