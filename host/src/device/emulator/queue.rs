//! Launches that were submitted and have not run, of all streams of a machine: see
//! [`EmulatorConfig::concurrent`](super::EmulatorConfig::concurrent).

use super::work::Work;
use super::{Emulator, Machine, lock};
use crate::device::DeviceError;
use simt::{After, Grid, LaunchConfig};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::panicking;

/// The most launches that are kept, and the most threads of them: with race detection, clocks have a
/// number for each thread that runs at the same time.
const MOST_LAUNCHES: usize = 256;
const MOST_THREADS: u64 = 1 << 17;

/// A launch that has been checked.
#[derive(Clone)]
pub(super) struct Launched {
    pub(super) config: LaunchConfig<'static>,
    pub(super) work: Work,
    /// Whether it may start before the previous launch of its stream has ended.
    pub(super) overlaps: bool,
}

/// The launches that have not run, in the order of submission.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Vec<Waiting>,
    threads: u64,
    streams: HashMap<u64, Stream>,
    /// How often the queue has been emptied.
    round: u64,
}

struct Waiting {
    launch: Launched,
    gpu: u32,
    after: Vec<After>,
}

/// The launches, by index, that later ones of a stream wait for.
#[derive(Default)]
struct Stream {
    /// Those of the stream since the last one that waited for all before it.
    own: Vec<usize>,
    /// Those of events.
    events: Vec<usize>,
}

/// A moment of a stream: the round of the queue, and the launches in it that came before.
pub(super) struct Moment {
    round: u64,
    before: Vec<usize>,
}

impl Stream {
    /// What a launch waits for that comes after everything before it. It replaces all of that.
    fn all(&mut self) -> Vec<After> {
        self.own.drain(..).chain(self.events.drain(..)).map(After::End).collect()
    }
}

impl Queue {
    /// Whether another launch of this many threads has to wait until those before it have run.
    pub(super) fn is_full(&self, threads: u64) -> bool {
        self.waiting.len() >= MOST_LAUNCHES
            || !self.waiting.is_empty() && self.threads.saturating_add(threads) > MOST_THREADS
    }

    /// Adds a launch to a stream of a GPU.
    pub(super) fn push(&mut self, (stream, gpu): (u64, u32), launch: Launched) {
        let stream = self.streams.entry(stream).or_default();
        // An event in between keeps the two kernels apart.
        let previous = stream.own.last().filter(|_| launch.overlaps && stream.events.is_empty());
        let after = match previous {
            Some(&previous) => vec![After::Trigger(previous)],
            None => stream.all(),
        };
        stream.own.push(self.waiting.len());
        self.add(launch, gpu, after);
    }

    /// Adds launches to a stream of a GPU, each after earlier ones of them.
    pub(super) fn push_graph(
        &mut self,
        (stream, gpu): (u64, u32),
        launches: impl Iterator<Item = (Launched, Vec<usize>)>,
    ) {
        let first = self.waiting.len();
        let before = self.streams.entry(stream).or_default().all();
        for (launch, after) in launches {
            let after = after.into_iter().map(|at| After::End(first + at));
            self.add(launch, gpu, before.iter().copied().chain(after).collect());
        }
        self.streams.entry(stream).or_default().own.extend(first..self.waiting.len());
    }

    fn add(&mut self, launch: Launched, gpu: u32, after: Vec<After>) {
        self.threads = self.threads.saturating_add(threads_of(&launch));
        self.waiting.push(Waiting { launch, gpu, after });
    }

    /// The present moment of a stream.
    pub(super) fn moment(&self, stream: u64) -> Moment {
        let stream = self.streams.get(&stream).into_iter();
        let before = stream.flat_map(|stream| stream.own.iter().chain(&stream.events).copied());
        Moment { round: self.round, before: before.collect() }
    }

    /// Makes later launches of a stream wait for this moment.
    pub(super) fn wait_for(&mut self, stream: u64, moment: &Moment) {
        if moment.round == self.round {
            self.streams.entry(stream).or_default().events.extend(&moment.before);
        }
    }

    fn take(&mut self) -> Vec<Waiting> {
        self.round += 1;
        self.threads = 0;
        self.streams.clear();
        core::mem::take(&mut self.waiting)
    }
}

/// The threads of a launch.
pub(super) fn threads_of(launch: &Launched) -> u64 {
    launch.config.grid.count().saturating_mul(launch.config.block.count())
}

impl Machine {
    /// Runs all launches that have not run.
    ///
    /// # Errors
    /// The fault of a launch.
    pub(super) fn settle(&self) -> Result<(), DeviceError> {
        self.run_all(&mut lock(&self.queue))
    }

    /// Like [`settle`](Self::settle), in a call that returns no error.
    pub(super) fn settle_quietly(&self) {
        if let Err(DeviceError::Fault(fault)) = self.settle() {
            self.fault.get_or_init(|| fault);
            self.is_unreported.store(true, Ordering::Relaxed);
        }
    }

    /// Runs all launches of the queue.
    ///
    /// # Errors
    /// The fault of a launch.
    pub(super) fn run_all(&self, queue: &mut Queue) -> Result<(), DeviceError> {
        let waiting = queue.take();
        // A test that fails frees its memory: nothing looks at the results any more.
        if waiting.is_empty() || panicking() {
            return Ok(());
        }
        let names: Vec<_> = waiting.iter().map(|it| it.launch.work.names()).collect();
        let bodies: Vec<_> = waiting.iter().map(|it| it.launch.work.body()).collect();
        let sites = self.config.sites.then_some(&self.sites);
        let grids = waiting.iter().zip(&names).zip(&bodies).map(|((it, names), body)| Grid {
            config: LaunchConfig { sites, ..it.launch.config },
            gpu: it.gpu,
            after: &it.after,
            names,
            body,
        });
        let grids: Vec<Grid<'_>> = grids.collect();
        self.account(simt::launch_grids(&mut lock(&self.memory), &grids))
    }
}

/// A moment of a stream, for an event.
pub(in crate::device) struct Mark {
    pub(super) machine: Arc<Machine>,
    pub(super) moment: Moment,
}

impl Mark {
    /// Runs the launches before it, and all others that have not run.
    pub(in crate::device) fn synchronize(&self) -> Result<(), DeviceError> {
        self.machine.settle()
    }
}

impl Emulator {
    /// Runs all launches that have not run. Refuses every call after a fault. `doing` names the
    /// call.
    pub(super) fn settle(&self, doing: &'static str) -> Result<(), DeviceError> {
        self.expect_alive(doing)?;
        self.machine.settle()
    }

    /// Submits a launch that has been checked.
    pub(super) fn submit(&self, launch: Launched) -> Result<(), DeviceError> {
        launch.config.check().map_err(|fault| DeviceError::Fault(Box::new(fault)))?;
        let mut queue = lock(&self.machine.queue);
        if queue.is_full(threads_of(&launch)) {
            self.machine.run_all(&mut queue)?;
        }
        queue.push((self.stream, self.gpu), launch);
        Ok(())
    }
}
