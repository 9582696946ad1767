//! The grids that the threads of one grid launch, and the order in which they may run.

use core::cell::RefCell;
use core::fmt;
use std::collections::HashMap;

use crate::dim::Dim3;
use crate::place::Place;

/// Maximum launch depth. The host's launch has depth 0 (CUDA C++ Programming Guide, "CUDA Dynamic
/// Parallelism", "Technical Specifications").
const DEEPEST: u32 = 24;

/// Maximum number of grids that have been launched and have not begun: the default of
/// `cudaLimitDevRuntimePendingLaunchCount`.
const MOST_PENDING: usize = 2048;

/// Maximum dynamic shared memory of a block, in bytes, without the opt-in that only the host has.
const MOST_SHARED: usize = 48 << 10;

/// Destination of a kernel's launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Queue {
    /// The default stream of the calling block.
    Block,
    /// A stream created by [`create_stream`](crate::create_stream).
    Stream(u32),
    /// Waits for nothing.
    FireAndForget,
    /// Waits for the launching grid and all that it launches, and for the earlier tail launches.
    TailLaunch,
}

/// A grid that a kernel launches.
pub struct Child {
    /// The kernel's name, for messages.
    pub kernel: &'static str,
    /// Blocks of the grid.
    pub grid: Dim3,
    /// Threads of each block.
    pub block: Dim3,
    /// Dynamic shared memory of each block, in bytes.
    pub dynamic_shared: usize,
    /// One thread.
    pub body: Box<dyn Fn()>,
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Child({}, {} blocks of {})", self.kernel, self.grid, self.block)
    }
}

/// Why a launch by a kernel was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The grid has no blocks or no threads, or exceeds the limits on blocks, threads or shared
    /// memory.
    Configuration,
    /// The grid would be more than 24 launches away from the host's.
    TooDeep,
    /// 2048 grids have been launched and have not begun.
    TooMany,
}

/// A stream of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stream {
    /// The default stream of the block with this number.
    OfBlock(u64),
    /// A stream that was created.
    Made(u32),
}

/// An event: the block that made it, and the launches that it stands for.
#[derive(Debug)]
struct Event {
    block: u64,
    launches: Vec<usize>,
}

/// A launched grid that waits.
#[derive(Debug)]
pub(crate) struct Launched {
    pub(crate) child: Child,
    pub(crate) place: Place,
    /// The launches of the same grid that must have ended first, by number.
    pub(crate) after: Vec<usize>,
    pub(crate) is_tail: bool,
}

/// The launches by the threads of one grid so far.
#[derive(Debug, Default)]
pub(crate) struct Children {
    depth: u32,
    /// Number of grids launched by other grids that have not begun.
    pending: usize,
    launched: RefCell<Vec<Launched>>,
    /// The launches that the next one of each stream has to wait for.
    streams: RefCell<HashMap<Stream, Vec<usize>>>,
    /// The block that created each stream.
    made: RefCell<Vec<u64>>,
    events: RefCell<Vec<Event>>,
}

impl Children {
    /// For a grid `depth` launches away from the host's, while `pending` grids wait.
    pub(crate) fn new(depth: u32, pending: usize) -> Self {
        Self { depth, pending, ..Self::default() }
    }

    /// Whether no grid has been launched.
    pub(crate) fn is_empty(&self) -> bool {
        self.launched.borrow().is_empty()
    }

    /// The launches in order.
    pub(crate) fn take(&self) -> Vec<Launched> {
        self.launched.take()
    }

    /// Launches from a thread of `block`. `None` if the block has no such stream.
    pub(crate) fn launch(
        &self,
        queue: Queue,
        block: u64,
        child: Child,
        place: Place,
    ) -> Option<Result<(), Refusal>> {
        let stream = match queue {
            Queue::FireAndForget | Queue::TailLaunch => None,
            stream => Some(self.stream(stream, block)?),
        };
        let mut launched = self.launched.borrow_mut();
        // A tail launch replaces the grid that launches it.
        let is_tail = queue == Queue::TailLaunch;
        if self.depth == DEEPEST && !is_tail {
            return Some(Err(Refusal::TooDeep));
        }
        if self.pending + launched.len() >= MOST_PENDING {
            return Some(Err(Refusal::TooMany));
        }
        let number = launched.len();
        let after = stream.and_then(|it| self.streams.borrow_mut().insert(it, vec![number]));
        launched.push(Launched { child, place, after: after.unwrap_or_default(), is_tail });
        Some(Ok(()))
    }

    pub(crate) fn create_stream(&self, block: u64) -> u32 {
        let mut made = self.made.borrow_mut();
        made.push(block);
        made.len() as u32 - 1
    }

    pub(crate) fn create_event(&self, block: u64) -> u32 {
        let mut events = self.events.borrow_mut();
        events.push(Event { block, launches: Vec::new() });
        events.len() as u32 - 1
    }

    /// Makes the event stand for the current contents of the stream. `None` if the block has no
    /// such event or stream.
    pub(crate) fn record(&self, event: u32, queue: Queue, block: u64) -> Option<()> {
        let stream = self.stream(queue, block)?;
        let mut events = self.events.borrow_mut();
        let event = events.get_mut(event as usize).filter(|event| event.block == block)?;
        event.launches = self.streams.borrow().get(&stream).cloned().unwrap_or_default();
        Some(())
    }

    /// Makes all future launches into the stream wait for what the event stands for. `None` if the
    /// block has no such event or stream.
    pub(crate) fn wait(&self, queue: Queue, event: u32, block: u64) -> Option<()> {
        let stream = self.stream(queue, block)?;
        let events = self.events.borrow();
        let event = events.get(event as usize).filter(|event| event.block == block)?;
        let mut streams = self.streams.borrow_mut();
        let awaited = streams.entry(stream).or_default();
        for launch in &event.launches {
            if !awaited.contains(launch) {
                awaited.push(*launch);
            }
        }
        Some(())
    }

    /// The block's stream for a queue, if the queue is a stream.
    fn stream(&self, queue: Queue, block: u64) -> Option<Stream> {
        match queue {
            Queue::Block => Some(Stream::OfBlock(block)),
            Queue::Stream(made) if self.made.borrow().get(made as usize) == Some(&block) => {
                Some(Stream::Made(made))
            }
            _ => None,
        }
    }
}

impl Child {
    /// Whether a grid of this shape can be launched (CUDA C++ Programming Guide, "Technical
    /// Specifications per Compute Capability").
    pub(crate) fn fits(&self) -> bool {
        let Self { grid, block, .. } = *self;
        let most = |dim: Dim3, x, y, z| dim.x <= x && dim.y <= y && dim.z <= z;
        most(grid, i32::MAX as u32, 65_535, 65_535)
            && most(block, 1024, 1024, 64)
            && (1..=1024).contains(&block.count())
            && grid.count() > 0
            && self.dynamic_shared <= MOST_SHARED
    }
}
