//! `gridsync lab locks`: cost and fairness of locks.

mod emulated;
mod measured;

use super::{Experiment, Found, Page, RunsOn};
use crate::cli::Global;
use gridsync::device::Device;
use gridsync_lab::count::within;
use gridsync_lab::display::table;
use gridsync_lab::locks::LOCKS;
use gridsync_lab::locks::emulated::{Lockstep, lockstep};
use simt::Fault;
use std::path::{Path, PathBuf};

/// Let threads contend for five locks, check what the locks guard, and measure them
///
/// Each lock guards a counter, and a linked list; the results are checked. On a GPU: million
/// sections per second by the number of threads that contend, and how evenly the blocks get the
/// lock. In the emulator: results and data races under schedules drawn from seeds, and accesses to
/// memory. On both: the emulator's report of the deadlock of lanes in lockstep.
#[derive(clap::Args)]
pub(super) struct Locks {
    /// The most blocks that contend [default: 4 per multiprocessor on a GPU, 2 in the emulator].
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=4096))]
    blocks: Option<u32>,
    /// Threads of each block where whole blocks contend [default: 32 on a GPU, 33 in the emulator].
    #[arg(long, value_name = "N", value_parser = within::<u32>(1..=1024))]
    threads: Option<u32>,
    /// Sections of a launch, by all its threads together [default: 8192 on a GPU, 50 in the
    /// emulator].
    #[arg(long, value_name = "N", value_parser = within::<u32>(4..=1_000_000))]
    sections: Option<u32>,
    /// Write locks.svg, locks-warps.svg and locks-fairness.svg to this folder. Needs a GPU.
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Experiment for Locks {
    const RUNS_ON: RunsOn = RunsOn::Any;
    const FILES: &'static [&'static str] = &["locks.svg", "locks-warps.svg", "locks-fairness.svg"];

    fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    fn find(&self, global: &Global, device: &Device) -> anyhow::Result<Found> {
        let mut page = match device.properties().is_emulated() {
            true => emulated::page(self, global)?,
            false => measured::page(self, global, device)?,
        };
        add_lockstep(&mut page)?;
        Ok(page.found(global))
    }
}

/// The question of the page, with the tested locks.
fn question(how: &str) -> String {
    format!(
        "A section of the program that one thread at a time may enter: what does the lock around it \
         cost, and who has to wait? Each thread takes the lock, adds 1 to a counter by a plain load \
         and a plain store, and releases it. Then each pushes nodes to a linked list. {how}"
    )
}

/// Adds the table of the locks.
fn add_locks(page: &mut Page) {
    let mut locks = table();
    for tried in LOCKS {
        locks.add_row([tried.name, tried.how]);
    }
    page.table("The locks", &locks);
}

/// Adds the deadlock of lanes in lockstep, as the emulator reports it.
fn add_lockstep(page: &mut Page) -> anyhow::Result<()> {
    // Any seed will do: it deadlocks under every schedule.
    let Lockstep { fault, counter } = lockstep(1)?;
    match fault {
        Some(fault @ Fault::Deadlock(_)) => {
            let report = fault.to_string();
            page.drawing("Lanes of one warp in lockstep, in the emulator", &in_lines(&report));
            page.json("lockstep", report);
        }
        Some(fault) => page.wrong(format!("lanes in lockstep: {fault}")),
        None => page.wrong("lanes in lockstep did not deadlock in the emulator"),
    }
    if counter != 32 {
        page.wrong(format!("the cured form counted {counter} of 32 lanes"));
    }
    page.means(format!(
        "Lockstep: before Volta the lanes of a warp shared one program counter. After the loop \
         that takes the lock, the lane that had the lock waited for the lanes that were still in \
         the loop, and they waited for the lock. The kernel of the report makes this explicit by a \
         barrier of the warp between taking the lock and the section. Since Volta each lane has \
         its own program counter, and one that waits lets the others run (CUDA C++ Programming \
         Guide, \"Independent Thread Scheduling\"). Code for any GPU keeps the section and the \
         release inside the loop. In the emulator that form has counted {counter} of 32 lanes.",
    ));
    page.means(
        "A lock that is held across a barrier deadlocks on every GPU, for the same reason: its \
         holder waits for threads that wait for the lock.",
    );
    Ok(())
}

/// A fault's message, wrapped for a terminal: each part, and below it the source location.
fn in_lines(message: &str) -> String {
    let mut lines = Vec::new();
    for part in message.split("; ") {
        match part.rsplit_once(", at ").or_else(|| part.rsplit_once(": ")) {
            Some((what, rest)) => lines.extend([what.to_owned(), format!("  {rest}")]),
            None => lines.push(part.to_owned()),
        }
    }
    lines.join("\n")
}
