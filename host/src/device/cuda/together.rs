//! GPUs that work together: waiting for one that may wait for another, and launches that wait for
//! each other.

use super::Cuda;
use super::event::Event;
use super::gpu::Gpu;
use crate::device::{Device, DeviceError, Geometry, KernelInfo, Patience, launch_one_by_one};
use libcuda::{CU_EVENT_DISABLE_TIMING, CUstream};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use std::time::{Duration, Instant};
use std::{env, ffi::c_void, ptr};

/// How often a wait for one device polls the others.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// The environment variable that makes every launch wait for its kernel (CUDA C++ Programming
/// Guide, "CUDA Environment Variables").
const LAUNCH_BLOCKING: &str = "CUDA_LAUNCH_BLOCKING";

/// The groups that have launched kernels which wait for each other; the group that launched last is
/// at the end.
///
/// A launch of such kernels locks this exclusively, from the first GPU to the last. Work that must
/// not happen in between locks it shared. It is locked before passing the gate of a stream, never
/// after.
static LAUNCHED: RwLock<Groups> = RwLock::new(Vec::new());

type Groups = Vec<Weak<Together>>;

/// While a thread holds this, no thread launches kernels that wait for each other.
pub(super) type Turn = RwLockReadGuard<'static, Groups>;

/// While a thread holds this, no other thread holds a [`Turn`].
pub(super) type TurnAlone = RwLockWriteGuard<'static, Groups>;

fn alone() -> TurnAlone {
    LAUNCHED.write().unwrap_or_else(PoisonError::into_inner)
}

/// GPUs that work together, in order.
pub(super) struct Together {
    members: Vec<Member>,
    /// The value of [`LAUNCH_BLOCKING`] when they were opened, if that makes launches wait.
    blocking: Option<String>,
}

struct Member {
    cuda: Weak<Cuda>,
    /// Other streams of the GPU may outlive the handle.
    gpu: Weak<Gpu>,
}

impl Together {
    /// The devices that have not been dropped, with their indices.
    fn devices(&self) -> impl Iterator<Item = (usize, Arc<Cuda>)> {
        let all = self.members.iter().enumerate();
        all.filter_map(|(gpu, member)| Some((gpu, member.cuda.upgrade()?)))
    }

    /// Takes the turn to launch. The launch then comes after all launches of other groups on the
    /// same GPUs: two groups that each had some of the GPUs would wait for each other's GPUs.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] if the driver fails.
    fn turn_to_launch(self: &Arc<Self>) -> Result<TurnAlone, DeviceError> {
        let mut launched = alone();
        launched.retain(|group| group.strong_count() > 0);
        let own = launched.iter().position(|group| ptr::eq(group.as_ptr(), Arc::as_ptr(self)));
        // This group already follows the earlier ones.
        for other in launched[own.unwrap_or(0)..].iter().filter_map(Weak::upgrade) {
            self.follow(&other)?;
        }
        if let Some(own) = own {
            launched.remove(own);
        }
        launched.push(Arc::downgrade(self));
        Ok(launched)
    }

    /// Makes later work on each of these GPUs wait for the work that `other` submitted to its
    /// stream on the same GPU.
    fn follow(&self, other: &Self) -> Result<(), DeviceError> {
        if ptr::eq(self, other) {
            return Ok(());
        }
        for (gpu, own) in self.devices() {
            let on_the_same = other.devices().filter(|(_, it)| it.gpu.ordinal == own.gpu.ordinal);
            for (_, theirs) in on_the_same {
                let followed = own.follow(&theirs);
                followed.map_err(|error| error.on_gpu_named(gpu, &own.gpu.properties.name))?;
            }
        }
        Ok(())
    }
}

