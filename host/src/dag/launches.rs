//! Runs a graph with one launch per node.

use super::Checked;
use crate::device::assembled::deal;
use crate::device::{Device, DeviceError, Graph, Launch, Ordered, Way};

impl Checked {
    /// Prepares the launches of all nodes to run on `device`, each after the launches that its node
    /// depends on.
    ///
    /// In the emulator all ways are equivalent: the launches run one by one, in an order that the
    /// schedule's seed draws from all valid orders.
    ///
    /// # Errors
    /// If a launch is invalid, as for [`Device::launch`]; if the driver fails to make streams,
    /// events or a graph; [`DeviceError::Unsupported`] for cooperative, clustered and overlapping
    /// launches in a graph that is [built](Way::Built).
    ///
    /// # Panics
    /// If the number of launches is not the number of nodes.
    pub fn assemble(
        &self,
        device: &Device,
        launches: &[Launch],
        way: Way,
    ) -> Result<Graph, DeviceError> {
        assert_eq!(launches.len(), self.nodes().len(), "a launch for each node");
        let ordered = self.order().iter().zip(self.by_place());
        let ordered: Vec<_> =
            ordered.map(|(&node, after)| Ordered { launch: &launches[node], after }).collect();
        device.assemble(&ordered, way)
    }

    /// The stream of each node, below `most`, if the nodes are launched in their
    /// [order](Self::order): a node follows one of its dependencies where possible. Indexed by node
    /// number.
    ///
    /// # Panics
    /// If `most` is 0.
    #[must_use]
    pub fn streams(&self, most: usize) -> Vec<usize> {
        assert!(most > 0, "launches need a stream");
        let after = self.by_place();
        let dealt = deal(after.iter().map(Vec::as_slice), most);
        let mut streams = vec![0; dealt.len()];
        for (&node, stream) in self.order().iter().zip(dealt) {
            streams[node] = stream;
        }
        streams
    }

    /// For each position in the order, the positions of the node's dependencies, without
    /// duplicates.
    fn by_place(&self) -> Vec<Vec<usize>> {
        let mut place = vec![0; self.nodes().len()];
        let after = self.order().iter().enumerate().map(|(at, &node)| {
            place[node] = at;
            let before = self.nodes()[node].predecessors().iter();
            let mut after: Vec<usize> = before.map(|&before| place[before]).collect();
            after.sort_unstable();
            after.dedup();
            after
        });
        after.collect()
    }
}
