//! The cost of different paths: dealt to the lanes of each warp, or to whole warps.
//!
//! Costs are slopes over the rounds of a path, so everything that happens once cancels out.

use super::{counting, counts};
use crate::bench::{FEW, MANY, SAMPLES, Spread};
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_lab_kernels::divergence::STEPS;
use gridsync_lab_kernels::divergence::ways::divergence_ways;

/// Numbers of different paths.
pub const WAYS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Threads of the block: 32 warps, so that 32 paths can be dealt to whole warps.
pub const THREADS: u32 = 1024;

/// Rounds in the emulator: enough for a slope of exact counts.
const COUNTED_ROUNDS: [u32; 2] = [2, 10];

/// How paths are dealt: in turn to the lanes of each warp, or in turn to whole warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deal {
    /// The lanes of each warp.
    Lanes,
    /// Whole warps.
    Warps,
}

/// Cost of a round of all paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Number of different paths.
    pub ways: u32,
    /// Whether they are dealt to lanes or to warps.
    pub deal: Deal,
    /// Loop branches of a warp, as counted by the emulator: 1 if it runs one path.
    pub instructions: f64,
    /// Cycles of the block. `None` in the emulator.
    pub cycles: Option<Spread>,
    /// Threads with a wrong result.
    pub wrong: usize,
}

/// The cost for each number of [`WAYS`], dealt to lanes and then to warps. Calls `step` after each
/// of the 2·6 measurements.
///
/// # Errors
/// If the device fails.
pub fn costs(device: &Device, mut step: impl FnMut()) -> Result<Vec<Cost>, DeviceError> {
    let mut costs = Vec::new();
    for ways in WAYS {
        for deal in [Deal::Lanes, Deal::Warps] {
            costs.push(cost(device, ways, deal)?);
            step();
        }
    }
    Ok(costs)
}

fn cost(device: &Device, ways: u32, deal: Deal) -> Result<Cost, DeviceError> {
    let emulator = counting();
    let mut wrong = 0;
    let mut run = |device: &Device, rounds| {
        let (results, cycles) = run(device, ways, deal, rounds)?;
        wrong += wrong_results(&results, ways, deal, rounds);
        Ok::<_, DeviceError>(cycles as f64)
    };

    let mut branches = |rounds| {
        run(&emulator, rounds)?;
        Ok::<_, DeviceError>(counts(&emulator).branches as f64)
    };
    let [few, many] = COUNTED_ROUNDS;
    let of_block = (branches(many)? - branches(few)?) / f64::from(many - few);
    let instructions = of_block / f64::from(THREADS / 32);

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
    Ok(Cost { ways, deal, instructions, cycles, wrong })
}

/// Runs the block once; returns the results of its threads, and its cycles.
fn run(
    device: &Device,
    ways: u32,
    deal: Deal,
    rounds: u32,
) -> Result<(Vec<f32>, u64), DeviceError> {
    let results = device.zeroed::<f32>(THREADS as usize)?;
    let cycles = device.zeroed::<u64>(1)?;
    let to_warps = u32::from(deal == Deal::Warps);
    let args = (results.view(), cycles.view(), ways, to_warps, rounds, 0);
    // SAFETY: one block, with an element for each thread and one for the cycles, alive until the
    // downloads; the ways are powers of two up to 32, and the last argument is 0.
    unsafe { device.launch::<divergence_ways>(&Geometry::new(1, THREADS), args) }?;
    Ok((results.download()?, cycles.download()?[0]))
}

/// Number of `results` that differ from the result of their thread's path.
fn wrong_results(results: &[f32], ways: u32, deal: Deal, rounds: u32) -> usize {
    let paths: Vec<f32> = (0..ways)
        .map(|path| {
            let mut x = 0.0f32;
            for _ in 0..rounds * STEPS {
                x = 0.5 * x + (path + 1) as f32;
            }
            x
        })
        .collect();
    let path = |thread: usize| match deal {
        Deal::Lanes => thread % ways as usize,
        Deal::Warps => thread / 32 % ways as usize,
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
            let expected = if cost.deal == Deal::Lanes { cost.ways } else { 1 };
            assert_eq!(cost.instructions, f64::from(expected), "{cost:?}");
            assert_eq!((cost.wrong, cost.cycles), (0, None), "{cost:?}");
        }
    }
}
