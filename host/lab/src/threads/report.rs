//! The reports of the threads of a block.

use super::{LANES, drawing};
use crate::display::svg::{Cells, ChartError};
use crate::display::{Page, table};
use crate::{Chart, Report};
use cuda_std::Dim3;
use gridsync::device::{Device, DeviceError, Geometry, KernelInfo};
use gridsync_lab_kernels::threads::{WORDS, threads_numbers};
use serde::{Deserialize, Serialize};

/// Registers of each lane if no compiler reports them.
const EXAMPLE_REGISTERS: u32 = 32;

/// The result of `gridsync lab threads`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Threads {
    /// The name of the device.
    pub device: String,
    /// The shape of the block: its threads along x, y and z.
    #[serde(with = "extents")]
    #[cfg_attr(feature = "schema", schemars(with = "[u32; 3]"))]
    pub block: Dim3,
    /// Threads of the block.
    pub threads: u32,
    /// Warps of the block.
    pub warps: u32,
    /// Lanes of these warps.
    pub lanes: u32,
    /// Lanes without a thread.
    pub idle_lanes: u32,
    /// The idle lanes, percent of the lanes.
    pub idle_percent: f64,
    /// Registers of each lane.
    pub registers_per_lane: u32,
    /// Whether there are no registers, as in the emulator, and their number is an example.
    pub registers_are_an_example: bool,
    /// Registers of the idle lanes.
    pub idle_registers: u32,
    /// A record for each thread, ordered by linear number.
    pub records: Vec<Record>,
}

/// Report of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Record {
    /// Its position in the block: x, y and z.
    #[serde(with = "extents")]
    #[cfg_attr(feature = "schema", schemars(with = "[u32; 3]"))]
    pub position: Dim3,
    /// Its linear number, as the kernel computes it.
    pub number: u32,
    /// The linear number of lane 0 of its warp, as reported by that lane. In JSON, the warp.
    #[serde(rename = "warp", with = "warp")]
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub first: u32,
    /// Its lane.
    pub lane: u32,
}

/// A `Dim3` as an array.
mod extents {
    use cuda_std::Dim3;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(extents: &Dim3, to: S) -> Result<S::Ok, S::Error> {
        [extents.x, extents.y, extents.z].serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Dim3, D::Error> {
        <[u32; 3]>::deserialize(from).map(|[x, y, z]| Dim3::new(x, y, z))
    }
}

/// The first thread of a warp as the number of the warp.
mod warp {
    use super::LANES;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(first: &u32, to: S) -> Result<S::Ok, S::Error> {
        (first / LANES).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        u32::deserialize(from).map(|warp| warp * LANES)
    }
}

/// Launches one block and collects the reports of its threads.
///
/// # Errors
/// [`DeviceError::BadBlock`] if the block is too large; or if the device fails.
pub fn numbered(device: &Device, block: Dim3) -> Result<Threads, DeviceError> {
    let words = device.zeroed::<u32>(block.volume() as usize * WORDS)?;
    // SAFETY: there is one block, and a record for each of its threads. The buffer lives until the
    // download.
    unsafe { device.launch::<threads_numbers>(&Geometry::new(1, block), (words.view(),)) }?;
    let words = words.download()?;
    let record = |word: &[u32]| Record {
        position: Dim3::new(word[0], word[1], word[2]),
        number: word[3],
        first: word[4],
        lane: word[5],
    };
    let records = words.chunks_exact(WORDS).map(record).collect();
    let properties = device.properties();
    let registers = if properties.is_emulated() {
        None
    } else {
        Some(device.backend().attributes(&KernelInfo::of::<threads_numbers>())?.registers)
    };
    Ok(Threads::of(properties.name.clone(), block, records, registers))
}

/// The record of thread `number` of `block` by the formula: the number is x + y·X + z·X·Y, the warp
/// is number / 32, and the lane is number % 32.
#[must_use]
pub fn expected(block: Dim3, number: u32) -> Record {
    let row = number / block.x;
    Record {
        position: Dim3::new(number % block.x, row % block.y, row / block.y),
        number,
        first: number / LANES * LANES,
        lane: number % LANES,
    }
}

impl Threads {
    /// The result for these records, and for a kernel with this many registers of each lane.
    fn of(device: String, block: Dim3, records: Vec<Record>, registers: Option<u32>) -> Self {
        let threads = block.volume() as u32;
        let warps = threads.div_ceil(LANES);
        let lanes = warps * LANES;
        let idle_lanes = lanes - threads;
        let registers_per_lane = registers.unwrap_or(EXAMPLE_REGISTERS);
        Self {
            device,
            block,
            threads,
            warps,
            lanes,
            idle_lanes,
            idle_percent: 100.0 * f64::from(idle_lanes) / f64::from(lanes),
            registers_per_lane,
            registers_are_an_example: registers.is_none(),
            idle_registers: idle_lanes * registers_per_lane,
            records,
        }
    }

