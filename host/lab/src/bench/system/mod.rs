//! The suite `system`: the collectives over several GPUs, by the number of GPUs. The peer is NCCL's
//! all-reduce.
//!
//! The time of a crossing is a slope, as in the suites of one GPU, but of **host** time: from
//! before the first launch until all streams are empty.
//!
//! * This is correct, because all grids end together. Every block of every GPU takes part in the
//!   last crossing, so no GPU continues alone after it. The launches on all GPUs and the
//!   notification of their end cost the same for few rounds and for many, and cancel out.
//! * Two events on one GPU would not be more precise. The first crossing there waits for the
//!   launches on the other GPUs, which the host makes sequentially.
//! * If a GPU fails, the others wait for it forever. A wait for an event would never return then;
//!   [`Devices::synchronize`] does.
//!
//! The costs on the host scatter by a few µs. So the longer launch has more rounds than in the
//! other suites. They last milliseconds, but should not last 20 ms, after which
//! [`Devices::synchronize`] sleeps between polls.

mod nccl;
mod peer;

pub use nccl::{Nccl, NoNccl};
pub use peer::nccl_times;

use super::slope::slope_of;
use super::suite::if_resident;
use super::{FEW, Measurement, Peer, Record, Sampling, Shape, Spread, Step, Warning};
use gridsync::device::{DeviceError, Devices, Launch};
use gridsync::launch::{Blocks, cooperative_on_all, system_words};
use gridsync_kernels::grid::barrier::{SystemBarrier, SystemExchange};
use gridsync_lab_kernels::barrier::{system_barrier_only, system_exchange_only};
use serde_json::json;
use std::collections::HashMap;
use std::time::Instant;

/// Rounds of the longer launch of a slope. The shorter one has [`FEW`].
const MANY: u32 = 5200;

/// Blocks of an exchange are whole warps, and a GPU has at most this many of them.
const WARP: u32 = 32;
const MOST_BLOCKS: u32 = 8192;

/// Threads per block unless others are requested.
pub const SYSTEM_THREADS: u32 = 256;

/// A joint operation of all blocks of several GPUs, and the function that measures it.
#[derive(Clone, Copy, Debug)]
pub struct Collective {
    /// Name in records.
    pub name: &'static str,
    measure: fn(&Devices, Shape, &Sampling) -> Result<Option<Measurement>, DeviceError>,
}

/// The collectives of the suite.
pub const COLLECTIVES: [Collective; 2] = [
    Collective { name: "barrier", measure: barrier },
    Collective { name: "all-reduce", measure: all_reduce },
];

/// A run of the suite.
#[derive(Clone, Copy, Debug)]
pub struct System<'a> {
    /// The numbers of the GPUs. A GPU that is listed twice counts as two.
    pub ordinals: &'a [u32],
    /// The collectives to measure.
    pub collectives: &'a [Collective],
    /// The blocks on each GPU, and their threads.
    pub shapes: &'a [Shape],
    /// The time of the peer on this many GPUs, from [`nccl_times`].
    pub peers: &'a HashMap<usize, Spread>,
    /// Sampling parameters.
    pub sampling: Sampling,
}

/// One measurement of a run.
#[derive(Clone, Copy, Debug)]
pub struct SystemPoint {
    /// The collective.
    pub collective: Collective,
    /// Number of GPUs.
    pub gpus: usize,
    /// Grid on each GPU.
    pub shape: Shape,
}

/// The numbers of GPUs to measure, up to `asked`: 1, 2, 4, 8 and so on, and all.
#[must_use]
pub fn gpu_counts(asked: usize) -> Vec<usize> {
    let powers = (0..usize::BITS).map(|power| 1 << power).take_while(|&count| count < asked);
    powers.chain([asked]).collect()
}

/// Numbers of blocks per GPU that are measured unless others are requested: one, half the number of
/// multiprocessors, and all of it.
#[must_use]
pub fn system_blocks(multiprocessors: u32) -> Vec<u32> {
    let mut blocks = vec![1, multiprocessors / 2, multiprocessors];
    blocks.retain(|&blocks| blocks > 0);
    blocks.dedup();
    blocks
}

