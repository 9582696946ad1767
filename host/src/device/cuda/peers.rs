//! Access of GPUs to each other's memory, and waiting for one that may wait for another.

use super::{Cuda, probe};
use crate::device::{Backend, DeviceError, Patience};
use libcuda::{
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CUdevice, CUstream,
};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How often whoever waits for one device looks after the others.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

impl Cuda {
    /// Lets kernels and copies of this device reach the memory of `other`.
    ///
    /// # Errors
    /// [`DeviceError::NoPeerAccess`], and what the driver says.
    pub(in crate::device) fn reach(&self, other: &Self) -> Result<(), DeviceError> {
        let (from, to) = (self.gpu.ordinal, other.gpu.ordinal);
        if from == to {
            return Ok(());
        }
        let refused = Err(DeviceError::NoPeerAccess { from, to });
        if !can_reach(from, to)? {
            return refused;
        }
        self.gpu.enter()?;
        // SAFETY: both contexts are live, and this one is current.
        let result = unsafe { libcuda::cuCtxEnablePeerAccess(other.gpu.context.0, 0) };
        match result {
            CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            CUDA_ERROR_PEER_ACCESS_UNSUPPORTED => refused,
            result => DeviceError::check(result, || asking(from, to)),
        }
    }

    /// Lets all of them know of each other: a grid on one may wait for those on the others.
    pub(in crate::device) fn work_together(all: &[Arc<Self>]) {
        for one in all {
            let others: Vec<Weak<Self>> = all.iter().map(Arc::downgrade).collect();
            assert!(one.gpu.together.set(others).is_ok(), "they were opened for this");
        }
    }

    /// Waits until one of the GPU's streams is empty or has failed, if this device works with others. Whoever
    /// waits for the stream after that does not hang. If this or another one has failed, all others are given up: what runs
    /// there may wait for the one that failed. The context is current, before and after.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with the error of another one.
    pub(super) fn watch_others(&self, stream: CUstream) -> Result<(), DeviceError> {
        self.watch_others_until(|| self.is_done(stream))
    }

    /// The same, until `is_done` says so or fails.
    pub(super) fn watch_others_until(
        &self,
        is_done: impl Fn() -> Result<bool, DeviceError>,
    ) -> Result<(), DeviceError> {
        if self.gpu.together.get().is_none_or(|together| together.len() < 2) {
            return Ok(());
        }
        let (patience, mut looked) = (Patience::new(), Instant::now());
        loop {
            match is_done() {
                Ok(false) => {}
                Ok(true) => return Ok(()),
                Err(error) => {
                    if matches!(error, DeviceError::Lost { .. }) {
                        self.others().for_each(|(_, other)| other.give_up());
                    }
                    return Ok(());
                }
            }
            // Seldom, because all calls to the driver take turns.
            if looked.elapsed() > BETWEEN_LOOKS {
                for (gpu, other) in self.others() {
                    if let Err(error @ DeviceError::Lost { .. }) = other.is_idle_now() {
                        let name = other.gpu.properties.name.clone();
                        self.others().for_each(|(_, other)| other.give_up());
                        self.give_up();
                        return Err(DeviceError::OnGpu { gpu, name, error: Box::new(error) });
                    }
                }
                self.gpu.enter()?;
                looked = Instant::now();
            }
            patience.pause();
        }
    }

    /// Those that it works with and that are still there, with their places.
    fn others(&self) -> impl Iterator<Item = (usize, Arc<Self>)> {
        let all = self.gpu.together.get().into_iter().flatten().enumerate();
        all.filter_map(|(gpu, one)| Some((gpu, one.upgrade()?)))
            .filter(|(_, one)| !Arc::ptr_eq(&one.gpu, &self.gpu))
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

    /// What [`Cuda::new`] calls it.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.gpu.ordinal
    }
}

/// Whether kernels and copies of CUDA device `from` can reach the memory of device `to`. Every
/// device reaches its own. Opens none of them.
///
/// # Errors
/// [`DeviceError::NoCuda`], [`DeviceError::NoSuchDevice`], and what the driver says.
pub fn reaches(from: u32, to: u32) -> Result<bool, DeviceError> {
    let count = probe::count()?;
    match [from, to].into_iter().find(|&ordinal| ordinal >= count) {
        Some(ordinal) => Err(DeviceError::NoSuchDevice { ordinal, count }),
        None if from == to => Ok(true),
        None => can_reach(from, to),
    }
}

/// What the driver says about two devices that are not the same.
fn can_reach(from: u32, to: u32) -> Result<bool, DeviceError> {
    let handle = |ordinal: u32| {
        let mut device: CUdevice = 0;
        // SAFETY: `device` is there to be written.
        let result = unsafe { libcuda::cuDeviceGet(&raw mut device, ordinal as i32) };
        DeviceError::check(result, || asking(from, to)).map(|()| device)
    };
    let (device, peer) = (handle(from)?, handle(to)?);
    let mut can = 0;
    // SAFETY: `can` is there to be written, and both are handles of the driver.
    let result = unsafe { libcuda::cuDeviceCanAccessPeer(&raw mut can, device, peer) };
    DeviceError::check(result, || asking(from, to)).map(|()| can != 0)
}

fn asking(from: u32, to: u32) -> String {
    format!("asking whether CUDA device {from} reaches the memory of {to}")
}
