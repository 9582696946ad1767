//! Tests as values: plain functions and rows of tables, each with a name, run by `libtest-mimic`.
//!
//! A test is a function that panics if its claim does not hold. [`trials!`](crate::trials!) lists
//! the tests of a module. The methods of [`Trials`] add those of a table, one row at a time.

use crate::devices::{emulator, images, skips, with_cuda};
use clap::Parser;
use gridsync::device::{Device, PtxKernels};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::any::Any;
use std::cell::RefCell;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A check of a device. It panics if something is wrong.
pub type Check = fn(&Device);

/// The runs that include a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// Every run.
    Usual,
    /// Runs with `--include-ignored`. Other runs list the test as ignored.
    Thorough,
}

impl Budget {
    /// `Thorough` if the test `is_long`.
    #[must_use]
    pub fn thorough_if(is_long: bool) -> Self {
        if is_long { Self::Thorough } else { Self::Usual }
    }
}

/// The tests of one or more modules.
pub struct Trials {
    module: &'static str,
    list: Vec<Trial>,
    one_at_a_time: bool,
}

/// The tests of this module: each line has a method of [`Trials`] and the functions that it adds.
///
/// ```
/// # use gridsync::device::Device;
/// # use gridsync_tests::{trials, trials::Trials};
/// pub(crate) fn trials() -> Trials {
///     trials! {
///         test: two_and_two_are_four;
///         on_each_backend: what_is_uploaded_comes_back;
///     }
/// }
///
/// fn two_and_two_are_four() {
///     assert_eq!(2 + 2, 4);
/// }
///
/// fn what_is_uploaded_comes_back(device: &Device) {
///     let buffer = device.upload(&[1, 2]).expect("there is room");
///     assert_eq!(buffer.download(), Ok(vec![1, 2]));
/// }
/// # trials();
/// ```
#[macro_export]
macro_rules! trials {
    ($($kind:ident: $($test:ident),+ $(,)?;)*) => {{
        let mut trials = $crate::trials::Trials::of(module_path!());
        $($(trials.$kind(stringify!($test), $test);)+)*
        trials
    }};
}

impl Trials {
    /// Creates an empty list for the module with this path.
    #[must_use]
    pub fn of(module_path: &'static str) -> Self {
        // Names of tests do not start with the crate's name.
        let module = module_path.split_once("::").map_or("", |(_, path)| path);
        Self { module, list: Vec::new(), one_at_a_time: false }
    }

    /// Adds a test that runs in every run.
    pub fn test(&mut self, name: impl Display, test: impl FnOnce() + Send + 'static) {
        self.add(name, Budget::Usual, test);
    }

    /// Adds a slow test, which runs only in thorough runs.
    pub fn thorough(&mut self, name: impl Display, test: impl FnOnce() + Send + 'static) {
        self.add(name, Budget::Thorough, test);
    }

    /// Adds a check of a device once for each backend.
    pub fn on_each_backend(&mut self, name: impl Display, check: Check) {
        self.test(format!("{name}::on_the_emulator"), move || {
            check(&emulator());
        });
        self.test(format!("{name}::on_cuda"), move || with_cuda(check));
    }

    /// Like [`Trials::on_each_backend`], but the check on the emulator runs only in thorough runs.
    pub fn thorough_on_the_emulator(&mut self, name: impl Display, check: Check) {
        self.thorough(format!("{name}::on_the_emulator"), move || {
            check(&emulator());
        });
        self.test(format!("{name}::on_cuda"), move || with_cuda(check));
    }

    /// Adds all tests of other modules.
    #[must_use]
    pub fn with(mut self, others: impl IntoIterator<Item = Self>) -> Self {
        self.list.extend(others.into_iter().flat_map(|other| other.list));
        self
    }

    /// Runs the tests one at a time, whatever the command line says, because they disturb each
    /// other.
    #[must_use]
    pub fn one_at_a_time(self) -> Self {
        Self { one_at_a_time: true, ..self }
    }

