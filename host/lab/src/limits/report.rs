//! The result of `gridsync lab limits`.

use super::{HOLDERS, REGISTERS, THREADS, Tried, occupancy};
use crate::display::svg::{ChartError, Lines, Series};
use crate::display::{Page, table, wrapped};
use crate::{Chart, Report};
use gridsync::device::{Occupancy, Properties};
use serde::{Deserialize, Serialize};

/// The result of `gridsync lab limits`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Limits {
    /// The name of the device.
    pub device: String,
    /// What follows from the limits of the device, for each size of blocks.
    pub by_limits: Vec<Size>,
    /// The driver's answers next to the computed ones. Absent in the emulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<Vec<Answer>>,
    /// A launch at each limit, and one past it.
    pub tried: Vec<Tried>,
    /// The properties of the device, for the chart. Not in the JSON.
    #[serde(skip)]
    pub properties: Option<Properties>,
}

/// What follows from the limits of the device, for blocks of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Size {
    /// Threads of a block.
    pub threads: u32,
    /// The most registers of a thread. 0 if there is no such block.
    pub most_registers: u32,
    /// The blocks of a multiprocessor, for some numbers of registers.
    pub resident: Vec<Resident>,
}

/// The blocks of a multiprocessor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Resident {
    /// Registers of a thread.
    pub registers: u32,
    /// Blocks that a multiprocessor holds at once.
    pub blocks: u32,
    /// The resource that one more block would exceed.
    pub limited_by: String,
    /// The threads of these blocks, percent of the most that a multiprocessor holds.
    pub occupancy_percent: f64,
}

/// The driver's answer for a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Answer {
    /// The kernel, one of [`HOLDERS`].
    pub kernel: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Blocks that a multiprocessor holds, as the driver says.
    pub blocks: u32,
    /// The same, as computed from the limits.
    pub computed: u32,
}

impl Report for Limits {
    fn page(&self) -> Page {
        let mut page = Page::new(format!(
            "How many registers may a thread have, how many blocks does a multiprocessor hold, and \
             what happens one past each limit? On {}.",
            self.device
        ));
        self.registers_and_blocks(&mut page);
        if let Some(driver) = &self.driver {
            compared(&mut page, driver);
        }
        tried(&mut page, &self.tried);
        page.means(
            "A multiprocessor gives each resident warp its registers for good, which is why it can \
             change warps in every clock. Registers that a thread does not use are registers that \
             another warp does not get: the more a thread has, the fewer warps are there to hide \
             the latency of memory.",
        );
        page.means(
            "Registers are given in units: 8 for a thread, since a warp gets 256 at once, and warps \
             for each of the four parts of a multiprocessor. So one register more than a multiple \
             of 8 costs as much as eight.",
        );
        page
    }

    fn charts(&self) -> Result<Vec<Chart>, ChartError> {
        let Some(properties) = &self.properties else { return Ok(Vec::new()) };
        Ok(vec![Chart::lines("limits", "", &by_registers(properties))?])
    }
}

impl Limits {
    /// The table that follows from the limits of the device.
    fn registers_and_blocks(&self, page: &mut Page) {
        let mut table = table();
        let heads = REGISTERS.map(|registers| format!("blocks with {registers}"));
        let first = ["threads of a block", "registers of a thread, at most"].map(str::to_owned);
        table.set_header(first.into_iter().chain(heads));
        for Size { threads, most_registers, resident } in &self.by_limits {
            let cells = resident.iter().map(|resident| match resident.blocks {
                0 => "none".to_owned(),
                blocks => format!("{blocks} ({:.0} %)", resident.occupancy_percent),
            });
            let first = [threads, most_registers].map(u32::to_string);
            table.add_row(first.into_iter().chain(cells));
        }
        let limits = self.properties.as_ref().map_or_else(String::new, |p| {
            format!(
                ": {} registers, {} threads and {} blocks on a multiprocessor",
                p.registers_per_multiprocessor,
                p.max_threads_per_multiprocessor,
                p.max_blocks_per_multiprocessor
            )
        });
        let title = format!(
            "By its limits{limits}. Blocks that are resident with so many registers of a thread, \
             and the occupancy:"
        );
        page.table(&title, &table);
    }
}

/// The driver's answers, compared with the computed numbers.
fn compared(page: &mut Page, answers: &[Answer]) {
    let mut table = table();
    let heads = THREADS.map(|threads| threads.to_string());
    table.set_header(["words held".into(), "registers".into()].into_iter().chain(heads));
    for holder in HOLDERS {
        let of_holder = answers.iter().filter(|answer| answer.kernel == holder.kernel.name);
        let registers = of_holder.clone().next().map_or(0, |answer| answer.registers);
        let cells = of_holder.map(|&Answer { blocks, computed, .. }| {
            if computed == blocks {
                blocks.to_string()
            } else {
                format!("{blocks}, not {computed}")
            }
        });
        table.add_row([holder.words, registers].map(|it| it.to_string()).into_iter().chain(cells));
    }
    for Answer { registers, threads, blocks, computed, .. } in answers {
        if computed != blocks {
            page.wrong(format!(
                "{computed} blocks of {threads} threads with {registers} registers were computed, \
                 and the driver says {blocks}"
            ));
        }
    }
    page.table(
        "The driver's answer for kernels that hold so many words: resident blocks by threads of a \
         block. Where the computed number differs, it is given too:",
        &table,
    );
}

/// The results at each limit and one past it.
fn tried(page: &mut Page, all: &[Tried]) {
    let mut lines = String::new();
    for Tried { limit, at, right, past, error } in all {
        let at = match (at, right) {
            (Some(at), Some(true)) => format!("{at}: right."),
            (Some(at), _) => format!("{at}: WRONG."),
            (None, _) => "not tried at the limit.".into(),
        };
        let refused = error.clone().unwrap_or_else(|| format!("{past} ran."));
        let line = format!("{limit}: {at} One past it: {refused}");
        lines += &format!("{}\n", wrapped(&line).replace('\n', "\n  "));
        if *right == Some(false) {
            page.wrong(format!("wrong results at the limit of {limit}"));
        }
        if error.is_none() {
            page.wrong(format!("{past} are past the limit of {limit} and ran"));
        }
    }
    page.drawing("Each limit, tried:", &lines);
}

/// The occupancy by registers per thread, for some block sizes.
fn by_registers(device: &Properties) -> Lines {
    let series = [128, 256, 512, 1024].map(|threads| {
        let points = (8..=256u32).step_by(8).map(|registers| {
            let registers = registers.min(Occupancy::MOST_REGISTERS);
            let found = occupancy(device, registers, threads);
            (f64::from(registers), found.percent(device, threads))
        });
        Series::new(format!("blocks of {threads}"), points)
    });
    Lines {
        title: format!("Occupancy of a multiprocessor of {}", device.name),
        x_label: "registers of a thread".into(),
        y_label: "resident threads, % of the most".into(),
        log2_x: false,
        series: series.into(),
    }
}
