//! The cost of different paths: dealt to the lanes of each warp, or to whole warps.
//!
//! Costs are slopes over the rounds of a path, so everything that happens once cancels out.

use crate::Samples;
use crate::bench::{FEW, MANY, SAMPLES, Spread};
use crate::counting::{self, counts};
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_lab_kernels::divergence::STEPS;
use gridsync_lab_kernels::divergence::ways::divergence_ways;
use serde::{Deserialize, Serialize};

/// Numbers of different paths.
pub const WAYS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Threads of the block: 32 warps, so that 32 paths can be dealt to whole warps.
pub(super) const THREADS: u32 = 1024;

/// Rounds in the emulator: enough for a slope of exact counts.
const COUNTED_ROUNDS: [u32; 2] = [2, 10];

/// How paths are dealt: in turn to the lanes of each warp, or in turn to whole warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Dealt {
    /// To the lanes of each warp.
    Lanes,
    /// To whole warps.
    Warps,
}

/// The cost of a round of all paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Paths {
    /// The number of different paths.
    pub paths: u32,
    /// How they are dealt.
    pub dealt_to: Dealt,
    /// Loop branches of a warp, as counted by the emulator: 1 if it runs one path.
    pub loop_branches: f64,
    /// Cycles of the block. Null in the emulator.
    pub cycles: Option<Samples>,
    /// Threads with a wrong result.
    #[serde(skip)]
    pub wrong: usize,
}

/// The cost for each number of [`WAYS`], dealt to lanes and then to warps. Calls `step` after each
/// of the 2·6 measurements.
///
/// # Errors
/// If the device fails.
pub fn costs(device: &Device, mut step: impl FnMut()) -> Result<Vec<Paths>, DeviceError> {
    let mut costs = Vec::new();
    for ways in WAYS {
        for dealt_to in [Dealt::Lanes, Dealt::Warps] {
            costs.push(cost(device, ways, dealt_to)?);
            step();
        }
    }
    Ok(costs)
}

fn cost(device: &Device, ways: u32, dealt_to: Dealt) -> Result<Paths, DeviceError> {
    let emulator = counting::emulator();
    let mut wrong = 0;
    let mut run = |device: &Device, rounds| {
        let (results, cycles) = run(device, ways, dealt_to, rounds)?;
        wrong += wrong_results(&results, ways, dealt_to, rounds);
        Ok::<_, DeviceError>(cycles as f64)
    };

    let mut branches = |rounds| {
        run(&emulator, rounds)?;
        Ok::<_, DeviceError>(counts(&emulator).branches as f64)
    };
    let [few, many] = COUNTED_ROUNDS;
    let of_block = (branches(many)? - branches(few)?) / f64::from(many - few);
    let loop_branches = of_block / f64::from(THREADS / 32);

    let cycles = if device.properties().is_emulated() {
        None
    } else {
        run(device, MANY)?;
        let slopes = (0..SAMPLES).map(|_| {
            let few = run(device, FEW)?;
            Ok((run(device, MANY)? - few) / f64::from(MANY - FEW))
        });
        Spread::of(slopes.collect::<Result<_, DeviceError>>()?)
    };
    Ok(Paths { paths: ways, dealt_to, loop_branches, cycles: cycles.map(Into::into), wrong })
}

/// Runs the block once; returns the results of its threads, and its cycles.
fn run(
    device: &Device,
    ways: u32,
    dealt_to: Dealt,
    rounds: u32,
) -> Result<(Vec<f32>, u64), DeviceError> {
    let results = device.zeroed::<f32>(THREADS as usize)?;
    let cycles = device.zeroed::<u64>(1)?;
    let to_warps = u32::from(dealt_to == Dealt::Warps);
    let args = (results.view(), cycles.view(), ways, to_warps, rounds, 0);
    // SAFETY: one block, with an element for each thread and one for the cycles, alive until the
    // downloads; the ways are powers of two up to 32, and the last argument is 0.
    unsafe { device.launch::<divergence_ways>(&Geometry::new(1, THREADS), args) }?;
    Ok((results.download()?, cycles.download()?[0]))
}

/// Number of `results` that differ from the result of their thread's path.
fn wrong_results(results: &[f32], ways: u32, dealt_to: Dealt, rounds: u32) -> usize {
    let paths: Vec<f32> = (0..ways)
        .map(|path| {
            let mut x = 0.0f32;
            for _ in 0..rounds * STEPS {
                x = 0.5 * x + (path + 1) as f32;
            }
            x
        })
        .collect();
    let path = |thread: usize| match dealt_to {
        Dealt::Lanes => thread % ways as usize,
        Dealt::Warps => thread / 32 % ways as usize,
    };
    (0..results.len()).filter(|&thread| results[thread] != paths[path(thread)]).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::{Emulator, EmulatorConfig};

    #[test]
    fn a_warp_runs_each_path_of_its_lanes_and_only_one_if_paths_are_dealt_to_warps() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        for cost in costs(&device, || ()).expect("the emulator should run") {
            let expected = if cost.dealt_to == Dealt::Lanes { cost.paths } else { 1 };
            assert_eq!(cost.loop_branches, f64::from(expected), "{cost:?}");
            assert_eq!((cost.wrong, cost.cycles), (0, None), "{cost:?}");
        }
    }
}
