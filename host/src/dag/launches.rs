//! A graph with a launch for each node.

use super::Checked;
use crate::device::{Device, DeviceError, Graph, Launch, Ordered, Way};

impl Checked {
    /// Gets the launches of all nodes ready to run on `device`, each after those that its node depends on.
    ///
    /// In the emulator each way is the same: the launches run one by one, in an order that the schedule's
    /// seed draws from those that are possible.
    ///
    /// # Errors
    /// Errors of each launch, as for [`Device::launch`]; errors of the driver when it makes streams, events or
    /// a graph; [`DeviceError::Unsupported`] for cooperative, clustered and overlapping launches in a graph
    /// that is [built](Way::Built).
    ///
    /// # Panics
    /// If there are not as many launches as nodes.
    pub fn assemble(
        &self,
        device: &Device,
        launches: &[Launch],
        way: Way,
    ) -> Result<Graph, DeviceError> {
        assert_eq!(launches.len(), self.nodes().len(), "a launch for each node");
        let mut place = vec![0; launches.len()];
        let ordered = self.order().iter().enumerate().map(|(at, &node)| {
            place[node] = at;
            let before = self.nodes()[node].predecessors().iter();
            let mut after: Vec<usize> = before.map(|&before| place[before]).collect();
            // The driver refuses the same edge twice.
            after.sort_unstable();
            after.dedup();
            Ordered { launch: &launches[node], after }
        });
        let ordered: Vec<_> = ordered.collect();
        device.assemble(&ordered, way)
    }
}
