//! `gridsync demo`: X→P→X without a barrier, with a block barrier, and with a grid barrier.

use super::exit::Wrong;
use super::progress::progress;
use super::{Global, output};
use gridsync::device::{Device, Emulator, EmulatorConfig, Policy, Schedule};
use gridsync::launch::{Blocks, cooperative};
use gridsync_lab::count::within;
use gridsync_lab::display::table;
use gridsync_lab::xpx::{self, Form, Outcome, Setup};
use gridsync_lab_kernels::xpx::xpx_grid_barrier;
use indicatif::ProgressBar;
use serde_json::json;

#[derive(clap::Args)]
pub(crate) struct Demo {
    /// Elements of X and of P, up to 65536: every thread adds all of them up.
    #[arg(short = 'n', long, alias = "n", default_value_t = 128, value_parser = within::<u32>(1..=1 << 16))]
    elements: u32,
    /// Blocks of the grid.
    #[arg(long, default_value_t = 2, value_parser = within::<u32>(0..=u64::MAX))]
    blocks: u32,
    /// Threads of a block.
    #[arg(long, default_value_t = 64, value_parser = within::<u32>(0..=u64::MAX))]
    threads: u32,
    /// Runs of each form [default: 1000 on a GPU, 20 on the emulator].
    #[arg(long, value_parser = within::<u32>(1..=u64::MAX))]
    runs: Option<u32>,
}

/// How the runs of a form are timed.
struct Timing {
    /// Delay of each warp after the one before it, in ns.
    stagger_ns: u32,
    /// On the emulator, the schedule of all runs. If `None`, each run gets a schedule seeded with
    /// its number.
    schedule: Option<Schedule>,
    /// How this differs from the natural timing, if it does.
    said: Option<&'static str>,
}

impl Demo {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let setup = self.setup();
        let device = global.device.device()?;
        let emulated = device.properties().is_emulated();
        // Runs first because it refuses the one form that could hang.
        cooperative::<xpx_grid_barrier>(&device, Blocks::Exactly(setup.blocks), setup.threads, 0)?;
        let runs = self.runs.unwrap_or(if emulated { 20 } else { 1000 });

        let bar = progress(global, Form::ALL.len() * runs as usize);
        let mut shown = Vec::new();
        for (number, form) in Form::ALL.into_iter().enumerate() {
            bar.set_message(form.name());
            bar.set_position(number as u64 * u64::from(runs));
            let natural = Timing { stagger_ns: 0, schedule: None, said: None };
            let mut outcome = experiment(&device, form, &setup, runs, &natural, &bar)?;
            let mut timing = natural;
            // A single warp or block has nothing to race with. The grid barrier must hold with the
            // timing that made the other forms fail.
            let provoked = shown.iter().any(|(_, timing): &(_, Timing)| timing.said.is_some());
            if outcome.wrong.is_empty() && (form.can_fail(&setup) || provoked) {
                timing = provoke(emulated);
                outcome = experiment(&device, form, &setup, runs, &timing, &bar)?;
            }
            shown.push((outcome, timing));
        }

        bar.finish_and_clear();
        let name = device.properties().name.clone();
        output::result(
            global,
            || text(global, &name, &setup, &shown),
            || json(&name, &setup, &shown),
        )?;
        let failed = shown
            .iter()
            .find(|(outcome, _)| outcome.form == Form::GridBarrier && !outcome.wrong.is_empty());
        match failed {
            None => Ok(()),
            Some((outcome, _)) => Err(Wrong(format!(
                "the grid barrier failed in {} of {} runs",
                outcome.wrong.len(),
                outcome.runs
            ))
            .into()),
        }
    }

    fn setup(&self) -> Setup {
        Setup { elements: self.elements as usize, blocks: self.blocks, threads: self.threads }
    }
}

/// A timing that exposes the bug when the natural one hides it.
fn provoke(emulated: bool) -> Timing {
    if emulated {
        Timing {
            stagger_ns: 0,
            schedule: Some(Schedule::new(Policy::RunAhead)),
            said: Some("each warp runs ahead as far as it can before the next starts"),
        }
    } else {
        Timing {
            stagger_ns: 2000,
            schedule: None,
            said: Some("each warp starts 2 µs after the one before it"),
        }
    }
}

/// Runs one form many times.
fn experiment(
    device: &Device,
    form: Form,
    setup: &Setup,
    runs: u32,
    timing: &Timing,
    bar: &ProgressBar,
) -> anyhow::Result<Outcome> {
    let mut wrong = Vec::new();
    for run in 0..runs as usize {
        let scheduled = device.properties().is_emulated().then(|| {
            // Each warp runs as far as it can. The order of warps and blocks is random in each run.
            let drawn = Schedule::seeded(Policy::RunAhead, 1 + run as u64);
            let schedule = timing.schedule.unwrap_or(drawn);
            Device::new(Emulator::new(EmulatorConfig { schedule, ..EmulatorConfig::default() }))
        });
        let device = scheduled.as_ref().unwrap_or(device);
        wrong.extend(xpx::run(device, form, setup, timing.stagger_ns)?.map(|w| (run, w)));
        bar.inc(1);
    }
    Ok(Outcome { form, runs: runs as usize, wrong })
}

