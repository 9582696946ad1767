//! All nodes as grids that a kernel launches.

use super::nodes::{Args, dag_node, one_node};
use crate::device_launch::tell;
use cuda_std::device_runtime::{
    Block, Error, FireAndForget, Geometry, Queue, Stream, TailLaunch, launch,
};
use cuda_std::prelude::*;

/// The words of a node, by their index.
pub mod word {
    /// The number of the [`Operation`](crate::dag::Operation).
    pub const OPERATION: usize = 0;
    /// The node's number.
    pub const VALUE: usize = 1;
    /// Minimum cycles of the node.
    pub const CYCLES: usize = 2;
    /// The node, which is the index of its array.
    pub const NODE: usize = 3;
    /// Its blocks.
    pub const BLOCKS: usize = 4;
    /// The index of its first input in the list of all inputs.
    pub const FIRST: usize = 5;
    /// The number of its inputs.
    pub const COUNT: usize = 6;
    /// The stream that it is launched into, below [`STREAMS`](super::STREAMS), in the low 8 bits.
    /// Above them, a bit for each other stream whose launches so far it waits for.
    pub const STREAM: usize = 7;
    /// The number of words.
    pub const ALL: usize = 8;
}

/// The words of the shape, by their index: elements of each array, threads of each block, then two
/// words for each level: the index of its first node, and the number of blocks of that node. The
/// last two words are the number of all nodes, and 0.
pub mod shape {
    /// Elements of each array.
    pub const ELEMENTS: usize = 0;
    /// Threads of each block.
    pub const THREADS: usize = 1;
    /// The index of the first level's first node.
    pub const LEVELS: usize = 2;
}

/// Number of streams that a kernel launches into.
pub const STREAMS: usize = 4;

/// The nodes in launch order, and their memory.
#[derive(Clone, Copy)]
struct Program {
    nodes: Global<u32>,
    shape: Global<u32>,
    arrays: Global<u32>,
    inputs: Global<u32>,
    times: Global<u64>,
}

impl Program {
    /// The number of nodes.
    #[device]
    fn count(self) -> usize {
        self.nodes.len() / word::ALL
    }

    /// A word of the node at index `at`.
    #[device]
    fn word(self, at: usize, word: usize) -> u32 {
        self.nodes.read(word::ALL * at + word)
    }

    /// The arguments of the node at index `at`.
    #[device]
    fn args(self, at: usize) -> Args {
        let word = |word| self.word(at, word);
        let node = word(word::NODE) as usize;
        let elements = self.shape.read(shape::ELEMENTS) as usize;
        (
            self.arrays,
            self.inputs.part(word(word::FIRST) as usize, word(word::COUNT) as usize),
            self.arrays.part(node * elements, elements),
            word(word::OPERATION),
            word(word::VALUE),
            word(word::CYCLES),
            if self.times.is_empty() { self.times } else { self.times.part(2 * node, 2) },
        )
    }

    /// Launches the node at index `at`.
    #[device]
    fn launch(self, at: usize, queue: &impl Queue) -> Result<(), Error> {
        let geometry = Geometry::new(self.word(at, word::BLOCKS), self.shape.read(shape::THREADS));
        // SAFETY: the kernels below launch each node after its inputs, and nothing else uses the
        // arrays.
        unsafe { launch::<dag_node>(geometry, queue, self.args(at)) }
    }

    /// The index of a level's first node, and that node's number of blocks. After the last level
    /// comes an empty one.
    #[device]
    fn level(self, level: u32) -> (usize, u32) {
        let at = shape::LEVELS + 2 * level as usize;
        (self.shape.read(at) as usize, self.shape.read(at + 1))
    }
}

#[device]
fn in_one_stream(program: Program) -> Result<(), Error> {
    let block = Block::this();
    let stream = block.stream()?;
    for at in 0..program.count() {
        program.launch(at, &stream)?;
    }
    Ok(())
}

/// One event is recorded again whenever a stream has to wait for all launches into another so far.
#[device]
fn in_streams(program: Program) -> Result<(), Error> {
    let block = Block::this();
    let streams: [Stream<'_>; STREAMS] =
        [block.stream()?, block.stream()?, block.stream()?, block.stream()?];
    let event = block.event()?;
    for at in 0..program.count() {
        let word = program.word(at, word::STREAM);
        let own = &streams[(word as u8) as usize % STREAMS];
        for (bit, other) in streams.iter().enumerate() {
            if word >> (8 + bit) & 1 == 1 {
                event.record(other)?;
                own.wait(&event)?;
            }
        }
        program.launch(at, own)?;
    }
    Ok(())
}

/// Launches the nodes of a level except the first, which is at index `at`, in any order, and then
/// the next level.
#[device]
fn rest_of_level(
    program: Program,
    level: u32,
    first: u32,
    status: Global<u32>,
) -> Result<(), Error> {
    let Program { nodes, shape, arrays, inputs, times } = program;
    let (next, blocks) = program.level(level + 1);
    for at in first as usize + 1..next {
        program.launch(at, &FireAndForget)?;
    }
    // The empty level after the last has no first node.
    if blocks == 0 {
        return Ok(());
    }
    let geometry = Geometry::new(blocks, thread::block_dim());
    let args = (nodes, shape, level + 1, next as u32, arrays, inputs, times, status);
    // SAFETY: the same memory, after all nodes of this level.
    unsafe { launch::<dag_from_device_phases>(geometry, &TailLaunch, args) }
}

/// All nodes, launched into one stream of the device.
///
/// # Safety
///
/// One thread. `nodes` are words of nodes, each after its inputs, with the [`shape`] and the memory
/// of these nodes as for [`dag_node`]. `status` has one element, and gets the error code.
#[kernel]
pub unsafe fn dag_from_device_stream(
    nodes: Global<u32>,
    shape: Global<u32>,
    arrays: Global<u32>,
    inputs: Global<u32>,
    times: Global<u64>,
    status: Global<u32>,
) {
    tell(status, in_one_stream(Program { nodes, shape, arrays, inputs, times }));
}

/// All nodes, launched into several streams of the device, which wait for each other by events.
///
/// # Safety
///
/// Same as for [`dag_from_device_stream`]; each node waits for the streams of its inputs.
#[kernel]
pub unsafe fn dag_from_device_streams(
    nodes: Global<u32>,
    shape: Global<u32>,
    arrays: Global<u32>,
    inputs: Global<u32>,
    times: Global<u64>,
    status: Global<u32>,
) {
    tell(status, in_streams(Program { nodes, shape, arrays, inputs, times }));
}

/// All nodes of this level and the later ones: those of a level in any order, and the next level by
/// a tail launch. The grid is itself the first node of its level, which saves a launch.
///
/// # Safety
///
/// Same as for [`dag_from_device_stream`], but with the grid of the level's first node, which is
/// `first`. The nodes are in the order of their levels.
#[kernel(launchable)]
pub unsafe fn dag_from_device_phases(
    nodes: Global<u32>,
    shape: Global<u32>,
    level: u32,
    first: u32,
    arrays: Global<u32>,
    inputs: Global<u32>,
    times: Global<u64>,
    status: Global<u32>,
) {
    let program = Program { nodes, shape, arrays, inputs, times };
    // Loaded first, so that the launches do not have to wait for it.
    let node = program.args(first as usize);
    if thread::first() {
        let outcome = rest_of_level(program, level, first, status);
        if level == 0 || outcome.is_err() {
            tell(status, outcome);
        }
    }
    one_node(node);
}
