//! `gridsync demo`: X→P→X without a barrier, with a block barrier, and with a grid barrier.

use super::exit::Wrong;
use super::progress::progress;
use super::{Global, output};
use gridsync::device::{Device, Emulator, EmulatorConfig, Policy, Schedule};
use gridsync::launch::{Blocks, cooperative};
use gridsync_lab::count::within;
use gridsync_lab::display::table;
use gridsync_lab::xpx::{self, Form, Outcome, Report, Setup};
use gridsync_lab_kernels::xpx::xpx_grid_barrier;
use indicatif::ProgressBar;

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
        let mut forms: Vec<Outcome> = Vec::new();
        for (number, form) in Form::ALL.into_iter().enumerate() {
            bar.set_message(form.name());
            bar.set_position(number as u64 * u64::from(runs));
            let natural = Timing { stagger_ns: 0, schedule: None, said: None };
            let mut outcome = experiment(&device, form, &setup, runs, &natural, &bar)?;
            // A single warp or block has nothing to race with. The grid barrier must hold with the
            // timing that made the other forms fail.
            let provoked = forms.iter().any(|outcome| outcome.schedule.is_some());
            if outcome.wrong_runs == 0 && (form.can_fail(&setup) || provoked) {
                outcome = experiment(&device, form, &setup, runs, &provoke(emulated), &bar)?;
            }
            forms.push(outcome);
        }

        bar.finish_and_clear();
        let report = Report { device: device.properties().name.clone(), setup, forms };
        output::result(global, || text(global, &report), || &report)?;
        let mut forms = report.forms.iter();
        match forms.find(|outcome| outcome.form == Form::GridBarrier && outcome.wrong_runs > 0) {
            None => Ok(()),
            Some(Outcome { wrong_runs, runs, .. }) => {
                let wrong = format!("the grid barrier failed in {wrong_runs} of {runs} runs");
                Err(Wrong(wrong).into())
            }
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
    let mut outcome = Outcome::new(form, timing.said);
    for run in 0..runs as usize {
        let scheduled = device.properties().is_emulated().then(|| {
            // Each warp runs as far as it can. The order of warps and blocks is random in each run.
            let drawn = Schedule::seeded(Policy::RunAhead, 1 + run as u64);
            let schedule = timing.schedule.unwrap_or(drawn);
            Device::new(Emulator::new(EmulatorConfig { schedule, ..EmulatorConfig::default() }))
        });
        let device = scheduled.as_ref().unwrap_or(device);
        outcome.add(xpx::run(device, form, setup, timing.stagger_ns)?);
        bar.inc(1);
    }
    Ok(outcome)
}

fn text(global: &Global, report: &Report) -> String {
    let Report { device, setup, forms } = report;
    let mut table = table();
    table.set_header(["", "wrong runs", "wrong elements", "in whole warps", "in whole blocks"]);
    for Outcome { form, runs, wrong_runs, wrong, schedule, .. } in forms {
        let mark = if schedule.is_some() { " *" } else { "" };
        table.add_row([
            format!("{}{mark}", form.name()),
            format!("{wrong_runs} of {runs}"),
            wrong.elements.to_string(),
            ratio(wrong.whole_warps, wrong.broken_warps),
            ratio(wrong.whole_blocks, wrong.broken_blocks),
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
    for Outcome { form, wrong, first_wrong, .. } in forms.iter().filter(|form| form.wrong_runs > 0)
    {
        let (name, of) = (form.name(), &wrong.first);
        text += &format!("{name}: X[{}..{}] is wrong in run {first_wrong}\n", of.start, of.end);
    }
    if text.len() > nothing_yet {
        text += "\n";
    }
    if let Some(said) = forms.iter().find_map(|outcome| outcome.schedule) {
        let mut provoked = forms
            .iter()
            .filter(|outcome| outcome.schedule.is_some() && outcome.form.can_fail(setup));
        let which = if provoked.all(|outcome| outcome.wrong_runs > 0) {
            "so a schedule that shows it was chosen"
        } else {
            "and not under one that was chosen to show it either"
        };
        text += &format!("* No fault showed by itself, {which}: {said}.\n");
    }
    for Outcome { form, wrong_runs, wrong, .. } in forms {
        let cannot = !form.can_fail(setup);
        let (seen, whole_warps, whole_blocks) =
            (*wrong_runs > 0, wrong.broken_warps == 0, wrong.broken_blocks == 0);
        text += match form {
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
fn ratio(whole: usize, broken: usize) -> String {
    match whole + broken {
        0 => String::new(),
        touched => format!("{whole} of {touched}"),
    }
}
