//! `gridsync verify`: compares every kernel with its reference on many inputs.

mod cases;
mod plan;

use super::exit::Wrong;
use super::progress::progress;
use super::{Global, output};
use cases::{Case, INTERLEAVED, Kernel, kernels};
use gridsync::device::{Device, DeviceError};
use gridsync::parallel;
use gridsync_lab::count::within;
use gridsync_lab::display::time;
use gridsync_verify::CaseError;
use indicatif::ProgressBar;
use plan::largest;
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Run every kernel on many inputs, and compare with a reference
///
/// Runs every reduction, of arrays and of the rows of matrices, every scan, selection, range sum
/// and rank correlation, every grid barrier, and X→P→X with the recommended barrier, on lengths
/// around every edge. On the emulator, short inputs run under a schedule drawn from each seed,
/// which interleaves the threads access by access, and small grids are checked for data races, but
/// not with --device ptx. Long inputs run under the fast schedule. All short inputs are run, and as
/// many long ones as there is time for: the run ends within two minutes on two cores. On a GPU all
/// inputs are run.
#[derive(clap::Args)]
pub(crate) struct Verify {
    /// Run all long inputs on the emulator too, however long that takes.
    #[arg(long, conflicts_with = "seconds")]
    thorough: bool,
    /// Start no more long inputs on the emulator after this many seconds.
    #[arg(long, default_value_t = 110, value_parser = within::<u64>(0..=u64::MAX))]
    seconds: u64,
    /// The longest input is 2 to the power of this many elements. Grids that cross barriers have
    /// from one thread to all that the device holds, for any value of this.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=34))]
    max_log2: u32,
    /// Inputs of each length, each from a different seed.
    #[arg(long, default_value_t = 1, value_parser = within::<u64>(1..=u64::MAX))]
    seeds: u64,
}

/// The fraction of that time planned for long inputs. The rest is for short ones, and for machines
/// slower than the one that was measured.
const PLANNED: f64 = 0.75;

/// The largest size of cases that always run if the emulator interprets PTX.
const SHORT_OF_PTX: usize = 9;

/// How much longer the emulator takes for the PTX of a kernel than for its source.
// On two cores of an AMD EPYC, 2026-11-28: a sum of 2^19 f32 1.3 times, a scan 1.2, a sort 3.3.
const PTX_IS_SLOWER: f64 = 3.3;

/// The result of `gridsync verify`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Verified {
    /// The name of the device.
    device: String,
    /// The outcome of each kernel, or of a few kernels with one purpose.
    cases: Vec<Row>,
}

/// A kernel, or a few kernels with one purpose, on all of its inputs.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct Row {
    /// Name, such as `reduce sum f32`.
    #[serde(rename = "case")]
    name: String,
    /// Inputs whose result was right.
    passed: usize,
    /// What was wrong, for each input whose result was not.
    failed: Vec<String>,
    /// Long inputs that the emulator had no time for. None on a GPU.
    left_out: usize,
}

impl Row {
    fn of(kernel: &Kernel) -> Self {
        Self { name: kernel.name.clone(), ..Self::default() }
    }
}

/// A run of all kernels.
struct Run<'a> {
    global: &'a Global,
    device: &'a Device,
    start: Instant,
    /// Size of the largest case to run; no large case is started after `until`.
    largest: usize,
    until: Option<Duration>,
    /// The largest size of the cases that run however late it is.
    short: usize,
    bar: ProgressBar,
    /// Length of the longest name.
    width: usize,
    /// Locked while a row is printed, so that rows do not mix.
    printing: Mutex<()>,
}

impl Verify {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let device = global.device.device()?;
        let is_emulated = device.properties().is_emulated();
        let kernels = kernels(device.properties(), self.max_log2, self.seeds);
        let is_limited = is_emulated && !self.thorough;
        let cores = parallel::cores() as f64;
        let until = Duration::from_secs(self.seconds);
        let is_ptx = is_emulated && device.properties().compute > 0;
        let (short, slower) =
            if is_ptx { (SHORT_OF_PTX, PTX_IS_SLOWER) } else { (INTERLEAVED, 1.0) };
        let budget_us = until.as_secs_f64() * 1e6 * PLANNED * cores / slower;
        let width = kernels.iter().map(|kernel| kernel.name.chars().count());
        let run = Run {
            global,
            device: &device,
            start: Instant::now(),
            largest: if is_limited { largest(&kernels, budget_us) } else { usize::MAX },
            until: is_limited.then_some(until),
            short,
            bar: progress(global, 0),
            width: width.max().unwrap_or(0),
            printing: Mutex::new(()),
        };
        let cases = run.all(&kernels)?;
        run.bar.finish_and_clear();
        let left_us = kernels.iter().flat_map(|kernel| &kernel.cases);
        let left_us = left_us.filter(|case| case.size > run.largest).map(|case| case.us);
        let summary = summary(&cases, &run, left_us.sum::<f64>() / cores);
        let verified = Verified { device: device.properties().name.clone(), cases };
        output::result(global, || summary, || &verified)?;
        match verified.cases.iter().map(|row| row.failed.len()).sum::<usize>() {
            0 => Ok(()),
            failed => Err(Wrong(format!("{failed} cases failed on {}", verified.device)).into()),
        }
    }
}

