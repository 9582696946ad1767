//! GPUs that work together: waiting for one that may wait for another.

use super::Cuda;
use super::gpu::Gpu;
use crate::device::{DeviceError, Patience};
use libcuda::CUstream;
use std::ptr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How often whoever waits for one device looks after the others.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// GPUs that work together, in their order.
pub(super) struct Together {
    members: Vec<Member>,
}

struct Member {
    cuda: Weak<Cuda>,
    /// Other streams of the GPU may outlive that.
    gpu: Weak<Gpu>,
}

impl Together {
    /// The devices that are still there, with their indices.
    fn devices(&self) -> impl Iterator<Item = (usize, Arc<Cuda>)> {
        let all = self.members.iter().enumerate();
        all.filter_map(|(gpu, member)| Some((gpu, member.cuda.upgrade()?)))
    }
}

impl Gpu {
    /// The other GPUs that it works with and that are still there.
    pub(super) fn peers(&self) -> impl Iterator<Item = Arc<Self>> {
        let members = self.together.get().into_iter().flat_map(|together| &together.members);
        let gpus = members.filter_map(|member| member.gpu.upgrade());
        gpus.filter(|gpu| !ptr::eq(Arc::as_ptr(gpu), self))
    }

    /// Waits until `is_done` says so or fails, if this GPU works with others. Whoever waits for the same after that
    /// does not hang. If this or another one has failed, all others are given up: what runs there may wait for the
    /// one that failed. The context is current, before and after.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with the error of another one. Then it may not be done.
    pub(super) fn watch_others_until(
        &self,
        is_done: impl Fn() -> Result<bool, DeviceError>,
    ) -> Result<(), DeviceError> {
        let Some(together) = self.together.get() else {
            return Ok(());
        };
        let others = || together.devices().filter(|(_, one)| !ptr::eq(Arc::as_ptr(&one.gpu), self));
        let (patience, mut looked) = (Patience::new(), Instant::now());
        loop {
            match is_done() {
                Ok(false) => {}
                Ok(true) => return Ok(()),
                Err(error) => {
                    if matches!(error, DeviceError::Lost { .. }) {
                        others().for_each(|(_, other)| other.gpu.give_up());
                    }
                    return Ok(());
                }
            }
            // Seldom, because all calls to the driver take turns.
            if looked.elapsed() > BETWEEN_LOOKS {
                for (gpu, other) in others() {
                    if let Err(error @ DeviceError::Lost { .. }) = other.is_idle_now() {
                        let error = error.on_gpu_named(gpu, &other.gpu.properties.name);
                        others().for_each(|(_, other)| other.gpu.give_up());
                        self.give_up();
                        return Err(error);
                    }
                }
                self.enter()?;
                looked = Instant::now();
            }
            patience.pause();
        }
    }
}

impl Cuda {
    /// Lets all of them know of each other: a grid on one may wait for those on the others.
    pub(in crate::device) fn work_together(all: &[Arc<Self>]) {
        if all.len() < 2 {
            return;
        }
        let member = |one| Member { cuda: Arc::downgrade(one), gpu: Arc::downgrade(&one.gpu) };
        let together = Arc::new(Together { members: all.iter().map(member).collect() });
        for one in all {
            let is_new = one.gpu.together.set(Arc::clone(&together)).is_ok();
            assert!(is_new, "they were opened for this");
        }
    }

    /// [`Gpu::watch_others_until`] one of the GPU's streams is empty or has failed.
    pub(super) fn watch_others(&self, stream: CUstream) -> Result<(), DeviceError> {
        self.gpu.watch_others_until(|| self.is_done(stream))
    }

    /// Whether everything in its stream is done; not if somebody records, which this would break. Makes its
    /// context current.
    fn is_idle_now(&self) -> Result<bool, DeviceError> {
        let Some(_entered) = self.stream.gate.unrecorded_now() else {
            return Ok(false);
        };
        self.gpu.enter()?;
        self.is_done(self.raw_stream())
    }
}
