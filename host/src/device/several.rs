//! Several GPUs that work together.

use super::{Buffer, Device, DeviceError, Emulator, EmulatorConfig, Launch};
use bytemuck::Pod;
use std::{ops::Index, slice, thread, time::Duration, time::Instant};

/// The most GPUs that can work together: one per lane of a warp.
pub const MOST_GPUS: usize = gridsync_kernels::grid::barrier::MOST_GPUS;

/// Several GPUs of one machine that can access each other's memory. A single host thread drives
/// them all.
///
/// Each is a [`Device`] with its own stream and memory. Two things differ: a [launch](Self::launch)
/// on all of them, whose grids may wait for each other, and a [wait](Self::synchronize) for all. If
/// one GPU fails, the others may wait for it forever, so the wait ends and all of them are given
/// up. Copies, and dropping a buffer, also watch the other GPUs while they wait.
///
/// Several threads may launch at the same time, on clones or on other `Devices` with the same GPUs.
/// Such launches run in the same order on every GPU, so that grids of two launches never wait for
/// each other's resources.
///
/// A GPU that is named twice counts as two. They share its multiprocessors, so their grids must be
/// small enough to be resident together. This allows testing multi-GPU programs on one GPU.
#[derive(Clone, Debug)]
pub struct Devices {
    devices: Vec<Device>,
    /// The most handles that refer to the same GPU.
    sharing: u32,
}

impl Devices {
    /// Opens the CUDA devices with these ordinals, each with those of `images` that it can run, and
    /// with access to the others' memory.
    ///
    /// # Errors
    /// [`DeviceError::GpuCount`] for none or too many, [`DeviceError::OnGpu`] with an error of
    /// [`Device::cuda`], [`DeviceError::NoPeerAccess`].
    #[cfg(feature = "cuda")]
    pub fn cuda(ordinals: &[u32], images: &[super::cuda::PtxImage]) -> Result<Self, DeviceError> {
        expect_count(ordinals.len())?;
        let open = |&ordinal| super::cuda::Cuda::new(ordinal, images);
        let all: Vec<_> = ordinals
            .iter()
            .map(|ordinal| open(ordinal).map(std::sync::Arc::new))
            .collect::<Result<_, _>>()?;
        for one in &all {
            all.iter().try_for_each(|other| one.reach(other))?;
        }
        super::cuda::Cuda::work_together(&all);
        let times = |&ordinal| ordinals.iter().filter(|&&other| other == ordinal).count() as u32;
        let sharing = ordinals.iter().map(times).max().unwrap_or(1);
        Ok(Self { devices: all.into_iter().map(|one| Device(one)).collect(), sharing })
    }

    /// Opens all CUDA devices of the driver.
    ///
    /// # Errors
    /// As for [`cuda`](Self::cuda).
    #[cfg(feature = "cuda")]
    pub fn all_cuda(images: &[super::cuda::PtxImage]) -> Result<Self, DeviceError> {
        let ordinals: Vec<u32> =
            super::cuda::probe()?.iter().map(|device| device.ordinal).collect();
        Self::cuda(&ordinals, images)
    }

    /// The GPUs of an emulated machine, [`EmulatorConfig::gpus`] of them.
    ///
    /// # Errors
    /// [`DeviceError::GpuCount`] for none or too many.
    pub fn emulated(config: EmulatorConfig) -> Result<Self, DeviceError> {
        expect_count(config.gpus as usize)?;
        Ok(Self::of(&Device::new(Emulator::new(config))))
    }

    /// All GPUs of the emulated machine that `device` belongs to, as new handles. A device outside
    /// such a machine is alone.
    #[must_use]
    pub fn of(device: &Device) -> Self {
        let machine = device.backend().machine();
        let devices = if machine.is_empty() {
            vec![device.clone()]
        } else {
            machine.into_iter().map(Device).collect()
        };
        Self { devices, sharing: 1 }
    }

