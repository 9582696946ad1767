//! A tile that is transposed in shared memory.

use super::{LANES, middle, passes, slope};
use crate::Cycles;
use crate::bench::{FEW, MANY};
use crate::counting::counts;
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_lab_kernels::banks::{SIDE, banks_transpose};
use serde::{Deserialize, Serialize};

/// Numbers of a tile.
const NUMBERS: u32 = SIDE * SIDE;

/// Layout of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Name.
    pub name: &'static str,
    /// Words from one row to the next.
    pub pitch: u32,
    /// The bits of the row that are xored into the column.
    pub swizzle: u32,
}

/// All layouts.
pub const LAYOUTS: [Layout; 3] = [
    Layout { name: "plain", pitch: SIDE, swizzle: 0 },
    Layout { name: "padded", pitch: SIDE + 1, swizzle: 0 },
    Layout { name: "swizzled", pitch: SIDE, swizzle: SIDE - 1 },
];

/// A tile of 32 × 32 numbers, stored by rows and loaded by columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Tile {
    /// The name of the layout.
    pub layout: String,
    /// Words of shared memory.
    pub words: u32,
    /// Passes through the banks for all stores and loads, by the rule.
    pub rule: u64,
    /// Passes counted by the emulator.
    pub counted: u64,
    /// Whether each launch transposed the tile.
    pub right: bool,
    /// Cycles on a GPU, two barriers of the block included.
    #[serde(flatten)]
    pub cycles: Cycles,
}

impl Layout {
    /// Words of a tile.
    #[must_use]
    pub const fn words(&self) -> u32 {
        SIDE * self.pitch
    }

    /// The address of a number relative to the start of the tile, in bytes.
    fn address(&self, row: u32, column: u32) -> usize {
        4 * (row * self.pitch + (column ^ (row & self.swizzle))) as usize
    }

    /// Passes of a tile by the rule: each warp stores a row and loads a column.
    fn passes(&self) -> u64 {
        let of_warp = |warp: u32| {
            let row: Vec<_> = (0..LANES).map(|lane| self.address(warp, lane)).collect();
            let column: Vec<_> = (0..LANES).map(|lane| self.address(lane, warp)).collect();
            passes(&row, 4) + passes(&column, 4)
        };
        (0..SIDE).map(of_warp).sum()
    }

    /// Transposes a tile `rounds` times. Returns the cycles, and whether the result is right.
    fn run(&self, device: &Device, rounds: u32) -> Result<(f64, bool), DeviceError> {
        let tile: Vec<f32> = (0..NUMBERS).map(|number| number as f32).collect();
        let input = device.upload(&tile)?;
        let output = device.zeroed::<f32>(tile.len())?;
        let cycles = device.zeroed::<u64>(tile.len())?;
        let geometry = Geometry::new(1, NUMBERS).with_dynamic_shared(4 * self.words());
        let (pitch, swizzle) = (self.pitch, self.swizzle);
        let args = (input.view(), output.view(), cycles.view(), pitch, swizzle, rounds);
        // SAFETY: there is a thread and an element for each number, and the layout, with its shared
        // memory, is one of the kernel's. The buffers outlive the launch, because the downloads
        // wait for it.
        unsafe { device.launch::<banks_transpose>(&geometry, args)? };
        let side = SIDE as usize;
        let place = |i: usize| if rounds % 2 == 1 { i % side * side + i / side } else { i };
        let expected = (0..tile.len()).map(|i| tile[place(i)]);
        let right = output.download()?.into_iter().eq(expected);
        Ok((middle(cycles.download()?), right))
    }
}

/// Cost of transposing a tile in `layout`: by the rule, in the emulator `counting`, and on `gpu` if
/// there is one.
///
/// # Errors
/// If a device fails.
pub fn transpose(
    gpu: Option<&Device>,
    counting: &Device,
    layout: Layout,
) -> Result<Tile, DeviceError> {
    let mut right = layout.run(counting, 1)?.1;
    let counted = counts(counting);
    let cycles = gpu.map(|gpu| {
        // The tile is transposed after an odd number of rounds.
        slope(FEW + 1, MANY + 1, |rounds| {
            let (cycles, is_right) = layout.run(gpu, rounds)?;
            right &= is_right;
            Ok(cycles)
        })
    });
    let cycles = cycles.transpose()?;
    Ok(Tile {
        layout: layout.name.to_owned(),
        words: layout.words(),
        rule: layout.passes(),
        counted: counted.shared_stores + counted.shared_loads + counted.bank_conflicts,
        right,
        cycles: cycles.map_or_else(Cycles::default, Into::into),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layout_has_a_distinct_address_for_each_number() {
        for layout in LAYOUTS {
            let all = (0..NUMBERS).map(|i| layout.address(i / SIDE, i % SIDE));
            let mut places: Vec<_> = all.collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), NUMBERS as usize, "{layout:?}");
            assert!(places.iter().all(|&place| place < 4 * layout.words() as usize), "{layout:?}");
        }
    }
}