fn text(global: &Global, device: &str, setup: &Setup, shown: &[(Outcome, Timing)]) -> String {
    let mut table = table();
    table.set_header(["", "wrong runs", "wrong elements", "in whole warps", "in whole blocks"]);
    for (outcome, timing) in shown {
        let mark = if timing.said.is_some() { " *" } else { "" };
        let of_warps = ratio(outcome, |w| w.whole_warps, |w| w.broken_warps);
        let of_blocks = ratio(outcome, |w| w.whole_blocks, |w| w.broken_blocks);
        table.add_row([
            format!("{}{mark}", outcome.form.name()),
            format!("{} of {}", outcome.wrong.len(), outcome.runs),
            outcome.total(|w| w.elements).to_string(),
            of_warps,
            of_blocks,
        ]);
    }
    if global.quiet {
        return table.to_string();
    }
    let mut text = format!(
        "X→P→X on {device}: {} elements, {} blocks of {} threads\n\
         Stage (i) sets each P[j] to the mean of all X,\n\
         stage (ii) each X[j] to the mean of all P.\n\n\
         {table}\n\n",
        setup.elements, setup.blocks, setup.threads
    );
    let nothing_yet = text.len();
    for (outcome, _) in shown {
        if let Some((run, wrong)) = outcome.wrong.first() {
            let (name, of) = (outcome.form.name(), &wrong.first);
            text += &format!("{name}: X[{}..{}] is wrong in run {run}\n", of.start, of.end);
        }
    }
    if text.len() > nothing_yet {
        text += "\n";
    }
    if let Some(said) = shown.iter().find_map(|(_, timing)| timing.said) {
        let mut provoked = shown
            .iter()
            .filter(|(outcome, timing)| timing.said.is_some() && outcome.form.can_fail(setup));
        let which = match provoked.all(|(outcome, _)| !outcome.wrong.is_empty()) {
            true => "so a schedule that shows it was chosen",
            false => "and not under one that was chosen to show it either",
        };
        text += &format!("* No fault showed by itself, {which}: {said}.\n");
    }
    for (outcome, _) in shown {
        let cannot = !outcome.form.can_fail(setup);
        let (seen, whole_warps, whole_blocks) = (
            !outcome.wrong.is_empty(),
            outcome.total(|w| w.broken_warps) == 0,
            outcome.total(|w| w.broken_blocks) == 0,
        );
        text += match outcome.form {
            Form::NoBarrier if seen && whole_warps => {
                "Without a barrier a thread that reads P too early sees what its whole warp sees.\n"
            }
            Form::BlockBarrier if seen && whole_blocks => {
                "After a block barrier it sees what its whole block sees.\n"
            }
            Form::NoBarrier if cannot => {
                "Without a barrier nothing can go wrong here: one warp has all elements.\n"
            }
            Form::BlockBarrier if cannot => {
                "A block barrier is enough here: one block has all elements.\n"
            }
            Form::GridBarrier if !seen => {
                "After a grid barrier every run equals the CPU reference, to the bit.\n"
            }
            Form::GridBarrier => {
                "The grid barrier let a thread through too early: that is a fault of gridsync.\n"
            }
            _ => "",
        };
    }
    text
}

/// `whole of touched`: of the groups with a wrong element, how many are entirely wrong.
fn ratio(
    outcome: &Outcome,
    whole: impl Fn(&xpx::Wrong) -> usize,
    broken: impl Fn(&xpx::Wrong) -> usize,
) -> String {
    let whole = outcome.total(whole);
    match whole + outcome.total(broken) {
        0 => String::new(),
        touched => format!("{whole} of {touched}"),
    }
}

fn json(device: &str, setup: &Setup, shown: &[(Outcome, Timing)]) -> serde_json::Value {
    let forms = shown.iter().map(|(outcome, timing)| {
        json!({
            "form": outcome.form.name(),
            "runs": outcome.runs,
            "wrong_runs": outcome.wrong.len(),
            "wrong_elements": outcome.total(|w| w.elements),
            "whole_warps": outcome.total(|w| w.whole_warps),
            "broken_warps": outcome.total(|w| w.broken_warps),
            "whole_blocks": outcome.total(|w| w.whole_blocks),
            "broken_blocks": outcome.total(|w| w.broken_blocks),
            "schedule": timing.said,
        })
    });
    json!({
        "device": device,
        "n": setup.elements,
        "blocks": setup.blocks,
        "threads": setup.threads,
        "forms": forms.collect::<Vec<_>>(),
    })
}