    /// Number of GPUs.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.devices.len()
    }

    /// Iterates over the GPUs in order.
    pub fn iter(&self) -> slice::Iter<'_, Device> {
        self.devices.iter()
    }

    /// The most handles that refer to the same GPU; 1 unless a GPU is named twice. This many grids
    /// share its multiprocessors.
    #[must_use]
    pub fn sharing(&self) -> u32 {
        self.sharing
    }

    /// A buffer of `len` zeros on each GPU.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with an error of [`Device::zeroed`].
    pub fn zeroed<T: Pod>(&self, len: usize) -> Result<Vec<Buffer<T>>, DeviceError> {
        self.each(|_, device| device.zeroed(len))
    }

    /// Calls `work` with each index and device, and returns the results.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with the first error of `work`. If it reports that a kernel has
    /// faulted, all devices are given up.
    pub fn each<R>(
        &self,
        mut work: impl FnMut(usize, &Device) -> Result<R, DeviceError>,
    ) -> Result<Vec<R>, DeviceError> {
        let all = self.iter().enumerate();
        let done = all
            .map(|(gpu, device)| work(gpu, device).map_err(|error| error.on_gpu(gpu, device)))
            .collect();
        self.give_up_if_lost(done)
    }

    /// Submits one of `launches` to the stream of each device. All must have the same kernel and
    /// geometry, and their grids may wait for each other: all blocks of each have to be resident.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with an error of [`Device::launch`]. If grids on other devices have
    /// started by then, or a kernel has faulted, all devices are given up.
    /// [`DeviceError::NotRecordable`] while this thread records a graph on one of them.
    /// [`DeviceError::LaunchBlocking`] if the environment variable `CUDA_LAUNCH_BLOCKING` makes
    /// launches wait.
    ///
    /// # Panics
    /// If the number of launches is not the number of devices, or they differ in kernel or
    /// geometry.
    ///
    /// # Safety
    /// As for [`Device::launch`], on each device. The buffers of all devices that the kernels
    /// access stay alive until all kernels have run: dropping a buffer waits for all streams of all
    /// devices that were opened together.
    ///
    /// Streams do not wait for each other. When a grid starts, earlier work in another stream, such
    /// as a zero fill, may still be running. A kernel that accesses memory of another GPU must
    /// first cross a barrier with that GPU, or the host must wait for all devices before the
    /// launch.
    pub unsafe fn launch(&self, launches: &[Launch]) -> Result<(), DeviceError> {
        assert_eq!(launches.len(), self.len(), "a launch for each device");
        let Launch { kernel, geometry, .. } = &launches[0];
        let is_same =
            |other: &Launch| other.kernel.name == kernel.name && other.geometry == *geometry;
        assert!(launches.iter().all(is_same), "the same kernel and geometry on each device");
        let (mut kernel, mut geometry) = (*kernel, *geometry);
        if self.sharing > 1 {
            // One GPU is not guaranteed to run two cooperative grids at the same time.
            kernel.cooperative = false;
            geometry.cooperative = false;
        }
        // Loading a kernel may wait for the device, so load all before any grid starts. And a
        // recorded grid does not start, but others would wait for it.
        self.each(|_, device| {
            if device.backend().is_recording() {
                Err(DeviceError::NotRecordable { doing: "a launch on several GPUs" })
            } else {
                device.backend().attributes(&kernel)
            }
        })?;
        let args: Vec<Vec<_>> = launches.iter().map(|launch| launch.args.pointers()).collect();
        let args: Vec<_> = args.iter().map(Vec::as_slice).collect();
        let first = self.devices[0].backend();
        // SAFETY: the caller upholds the contract, which is that of `Backend::launch_on_all`.
        let launched = unsafe { first.launch_on_all(&self.devices, &kernel, &geometry, &args) };
        self.give_up_if_lost(launched)
    }

    /// Makes later work in any of the streams wait for the current work in all of them. The host
    /// does not wait.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with an error of [`Device::record_event`] or [`Device::wait_for`].
    pub fn meet(&self) -> Result<(), DeviceError> {
        let here = self.each(|_, device| device.record_event())?;
        self.each(|gpu, device| {
            let others = here.iter().enumerate().filter(|(other, _)| *other != gpu);
            others.map(|(_, event)| event).try_for_each(|event| device.wait_for(event))
        })?;
        Ok(())
    }

    /// Waits for all work in all streams.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with the error of the work that failed. Then all devices are given
    /// up. While a graph is being recorded on one of them, the call is refused, which changes
    /// nothing.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        let patience = Patience::new();
        // Polls each in turn: a stream that waits for a failed device never ends.
        let ended = loop {
            match self.each(|_, device| device.backend().is_idle()) {
                Ok(idle) if idle.contains(&false) => patience.pause(),
                Ok(_) => break self.each(|_, device| device.synchronize()).map(|_| ()),
                Err(error) => break Err(error),
            }
        };
        ended.inspect_err(|error| {
            if !error.is_about_recording() {
                self.give_up();
            }
        })
    }

    fn give_up(&self) {
        self.iter().for_each(|device| device.backend().give_up());
    }

    /// Gives up all devices if the result reports that a kernel has faulted on one, because grids
    /// on the others may wait for that kernel.
    fn give_up_if_lost<R>(&self, result: Result<R, DeviceError>) -> Result<R, DeviceError> {
        if let Err(DeviceError::OnGpu { error, .. }) = &result
            && matches!(**error, DeviceError::Lost { .. })
        {
            self.give_up();
        }
        result
    }
}

/// How long to poll a stream continuously, and how long to sleep between polls after that.
const SPIN: Duration = Duration::from_millis(20);
const NAP: Duration = Duration::from_micros(200);

/// The pause between two polls.
pub(super) struct Patience(Instant);

impl Patience {
    pub(super) fn new() -> Self {
        Self(Instant::now())
    }

    /// Returns immediately at first, and later sleeps briefly.
    pub(super) fn pause(&self) {
        if self.0.elapsed() > SPIN {
            thread::sleep(NAP);
        }
    }
}

fn expect_count(asked: usize) -> Result<(), DeviceError> {
    match asked {
        1..=MOST_GPUS => Ok(()),
        _ => Err(DeviceError::GpuCount { asked, limit: MOST_GPUS }),
    }
}

impl From<&Device> for Devices {
    /// This device alone.
    fn from(device: &Device) -> Self {
        Self { devices: vec![device.clone()], sharing: 1 }
    }
}

impl From<&Self> for Devices {
    fn from(devices: &Self) -> Self {
        devices.clone()
    }
}

impl Index<usize> for Devices {
    type Output = Device;

    fn index(&self, gpu: usize) -> &Device {
        &self.devices[gpu]
    }
}

impl<'a> IntoIterator for &'a Devices {
    type Item = &'a Device;
    type IntoIter = slice::Iter<'a, Device>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
