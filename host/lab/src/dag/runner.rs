//! A graph on a device, ready to run.

use super::launching::Launching;
use super::{Method, Work};
use cuda_std::memory::Global;
use gridsync::dag::{Checked, DagError, NodeId, Plan, PlanError, Tasks};
use gridsync::device::{Buffer, Device, DeviceError, Geometry, Graph, Launch, Way};
use gridsync::launch::{barrier_words, resident_blocks};
use gridsync_kernels::grid::barrier::GridBarrier;
use gridsync_kernels::grid::tasks::ARGUMENTS;
use gridsync_lab_kernels::dag::nodes::{
    Args, dag_node, dag_node_overlapped, dag_node_overlapped_noted,
};
use gridsync_lab_kernels::dag::tasks::{argument, dag_edges, dag_levels, dag_words};
use thiserror::Error;

/// An error from running a graph.
#[derive(Debug, Error)]
pub enum RunError {
    /// The graph is invalid.
    #[error(transparent)]
    Dag(#[from] DagError),
    /// The plan for one kernel was refused. Either gridsync has a bug or the grid is too large.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// A graph whose arrays are on a device.
pub struct Runner<'a> {
    pub(super) device: &'a Device,
    pub(super) work: &'a Work,
    pub(super) dag: Checked,
    expected: Vec<u32>,
    arrays: Buffer<u32>,
    /// The inputs of all nodes, and where each node's inputs start.
    inputs: Buffer<u32>,
    pub(super) firsts: Vec<usize>,
    /// Start and end of each node, if they are recorded.
    times: Buffer<u64>,
}

/// A launch that runs the whole graph.
pub struct Ready<'a> {
    runner: &'a Runner<'a>,
    how: How,
}

enum How {
    Graph(Graph),
    Edges(Tasks, Geometry),
    Levels(Tasks, Geometry, Buffer<u32>),
    Words(Tasks, Geometry, Buffer<u64>),
    Launching(Launching),
}

/// Start and end of a node, in nanoseconds of the device's global timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Start of its first block.
    pub begin: u64,
    /// End of its last block.
    pub end: u64,
}

impl<'a> Runner<'a> {
    /// Uploads the arrays of `work` to `device`. If `timed`, each node records its start and end,
    /// which costs some time itself.
    ///
    /// # Errors
    /// [`RunError::Dag`] if the graph has a cycle; or if the device fails.
    pub fn new(device: &'a Device, work: &'a Work, timed: bool) -> Result<Self, RunError> {
        let arrays = device.zeroed(work.steps.len() * work.elements as usize)?;
        let dag = work.dag(arrays.address())?;
        let all: Vec<u32> =
            work.steps.iter().flat_map(|step| &step.after).map(|&id| id as u32).collect();
        let firsts = work
            .steps
            .iter()
            .scan(0, |first, step| Some(std::mem::replace(first, *first + step.after.len())));
        Ok(Self {
            device,
            work,
            expected: work.reference(&dag),
            dag,
            arrays,
            inputs: device.upload(&all)?,
            firsts: firsts.collect(),
            times: device.alloc(if timed { 2 * work.steps.len() } else { 0 })?,
        })
    }

    /// The graph.
    #[must_use]
    pub fn dag(&self) -> &Checked {
        &self.dag
    }

    /// Number of blocks of one kernel: as many as the widest level can use, but no more than can be
    /// resident and no more than there are multiprocessors.
    ///
    /// # Errors
    /// If the device fails.
    pub fn blocks(&self) -> Result<u32, DeviceError> {
        let width = |level: &Vec<NodeId>| {
            level.iter().map(|&id| u64::from(self.work.steps[id].blocks)).sum::<u64>()
        };
        let widest = self.dag.levels().iter().map(width).max().unwrap_or(1);
        let most = self.resident()?.min(self.device.properties().multiprocessors);
        Ok(u32::try_from(widest).unwrap_or(u32::MAX).clamp(1, most.max(1)))
    }

    fn resident(&self) -> Result<u32, DeviceError> {
        let edges = resident_blocks::<dag_edges>(self.device, self.work.threads, 0)?;
        let levels = resident_blocks::<dag_levels>(self.device, self.work.threads, 0)?;
        Ok(edges.min(levels).min(resident_blocks::<dag_words>(self.device, self.work.threads, 0)?))
    }

