//! One lock in one grid, and the results of the work that it guards.

use super::lock::{Grid, Launch, Tried};
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync_lab_kernels::locks::NODE;

/// A lock, and the data that it guards, for the threads of one grid. The lock's words persist from
/// one launch to the next.
#[derive(Debug)]
pub struct Field<'a> {
    device: &'a Device,
    tried: Tried,
    grid: Grid,
    patience_ns: u64,
    lock: Buffer<u32>,
}

/// Result of a launch that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// The counter.
    pub counter: u32,
    /// The number to count to.
    pub sections: u32,
    /// Sections of each thread.
    pub taken: Vec<u32>,
    /// Threads that gave up.
    pub gave_up: u32,
    /// Microseconds of device time of the launch.
    pub us: f64,
}

impl Counted {
    /// The error, if any: a count that does not match the sections of the threads.
    #[must_use]
    pub fn wrong(&self) -> Option<String> {
        let Self { counter, sections, .. } = *self;
        let taken: u64 = self.taken.iter().map(|&taken| u64::from(taken)).sum();
        let all = self.gave_up == self.taken.len() as u32 || counter == sections;
        (!all || taken != u64::from(counter))
            .then(|| format!("the counter is at {counter} of {sections} after {taken} additions"))
    }

    /// Sections of each block of `threads` threads.
    #[must_use]
    pub fn by_block(&self, threads: u32) -> Vec<u32> {
        self.taken.chunks(threads as usize).map(|block| block.iter().sum()).collect()
    }
}

/// Result of a launch that pushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// The head of the list: the index of a node plus 1, or 0.
    pub head: u32,
    /// The nodes: the index of the next node plus 1, and the thread.
    pub nodes: Vec<u32>,
    /// Nodes of each thread.
    pub each: u32,
    /// Threads that gave up.
    pub gave_up: u32,
}

impl Pushed {
    /// The error, if any: a node that is not in the list exactly once, or that differs from what
    /// was pushed. If threads gave up, the list may be shorter.
    #[must_use]
    pub fn wrong(&self) -> Option<String> {
        let all = self.nodes.len() / NODE;
        let mut seen = vec![false; all];
        let mut next = self.head;
        while let Some(node) = next.checked_sub(1).map(|node| node as usize) {
            if node >= all {
                return Some(format!("the list leads to node {node} of {all}"));
            }
            if std::mem::replace(&mut seen[node], true) {
                return Some(format!("the list comes to node {node} twice"));
            }
            let thread = self.nodes[node * NODE + 1];
            if thread as usize != node / self.each as usize {
                return Some(format!("node {node} is of thread {thread}"));
            }
            next = self.nodes[node * NODE];
        }
        let lost = seen.iter().filter(|&&seen| !seen).count();
        (lost > 0 && self.gave_up == 0).then(|| format!("{lost} of {all} nodes are lost"))
    }
}

