//! Graphs of the emulator: a list of submitted work that can be run again.

use super::queue::{Launched, threads_of};
use super::{Emulator, lock, memory_error};
use crate::device::{DeviceError, Ordered, Recording};
use std::sync::{Arc, Mutex, PoisonError};

/// The steps recorded so far.
pub(super) type Recorded = Mutex<Vec<Step>>;

/// One piece of work submitted to the stream.
pub(super) enum Step {
    /// A launch.
    Launch(Box<Launched>),
    /// A zero fill of this many bytes at this address.
    Zero(u64, usize),
}

/// Recorded steps, and the emulator that runs them.
struct Replay {
    emulator: Arc<Emulator>,
    steps: Vec<Step>,
}

impl Recording for Replay {
    unsafe fn launch(&self) -> Result<(), DeviceError> {
        let emulator = &self.emulator;
        let _entered = emulator.gate.unrecorded("launching a graph")?;
        emulator.expect_alive("launching a graph")?;
        self.steps.iter().try_for_each(|step| match step {
            Step::Launch(launch) if emulator.machine.config.concurrent => {
                emulator.submit((**launch).clone())
            }
            Step::Launch(launch) => emulator.run(&launch.config, &[&launch.work]),
            Step::Zero(at, bytes) => {
                emulator.machine.settle()?;
                emulator.memory().zero(*at, *bytes).map_err(memory_error)
            }
        })
    }
}

/// Launches that depend on each other, and the emulator that runs them at the same time.
struct Assembled {
    emulator: Arc<Emulator>,
    /// Each with the indices of those that come before it.
    launches: Vec<(Launched, Vec<usize>)>,
}

impl Recording for Assembled {
    unsafe fn launch(&self) -> Result<(), DeviceError> {
        let Self { emulator, launches } = self;
        let _entered = emulator.gate.unrecorded("launching a graph")?;
        emulator.expect_alive("launching a graph")?;
        let mut queue = lock(&emulator.machine.queue);
        let threads = launches.iter().map(|(launch, _)| threads_of(launch));
        if queue.is_full(threads.fold(0, u64::saturating_add)) {
            emulator.machine.run_all(&mut queue)?;
        }
        queue.push_graph((emulator.stream, emulator.gpu), launches.iter().cloned());
        Ok(())
    }
}

impl Emulator {
    /// [`Backend::assemble`](crate::device::Backend::assemble): the launches at the same time if the
    /// machine is concurrent, and otherwise in an order that the schedule's seed draws from all valid
    /// orders.
    pub(super) fn put_together(
        self: Arc<Self>,
        launches: &[Ordered<'_>],
    ) -> Result<Box<dyn Recording>, DeviceError> {
        let checked = |at: usize| -> Result<Launched, DeviceError> {
            let launch = launches[at].launch;
            let config = self.checked(&launch.kernel, &launch.geometry)?;
            // SAFETY: these are copies of the arguments that the launch was made with.
            let work = unsafe { self.work(&launch.kernel, &launch.args.pointers()) }?;
            Ok(Launched { config, work, overlaps: launch.geometry.overlapping })
        };
        if self.machine.config.concurrent {
            let all = (0..launches.len()).map(|at| Ok((checked(at)?, launches[at].after.clone())));
            let launches = all.collect::<Result<_, DeviceError>>()?;
            return Ok(Box::new(Assembled { launches, emulator: self }));
        }
        let mut missing: Vec<usize> = launches.iter().map(|launch| launch.after.len()).collect();
        let mut ready: Vec<usize> = (0..launches.len()).filter(|&at| missing[at] == 0).collect();
        let mut steps = Vec::with_capacity(launches.len());
        let mut drawn = self.machine.config.schedule.seed;
        while !ready.is_empty() {
            // A linear congruential generator (Knuth, MMIX): its upper bits are random enough here.
            drawn = drawn
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = ready.swap_remove((drawn >> 33) as usize % ready.len());
            steps.push(Step::Launch(Box::new(checked(at)?)));
            for (next, other) in launches.iter().enumerate() {
                missing[next] -= other.after.iter().filter(|&&before| before == at).count();
                if missing[next] == 0 && other.after.contains(&at) {
                    ready.push(next);
                }
            }
        }
        Ok(Box::new(Replay { steps, emulator: self }))
    }

    /// [`Backend::record`](crate::device::Backend::record).
    pub(super) fn record_steps(
        self: Arc<Self>,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Box<dyn Recording>, DeviceError> {
        let mut recorder = self.gate.begin(Recorded::default())?;
        work()?;
        let recorded = recorder.end().unwrap_or_default();
        drop(recorder);
        Ok(Box::new(Replay {
            steps: recorded.into_inner().unwrap_or_else(PoisonError::into_inner),
            emulator: self,
        }))
    }
}