    /// Prepares the graph for `method`, with `blocks` blocks if the method uses one kernel.
    ///
    /// # Errors
    /// [`RunError::Plan`] if not all blocks can be resident; [`DeviceError::Unsupported`] if the
    /// device does not support the method; or if the device fails.
    pub fn ready(&'a self, method: Method, blocks: u32) -> Result<Ready<'a>, RunError> {
        let on = blocks as usize;
        let how = match method {
            Method::Launches(way) => {
                How::Graph(self.dag.assemble(self.device, &self.launches(), way)?)
            }
            Method::Overlapping => {
                let launches = self.overlapping();
                How::Graph(self.dag.assemble(self.device, &launches, Way::OneStream)?)
            }
            Method::OverlappingGraph => {
                let launch = |&id: &NodeId| {
                    let (geometry, args) = (self.geometry(id).overlapping(), self.args(id));
                    // SAFETY: nothing runs before `Ready::launch`, which keeps the arrays alive and
                    // launches only the checked graph.
                    unsafe {
                        match only(args) {
                            Some(args) => {
                                self.device.launch::<dag_node_overlapped>(&geometry, args)
                            }
                            None => {
                                self.device.launch::<dag_node_overlapped_noted>(&geometry, args)
                            }
                        }
                    }
                };
                How::Graph(self.device.record(|| self.dag.order().iter().try_for_each(launch))?)
            }
            Method::FromDevice(how) => How::Launching(Launching::new(self, how)?),
            Method::Levels => {
                let (tasks, geometry) = self.tasks(&self.dag, &Plan::by_levels(&self.dag, on))?;
                let words = barrier_words::<GridBarrier>(self.device, &geometry)?;
                How::Levels(tasks, geometry, words)
            }
            Method::Edges => {
                let (tasks, geometry) = self.tasks(&self.dag, &Plan::by_edges(&self.dag, on))?;
                How::Edges(tasks, geometry)
            }
            Method::Turns => {
                let (tasks, geometry) = self.tasks(&self.dag, &Plan::in_turns(&self.dag, on))?;
                How::Edges(tasks, geometry)
            }
            Method::Words => self.words(|dag| Plan::by_edges(dag, on))?,
            Method::WordTurns => self.words(|dag| Plan::in_turns(dag, on))?,
        };
        Ok(Ready { runner: self, how })
    }

    pub(super) fn geometry(&self, id: NodeId) -> Geometry {
        Geometry::new(self.work.steps[id].blocks, self.work.threads)
    }

    /// Number of cycles that a node spins; the emulator's clock does not measure time.
    pub(super) fn cycles(&self, id: NodeId) -> u32 {
        let properties = self.device.properties();
        if properties.is_emulated() {
            0
        } else {
            (self.work.steps[id].microseconds * f64::from(properties.clock_khz) / 1e3) as u32
        }
    }

    fn array(&self, id: NodeId) -> Global<u32> {
        let elements = self.work.elements as usize;
        self.arrays.view().part(id * elements, elements)
    }

    fn times(&self, id: NodeId) -> Global<u64> {
        if self.times.is_empty() { self.times.view() } else { self.times.view().part(2 * id, 2) }
    }

    /// Kernel arguments of a node.
    fn args(&self, id: NodeId) -> Args {
        let step = &self.work.steps[id];
        let inputs = self.inputs.view().part(self.firsts[id], step.after.len());
        let (arrays, out, times) = (self.arrays.view(), self.array(id), self.times(id));
        (arrays, inputs, out, step.operation as u32, step.value, self.cycles(id), times)
    }

    fn launches(&self) -> Vec<Launch> {
        let ids = 0..self.work.steps.len();
        ids.map(|id| Launch::new::<dag_node>(self.geometry(id), self.args(id))).collect()
    }

    fn overlapping(&self) -> Vec<Launch> {
        let ids = 0..self.work.steps.len();
        let launch = |id| {
            let (geometry, args) = (self.geometry(id).overlapping(), self.args(id));
            match only(args) {
                Some(args) => Launch::new::<dag_node_overlapped>(geometry, args),
                None => Launch::new::<dag_node_overlapped_noted>(geometry, args),
            }
        };
        ids.map(launch).collect()
    }

    /// The plan of the graph whose nodes receive words on the device, with a word for each element.
    fn words(&self, plan: impl Fn(&Checked) -> Plan) -> Result<How, RunError> {
        let dag = self.work.dag_of_words(self.arrays.address())?;
        let (tasks, geometry) = self.tasks(&dag, &plan(&dag))?;
        Ok(How::Words(tasks, geometry, self.device.zeroed(self.arrays.len())?))
    }

    /// Uploads the plan of `dag`, if it can run.
    fn tasks(&self, dag: &Checked, plan: &Plan) -> Result<(Tasks, Geometry), RunError> {
        let valid = plan.validate(dag, self.resident()?.into())?;
        let tasks = Tasks::new(self.device, &valid, |id, part| self.arguments(id, part))?;
        let geometry = Geometry::new(tasks.blocks() as u32, self.work.threads).cooperative();
        Ok((tasks, geometry))
    }

    fn arguments(&self, id: NodeId, part: u32) -> [u32; ARGUMENTS] {
        let step = &self.work.steps[id];
        let mut arguments = [0; ARGUMENTS];
        arguments[argument::OPERATION] = step.operation as u32;
        arguments[argument::VALUE] = step.value;
        arguments[argument::CYCLES] = self.cycles(id);
        arguments[argument::NODE] = id as u32;
        arguments[argument::PART] = part;
        arguments[argument::PARTS] = step.blocks;
        arguments[argument::FIRST] = self.firsts[id] as u32;
        arguments[argument::COUNT] = step.after.len() as u32;
        arguments[argument::CARRIED] = self.work.takes_values(id).into();
        for (near, &before) in step.after.iter().take(argument::NEAR).enumerate() {
            arguments[argument::INPUT + near] = before as u32;
        }
        arguments
    }

    /// The first wrong element of the arrays, as a sentence.
    ///
    /// # Errors
    /// If the download fails.
    pub fn wrong(&self) -> Result<Option<String>, DeviceError> {
        let arrays = self.arrays.download()?;
        let elements = self.work.elements as usize;
        let wrong = arrays.iter().enumerate().find(|&(at, x)| *x != self.expected[at / elements]);
        Ok(wrong.map(|(at, x)| {
            let (id, i) = (at / elements, at % elements);
            let name = &self.work.steps[id].name;
            format!("`{name}`[{i}] is {x} and should be {}", self.expected[id])
        }))
    }

    /// Zeroes the arrays and the times.
    ///
    /// # Errors
    /// If the device fails.
    pub fn clear(&mut self) -> Result<(), DeviceError> {
        self.arrays.zero()?;
        // The maximum for the start, and 0 for the end.
        self.times.copy_from(&[u64::MAX, 0].repeat(self.times.len() / 2))
    }

    /// Start and end of each node in the last run.
    ///
    /// # Errors
    /// If the download fails.
    pub fn spans(&self) -> Result<Vec<Span>, DeviceError> {
        let times = self.times.download()?;
        Ok(times.as_chunks().0.iter().map(|&[begin, end]| Span { begin, end }).collect())
    }
}

/// The arguments of [`dag_node_overlapped`].
type OnlyArgs = (Global<u32>, Global<u32>, Global<u32>, u32, u32);

/// These arguments, if the node does not spin and does not record times.
fn only((arrays, inputs, out, operation, value, cycles, times): Args) -> Option<OnlyArgs> {
    (cycles == 0 && times.is_empty()).then_some((arrays, inputs, out, operation, value))
}

impl Ready<'_> {
    /// Puts one run of the whole graph into the device's stream.
    ///
    /// # Errors
    /// If a launch fails.
    ///
    /// If a kernel launches the nodes, their errors are reported by [`refused`](Self::refused).
    pub fn launch(&self) -> Result<(), DeviceError> {
        let Runner { device, arrays, inputs, work, times, .. } = self.runner;
        let (arrays, inputs, times) = (arrays.view(), inputs.view(), times.view());
        match &self.how {
            // SAFETY: the runner owns the arrays and outlives this. The nodes only touch the arrays
            // that the checked graph names.
            How::Graph(graph) => unsafe { graph.launch() },
            How::Edges(tasks, geometry) => {
                let args = (tasks.plan(), tasks.state(), arrays, inputs, work.elements, times);
                // SAFETY: the runner owns the arrays and outlives this. The nodes only touch the
                // arrays that the checked graph names. The plan was validated for the number of
                // blocks of the grid, and its state belongs to this device's stream.
                unsafe { device.launch::<dag_edges>(geometry, args) }
            }
            How::Levels(tasks, geometry, words) => {
                let (plan, state) = (tasks.plan(), tasks.state());
                let args = (plan, state, arrays, inputs, work.elements, times, words.view());
                // SAFETY: the runner owns the arrays and outlives this. The nodes only touch the
                // arrays that the checked graph names. The plan was validated for the number of
                // blocks of the grid, its state belongs to this device's stream, and the barrier's
                // words start at 0.
                unsafe { device.launch::<dag_levels>(geometry, args) }
            }
            How::Words(tasks, geometry, words) => {
                let (plan, state) = (tasks.plan(), tasks.state());
                let args = (plan, state, arrays, inputs, work.elements, times, words.view());
                // SAFETY: the runner owns the arrays and outlives this. The nodes only touch the
                // arrays that the checked graph names. The plan was validated for the number of
                // blocks of the grid, its state belongs to this device's stream, and only this plan
                // uses the words.
                unsafe { device.launch::<dag_words>(geometry, args) }
            }
            // SAFETY: the runner owns the arrays and outlives this. The nodes only touch the arrays
            // that the checked graph names.
            How::Launching(launching) => unsafe { launching.launch(device, arrays, inputs, times) },
        }
    }

    /// The error of a launch from a kernel, if the device refused one.
    ///
    /// # Errors
    /// If the download fails.
    pub fn refused(&self) -> Result<Option<String>, DeviceError> {
        match &self.how {
            How::Launching(launching) => launching.refused(),
            _ => Ok(None),
        }
    }
}
