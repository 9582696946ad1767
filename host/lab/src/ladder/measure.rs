//! Climbs a ladder: checks and counts every rung, and times it on a GPU.

use super::{Counted, Ladder, Roof, Rung};
use crate::bench::{Measurement, Sampling, once};
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

/// A rung whose result was right.
pub struct Climbed<L: Ladder> {
    /// Its number.
    pub number: u32,
    /// Name.
    pub name: &'static str,
    /// Elements that it was measured with.
    pub len: usize,
    /// Its launches.
    pub plan: L::Plan,
    /// The time of all its launches, µs; `None` in the emulator.
    pub measured: Option<Measurement>,
    /// Operations of one block. `None` if the rung has no blocks to count.
    pub counted: Option<Counted>,
}

/// A rung that is not available on the device, or for this length.
#[derive(Clone, Debug, PartialEq)]
pub struct Absent {
    /// Name.
    pub name: &'static str,
    /// Reason.
    pub error: DeviceError,
}

/// The result of a climb.
pub struct Report<L: Ladder> {
    /// Elements of the input.
    pub len: usize,
    /// The best rate that a rung can reach. `None` in the emulator.
    pub roof: Option<Roof>,
    /// The rungs, all of them right.
    pub climbed: Vec<Climbed<L>>,
    /// The rungs that were left out.
    pub absent: Vec<Absent>,
}

impl<L: Ladder> Climbed<L> {
    /// Bytes that every rung has to move for this number of elements.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.len * L::BYTES
    }

    /// Those bytes divided by the median time, GB/s (10⁹ bytes).
    #[must_use]
    pub fn gb_per_s(&self) -> Option<f64> {
        let measured = self.measured.as_ref()?;
        Some(self.bytes() as f64 / measured.time.median / 1e3)
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
) -> Result<Report<L>, LadderError> {
    let input = sample::<L::Element>(Input::Values, len, 1);
    let mut ladder = L::new(device, &input)?;
    step(&format!("{} only", L::ROOF));
    let roof = Roof::of(device, &ladder, len, sampling)?;
    let (mut climbed, mut absent) = (Vec::new(), Vec::new());
    for rung in L::rungs() {
        step(rung.name);
        let input = &input[..len.min(rung.at_most)];
        match one(device, &mut ladder, &rung, input, sampling) {
            Ok(right) => climbed.push(right),
            Err(LadderError::Device(
                error @ (DeviceError::UnknownKernel { .. } | DeviceError::Unsupported { .. }),
            )) => absent.push(Absent { name: rung.name, error }),
            Err(error) => return Err(error),
        }
    }
    Ok(Report { len, roof, climbed, absent })
}

/// Checks one rung, times it, and counts its operations.
fn one<L: Ladder>(
    device: &Device,
    ladder: &mut L,
    rung: &Rung<L::Launched>,
    input: &[L::Element],
    sampling: &Sampling,
) -> Result<Climbed<L>, LadderError> {
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
    Ok(Climbed { number, name, len, plan, measured, counted: L::count(rung)? })
}
