//! Encodes a plan as the words that a kernel reads.

use super::{Input, Item, Signal, Valid};
use crate::dag::NodeId;
use crate::device::{Buffer, Device, DeviceError};
use cuda_std::memory::Global;
use gridsync_kernels::grid::tasks::{
    ARGUMENTS, KEPT, Link, Purpose, Record, records_start, state_words,
};

impl Valid<'_> {
    /// The words of the plan, for [`Tasks::attach`](gridsync_kernels::grid::tasks::Tasks::attach).
    /// `arguments` returns the numbers passed to the body of each part of a node.
    #[must_use]
    pub fn encode(&self, mut arguments: impl FnMut(NodeId, u32) -> [u32; ARGUMENTS]) -> Vec<u64> {
        let blocks = &self.plan.blocks;
        let mut words = vec![0; records_start(blocks.len())];
        let mut tasks = 0;
        for (block, items) in blocks.iter().enumerate() {
            words[block] = tasks;
            tasks += items.len() as u64;
            for item in items {
                let inputs: Vec<_> = item.inputs().iter().map(|&input| self.link(input)).collect();
                let (arguments, signal, purpose) = match *item {
                    Item::Part { node, part, signal, .. } => {
                        (arguments(node, part), self.signal(node, signal), Purpose::Body)
                    }
                    Item::Join { join, .. } => (
                        [0; ARGUMENTS],
                        Link::Ended { word: self.join_word(join), parts: 1 },
                        Purpose::Join,
                    ),
                    Item::Barrier => ([0; ARGUMENTS], Link::None, Purpose::Barrier),
                };
                words.extend(Record { arguments, inputs: &inputs, signal, purpose }.encode());
            }
        }
        words[blocks.len()] = tasks;
        words
    }

    /// The number of words of the plan's state, which must be 0 before its first launch.
    #[must_use]
    pub fn state_words(&self) -> usize {
        state_words(self.plan.blocks.len(), self.dag.nodes().len() + self.plan.joins())
    }

    fn join_word(&self, join: usize) -> u32 {
        (self.dag.nodes().len() + join) as u32
    }

    fn signal(&self, node: NodeId, signal: Signal) -> Link {
        match signal {
            Signal::None => Link::None,
            Signal::Value => Link::Value { word: node as u32 },
            Signal::Ended => {
                Link::Ended { word: node as u32, parts: self.dag.nodes()[node].parts() }
            }
        }
    }

    fn link(&self, input: Input) -> Link {
        match input {
            Input::Kept(node) => Link::Kept { slot: (self.places[node] % KEPT) as u32 },
            Input::Value(node) => Link::Value { word: node as u32 },
            Input::Ended(node) => self.signal(node, Signal::Ended),
            Input::Joined(join) => Link::Ended { word: self.join_word(join), parts: 1 },
        }
    }
}

/// A valid plan in the memory of a device.
#[derive(Debug)]
pub struct Tasks {
    plan: Buffer<u64>,
    state: Buffer<u64>,
    blocks: usize,
}

impl Tasks {
    /// Uploads a plan to `device`, with the numbers passed to the body of each part of a node.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], and if the copy fails.
    pub fn new(
        device: &Device,
        plan: &Valid<'_>,
        arguments: impl FnMut(NodeId, u32) -> [u32; ARGUMENTS],
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            plan: device.upload(&plan.encode(arguments))?,
            state: device.zeroed(plan.state_words())?,
            blocks: plan.plan.blocks.len(),
        })
    }

    /// The number of blocks in the grid.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The plan, for [`Tasks::attach`](gridsync_kernels::grid::tasks::Tasks::attach).
    #[must_use]
    pub fn plan(&self) -> Global<u64> {
        self.plan.view()
    }

    /// The state, for [`Tasks::attach`](gridsync_kernels::grid::tasks::Tasks::attach). It belongs
    /// to one launch at a time.
    #[must_use]
    pub fn state(&self) -> Global<u64> {
        self.state.view()
    }
}