impl<'a> Field<'a> {
    /// A lock for all threads of `grid`, which wait for at most `patience_ns` nanoseconds.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(
        device: &'a Device,
        tried: Tried,
        grid: Grid,
        patience_ns: u64,
    ) -> Result<Self, DeviceError> {
        let lock = device.zeroed((tried.words)(grid.contenders()))?;
        Ok(Self { device, tried, grid, patience_ns, lock })
    }

    /// Counts to `sections`.
    ///
    /// # Errors
    /// If the device fails. In the emulator, also on a data race.
    pub fn count(&self, sections: u32) -> Result<Counted, DeviceError> {
        let taken = self.device.zeroed(self.grid.contenders())?;
        let ([counter, gave_up], us) = self.launch(self.tried.count, &taken, sections)?;
        Ok(Counted { counter, sections, taken: taken.download()?, gave_up, us })
    }

    /// Makes each thread push `each` nodes.
    ///
    /// # Errors
    /// As for [`count`](Self::count).
    pub fn push(&self, each: u32) -> Result<Pushed, DeviceError> {
        let nodes = self.device.zeroed(self.grid.contenders() * each as usize * NODE)?;
        let ([head, gave_up], _) = self.launch(self.tried.push, &nodes, each)?;
        Ok(Pushed { head, nodes: nodes.download()?, each, gave_up })
    }

    /// Launches a kernel. Returns the guarded word, the number of threads that gave up, and the
    /// time.
    fn launch(
        &self,
        kernel: Launch,
        out: &Buffer<u32>,
        sections: u32,
    ) -> Result<([u32; 2], f64), DeviceError> {
        let words = [self.device.zeroed::<u32>(1)?, self.device.zeroed::<u32>(1)?];
        let geometry = Geometry::new(self.grid.blocks, self.grid.threads);
        let us = self.device.time(|| {
            let [word, gave_up] = &words;
            let (lock, patience) = (self.lock.view(), self.patience_ns);
            let args = (lock, word.view(), out.view(), gave_up.view(), sections, patience);
            // SAFETY: the lock has its words for the threads of this grid. The others are as long
            // as the kernels require, and 0. All outlive the launch, because `time` waits for it.
            unsafe { kernel(self.device, &geometry, args) }
        })?;
        let [word, gave_up] = [words[0].download()?[0], words[1].download()?[0]];
        Ok(([word, gave_up], us))
    }
}

#[cfg(test)]
mod tests {
    use super::super::LOCKS;
    use super::*;
    use gridsync::device::{Emulator, EmulatorConfig, Policy, Schedule};

    #[test]
    fn a_mismatched_count_is_an_error() {
        let right = Counted { counter: 5, sections: 5, taken: vec![2, 3], gave_up: 0, us: 1.0 };
        assert_eq!(right.wrong(), None);
        assert_eq!(right.by_block(2), [5]);
        let lost = Counted { taken: vec![3, 3], ..right.clone() };
        let told = lost.wrong().expect("an addition was lost");
        assert_eq!(told, "the counter is at 5 of 5 after 6 additions");
        let short = Counted { counter: 4, taken: vec![2, 2], gave_up: 1, ..right };
        assert!(short.wrong().is_some(), "the other thread goes on to the end");
        assert_eq!(Counted { gave_up: 2, ..short }.wrong(), None);
    }

    #[test]
    fn a_list_has_each_node_once() {
        // Threads 0 and 1 push two nodes each: 0, 2, 1, 3.
        let nodes = vec![0, 0, 3, 0, 1, 1, 2, 1];
        let right = Pushed { head: 4, nodes, each: 2, gave_up: 0 };
        assert_eq!(right.wrong(), None);
        let with = |at: usize, value| {
            let mut changed = right.clone();
            changed.nodes[at] = value;
            changed.wrong().expect("the list is broken")
        };
        assert_eq!(with(2, 1), "1 of 4 nodes are lost");
        assert_eq!(with(0, 4), "the list comes to node 3 twice");
        assert_eq!(with(0, 9), "the list leads to node 8 of 4");
        assert_eq!(with(3, 1), "node 1 is of thread 1");
    }

    #[test]
    fn a_thread_without_patience_gives_up_and_the_launch_still_ends() {
        // Warps are scheduled round-robin, so the threads do wait for each other.
        let schedule = Schedule::new(Policy::RoundRobin);
        let config = EmulatorConfig { schedule, ..EmulatorConfig::default() };
        let device = Device::new(Emulator::new(config));
        let grid = Grid { blocks: 3, threads: 40 };
        for tried in LOCKS {
            let field = Field::new(&device, tried, grid, 0).expect("the emulator has memory");
            let counted = field.count(500).expect("it ends");
            assert!(counted.gave_up > 0, "{}: {counted:?}", tried.name);
            assert_eq!(counted.counter, counted.taken.iter().sum::<u32>(), "{}", tried.name);
        }
    }
}