impl Gpu {
    /// Blocks launches that wait for each other until the turn is dropped. `None` if the GPU works
    /// alone.
    pub(super) fn turn(&self) -> Option<Turn> {
        let together = self.together.get();
        together.map(|_| LAUNCHED.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Blocks everything that needs a turn, so that a stream can wait for another GPU. `None` if
    /// the GPU works alone.
    pub(super) fn turn_alone(&self) -> Option<TurnAlone> {
        self.together.get().map(|_| alone())
    }

    /// The other GPUs that it works with, except those that have been dropped.
    pub(super) fn peers(&self) -> impl Iterator<Item = Arc<Self>> {
        let members = self.together.get().into_iter().flat_map(|together| &together.members);
        let gpus = members.filter_map(|member| member.gpu.upgrade());
        gpus.filter(|gpu| !ptr::eq(Arc::as_ptr(gpu), self))
    }

    /// Waits until `is_done` returns true or fails, if this GPU works with others. A later wait for
    /// the same work does not hang. If this GPU or another one has failed, all others are given up,
    /// because their work may wait for it. The context is current, before and after.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with the error of another GPU. Then the work may not be done.
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
            // Rarely, because the driver serves one call at a time.
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
    /// Connects all of them: a grid on one may wait for grids on the others.
    pub(in crate::device) fn work_together(all: &[Arc<Self>]) {
        if all.len() < 2 {
            return;
        }
        let blocking = env::var(LAUNCH_BLOCKING).ok();
        let member = |one| Member { cuda: Arc::downgrade(one), gpu: Arc::downgrade(&one.gpu) };
        let together = Arc::new(Together {
            members: all.iter().map(member).collect(),
            blocking: blocking.filter(|value| !matches!(value.trim(), "" | "0")),
        });
        for one in all {
            let is_new = one.gpu.together.set(Arc::clone(&together)).is_ok();
            assert!(is_new, "they were opened for this");
        }
    }

    /// Waits with [`Gpu::watch_others_until`] until one of the GPU's streams is empty or has
    /// failed.
    pub(super) fn watch_others(&self, stream: CUstream) -> Result<(), DeviceError> {
        self.gpu.watch_others_until(|| self.is_done(stream))
    }

    /// Whether all work in its stream is done. `false` for a stream that is being recorded, because
    /// a query would break the recording. Makes its context current.
    fn is_idle_now(&self) -> Result<bool, DeviceError> {
        let Some(_entered) = self.stream.gate.unrecorded_now() else {
            return Ok(false);
        };
        self.gpu.enter()?;
        self.is_done(self.raw_stream())
    }

    /// Makes later work in the stream wait for the current work of `other`. Nothing can wait for a
    /// device that is given up, and a stream that is being recorded runs nothing.
    fn follow(&self, other: &Self) -> Result<(), DeviceError> {
        let entered = other.stream.gate.either();
        if other.gpu.is_given_up() || entered.recorded().is_some() {
            return Ok(());
        }
        other.gpu.enter()?;
        let now = Event::new(CU_EVENT_DISABLE_TIMING)?;
        now.record(other.raw_stream())?;
        now.let_wait(self.raw_stream())
    }

    /// [`Backend::launch_on_all`](crate::device::Backend::launch_on_all). Launches of several
    /// threads arrive in the same order on every GPU.
    ///
    /// # Safety
    /// As for `Backend::launch_on_all`.
    pub(super) unsafe fn launch_together(
        &self,
        all: &[Device],
        kernel: &KernelInfo,
        geometry: &Geometry,
        args: &[&[*const c_void]],
    ) -> Result<(), DeviceError> {
        let (together, gpus) = (self.gpu.together.get(), all.len());
        if let Some(value) = together.and_then(|together| together.blocking.clone())
            && gpus > 1
        {
            return Err(DeviceError::LaunchBlocking { value, gpus });
        }
        let _turn = together.map(Together::turn_to_launch).transpose()?;
        // A recorded grid does not start, but others would wait for it. No recording begins before
        // the turn ends.
        for (gpu, device) in all.iter().enumerate() {
            if let Some(cuda) = device.backend().cuda() {
                let passed = cuda.stream.gate.unrecorded("a launch on several GPUs").map(drop);
                passed.map_err(|error| error.on_gpu(gpu, device))?;
            }
        }
        // SAFETY: the caller upholds the contract of `Backend::launch_on_all`.
        unsafe { launch_one_by_one(all, kernel, geometry, args) }
    }
}
