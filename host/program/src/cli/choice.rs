//! The choice of the device to run on.

use super::exit::Usage;
use crate::images;
use anyhow::Context;
use gridsync::device::cuda::{DeviceSummary, probe};
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig, NoCuda};
use std::str::FromStr;

/// The value of `--device`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceChoice {
    Auto,
    Cuda(u32),
    Emulator,
    Cpu,
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "cuda" => Ok(Self::Cuda(0)),
            "emulator" => Ok(Self::Emulator),
            "cpu" => Ok(Self::Cpu),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|ordinal| ordinal.parse().ok())
                .map(Self::Cuda)
                .ok_or_else(|| "devices are auto, cuda, cuda:N, emulator and cpu".into()),
        }
    }
}

/// Where a primitive runs.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Device(Device),
    Cpu,
}

impl Place {
    /// Its name.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Device(device) => device.properties().name.clone(),
            Self::Cpu => "cpu".into(),
        }
    }
}

impl DeviceChoice {
    /// The place to run a primitive that has a CPU form.
    pub(crate) fn place(self) -> anyhow::Result<Place> {
        Ok(match self {
            Self::Cpu => Place::Cpu,
            Self::Auto => gpu().map_or(Place::Cpu, Place::Device),
            Self::Cuda(_) | Self::Emulator => Place::Device(self.device()?),
        })
    }

    /// The place of the rank that is number `local_rank` on this machine. Without a choice it takes
    /// the GPU of that number. If there are fewer GPUs, ranks share them; if it sees one alone, that
    /// one is its own.
    pub(crate) fn place_of_rank(self, local_rank: u32) -> anyhow::Result<Place> {
        Ok(match self {
            Self::Auto => gpu_of_rank(local_rank).map_or(Place::Cpu, Place::Device),
            _ => self.place()?,
        })
    }

    /// The device to run on, for a command that has no CPU form.
    pub(crate) fn device(self) -> anyhow::Result<Device> {
        match self {
            Self::Auto => Ok(gpu().unwrap_or_else(emulator)),
            Self::Cuda(ordinal) => Ok(Device::cuda(ordinal, &images::all())?),
            Self::Emulator => Ok(emulator()),
            Self::Cpu => Err(Usage(
                "there is no CPU form of this: use --device emulator, which runs the kernels on the CPU"
                    .into(),
            )
            .into()),
        }
    }

    /// The number and the compute capability of the GPU, for a command that uses one if there is one.
    pub(crate) fn gpu_if_any(self) -> anyhow::Result<Option<(u32, u32)>> {
        let (ordinal, device) = match self {
            Self::Emulator | Self::Cpu => return Ok(None),
            Self::Auto => (0, gpu()),
            Self::Cuda(ordinal) => (ordinal, Some(Device::cuda(ordinal, &images::all())?)),
        };
        Ok(device.map(|device| (ordinal, device.properties().compute)))
    }

    /// The GPU, for a command that makes no sense without one. `what` names the command.
    pub(crate) fn gpu(self, what: &str) -> anyhow::Result<Device> {
        let ordinal = match self {
            Self::Auto => 0,
            Self::Cuda(ordinal) => ordinal,
            Self::Emulator | Self::Cpu => {
                return Err(Usage(format!(
                    "{what} needs a GPU, since the time of an emulated grid says nothing: use --device cuda"
                ))
                .into());
            }
        };
        Device::cuda(ordinal, &images::all()).with_context(|| format!("{what} needs a GPU"))
    }
}

/// The first GPU, if there is one that answers. If it does not answer, a message says so, and the
/// program goes on without it.
fn gpu() -> Option<Device> {
    gpu_of_rank(0)
}

/// The GPU of the rank that is number `local_rank` on this machine, like [`gpu`].
fn gpu_of_rank(local_rank: u32) -> Option<Device> {
    let open = |devices: Vec<DeviceSummary>| {
        let count = u32::try_from(devices.len()).unwrap_or(u32::MAX).max(1);
        Device::cuda(local_rank % count, &images::all())
    };
    match probe().and_then(open) {
        Ok(device) => Some(device),
        Err(DeviceError::NoCuda(NoCuda::NoLibrary(_) | NoCuda::NoDevice)) => None,
        Err(error) => {
            eprintln!("gridsync: going on without the GPU: {error}");
            None
        }
    }
}

fn emulator() -> Device {
    Device::new(Emulator::new(EmulatorConfig::default()))
}
