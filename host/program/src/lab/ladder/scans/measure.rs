//! The climb: every rung checked, and timed where time means something.

use super::{Climb, Counted, Rung, rungs};
use crate::bench::{Cache, Measurement, Sampling, once};
use crate::lab::ladder::roof::TIMES_RESIDENT;
use crate::lab::ladder::{Absent, Roof};
use crate::verify::{Kind, sample};
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync::launch::resident_blocks;
use gridsync_lab_kernels::ladder::THREADS;
use gridsync_lab_kernels::ladder::scans::kernels::ladder_scan_copy;

/// Bytes that a thread of a copy has in flight: four packs.
const COPIED_AT_ONCE: usize = 64;

/// Why the ladder was not climbed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScansError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A rung's sum is wrong.
    #[error(
        "rung {number}, {name}, of {len} elements: {sum} at {at}, the reference says {reference}"
    )]
    Wrong {
        /// The rung.
        number: u32,
        /// What it is called.
        name: &'static str,
        /// Elements.
        len: usize,
        /// The first place that is wrong.
        at: usize,
        /// What came out there.
        sum: u32,
        /// What should have.
        reference: u32,
    },
}

/// A rung whose sums were right.
#[derive(Clone, Debug, PartialEq)]
pub struct Climbed {
    /// Its number.
    pub number: u32,
    /// What it is called.
    pub name: &'static str,
    /// Elements it was measured with.
    pub len: usize,
    /// What it puts into the stream: launches, and setting words to 0 if it does.
    pub launches: usize,
    /// Words that it reads and writes of the array and of the arrays of sums.
    pub words_moved: usize,
    /// The time of all its launches, µs; none in the emulator.
    pub measured: Option<Measurement>,
    /// What one block does; none of one thread.
    pub counted: Option<Counted>,
}

/// What came of a climb.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Elements of the input.
    pub len: usize,
    /// The best rate of a copy; none in the emulator.
    pub roof: Option<Roof>,
    /// The rungs, all of them right.
    pub climbed: Vec<Climbed>,
    /// The rungs that there were none of.
    pub absent: Vec<Absent>,
}

impl Climbed {
    /// Bytes of the elements and of their sums over the median time, GB/s (10⁹ bytes).
    #[must_use]
    pub fn gb_per_s(&self) -> Option<f64> {
        let measured = self.measured.as_ref()?;
        Some(in_and_out(self.len) as f64 / measured.time.median / 1e3)
    }
}

/// Bytes of so many elements and of as many sums.
const fn in_and_out(len: usize) -> usize {
    2 * len * size_of::<u32>()
}

/// Scans `len` elements by every rung, fewer by those that would take seconds. `step` is told what
/// comes next.
///
/// # Errors
/// [`ScansError::Wrong`] at the first wrong sum, and those of the device.
pub fn measure(
    device: &Device,
    len: usize,
    sampling: &Sampling,
    mut step: impl FnMut(&str),
) -> Result<Report, ScansError> {
    let input = sample::<u32>(Kind::Values, len, 1);
    let reference: Vec<u32> = input
        .iter()
        .scan(0u32, |sum, &element| {
            *sum = sum.wrapping_add(element);
            Some(*sum)
        })
        .collect();
    let mut climb = Climb::new(device, &input)?;
    step("copying only");
    let roof = roof(device, &climb, len, sampling)?;
    let (mut climbed, mut absent) = (Vec::new(), Vec::new());
    for rung in rungs() {
        step(rung.name);
        match one(device, &mut climb, &rung, &reference, sampling) {
            Ok(right) => climbed.push(right),
            Err(ScansError::Device(
                error @ (DeviceError::UnknownKernel { .. } | DeviceError::Unsupported { .. }),
            )) => absent.push(Absent {
                number: rung.number,
                name: rung.name,
                error,
            }),
            Err(error) => return Err(error),
        }
    }
    Ok(Report {
        len,
        roof,
        climbed,
        absent,
    })
}

/// Checks one rung, and times and counts it.
fn one(
    device: &Device,
    climb: &mut Climb,
    rung: &Rung,
    reference: &[u32],
    sampling: &Sampling,
) -> Result<Climbed, ScansError> {
    let len = reference.len().min(rung.at_most);
    climb.clear()?;
    climb.launch(rung, len)?;
    let sums = climb.sums()?;
    let wrong = (0..len).find(|&at| sums[at] != reference[at]);
    if let Some(at) = wrong {
        return Err(ScansError::Wrong {
            number: rung.number,
            name: rung.name,
            len,
            at,
            sum: sums[at],
            reference: reference[at],
        });
    }
    let measured = (!device.properties().is_emulated())
        .then(|| once(device, Cache::Warm, sampling, || climb.launch(rung, len)))
        .transpose()?;
    Ok(Climbed {
        number: rung.number,
        name: rung.name,
        len,
        launches: rung.launches(len),
        words_moved: rung.words_moved(len),
        measured,
        counted: rung.count()?,
    })
}

/// Copies the input in grids of several sizes.
fn roof(
    device: &Device,
    climb: &Climb,
    len: usize,
    sampling: &Sampling,
) -> Result<Option<Roof>, DeviceError> {
    if device.properties().is_emulated() {
        return Ok(None);
    }
    let views = climb.views(len);
    let resident = resident_blocks::<ladder_scan_copy>(device, THREADS, 0)?.max(1);
    let at_once = COPIED_AT_ONCE * THREADS as usize;
    let one_turn = (len * size_of::<u32>()).div_ceil(at_once) as u32;
    let grids = TIMES_RESIDENT.map(|times| times * resident);
    Roof::best_of(
        grids.into_iter().chain([one_turn]),
        in_and_out(len),
        |blocks| {
            let geometry = Geometry::new(blocks, THREADS);
            // SAFETY: input and output begin at multiples of 256 bytes, lie apart and are of one length.
            once(device, Cache::Warm, sampling, || unsafe {
                device.launch::<ladder_scan_copy>(&geometry, views)
            })
        },
    )
}