impl Run<'_> {
    /// Runs all kernels, and prints a row for each.
    fn all(&self, kernels: &[Kernel]) -> anyhow::Result<Vec<Row>> {
        let name = &self.device.properties().name;
        self.say(&format!("{} kernels on {name}, against the CPU reference", kernels.len()))?;
        self.say(&format!("{:<width$}  passed  failed", "", width = self.width))?;
        if !self.device.properties().is_emulated() {
            self.expect(kernels, "all inputs", |_| true);
            let rows = kernels.iter().map(|kernel| {
                let mut row = Row::of(kernel);
                self.cases(kernel, &mut row, |_| true)?;
                self.print(&row)?;
                Ok(row)
            });
            return rows.collect();
        }
        // Every kernel runs on short inputs before any runs on long ones.
        let is_short = |case: &Case| case.size <= self.short;
        self.expect(kernels, "short inputs", is_short);
        let rows: anyhow::Result<Vec<Row>> = parallel::try_map(kernels.len(), &|number| {
            let mut row = Row::of(&kernels[number]);
            self.cases(&kernels[number], &mut row, is_short)?;
            Ok(row)
        });
        let is_long = |case: &Case| case.size <= self.largest && !is_short(case);
        self.expect(kernels, "long inputs", is_long);
        let rows = rows?.into_iter().zip(kernels).map(Mutex::new);
        let rows: Vec<_> = rows.collect();
        // In order, as cores become free.
        let next = AtomicUsize::new(0);
        parallel::try_map(rows.len(), &|_| {
            let row = &rows[next.fetch_add(1, Relaxed)];
            let mut row = row.lock().map_err(|_| anyhow::anyhow!("a case panicked"))?;
            let (row, kernel) = &mut *row;
            self.cases(kernel, row, |case| !is_short(case))?;
            self.print(row)
        })?;
        let rows = rows.into_iter().filter_map(|row| row.into_inner().ok());
        Ok(rows.map(|(row, _)| row).collect())
    }

    /// Runs the cases of a kernel that are `wanted`. A fault in the emulator is a failure of the
    /// kernel. Any other failure of a device ends the run.
    fn cases(
        &self,
        kernel: &Kernel,
        row: &mut Row,
        wanted: impl Fn(&Case) -> bool,
    ) -> anyhow::Result<()> {
        for case in kernel.cases.iter().filter(|case| wanted(case)) {
            let is_late = self.until.is_some_and(|until| self.start.elapsed() > until);
            if case.size > self.largest || (is_late && case.size > self.short) {
                row.left_out += 1;
                continue;
            }
            let what = || format!("{}, {}", kernel.name, case.name);
            match case.run(self.device) {
                Ok(()) => row.passed += 1,
                Err(CaseError::Wrong(why)) => row.failed.push(why),
                Err(CaseError::Device(error @ DeviceError::Fault(_))) => {
                    row.failed.push(format!("{}: {error}", what()));
                }
                Err(CaseError::Device(error)) => {
                    return Err(anyhow::Error::from(error).context(what()));
                }
            }
            self.bar.inc(case.us as u64 + 1);
        }
        Ok(())
    }

    /// Makes the bar count the cases that are `wanted`.
    fn expect(&self, kernels: &[Kernel], what: &'static str, wanted: impl Fn(&Case) -> bool) {
        let cases = kernels.iter().flat_map(|kernel| &kernel.cases);
        let us = cases.filter(|case| wanted(case)).map(|case| case.us as u64 + 1);
        self.bar.reset();
        self.bar.set_message(what);
        self.bar.set_length(us.sum());
    }

    /// Prints the row of a kernel, and its errors.
    fn print(&self, row: &Row) -> anyhow::Result<()> {
        let (Row { name, passed, failed, .. }, width) = (row, self.width);
        let mut lines = vec![format!("{name:<width$}  {passed:>6}  {:>6}", failed.len())];
        lines.extend(failed.iter().map(|why| format!("  {why}")));
        self.say(&lines.join("\n"))
    }

    /// Prints lines immediately.
    fn say(&self, lines: &str) -> anyhow::Result<()> {
        if self.global.quiet || self.global.json {
            return Ok(());
        }
        let _alone = self.printing.lock();
        self.bar.suspend(|| output::print(lines))
    }
}

fn summary(rows: &[Row], run: &Run<'_>, left_us: f64) -> String {
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    let mut summary = format!(
        "{} passed, {} failed, on {} in {}",
        sum(|row| row.passed),
        sum(|row| row.failed.len()),
        run.device.properties().name,
        time(run.start.elapsed().as_secs_f64() * 1e6)
    );
    let left = sum(|row| row.left_out);
    if left > 0 {
        summary += &format!(
            "; {left} longer inputs were left out: --thorough runs them too, some {}",
            time(left_us)
        );
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use cases::Emulated;
    use clap::Parser;
    use gridsync::device::{Emulator, EmulatorConfig};
    use gridsync::primitives::Reducer;
    use gridsync_kernels::op::Sum;

    #[test]
    fn a_faulting_case_fails_and_later_cases_still_run() {
        let call = crate::cli::Cli::try_parse_from(["gridsync", "devices"]).expect("a call");
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let run = Run {
            global: &call.global,
            device: &device,
            start: Instant::now(),
            largest: usize::MAX,
            until: None,
            short: INTERLEAVED,
            bar: progress(&call.global, 0),
            width: 0,
            printing: Mutex::new(()),
        };
        let case = |name: &str, case: fn(&Device) -> Result<(), CaseError>| {
            Case::of((name.into(), 8, 0), 1.0, Emulated::Fast, case)
        };
        let never_written = |device: &Device| {
            let input = device.alloc(8)?;
            Reducer::new(Sum::<f32>::new(), device)?.reduce(&input)?;
            Ok(())
        };
        let kernel = Kernel {
            name: "reduce".into(),
            cases: vec![case("bad", never_written), case("good", |_| Ok(()))],
        };
        let mut row = Row::default();
        run.cases(&kernel, &mut row, |_| true).expect("it should go on");
        assert_eq!((row.passed, row.failed.len()), (1, 1), "{:?}", row.failed);
        assert!(row.failed[0].starts_with("reduce, bad: "), "{:?}", row.failed);
    }
}
