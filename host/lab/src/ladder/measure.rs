//! Climbs a ladder: checks and counts every rung, and times it on a GPU.

use super::roof::best_roof;
use super::{Absent, Ladder, Measured, Report, Rung};
use crate::ExperimentError;
use crate::bench::{Sampling, once};
use gridsync::device::{Device, DeviceError};
use gridsync_verify::{Input, sample};

/// An error from climbing a ladder.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LadderError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The result of a rung is wrong.
    #[error("rung {number}, {name}, of {len} elements: {fault}")]
    Wrong {
        /// The rung.
        number: u32,
        /// Name.
        name: &'static str,
        /// Elements.
        len: usize,
        /// The result, and the expected one.
        fault: String,
    },
}

impl From<LadderError> for ExperimentError {
    fn from(error: LadderError) -> Self {
        match error {
            LadderError::Device(error) => error.into(),
            wrong => Self::Wrong(wrong.to_string()),
        }
    }
}

/// Climbs `L` with `len` elements, or fewer for rungs that would run for seconds. Calls `step`
/// before each rung.
///
/// # Errors
/// [`LadderError::Wrong`] at the first wrong result; or if the device fails.
pub fn measure<L: Ladder>(
    device: &Device,
    len: usize,
    sampling: &Sampling,
    mut step: impl FnMut(&str),
) -> Result<Report, LadderError> {
    let input = sample::<L::Element>(Input::Values, len, 1);
    let mut ladder = L::new(device, &input)?;
    step(&format!("{} only", L::KIND.roof));
    let (roof_blocks, roof) = best_roof(device, &ladder, len, sampling)?.unzip();
    let (mut rungs, mut absent) = (Vec::new(), Vec::new());
    for rung in L::rungs() {
        step(rung.name);
        let input = &input[..len.min(rung.at_most)];
        match one(device, &mut ladder, &rung, input, roof, sampling) {
            Ok(right) => rungs.push(right),
            Err(LadderError::Device(
                error @ (DeviceError::UnknownKernel { .. } | DeviceError::Unsupported { .. }),
            )) => absent.push(Absent { name: rung.name.into(), why: error.to_string() }),
            Err(error) => return Err(error),
        }
    }
    Ok(Report {
        device: device.properties().name.clone(),
        dtype: L::DTYPE.into(),
        n: len,
        roof: L::roof(roof),
        rungs,
        absent,
        roof_blocks: roof_blocks.unwrap_or_default(),
    })
}

/// Checks one rung, times it, and counts its operations. `roof` is the best rate.
fn one<L: Ladder>(
    device: &Device,
    ladder: &mut L,
    rung: &Rung<L::Launched>,
    input: &[L::Element],
    roof: Option<f64>,
    sampling: &Sampling,
) -> Result<Measured, LadderError> {
    let Rung { number, name, .. } = *rung;
    let len = input.len();
    let plan = ladder.plan(rung, len)?;
    if let Some(fault) = ladder.fault(rung, input, &plan)? {
        return Err(LadderError::Wrong { number, name, len, fault });
    }
    let measured = if device.properties().is_emulated() {
        None
    } else {
        Some(once(device, sampling, || ladder.launch(rung, len, &plan))?)
    };
    let counted = L::count(rung)?;
    let time = measured.as_ref().map(|measured| measured.time);
    let gb_per_s = time.map(|time| (len * L::KIND.bytes) as f64 / time.median / 1e3);
    let percent = gb_per_s.zip(roof).map(|(rate, roof)| 100.0 * rate / roof);
    Ok(Measured {
        rung: number,
        name: name.into(),
        n: len,
        us: time.map(|time| time.median),
        min: time.map(|time| time.min),
        max: time.map(|time| time.max),
        samples: time.map(|time| time.samples),
        gb_per_s,
        warnings: measured.map(|measured| measured.warnings),
        shared_accesses: counted.map(|counted| counted.shared_accesses),
        bank_conflicts: counted.map(|counted| counted.bank_conflicts),
        barriers: counted.map(|counted| counted.barriers),
        own: L::own(&plan, counted.as_ref(), percent),
    })
}