    /// The first thread whose record differs from the formula.
    #[must_use]
    pub fn wrong(&self) -> Option<Record> {
        let mut numbered = self.records.iter().zip(0..);
        let differs = |(record, number): &(&Record, u32)| **record != expected(self.block, *number);
        numbered.find(differs).map(|(record, _)| *record)
    }

    /// Cost of the idle lanes.
    fn cost_of_idle_lanes(&self) -> String {
        let Self { threads, warps, idle_lanes, registers_per_lane, idle_registers, .. } = self;
        if *idle_lanes == 0 {
            return format!("All lanes of the {warps} warps have a thread: nothing is idle.");
        }
        format!(
            "A block gets whole warps: {threads} threads take {warps} warps, and {idle_lanes} \
             lanes of the last warp are idle. Each instruction of that warp takes as long as with \
             32 threads. Registers are allocated for whole warps too: the idle lanes hold \
             {idle_lanes}·{registers_per_lane} = {idle_registers} registers. A block with a \
             multiple of 32 threads has no idle lanes."
        )
    }
}

impl Report for Threads {
    fn page(&self) -> Page {
        let Self { device, block, threads, registers_per_lane, .. } = self;
        let mut page = Page::new(format!(
            "How are the {threads} threads of a block of {block} numbered and cut into warps on \
             {device}? Each of them reports its own numbers."
        ));
        page.drawing(
            "The warp of each thread (0 to 9, then a to v); x goes right, y goes down",
            &drawing::planes(*block),
        );
        page.drawing(
            "The lanes of each warp: the row of each thread (y + z·Y); · is an idle lane",
            &drawing::warps(*block),
        );
        let mut table = table();
        let heads = ["threads", "warps", "lanes", "idle lanes", "idle share", "their registers"];
        table.set_header(heads);
        table.add_row([
            threads.to_string(),
            self.warps.to_string(),
            self.lanes.to_string(),
            self.idle_lanes.to_string(),
            format!("{:.1} %", self.idle_percent),
            self.idle_registers.to_string(),
        ]);
        page.table("What the block takes", &table);
        page.means(
            "The linear number of a thread is x + y·X + z·X·Y, in a block of X by Y by Z threads. \
             Its warp is this number / 32, and its lane is the rest. The rows of the block do not \
             matter: a warp takes 32 consecutive numbers, even if it starts in the middle of one \
             row and ends in the next.",
        );
        page.means(self.cost_of_idle_lanes());
        page.means(if self.registers_are_an_example {
            format!(
                "The emulator has no registers, so {registers_per_lane} for each lane are an \
                 example."
            )
        } else {
            format!(
                "The kernel of this experiment has {registers_per_lane} registers for each lane."
            )
        });
        if let Some(wrong) = self.wrong() {
            page.wrong(format!("a thread reported {wrong:?}, which is not what the formula gives"));
        }
        page
    }

    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        let cells = Cells {
            title: format!("The lanes of each warp of a block of {}", self.block),
            x_label: "lane".into(),
            note: "the number is the row of the thread, y + z·Y; pale: an idle lane".into(),
            rows: drawing::rows(self.block),
        };
        Ok(vec![Chart {
            name: "threads",
            caption: String::new(),
            svg: cells.svg()?,
            csv: cells.csv(),
        }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_numbers_x_first_then_y_then_z() {
        let block = Dim3::new(5, 3, 4);
        let mut number = 0;
        for z in 0..4 {
            for y in 0..3 {
                for x in 0..5 {
                    let position = Dim3::new(x, y, z);
                    let (first, lane) = (number / 32 * 32, number % 32);
                    let record = Record { position, number, first, lane };
                    assert_eq!(expected(block, number), record);
                    assert_eq!(block.linear(position), u64::from(number));
                    number += 1;
                }
            }
        }
    }

    /// A block of 40 × 2 threads, and a kernel with this many registers.
    fn block(registers: Option<u32>) -> Threads {
        let block = Dim3::new(40, 2, 1);
        let records = (0..80).map(|number| expected(block, number)).collect();
        Threads::of("a GPU".into(), block, records, registers)
    }

    #[test]
    fn a_wrong_record_is_found() {
        let mut threads = block(None);
        assert_eq!((threads.warps, threads.idle_lanes), (3, 16));
        assert_eq!(threads.wrong(), None);
        threads.records[33].lane = 0;
        assert_eq!(threads.wrong(), Some(threads.records[33]));
    }

    #[test]
    fn registers_are_those_of_the_kernel_or_an_example_in_the_emulator() {
        for (registers, parts, is_example) in [
            (Some(10), ["16·10 = 160 registers", "has 10 registers for each lane"], false),
            (None, ["16·32 = 512 registers", "are an example"], true),
        ] {
            let text = block(registers).page().text(false);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            assert_eq!(text.contains("example"), is_example, "{text}");
        }
    }
}
