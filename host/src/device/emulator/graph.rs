//! Graphs of the emulator: a list of submitted work that can be run again.

use super::{Emulator, memory_error};
use crate::device::assembled::Arguments;
use crate::device::{DeviceError, KernelInfo, Ordered, Recording};
use simt::LaunchConfig;
use std::{
    ffi::c_void,
    sync::{Arc, Mutex, PoisonError},
};

/// The steps recorded so far.
pub(super) type Recorded = Mutex<Vec<Step>>;

/// One piece of work submitted to the stream.
pub(super) enum Step {
    /// A launch that has been checked, and its arguments.
    Launch(Box<LaunchConfig<'static>>, KernelInfo, Arguments),
    /// A zero fill of this many bytes at this address.
    Zero(u64, usize),
}

impl Step {
    /// A launch with a copy of its arguments.
    ///
    /// # Safety
    /// `args` are live arguments of `kernel`, in number, type and order.
    pub(super) unsafe fn launch(
        config: LaunchConfig<'static>,
        kernel: &KernelInfo,
        args: &[*const c_void],
    ) -> Self {
        // SAFETY: the caller passes live arguments of `kernel`.
        let copies = unsafe { Arguments::copy(kernel, args) };
        Self::Launch(Box::new(config), *kernel, copies)
    }
}

/// Recorded steps, and the emulator that runs them.
struct Replay {
    emulator: Arc<Emulator>,
    steps: Vec<Step>,
}

impl Recording for Replay {
    unsafe fn launch(&self) -> Result<(), DeviceError> {
        let _entered = self.emulator.gate.unrecorded("launching a graph")?;
        self.emulator.expect_alive("launching a graph")?;
        self.steps.iter().try_for_each(|step| match step {
            Step::Launch(config, kernel, args) => {
                // SAFETY: these are copies of the recorded arguments; the caller vouches for the
                // memory that they refer to and for the kernel's contract.
                unsafe { self.emulator.run(config, kernel, &[&args.pointers()]) }
            }
            Step::Zero(at, bytes) => self.emulator.memory().zero(*at, *bytes).map_err(memory_error),
        })
    }
}

impl Emulator {
    /// [`Backend::assemble`](crate::device::Backend::assemble): the launches in an order that the
    /// schedule's seed draws from all valid orders.
    pub(super) fn put_together(
        self: Arc<Self>,
        launches: &[Ordered<'_>],
    ) -> Result<Box<dyn Recording>, DeviceError> {
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
            let launch = launches[at].launch;
            let config = self.checked(&launch.kernel, &launch.geometry)?;
            steps.push(Step::Launch(Box::new(config), launch.kernel, launch.args.clone()));
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
