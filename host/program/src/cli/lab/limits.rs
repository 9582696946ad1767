//! `gridsync lab limits`: the limits of a block, and what happens one past each limit.

use super::found::wrapped;
use super::{Experiment, Found, Page, RunsOn};
use crate::cli::Global;
use gridsync::device::{Device, DeviceError, KernelAttributes, Occupancy, Properties};
use gridsync_lab::display::svg::{Lines, Series};
use gridsync_lab::display::table;
use gridsync_lab::limits::{HOLDERS, Tried, try_all};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Find the limits of a block and of a multiprocessor, and launch one past each of them
///
/// How many registers a thread may have for each size of blocks, and how many blocks a multiprocessor
/// then holds: computed from the limits of the device. On a GPU the blocks are compared with the
/// driver's own answer, for kernels of different register counts. Then each limit is tried: a launch
/// at the limit, with its results checked, and a launch one past it, with its error.
#[derive(clap::Args)]
pub(super) struct Limits {
    /// Write limits.svg to this folder: the occupancy by registers of a thread.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Threads of a block in the tables.
const THREADS: [u32; 8] = [32, 64, 128, 256, 384, 512, 768, 1024];

/// Registers of a thread in the first table.
const REGISTERS: [u32; 4] = [32, 64, 128, Occupancy::MOST_REGISTERS];

impl Experiment for Limits {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["limits.svg"];

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        let p = device.properties();
        let mut page = Page::new(
            &p.name,
            format!(
                "How many registers may a thread have, how many blocks does a multiprocessor hold, \
                 and what happens one past each limit? On {}.",
                p.name
            ),
        );
        registers_and_blocks(&mut page, p);
        if !p.is_emulated() {
            beside_the_driver(&mut page, device)?;
        }
        tried(&mut page, &try_all(device)?);
        page.file("limits.svg", chart(p).svg())?;
        page.means(
            "A multiprocessor gives each resident warp its registers for good, which is why it can \
             change warps in every clock. Registers that a thread does not use are registers that \
             another warp does not get: the more a thread has, the fewer warps are there to hide the \
             latency of memory.",
        );
        page.means(
            "Registers are given in units: 8 for a thread, since a warp gets 256 at once, and warps \
             for each of the four parts of a multiprocessor. So one register more than a multiple of \
             8 costs as much as eight.",
        );
        Ok(page.found(global))
    }
}

/// Attributes of a kernel with this many registers.
fn needs(registers: u32) -> KernelAttributes {
    KernelAttributes { registers, static_shared: 0, local: 0, max_threads: 0 }
}

/// The table that follows from the limits of the device.
fn registers_and_blocks(page: &mut Page, p: &Properties) {
    let mut table = table();
    let heads = REGISTERS.map(|registers| format!("blocks with {registers}"));
    table.set_header(
        ["threads of a block".into(), "registers of a thread, at most".into()]
            .into_iter()
            .chain(heads),
    );
    let mut rows = Vec::new();
    for threads in THREADS {
        let most = Occupancy::most_registers(p, threads);
        let blocks = REGISTERS.map(|registers| Occupancy::of(p, &needs(registers), threads, 0));
        let cells = blocks.map(|found| match found.blocks {
            0 => "none".to_owned(),
            blocks => format!("{blocks} ({:.0} %)", found.percent(p, threads)),
        });
        table.add_row([threads.to_string(), most.to_string()].into_iter().chain(cells));
        let resident = REGISTERS.iter().zip(blocks).map(|(registers, found)| {
            json!({
                "registers": registers,
                "blocks": found.blocks,
                "limited_by": found.limited_by,
                "occupancy_percent": found.percent(p, threads),
            })
        });
        rows.push(json!({
            "threads": threads,
            "most_registers": most,
            "resident": resident.collect::<Value>(),
        }));
    }
    page.table(
        &format!(
            "By its limits: {} registers, {} threads and {} blocks on a multiprocessor. Blocks that \
             are resident with so many registers of a thread, and the occupancy:",
            p.registers_per_multiprocessor,
            p.max_threads_per_multiprocessor,
            p.max_blocks_per_multiprocessor
        ),
        &table,
    );
    page.json("by_limits", rows);
}

