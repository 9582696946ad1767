//! Several GPUs that work together.

use super::{Buffer, Device, DeviceError, Emulator, EmulatorConfig, Launch};
use bytemuck::Pod;
use std::{ops::Index, slice, thread, time::Duration, time::Instant};

/// The most GPUs that can work together: a lane of a warp for each.
pub const MOST_GPUS: usize = gridsync_kernels::grid::barrier::MOST_GPUS;

/// Several GPUs of one machine that reach each other's memory. One thread of the host drives all.
///
/// Each is a [`Device`] with a stream and memory of its own. What differs is a [launch](Self::launch) on all of
/// them, whose grids may wait for each other, and [waiting](Self::synchronize) for all: if one fails, the others
/// may wait for it for ever, so the call ends and all of them are given up. Copies, and dropping a buffer, look
/// after the others too while they wait.
///
/// Several threads may launch at the same time, on clones or on other `Devices` with the same GPUs. Each launch on
/// all then comes, on every GPU, before or after each other one: grids of two launches never wait for each other's
/// room.
///
/// A GPU that is named twice counts as two. They share its multiprocessors, so their grids must be small enough
/// to be resident together. This is for trying programs for several GPUs on one.
#[derive(Clone, Debug)]
pub struct Devices {
    devices: Vec<Device>,
    /// How many of them are one GPU, at most.
    sharing: u32,
}

impl Devices {
    /// The CUDA devices with these ordinals, each with those of `images` that it can run, and with access to the
    /// memory of each other.
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

    /// All CUDA devices that the driver has.
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

    /// All GPUs of the emulated machine that `device` is part of, as new handles. A device that is in no such
    /// machine is alone.
    #[must_use]
    pub fn of(device: &Device) -> Self {
        let machine = device.backend().machine();
        let devices = match machine.is_empty() {
            true => vec![device.clone()],
            false => machine.into_iter().map(Device).collect(),
        };
        Self { devices, sharing: 1 }
    }

    /// How many there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.devices.len()
    }

    /// One after the other.
    pub fn iter(&self) -> slice::Iter<'_, Device> {
        self.devices.iter()
    }

    /// How many of them are the same GPU, at most; 1 unless one is named twice. So many grids share its
    /// multiprocessors.
    #[must_use]
    pub fn sharing(&self) -> u32 {
        self.sharing
    }

    /// A buffer of `len` zeros on each.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with an error of [`Device::zeroed`].
    pub fn zeroed<T: Pod>(&self, len: usize) -> Result<Vec<Buffer<T>>, DeviceError> {
        self.each(|_, device| device.zeroed(len))
    }

    /// What `work` gives for each, with its place among them.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with the first error of `work`. If it tells that a kernel has faulted, all devices
    /// are given up.
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

    /// Puts one of `launches` into the stream of each device. They are of the same kernel and geometry, and their
    /// grids may wait for each other: all blocks of each have to be resident.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with an error of [`Device::launch`]. If grids on other devices have started by then,
    /// or a kernel has faulted, all devices are given up. [`DeviceError::NotRecordable`] while this thread records
    /// a graph on one of them. [`DeviceError::LaunchBlocking`] if the environment variable `CUDA_LAUNCH_BLOCKING`
    /// makes launches wait.
    ///
    /// # Panics
    /// If there is not one launch for each device, or they differ in kernel or geometry.
    ///
    /// # Safety
    /// As for [`Device::launch`], on each device. The buffers of all devices that the kernels reach stay alive
    /// until all kernels have run: a buffer that is dropped waits for all streams of all devices that were opened
    /// together.
    ///
    /// Streams do not wait for each other. When a grid starts, work that was put into another stream before, such
    /// as a filling with zero, may still run. A kernel that reaches memory of another GPU first crosses a barrier
    /// with that GPU, or all devices are waited for before the launch.
    pub unsafe fn launch(&self, launches: &[Launch]) -> Result<(), DeviceError> {
        assert_eq!(launches.len(), self.len(), "a launch for each device");
        let Launch { kernel, geometry, .. } = &launches[0];
        let is_same =
            |other: &Launch| other.kernel.name == kernel.name && other.geometry == *geometry;
        assert!(launches.iter().all(is_same), "the same kernel and geometry on each device");
        let (mut kernel, mut geometry) = (*kernel, *geometry);
        if self.sharing > 1 {
            // Nobody promises that one GPU runs two cooperative grids at the same time.
            kernel.cooperative = false;
            geometry.cooperative = false;
        }
        // Loading a kernel may wait for the device, so all are loaded before any grid starts. And a grid that is
        // recorded does not start, though others would wait for it.
        self.each(|_, device| match device.backend().is_recording() {
            true => Err(DeviceError::NotRecordable { doing: "a launch on several GPUs" }),
            false => device.backend().attributes(&kernel),
        })?;
        let args: Vec<Vec<_>> = launches.iter().map(|launch| launch.args.pointers()).collect();
        let args: Vec<_> = args.iter().map(Vec::as_slice).collect();
        let first = self.devices[0].backend();
        // SAFETY: the caller's promise.
        let launched = unsafe { first.launch_on_all(&self.devices, &kernel, &geometry, &args) };
        self.give_up_if_lost(launched)
    }

    /// Lets what comes into any of the streams from now on wait for what is in all of them now. The host does not
    /// wait.
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

    /// Waits for everything in all streams.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with the error of the work that failed. Then all devices are given up. While somebody
    /// records a graph on one of them, it is refused, which changes nothing.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        let patience = Patience::new();
        // In turns: a stream that waits for a device that has failed never ends.
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

    /// Gives up all devices if the result tells that a kernel has faulted on one: grids on the others may wait for
    /// that kernel.
    fn give_up_if_lost<R>(&self, result: Result<R, DeviceError>) -> Result<R, DeviceError> {
        if let Err(DeviceError::OnGpu { error, .. }) = &result
            && matches!(**error, DeviceError::Lost { .. })
        {
            self.give_up();
        }
        result
    }
}

/// How long to ask again and again whether a stream is empty, and how long to sleep between asking after that.
const SPIN: Duration = Duration::from_millis(20);
const NAP: Duration = Duration::from_micros(200);

/// What whoever asks again and again does in between.
pub(super) struct Patience(Instant);

impl Patience {
    pub(super) fn new() -> Self {
        Self(Instant::now())
    }

    /// Nothing at first, and later a short sleep.
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
    /// This device, alone.
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
