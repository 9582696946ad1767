//! The suite `barrier`: µs per crossing of each grid barrier, over the shapes of grids.

use super::{Record, slope};
use crate::device::{Device, DeviceError};
use crate::launch::{Blocks, cooperative};
use gridsync_kernels::entry::barrier::Measured;
use serde_json::json;

/// Rounds of the shorter launch of a slope.
pub const FEW: u32 = 200;
/// Rounds of the longer one.
pub const MANY: u32 = 2200;
/// Samples of a slope.
pub const SAMPLES: usize = 7;

/// Blocks and threads of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
}

/// The shapes measured on a device of so many multiprocessors: a quarter, a half, one, two and four
/// blocks for each, of 32, 128, 256 and 1024 threads.
#[must_use]
pub fn shapes(multiprocessors: u32) -> Vec<Shape> {
    let blocks = [(1, 4), (1, 2), (1, 1), (2, 1), (4, 1)]
        .map(|(times, over)| (multiprocessors * times / over).max(1));
    blocks
        .into_iter()
        .flat_map(|blocks| [32, 128, 256, 1024].map(|threads| Shape { blocks, threads }))
        .collect()
}

/// µs per crossing of `B`, back to back; none if the grid cannot be resident.
///
/// # Errors
/// Those of the device.
pub fn barrier<B: Measured>(
    device: &Device,
    variant: &'static str,
    shape: Shape,
) -> Result<Option<Record>, DeviceError> {
    let blocks = Blocks::Exactly(shape.blocks);
    let geometry = match cooperative::<B::Only>(device, blocks, shape.threads, 0) {
        Err(DeviceError::GridTooLarge { .. } | DeviceError::BadBlock { .. }) => return Ok(None),
        geometry => geometry?,
    };
    let state = device.zeroed::<u32>(B::WORDS)?;
    let time = slope(device, FEW, MANY, SAMPLES, |rounds| {
        // SAFETY: the barrier's words, which start at 0 and outlive the launches, and a geometry
        // whose blocks are all resident.
        unsafe { device.launch::<B::Only>(&geometry, (state.view(), rounds)) }
    })?;
    Ok(Some(Record {
        suite: "barrier",
        variant,
        device: device.properties().name.clone(),
        params: json!({ "blocks": shape.blocks, "threads": shape.threads }),
        time,
        peer: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shapes_of_an_h200_are_those_of_the_records() {
        let shapes = shapes(132);
        let blocks: Vec<u32> = shapes.iter().step_by(4).map(|shape| shape.blocks).collect();
        assert_eq!(blocks, [33, 66, 132, 264, 528]);
    }
}
