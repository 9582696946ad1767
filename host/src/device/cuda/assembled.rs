//! Launches that depend on each other, in streams or as a driver graph.

use super::event::Event;
use super::graph::{Capturing, Graph, Replay};
use super::stream::OwnStream;
use super::{Cuda, Function, Last, lock};
use crate::device::assembled::{Arguments, deal};
use crate::device::{DeviceError, Geometry, Ordered, Recording, Way};
use libcuda::{CU_EVENT_DISABLE_TIMING, CUDA_KERNEL_NODE_PARAMS, CUgraphNode};
use std::{
    ffi::c_void,
    ptr,
    sync::{Arc, Mutex},
};

/// The most streams: as many as the launches that an H100 or H200 can run at once (CUDA C++
/// Programming Guide, "Technical Specifications").
const MOST_STREAMS: usize = 128;

impl Cuda {
    /// [`Backend::assemble`](crate::device::Backend::assemble).
    pub(super) fn put_together(
        self: Arc<Self>,
        launches: &[Ordered<'_>],
        way: Way,
    ) -> Result<Box<dyn Recording>, DeviceError> {
        self.gpu.enter()?;
        let prepared =
            launches.iter().map(|it| self.prepared(it)).collect::<Result<Vec<_>, _>>()?;
        let last = prepared.last().map(|launch| Last { of_graph: true, ..launch.last() });
        match way {
            Way::OneStream => Ok(Box::new(self.in_streams(launches, prepared, 1)?)),
            Way::Streams => Ok(Box::new(self.in_streams(launches, prepared, MOST_STREAMS)?)),
            Way::Built => {
                let exec = self.instantiate(&self.build(&prepared, launches)?)?;
                Ok(Box::new(Replay { exec: Mutex::new(exec), cuda: self, last }))
            }
            Way::Captured => {
                let streams = self.clone().in_streams(launches, prepared, MOST_STREAMS)?;
                let mut capturing = Capturing::begin(&self)?;
                // SAFETY: a capture runs nothing.
                unsafe { streams.put()? };
                let graph = capturing.end()?;
                let exec = self.instantiate(&graph)?;
                capturing.close();
                drop(capturing);
                Ok(Box::new(Replay { exec: Mutex::new(exec), cuda: self, last }))
            }
        }
    }

    /// Checks a launch.
    fn prepared(&self, Ordered { launch, .. }: &Ordered<'_>) -> Result<Prepared, DeviceError> {
        let cooperative = launch.geometry.cooperative || launch.kernel.cooperative;
        let geometry = Geometry { cooperative, ..launch.geometry };
        let function = self.prepare(&launch.kernel, &geometry)?;
        if geometry.cooperative {
            self.expect_resident(&launch.kernel, geometry)?;
        }
        let args = launch.args.clone();
        let pointers = Pointers(args.pointers());
        Ok(Prepared { kernel: launch.kernel.name, function, geometry, _args: args, pointers })
    }

    /// Assigns the launches to streams, with the events between them.
    fn in_streams(
        self: Arc<Self>,
        launches: &[Ordered<'_>],
        prepared: Vec<Prepared>,
        most: usize,
    ) -> Result<Streams, DeviceError> {
        let of = deal(launches.iter().map(|launch| &launch.after[..]), most);
        let count = of.iter().max().map_or(1, |most| most + 1);
        // The device's own stream is the first.
        let others = (1..count).map(|_| OwnStream::new()).collect::<Result<Vec<_>, _>>()?;
        let begun = new_event()?;
        let mut ended: Vec<Option<Event>> = launches.iter().map(|_| None).collect();
        let mut steps = Vec::with_capacity(launches.len());
        let mut last = vec![None; count];
        for (at, (launch, prepared)) in launches.iter().zip(prepared).enumerate() {
            let stream = of[at];
            let awaited = launch.after.iter().copied().filter(|&before| of[before] != stream);
            let waits: Vec<usize> = awaited.collect();
            for &before in &waits {
                if ended[before].is_none() {
                    ended[before] = Some(new_event()?);
                }
            }
            let is_first = last[stream].replace(at).is_none() && stream > 0;
            steps.push(InStream { prepared, stream, is_first, waits });
        }
        // The device's own stream waits for the last launch of each other stream.
        let ends: Vec<usize> = last.into_iter().skip(1).flatten().collect();
        for &end in &ends {
            if ended[end].is_none() {
                ended[end] = Some(new_event()?);
            }
        }
        Ok(Streams { steps, others, begun, ended, ends, cuda: self })
    }

    /// A graph with a node for each launch.
    fn build(&self, prepared: &[Prepared], launches: &[Ordered<'_>]) -> Result<Graph, DeviceError> {
        let mut graph = Graph(ptr::null_mut());
        // SAFETY: the pointer to the handle is valid for writes; flags are not used.
        let made = unsafe { libcuda::cuGraphCreate(&raw mut graph.0, 0) };
        DeviceError::check(made, || "making a graph".into())?;
        let mut nodes: Vec<CUgraphNode> = Vec::with_capacity(prepared.len());
        for (launch, ordered) in prepared.iter().zip(launches) {
            let Geometry { grid, block, dynamic_shared, cooperative, cluster, overlapping } =
                launch.geometry;
            if cooperative || cluster.is_some() || overlapping {
                return Err(DeviceError::Unsupported {
                    what: "cooperative, clustered and overlapping nodes of a graph that is built",
                    device: self.gpu.properties.name.clone(),
                    needs: "capture the graph",
                });
            }
            let before: Vec<CUgraphNode> = ordered.after.iter().map(|&at| nodes[at]).collect();
            let params = CUDA_KERNEL_NODE_PARAMS {
                function: launch.function.handle,
                grid: [grid.x, grid.y, grid.z],
                block: [block.x, block.y, block.z],
                shared_bytes: dynamic_shared,
                arguments: launch.pointers.0.as_ptr().cast::<*mut c_void>().cast_mut(),
                extra: ptr::null_mut(),
            };
            let mut node = ptr::null_mut();
            // SAFETY: the graph and the nodes before this one are live, and their count is right;
            // the driver copies the arguments, which are those of the kernel.
            let added = unsafe {
                libcuda::cuGraphAddKernelNode(
                    &raw mut node,
                    graph.0,
                    before.as_ptr(),
                    before.len(),
                    &raw const params,
                )
            };
            DeviceError::check(added, || format!("adding `{}` to a graph", launch.kernel))?;
            nodes.push(node);
        }
        Ok(graph)
    }
}

/// A launch that has been checked, with its own copy of its arguments.
struct Prepared {
    kernel: &'static str,
    function: Arc<Function>,
    geometry: Geometry,
    _args: Arguments,
    pointers: Pointers,
}

impl Prepared {
    fn last(&self) -> Last {
        Last { kernel: self.kernel, geometry: self.geometry, of_graph: false }
    }
}

/// The addresses of a launch's arguments.
struct Pointers(Vec<*const c_void>);

// SAFETY: they point into arguments that the same launch owns and that never change.
unsafe impl Send for Pointers {}
// SAFETY: they point into arguments that the same launch owns and that never change.
unsafe impl Sync for Pointers {}

/// A launch, its stream, and the launches of other streams that it waits for.
struct InStream {
    prepared: Prepared,
    stream: usize,
    /// Whether it is the first launch of its stream, and that is not the device's own.
    is_first: bool,
    waits: Vec<usize>,
}

/// Launches in several streams. They start after the work in the device's own stream, and later
/// work in that stream starts after all of them.
struct Streams {
    // Fields drop in order: streams and events are destroyed before their context.
    steps: Vec<InStream>,
    others: Vec<OwnStream>,
    begun: Event,
    ended: Vec<Option<Event>>,
    /// The last launch of each other stream.
    ends: Vec<usize>,
    cuda: Arc<Cuda>,
}

impl Streams {
    /// Submits everything to the streams. If that fails, waits for the other streams, because the
    /// device's own stream does not.
    ///
    /// # Safety
    /// As for [`Recording::launch`].
    unsafe fn put_or_wait(&self) -> Result<(), DeviceError> {
        // SAFETY: the caller upholds the contract of `Recording::launch`.
        let put = unsafe { self.put() };
        if put.is_err() {
            for OwnStream(other) in &self.others {
                // SAFETY: the stream is live. There is already an error to report.
                let _waited = unsafe { libcuda::cuStreamSynchronize(*other) };
            }
        }
        put
    }

    /// Submits everything to the streams.
    ///
    /// # Safety
    /// As for [`Recording::launch`].
    unsafe fn put(&self) -> Result<(), DeviceError> {
        let own = self.cuda.raw_stream();
        let stream = |at: usize| if at == 0 { own } else { self.others[at - 1].0 };
        if !self.others.is_empty() {
            self.begun.record(own)?;
        }
        for (at, step) in self.steps.iter().enumerate() {
            let here = stream(step.stream);
            if step.is_first {
                self.begun.let_wait(here)?;
            }
            for event in step.waits.iter().filter_map(|&before| self.ended[before].as_ref()) {
                event.let_wait(here)?;
            }
            let Prepared { function, geometry, pointers, kernel, .. } = &step.prepared;
            // SAFETY: the pointers are those of the kernel's own arguments; the caller upholds the
            // rest of the contract.
            let result = unsafe { self.cuda.submit(function, geometry, &pointers.0, here) };
            DeviceError::check(result, || self.cuda.after_last(&format!("launching `{kernel}`")))?;
            if let Some(event) = &self.ended[at] {
                event.record(here)?;
            }
        }
        for event in self.ends.iter().filter_map(|&end| self.ended[end].as_ref()) {
            event.let_wait(own)?;
        }
        Ok(())
    }
}

impl Recording for Streams {
    unsafe fn launch(&self) -> Result<(), DeviceError> {
        let _entered = self.cuda.stream.gate.unrecorded("launching in streams")?;
        self.cuda.gpu.enter()?;
        // SAFETY: the caller upholds the contract of `Recording::launch`.
        unsafe { self.put_or_wait()? };
        if let Some(step) = self.steps.last() {
            *lock(&self.cuda.last) = Some(step.prepared.last());
        }
        Ok(())
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        // Streams and events can be destroyed only while the context is current. After a fault the
        // driver frees everything when the process exits.
        let _lost = self.cuda.gpu.enter_to_free();
    }
}

/// An event without timestamps.
fn new_event() -> Result<Event, DeviceError> {
    Event::new(CU_EVENT_DISABLE_TIMING)
}
