//! Graphs of the emulator: a list of what was put into the stream, to be run again.

use super::{Emulator, memory_error};
use crate::device::{DeviceError, KernelInfo, Recording};
use simt::LaunchConfig;
use std::{
    ffi::c_void,
    ptr,
    sync::{Arc, Mutex, PoisonError},
};

/// What has been recorded so far.
pub(super) type Recorded = Mutex<Vec<Step>>;

/// One thing that was put into the stream.
pub(super) enum Step {
    /// A launch that has been checked, and its arguments.
    Launch(LaunchConfig<'static>, unsafe fn(&[*const c_void]), Vec<Argument>),
    /// The filling of this many bytes at this address with zero.
    Zero(u64, usize),
}

/// The bytes of one argument, aligned to 8.
pub(super) struct Argument(Vec<u64>);

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
        let copies = args.iter().zip(kernel.args).map(|(&from, &bytes)| {
            let mut words = vec![0u64; bytes.div_ceil(size_of::<u64>())];
            // SAFETY: the caller gives the address of an argument of this many bytes, and the words
            // have room for them.
            unsafe {
                ptr::copy_nonoverlapping(from.cast::<u8>(), words.as_mut_ptr().cast(), bytes);
            }
            Argument(words)
        });
        Self::Launch(config, kernel.run, copies.collect())
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
            Step::Launch(config, run, args) => {
                let args: Vec<_> = args.iter().map(|arg| arg.0.as_ptr().cast()).collect();
                // SAFETY: these are copies of the arguments that it was recorded with; the caller
                // vouches for what they name and for the kernel's contract.
                unsafe { self.emulator.run(config, *run, &args) }
            }
            Step::Zero(at, bytes) => self.emulator.memory().zero(*at, *bytes).map_err(memory_error),
        })
    }
}

impl Emulator {
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