/// Compares the computed blocks with the driver's answer, for kernels of different register counts.
fn beside_the_driver(page: &mut Page, device: &Device) -> Result<(), DeviceError> {
    let p = device.properties();
    let mut table = table();
    let heads = THREADS.map(|threads| threads.to_string());
    table.set_header(["words held".into(), "registers".into()].into_iter().chain(heads));
    let mut rows = Vec::new();
    for holder in HOLDERS {
        let kernel = device.backend().attributes(&holder.kernel)?;
        let mut cells = Vec::new();
        for threads in THREADS {
            let computed = Occupancy::of(p, &kernel, threads, 0).blocks;
            let driver = device.backend().occupancy(&holder.kernel, threads, 0)?;
            if computed != driver {
                page.wrong(format!(
                    "{computed} blocks of {threads} threads with {} registers were computed, and \
                     the driver says {driver}",
                    kernel.registers
                ));
            }
            cells.push(match computed == driver {
                true => driver.to_string(),
                false => format!("{driver}, not {computed}"),
            });
            rows.push(json!({
                "kernel": holder.kernel.name,
                "registers": kernel.registers,
                "threads": threads,
                "blocks": driver,
                "computed": computed,
            }));
        }
        let heads = [holder.words.to_string(), kernel.registers.to_string()];
        table.add_row(heads.into_iter().chain(cells));
    }
    page.table(
        "The driver's answer for kernels that hold so many words: resident blocks by threads of a \
         block. Where the computed number differs, it is given too:",
        &table,
    );
    page.json("driver", rows);
    Ok(())
}

/// The results at each limit and one past it.
fn tried(page: &mut Page, all: &[Tried]) {
    let mut lines = String::new();
    for tried in all {
        let at = match &tried.at {
            Some((geometry, true)) => format!("{geometry}: right."),
            Some((geometry, false)) => format!("{geometry}: WRONG."),
            None => "not tried at the limit.".into(),
        };
        let past = match &tried.refused {
            Some(error) => error.to_string(),
            None => format!("{} ran.", tried.past),
        };
        let line = format!("{}: {at} One past it: {past}", tried.what);
        lines += &format!("{}\n", wrapped(&line).replace('\n', "\n  "));
        if tried.at.is_some_and(|(_, right)| !right) {
            page.wrong(format!("wrong results at the limit of {}", tried.what));
        }
        if tried.refused.is_none() {
            page.wrong(format!("{} are past the limit of {} and ran", tried.past, tried.what));
        }
    }
    page.drawing("Each limit, tried:", &lines);
    let json = all.iter().map(|tried| {
        json!({
            "limit": tried.what,
            "at": tried.at.map(|(geometry, _)| geometry.to_string()),
            "right": tried.at.map(|(_, right)| right),
            "past": tried.past.to_string(),
            "error": tried.refused.as_ref().map(ToString::to_string),
        })
    });
    page.json("tried", json.collect::<Value>());
}

/// The occupancy by registers per thread, for some block sizes.
fn chart(p: &Properties) -> Lines {
    let series = [128, 256, 512, 1024].map(|threads| {
        let points = (8..=256u32).step_by(8).map(|registers| {
            let registers = registers.min(Occupancy::MOST_REGISTERS);
            let found = Occupancy::of(p, &needs(registers), threads, 0);
            (f64::from(registers), found.percent(p, threads))
        });
        Series::new(format!("blocks of {threads}"), points)
    });
    Lines {
        title: format!("Occupancy of a multiprocessor of {}", p.name),
        x_label: "registers of a thread".into(),
        y_label: "resident threads, % of the most".into(),
        log2_x: false,
        series: series.into(),
    }
}
