//! The choice of the device to run on.

use super::exit::Usage;
use super::output;
use super::work::{Cost, Work};
use anyhow::Context;
use gridsync::device::cuda::{DeviceSummary, probe};
use gridsync::device::{
    Device, DeviceError, Devices, Emulator, EmulatorConfig, NoCuda, PtxKernels,
};
use gridsync_lab::images;
use std::str::FromStr;
use std::sync::OnceLock;

/// The value of `--device`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeviceChoice {
    Auto,
    /// One or several GPUs by number; several share the work.
    Cuda(Vec<u32>),
    AllCuda,
    /// An emulated machine with this many GPUs.
    Emulator(u32),
    /// An emulated GPU of this compute capability, which runs the PTX that ships.
    Ptx(u32),
    Cpu,
}

/// The values that `--device` accepts.
const FORMS: &str = "devices are auto, cuda, cuda:N, cuda:N,M,…, cuda:all, emulator, emulator:N, ptx, ptx:N and cpu";

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "cuda" => Ok(Self::Cuda(vec![0])),
            "cuda:all" => Ok(Self::AllCuda),
            "emulator" => Ok(Self::Emulator(1)),
            "ptx" => Ok(Self::Ptx(90)),
            "cpu" => Ok(Self::Cpu),
            _ => {
                let ordinals = |numbers: &str| numbers.split(',').map(|n| n.parse().ok()).collect();
                let cuda = || text.strip_prefix("cuda:").and_then(ordinals).map(Self::Cuda);
                let emulated = || text.strip_prefix("emulator:")?.parse().ok().map(Self::Emulator);
                let ptx = || text.strip_prefix("ptx:")?.parse().ok().map(Self::Ptx);
                cuda().or_else(emulated).or_else(ptx).ok_or_else(|| FORMS.into())
            }
        }
    }
}

/// Where a primitive runs.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// One device, or several that share the work.
    Devices(Devices),
    Cpu,
}

impl Place {
    /// Its name.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Devices(devices) if devices.len() == 1 => devices[0].properties().name.clone(),
            Self::Devices(devices) => {
                let mut names: Vec<&str> =
                    devices.iter().map(|device| &*device.properties().name).collect();
                names.dedup();
                format!("{} GPUs: {}", devices.len(), names.join(", "))
            }
            Self::Cpu => "cpu".into(),
        }
    }

    /// The device, or `None` on the CPU, for work that several devices cannot share. `what` names
    /// the work.
    pub(crate) fn device(&self, what: &str) -> anyhow::Result<Option<&Device>> {
        match self {
            Self::Devices(devices) if devices.len() == 1 => Ok(Some(&devices[0])),
            Self::Devices(devices) => {
                let is_emulated = devices[0].properties().is_emulated();
                let one = if is_emulated { "emulator" } else { "cuda:0" };
                Err(several(what, devices.len(), one))
            }
            Self::Cpu => Ok(None),
        }
    }
}

/// The error if `count` devices are named for work that needs one, such as `one`.
fn several(what: &str, count: usize, one: &str) -> anyhow::Error {
    Usage(format!("{what} runs on one device, not on {count}: use --device {one}")).into()
}

impl DeviceChoice {
    /// Whether [`place`](Self::place) opens a GPU or tries to, which is slow.
    pub(crate) fn opens_a_gpu(&self, work: Work) -> bool {
        match self {
            Self::Auto => work.is_for_a_gpu(),
            Self::Cuda(_) | Self::AllCuda => true,
            Self::Emulator(_) | Self::Ptx(_) | Self::Cpu => false,
        }
    }

    /// Where to run a primitive that has a CPU form.
    pub(crate) fn place(&self, work: Work) -> anyhow::Result<Place> {
        Ok(match self {
            Self::Cpu => Place::Cpu,
            // Checking for a GPU would take longer than the work.
            Self::Auto if !self.opens_a_gpu(work) => Place::Cpu,
            Self::Auto => gpu().map_or(Place::Cpu, |gpu| Place::Devices((&gpu).into())),
            Self::Cuda(ordinals) => Place::Devices(Devices::cuda(ordinals, &images::all())?),
            Self::AllCuda => Place::Devices(Devices::all_cuda(&images::all())?),
            Self::Emulator(gpus) => Place::Devices(emulated(*gpus)?),
            Self::Ptx(compute) => Place::Devices((&emulator_of_ptx(*compute)?).into()),
        })
    }

