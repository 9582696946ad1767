//! Exit codes. The table is in the help and the README.

use super::output;
use crate::data::DataError;
use crate::records::RecordsError;
use crate::shown::escaped;
use gridsync::device::DeviceError;
use gridsync::memory::NoRoom;
use gridsync::primitives::PartError;
use gridsync::primitives::kendall::KendallError;
use gridsync::primitives::range_sum::RangeSumError;
use gridsync::primitives::rank::RankError;
use gridsync_ranks::{Difference, EnvironmentError, RanksError};
use std::fmt;
use std::process::{self, ExitCode};
use std::thread;
use std::time::Duration;

const WRONG: u8 = 1;
const USAGE: u8 = 2;
const DEVICE: u8 = 3;

/// A result is wrong, or a check failed; the result has been printed.
#[derive(Debug)]
pub(crate) struct Wrong(pub(crate) String);

/// The request of the user is invalid.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}
impl std::error::Error for Usage {}

/// The exit code of a command. Prints the error, if any, on standard error.
pub(crate) fn code(done: anyhow::Result<()>) -> ExitCode {
    let Err(error) = done else {
        return ExitCode::SUCCESS;
    };
    ExitCode::from(report(&error))
}

/// Exits with this error after `grace`, unless the program exits earlier.
pub(crate) fn after(grace: Duration, error: &anyhow::Error) -> ! {
    thread::sleep(grace);
    process::exit(report(error).into())
}

/// Prints the error on standard error and returns its exit code. A user error is one line, even if
/// it has names or foreign text; a fault of a device may include the driver's log.
fn report(error: &anyhow::Error) -> u8 {
    let (code, text) = (classify(error), format!("gridsync: {error:#}{}", hint(error)));
    if code == USAGE {
        output::say(escaped(&text));
    } else {
        output::say(text);
    }
    code
}

/// The option or the task that helps with an error of a library, which does not know either.
fn hint(error: &anyhow::Error) -> &'static str {
    if let Some(error) = error.downcast_ref() {
        return match error {
            RanksError::Missing { .. } => " (--rank-timeout)",
            RanksError::Disagreement { .. }
            | RanksError::NoNccl { .. }
            | RanksError::OneGpu { .. }
            | RanksError::Nccl { .. }
            | RanksError::NcclLate { .. } => " (--transport tcp)",
            RanksError::Differs { difference: Difference::Input, .. }
            | RanksError::Refused { is_bad_input: true, .. } => " (--shard)",
            _ => "",
        };
    }
    match device_error(error) {
        Some(DeviceError::NoImage { .. } | DeviceError::UnknownKernel { .. }) => {
            " (cargo xtask build-kernels)"
        }
        Some(DeviceError::NoPeerAccess { .. }) => " (--ranks)",
        _ => "",
    }
}

fn classify(error: &anyhow::Error) -> u8 {
    if error.is::<Wrong>() {
        return WRONG;
    }
    let of_device = device_error(error).map(|error| match error {
        DeviceError::OnGpu { error, .. } => error,
        error => error,
    });
    match of_device {
        // The user requested an invalid shape; the device is not at fault.
        Some(
            DeviceError::GridTooLarge { .. }
            | DeviceError::BadBlock { .. }
            | DeviceError::EmptyGrid { .. }
            | DeviceError::OverLimit { .. }
            | DeviceError::GpuCount { .. },
        ) => USAGE,
        Some(_) => DEVICE,
        None if is_of_the_call(error) => USAGE,
        None => DEVICE,
    }
}

/// The device error, if a device failed.
fn device_error(error: &anyhow::Error) -> Option<&DeviceError> {
    if let Some(PartError::Device(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(RangeSumError::Device(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(KendallError::Device(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(RankError::Device(error)) = error.downcast_ref() {
        return Some(error);
    }
    error.downcast_ref()
}

/// Whether the error is in the command line or in a file.
fn is_of_the_call(error: &anyhow::Error) -> bool {
    error.is::<Usage>()
        || error.is::<DataError>()
        || error.is::<RecordsError>()
        || error.is::<EnvironmentError>()
        || error.downcast_ref().is_some_and(RanksError::is_bad_input)
        || error.is::<RangeSumError>()
        || error.is::<KendallError>()
        || error.is::<RankError>()
        || error.is::<PartError>()
        || error.is::<NoRoom>()
}

/// Adds the remedy to the error if memory ran out.
pub(crate) fn no_room(error: anyhow::Error, remedy: &str) -> anyhow::Error {
    let is_no_room = error.is::<NoRoom>()
        || matches!(error.downcast_ref(), Some(PartError::Memory(_)))
        || matches!(error.downcast_ref(), Some(RangeSumError::Memory(_)))
        || matches!(error.downcast_ref(), Some(KendallError::Memory(_)))
        || matches!(error.downcast_ref(), Some(DataError::OutOfMemory { .. }));
    match is_no_room {
        true => Usage(format!("{error:#}; {remedy}")).into(),
        false => error,
    }
}

/// Prints clap's message. Help and version are not errors; errors are put on one line, like ours.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() {
        return code(output::print(error.to_string().trim_end()));
    }
    if error.kind() == DisplayHelpOnMissingArgumentOrSubcommand {
        // If printing fails, it cannot be reported in another way.
        let _printed = error.print();
        return ExitCode::from(USAGE);
    }
    let text = error.to_string();
    let what: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .collect();
    let what = what.join(" ");
    let what = what.strip_prefix("error: ").unwrap_or(&what);
    output::say(format_args!("gridsync: {what}; see --help"));
    ExitCode::from(USAGE)
}