    /// The names of the tests.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(Trial::name)
    }

    /// Adds a test with this budget.
    pub fn add(
        &mut self,
        name: impl Display,
        budget: Budget,
        test: impl FnOnce() + Send + 'static,
    ) {
        self.add_boxed(name.to_string(), budget, Box::new(test));
    }

    /// Does the work of `add` without a generic type, because there are hundreds of types.
    fn add_boxed(&mut self, name: String, budget: Budget, test: Box<dyn FnOnce() + Send>) {
        let name = match self.module {
            "" => name,
            module => format!("{module}::{name}"),
        };
        let timed = name.clone();
        let run = move || {
            let start = Instant::now();
            let end = completion(test);
            let took = (start.elapsed(), timed);
            let mut times = TIMES.lock().unwrap_or_else(PoisonError::into_inner);
            times.push(took);
            end
        };
        let is_long = budget == Budget::Thorough;
        let trial = Trial::ignorable_test(name, run).with_ignored_flag(is_long);
        self.list.push(trial);
    }

    /// Runs the tests that the command line selects.
    #[must_use]
    pub fn run(mut self) -> ExitCode {
        let mut call = Call::parse();
        if let Some(compute) = call.ptx {
            let kernels = PtxKernels::new(&images(), compute).expect("whole images");
            let kernels: &'static PtxKernels = Box::leak(Box::new(kernels));
            kernels.run_by_default();
        }
        if self.one_at_a_time {
            call.harness.test_threads = Some(1);
        }
        if !call.more.is_empty() {
            let filters = call.harness.filter.take().into_iter().chain(call.more);
            let each: Vec<_> = filters
                .map(|filter| Arguments { filter: Some(filter), ..call.harness.clone() })
                .collect();
            self.list.retain(|trial| each.iter().any(|one| !one.is_filtered_out(trial)));
        }
        self.list.sort_by(|a, b| a.name().cmp(b.name()));
        if let Some(Part { number, of }) = call.part {
            self.list.retain(|trial| !call.harness.is_filtered_out(trial));
            // Neighbours in the list are similar, so each process gets the same number of each kind. The
            // turns shift, or one process would get all tests of one length.
            let mut turns = (0..).flat_map(|round| {
                let shift = round * (round + 1) / 2;
                (0..of).map(move |turn| (turn + shift) % of + 1)
            });
            self.list.retain(|_| turns.next() == Some(number));
        }
        let is_left =
            |trial: &&Trial| call.harness.is_ignored(trial) && !call.harness.is_filtered_out(trial);
        let left = self.list.iter().filter(is_left).count();
        if left > 0 && !call.harness.list {
            eprintln!("{left} tests that take long are ignored: --include-ignored runs them");
        }
        panic::set_hook(Box::new(|info| PANIC.set(Some(info.to_string()))));
        let conclusion = libtest_mimic::run(&call.harness, self.list);
        let mut times = TIMES.lock().unwrap_or_else(PoisonError::into_inner);
        times.sort_by(|a, b| b.cmp(a));
        for (time, name) in times.iter().take(call.slowest) {
            println!("{:8.3} s  {name}", time.as_secs_f64());
        }
        conclusion.exit_code()
    }
}

/// The command line of libtest, with additions.
#[derive(Parser)]
struct Call {
    #[command(flatten)]
    harness: Arguments,
    /// More filters: a test runs if its name contains one of them.
    more: Vec<String>,
    /// Print the times of this many of the slowest tests.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    slowest: usize,
    /// Run every N-th test only, from the K-th: N processes, each with another K, run all tests.
    #[arg(long, value_name = "K/N")]
    part: Option<Part>,
    /// Run the kernels' PTX for this compute capability in the emulator, in place of their source.
    #[arg(long, value_name = "COMPUTE")]
    ptx: Option<u32>,
}

/// One of several equal parts of the tests, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    number: usize,
    of: usize,
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split_once('/')
            .and_then(|(number, of)| {
                Some(Self { number: number.parse().ok()?, of: of.parse().ok()? })
            })
            .filter(|part| (1..=part.of).contains(&part.number))
            .ok_or_else(|| format!("{text} is not a part such as 1/3"))
    }
}

/// Duration of each test.
static TIMES: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

thread_local! {
    /// Message and location of the last panic of this thread.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a test. A panic is a failure with its message. A test that skipped something counts as
/// ignored.
fn completion(test: Box<dyn FnOnce() + Send>) -> Result<Completion, Failed> {
    let (end, skipped) = skips(|| panic::catch_unwind(AssertUnwindSafe(test)));
    match end {
        Err(payload) => Err(message(&*payload).into()),
        Ok(()) if skipped => Ok(Completion::ignored_with("SKIPPED")),
        Ok(()) => Ok(Completion::Completed),
    }
}

/// The message of a panic: from the hook, or from the payload if the panic was on another thread.
fn message(payload: &(dyn Any + Send)) -> String {
    let literal = payload.downcast_ref::<&str>().map(ToString::to_string);
    let text = literal.or_else(|| payload.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "a panic without a message".into());
    PANIC.take().filter(|noted| noted.ends_with(&text)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::skipped;

    #[test]
    fn a_panic_fails_a_trial_with_its_message_and_one_that_skips_is_ignored() {
        let end = completion(Box::new(|| panic!("{} is not {}", 1, 2)));
        let failed = end.err().expect("it panicked");
        let message = failed.message().unwrap_or_default();
        assert!(message.ends_with("1 is not 2"), "{message}");
        let skips = completion(Box::new(|| skipped("a test of skipping")));
        assert!(matches!(skips, Ok(Completion::Ignored { .. })));
        let passes = completion(Box::new(|| ()));
        assert!(matches!(passes, Ok(Completion::Completed)));
    }

    #[test]
    fn tests_are_named_after_their_module_without_the_crate() {
        let mut trials = Trials::of("conformance::scan::matrix");
        trials.test("a", || ());
        trials.thorough(format!("b::{}", 1), || ());
        let names: Vec<_> = trials.names().collect();
        assert_eq!(names, ["scan::matrix::a", "scan::matrix::b::1"]);
        let all = Trials::of("conformance").with([trials]);
        assert_eq!(all.names().count(), 2);
    }

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!("2/3".parse(), Ok(Part { number: 2, of: 3 }));
        for wrong in ["", "1", "0/3", "4/3", "1/0", "a/b"] {
            let refused = wrong.parse::<Part>();
            assert_eq!(refused, Err(format!("{wrong} is not a part such as 1/3")));
        }
    }
}