    /// Where the rank with number `local_rank` on this machine runs. By default it uses the GPU of
    /// that number. If there are fewer GPUs, ranks share them; if the rank sees only one GPU, it
    /// uses that one.
    pub(crate) fn place_of_rank(&self, local_rank: u32) -> anyhow::Result<Place> {
        Ok(match self {
            Self::Auto => {
                gpu_of_rank(local_rank).map_or(Place::Cpu, |gpu| Place::Devices((&gpu).into()))
            }
            _ => self.place(Cost::KERNELS_ONLY.of(0))?,
        })
    }

    /// The device to run on, for a command without a CPU form.
    pub(crate) fn device(&self) -> anyhow::Result<Device> {
        match self {
            Self::Auto => Ok(gpu().unwrap_or_else(emulator)),
            Self::Emulator(1) => Ok(emulator()),
            Self::Ptx(compute) => Ok(emulator_of_ptx(*compute)?),
            Self::Cuda(_) | Self::AllCuda | Self::Emulator(_) => self.one_device("this command"),
            Self::Cpu => Err(Usage(
                "this has no CPU form: use --device emulator, which runs the kernels on the CPU"
                    .into(),
            )
            .into()),
        }
    }

    /// The device, or an error if several are named.
    fn one_device(&self, what: &str) -> anyhow::Result<Device> {
        match self {
            Self::Cuda(ordinals) if ordinals.len() == 1 => {
                Ok(Device::cuda(ordinals[0], &images::all())?)
            }
            Self::Cuda(ordinals) => {
                Err(several(what, ordinals.len(), &format!("cuda:{}", ordinals[0])))
            }
            _ => {
                let place = self.place(Cost::KERNELS_ONLY.of(0))?;
                Ok(place.device(what)?.context("there is no device")?.clone())
            }
        }
    }

    /// The number of the GPU that [`gpu`](Self::gpu) opens.
    pub(crate) fn ordinal(&self) -> u32 {
        match self {
            Self::Cuda(ordinals) => ordinals[0],
            _ => 0,
        }
    }

    /// The GPU, for a command that needs one. `what` names the command.
    pub(crate) fn gpu(&self, what: &str) -> anyhow::Result<Device> {
        let device = match self {
            Self::Auto => Device::cuda(0, &images::all()).map_err(anyhow::Error::from),
            Self::Cuda(_) | Self::AllCuda => self.one_device(what),
            Self::Emulator(_) | Self::Ptx(_) | Self::Cpu => {
                return Err(Usage(format!(
                    "{what} needs a GPU, since the time of an emulated grid is meaningless: use --device cuda"
                ))
                .into());
            }
        };
        device.with_context(|| format!("{what} needs a GPU"))
    }
}

/// The first GPU, if it responds. If it does not, prints a message and returns `None`.
fn gpu() -> Option<Device> {
    gpu_of_rank(0)
}

/// The GPU of the rank with number `local_rank` on this machine, like [`gpu`].
fn gpu_of_rank(local_rank: u32) -> Option<Device> {
    let open = |devices: Vec<DeviceSummary>| {
        let count = u32::try_from(devices.len()).unwrap_or(u32::MAX).max(1);
        Device::cuda(local_rank % count, &images::all())
    };
    match probe().and_then(open) {
        Ok(device) => Some(device),
        Err(DeviceError::NoCuda(NoCuda::NoLibrary(_) | NoCuda::NoDevice)) => None,
        Err(error) => {
            output::say(format_args!("gridsync: continuing without the GPU: {error}"));
            None
        }
    }
}

fn emulator() -> Device {
    Device::new(Emulator::new(EmulatorConfig::default()))
}

/// An emulated GPU that runs the PTX that a GPU of this compute capability gets.
fn emulator_of_ptx(compute: u32) -> Result<Device, DeviceError> {
    static KERNELS: OnceLock<&PtxKernels> = OnceLock::new();
    if KERNELS.get().is_none() {
        let kernels = PtxKernels::new(&images::all(), compute)?;
        // Some commands make more emulators.
        KERNELS.get_or_init(|| Box::leak(Box::new(kernels))).run_by_default();
    }
    Ok(emulator())
}

fn emulated(gpus: u32) -> Result<Devices, DeviceError> {
    Devices::emulated(EmulatorConfig { gpus, ..EmulatorConfig::default() })
}
