//! A graph whose nodes are launched by a kernel.

use super::{FromDevice, Runner};
use cuda_std::device_runtime::Error;
use cuda_std::memory::Global;
use gridsync::dag::NodeId;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync_lab_kernels::dag::launching::{
    STREAMS, dag_from_device_phases, dag_from_device_stream, dag_from_device_streams, word,
};

/// The most launches that may be pending, unless the host allows more
/// (`cudaLimitDevRuntimePendingLaunchCount`, CUDA C++ Programming Guide, "CUDA Dynamic
/// Parallelism").
const PENDING: usize = 2048;

/// The nodes, in the form in which a kernel launches them.
pub(super) struct Launching {
    how: FromDevice,
    nodes: Buffer<u32>,
    shape: Buffer<u32>,
    /// The first level's grid, or one thread.
    geometry: Geometry,
    status: Buffer<u32>,
}

impl Launching {
    /// Uploads the nodes of `runner` to its device.
    pub(super) fn new(runner: &Runner<'_>, how: FromDevice) -> Result<Self, DeviceError> {
        let Runner { device, dag, work, .. } = runner;
        let levels = dag.levels();
        let at_once = match how {
            FromDevice::Phases => levels.iter().map(Vec::len).max().unwrap_or(0),
            FromDevice::OneStream | FromDevice::Streams => work.steps.len(),
        };
        if at_once > PENDING {
            return Err(DeviceError::Unsupported {
                what: "more than 2048 launches of a kernel that wait to begin",
                device: device.properties().name.clone(),
                needs: "a graph with fewer nodes, or launches by the host",
            });
        }
        let order = match how {
            FromDevice::Phases => levels.concat(),
            FromDevice::OneStream | FromDevice::Streams => dag.order().to_vec(),
        };
        let streams = dag.streams(STREAMS);
        let nodes: Vec<u32> = order.iter().flat_map(|&id| node(runner, id, &streams)).collect();
        let mut shape = vec![work.elements, work.threads];
        let mut first = 0;
        for level in &levels {
            shape.extend([first, work.steps[level[0]].blocks]);
            first += level.len() as u32;
        }
        shape.extend([first, 0]);
        let geometry = match (how, order.first()) {
            (FromDevice::Phases, Some(&first)) => runner.geometry(first),
            _ => Geometry::new(1, 1),
        };
        Ok(Self {
            how,
            geometry,
            nodes: device.upload(&nodes)?,
            shape: device.upload(&shape)?,
            status: device.zeroed(1)?,
        })
    }

    /// Launches the kernel that launches the nodes.
    ///
    /// # Safety
    /// The memory belongs to the runner, and nothing else uses it during the run.
    pub(super) unsafe fn launch(
        &self,
        device: &Device,
        arrays: Global<u32>,
        inputs: Global<u32>,
        times: Global<u64>,
    ) -> Result<(), DeviceError> {
        let geometry = &self.geometry;
        let (nodes, shape, status) = (self.nodes.view(), self.shape.view(), self.status.view());
        let args = (nodes, shape, arrays, inputs, times, status);
        // SAFETY: the grid is one thread, or that of the first level's first node. The nodes are
        // ordered by the graph or by its levels, and wait for the streams of their inputs. The
        // caller guarantees the rest.
        unsafe {
            match self.how {
                FromDevice::OneStream => device.launch::<dag_from_device_stream>(geometry, args),
                FromDevice::Streams => device.launch::<dag_from_device_streams>(geometry, args),
                FromDevice::Phases => {
                    let args = (nodes, shape, 0, 0, arrays, inputs, times, status);
                    device.launch::<dag_from_device_phases>(geometry, args)
                }
            }
        }
    }

    /// The error of a launch that the device refused, as a sentence.
    pub(super) fn refused(&self) -> Result<Option<String>, DeviceError> {
        let status = self.status.download()?[0];
        Ok((status != 0).then(|| format!("the device refused a launch: {}", Error(status))))
    }
}

/// The words that describe a node.
fn node(runner: &Runner<'_>, id: NodeId, streams: &[usize]) -> [u32; word::ALL] {
    let step = &runner.work.steps[id];
    let other = |&&before: &&NodeId| streams[before] != streams[id];
    let waits =
        step.after.iter().filter(other).fold(0, |bits, &before| bits | 1 << streams[before]);
    let mut words = [0; word::ALL];
    words[word::OPERATION] = step.operation as u32;
    words[word::VALUE] = step.value;
    words[word::CYCLES] = runner.cycles(id);
    words[word::NODE] = id as u32;
    words[word::BLOCKS] = step.blocks;
    words[word::FIRST] = runner.firsts[id] as u32;
    words[word::COUNT] = step.after.len() as u32;
    words[word::STREAM] = streams[id] as u32 | waits << 8;
    words
}
