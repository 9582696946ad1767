//! The climb: every rung checked, and timed where time means something.

use super::{Climb, Counted, Rung, Step, rungs};
use crate::bench::{Cache, Measurement, Sampling, once};
use crate::lab::ladder::roof::TIMES_RESIDENT;
use crate::lab::ladder::{Absent, Roof};
use crate::verify::{Kind, sample};
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync::launch::resident_blocks;
use gridsync_lab_kernels::ladder::THREADS;
use gridsync_lab_kernels::ladder::sums::kernels::ladder_read_only;

/// Why the ladder was not climbed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LadderError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A rung's sum is wrong.
    #[error(
        "rung {number}, {name}, of {len} elements: {sum}, the reference says {reference}; they differ by {abs_err:e}, allowed are {bound:e}"
    )]
    Wrong {
        /// The rung.
        number: u32,
        /// What it is called.
        name: &'static str,
        /// Elements.
        len: usize,
        /// What came out.
        sum: String,
        /// What should have.
        reference: String,
        /// How far they lie apart.
        abs_err: f64,
        /// How far they may.
        bound: f64,
    },
}

/// A rung whose sum was right.
#[derive(Clone, Debug, PartialEq)]
pub struct Climbed {
    /// Its number.
    pub number: u32,
    /// What it is called.
    pub name: &'static str,
    /// Elements it was measured with.
    pub len: usize,
    /// The first launch.
    pub geometry: Geometry,
    /// The time of all its launches, µs; none in the emulator.
    pub measured: Option<Measurement>,
    /// What one block does; none of a rung without sums of blocks.
    pub counted: Option<Counted>,
}

/// What came of a climb.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The type of the elements.
    pub dtype: &'static str,
    /// Elements of the input.
    pub len: usize,
    /// The best rate of a kernel that only reads; none in the emulator.
    pub roof: Option<Roof>,
    /// The rungs, all of them right.
    pub climbed: Vec<Climbed>,
    /// The rungs that there were none of.
    pub absent: Vec<Absent>,
}

impl Climbed {
    /// Bytes of the elements over the median time, GB/s (10⁹ bytes).
    #[must_use]
    pub fn gb_per_s(&self) -> Option<f64> {
        let measured = self.measured.as_ref()?;
        Some((self.len * size_of::<u32>()) as f64 / measured.time.median / 1e3)
    }
}

/// Sums `len` elements of `T` by every rung, fewer by those that would take seconds. `step` is told
/// what comes next.
///
/// # Errors
/// [`LadderError::Wrong`] at the first wrong sum, and those of the device.
pub fn measure<T: Step>(
    device: &Device,
    len: usize,
    sampling: &Sampling,
    mut step: impl FnMut(&str),
) -> Result<Report, LadderError> {
    let input = sample::<T>(Kind::Values, len, 1);
    let mut climb = Climb::new(device, &input)?;
    step("reading only");
    let roof = roof(device, &climb, len, sampling)?;
    let (mut climbed, mut absent) = (Vec::new(), Vec::new());
    for rung in rungs::<T>() {
        step(rung.name);
        let (number, name, len) = (rung.number, rung.name, len.min(rung.at_most));
        match one(device, &mut climb, &rung, &input[..len], sampling) {
            Ok(right) => climbed.push(right),
            Err(LadderError::Device(error @ DeviceError::UnknownKernel { .. })) => {
                absent.push(Absent {
                    number,
                    name,
                    error,
                });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Report {
        dtype: T::NAME,
        len,
        roof,
        climbed,
        absent,
    })
}

/// Checks one rung, and times and counts it.
fn one<T: Step>(
    device: &Device,
    climb: &mut Climb<T>,
    rung: &Rung<T>,
    input: &[T],
    sampling: &Sampling,
) -> Result<Climbed, LadderError> {
    let len = input.len();
    let geometry = rung.geometry(device, len)?;
    climb.launch(rung, len, &geometry)?;
    let sum = climb.sum()?;
    let check = T::check(input, sum, rung.depth(len, &geometry));
    if !check.ok {
        return Err(LadderError::Wrong {
            number: rung.number,
            name: rung.name,
            len,
            sum: format!("{sum:?}"),
            reference: format!("{:?}", check.reference),
            abs_err: check.abs_err,
            bound: check.bound,
        });
    }
    let measured = (!device.properties().is_emulated())
        .then(|| {
            once(device, Cache::Warm, sampling, || {
                climb.launch(rung, len, &geometry)
            })
        })
        .transpose()?;
    Ok(Climbed {
        number: rung.number,
        name: rung.name,
        len,
        geometry,
        measured,
        counted: rung.count()?,
    })
}

/// Reads the input in grids of several sizes.
fn roof<T: Step>(
    device: &Device,
    climb: &Climb<T>,
    len: usize,
    sampling: &Sampling,
) -> Result<Option<Roof>, DeviceError> {
    if device.properties().is_emulated() {
        return Ok(None);
    }
    let words = climb.input(len).cast::<u32>();
    let never = device.zeroed::<u32>(1)?;
    let resident = resident_blocks::<ladder_read_only>(device, THREADS, 0)?.max(1);
    let grids = TIMES_RESIDENT.map(|times| times * resident);
    Roof::best_of(grids, len * size_of::<u32>(), |blocks| {
        let geometry = Geometry::new(blocks, THREADS);
        // SAFETY: the input begins at a multiple of 256 bytes and nobody writes it; there is an
        // element that is never written.
        once(device, Cache::Warm, sampling, || unsafe {
            device.launch::<ladder_read_only>(&geometry, (words, never.view()))
        })
    })
}