impl System<'_> {
    /// Measures each collective on 1, 2, 4, 8 and so on of the GPUs, at each shape: µs per
    /// crossing, back to back. `open` opens GPUs by their numbers. Calls `step` before each point,
    /// even if its grids turn out not to fit, and after each record.
    ///
    /// At the end the first point is measured again. If it moved, every record gets a
    /// [`Warning::Drift`].
    ///
    /// # Errors
    /// If `open` or a device fails.
    ///
    /// # Panics
    /// If [`Sampling::measure`] panics.
    pub fn run(
        &self,
        mut open: impl FnMut(&[u32]) -> Result<Devices, DeviceError>,
        mut step: impl FnMut(Step<'_, SystemPoint>),
    ) -> Result<Vec<Record>, DeviceError> {
        let mut records: Vec<Record> = Vec::new();
        let mut first = None;
        for gpus in gpu_counts(self.ordinals.len()) {
            let devices = open(&self.ordinals[..gpus])?;
            for &shape in self.shapes {
                for &collective in self.collectives {
                    let point = SystemPoint { collective, gpus, shape };
                    step(Step::Next(point));
                    let measured = (collective.measure)(&devices, shape, &self.sampling)?;
                    let Some(measured) = measured else {
                        continue;
                    };
                    first.get_or_insert((point, measured.time.median));
                    let record = self.record(&devices, point, measured);
                    step(Step::Measured(&record));
                    records.push(record);
                }
            }
        }
        let drift = match first {
            Some((point, before)) => self.drift(point, before, open)?,
            None => None,
        };
        for record in &mut records {
            record.warnings.extend(drift);
        }
        Ok(records)
    }

    /// Measures `point`, which took `before` µs, again.
    fn drift(
        &self,
        SystemPoint { collective, gpus, shape }: SystemPoint,
        before: f64,
        mut open: impl FnMut(&[u32]) -> Result<Devices, DeviceError>,
    ) -> Result<Option<Warning>, DeviceError> {
        let devices = open(&self.ordinals[..gpus])?;
        let again = (collective.measure)(&devices, shape, &self.sampling)?;
        Ok(again.and_then(|again| Warning::drift(before, again.time.median)))
    }

    fn record(&self, devices: &Devices, point: SystemPoint, mut measured: Measurement) -> Record {
        let SystemPoint { collective, gpus, shape } = point;
        let peer = self.peers.get(&gpus);
        measured.warnings.extend(peer.and_then(|time| self.sampling.peer_noise(time)));
        let params = json!({
            "gpus": gpus,
            "ordinals": self.ordinals[..gpus],
            "blocks": shape.blocks,
            "threads": shape.threads,
        });
        Record::new("system", collective.name, names(devices), params, measured)
            .beside(peer.map(|time| Peer::new(peer::NAME, time.median)))
    }
}

/// The names of the devices, each once.
pub(super) fn names(devices: &Devices) -> String {
    let mut names: Vec<&str> = devices.iter().map(|one| one.properties().name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

/// µs per crossing of the barrier.
fn barrier(
    devices: &Devices,
    Shape { blocks, threads }: Shape,
    sampling: &Sampling,
) -> Result<Option<Measurement>, DeviceError> {
    type Only = system_barrier_only;
    let geometry = cooperative_on_all::<Only>(devices, Blocks::Exactly(blocks), threads, 0);
    let Some(geometry) = if_resident(geometry)? else {
        return Ok(None);
    };
    let words = system_words::<SystemBarrier>(devices, blocks)?;
    let measured = slope_on_all(devices, sampling, |rounds| {
        let of_gpu = |gpu: usize| Launch::new::<Only>(geometry, (words[gpu].view(), rounds));
        let launches: Vec<Launch> = (0..devices.len()).map(of_gpu).collect();
        // SAFETY: the barrier's words of each GPU outlive the wait in `slope_on_all`, and all
        // blocks of the geometry are resident.
        unsafe { devices.launch(&launches) }
    })?;
    Ok(Some(measured))
}

/// µs per crossing of the exchange, which combines one f32 per block of each GPU.
fn all_reduce(
    devices: &Devices,
    Shape { blocks, threads }: Shape,
    sampling: &Sampling,
) -> Result<Option<Measurement>, DeviceError> {
    type Only = system_exchange_only;
    if !threads.is_multiple_of(WARP) || blocks > MOST_BLOCKS {
        return Ok(None);
    }
    let geometry = cooperative_on_all::<Only>(devices, Blocks::Exactly(blocks), threads, 0);
    let Some(geometry) = if_resident(geometry)? else {
        return Ok(None);
    };
    let words = system_words::<SystemExchange>(devices, blocks)?;
    let means = devices.zeroed::<f32>(blocks as usize)?;
    let gpus = devices.len() as u32;
    let measured = slope_on_all(devices, sampling, |rounds| {
        let of_gpu = |gpu: usize| {
            Launch::new::<Only>(geometry, (words[gpu].view(), means[gpu].view(), gpus, rounds))
        };
        let launches: Vec<Launch> = (0..devices.len()).map(of_gpu).collect();
        // SAFETY: the words of the exchange and a number for each block, on each GPU, outlive the
        // wait in `slope_on_all`, and all blocks of the geometry are resident.
        unsafe { devices.launch(&launches) }
    })?;
    Ok(Some(measured))
}

/// Host time in µs per round of everything that `launch(rounds)` puts into the streams of all
/// devices.
fn slope_on_all(
    devices: &Devices,
    sampling: &Sampling,
    mut launch: impl FnMut(u32) -> Result<(), DeviceError>,
) -> Result<Measurement, DeviceError> {
    slope_of(FEW, MANY, sampling, |rounds| {
        let start = Instant::now();
        launch(rounds)?;
        devices.synchronize()?;
        Ok(start.elapsed().as_secs_f64() * 1e6)
    })
}

#[cfg(test)]
mod tests;
