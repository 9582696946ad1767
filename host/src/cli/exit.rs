//! Exit codes: 0 right; 1 a check failed or a result is wrong; 2 bad usage or bad input; 3 device,
//! driver or build failure.

use gridsync::data::DataError;
use gridsync::device::DeviceError;
use std::fmt;
use std::process::ExitCode;

const WRONG: u8 = 1;
const USAGE: u8 = 2;
const DEVICE: u8 = 3;

/// A result is wrong, or a check failed; what was found has been printed.
#[derive(Debug)]
pub(crate) struct Wrong(pub(crate) String);

/// The user asked for something that makes no sense.
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

/// The exit code for what came of a command; says on standard error what went wrong.
pub(crate) fn code(done: anyhow::Result<()>) -> ExitCode {
    let Err(error) = done else {
        return ExitCode::SUCCESS;
    };
    eprintln!("gridsync: {error:#}");
    ExitCode::from(classify(&error))
}

fn classify(error: &anyhow::Error) -> u8 {
    if error.is::<Wrong>() {
        return WRONG;
    }
    match error.downcast_ref::<DeviceError>() {
        // The user's shape, not the device, is at fault.
        Some(
            DeviceError::GridTooLarge { .. }
            | DeviceError::BadBlock { .. }
            | DeviceError::EmptyGrid { .. },
        ) => USAGE,
        Some(_) => DEVICE,
        None if error.is::<Usage>() || error.is::<DataError>() => USAGE,
        None => DEVICE,
    }
}

/// Prints what clap has to say: help and versions are no errors, and errors are one line like ours.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || error.kind() == DisplayHelpOnMissingArgumentOrSubcommand {
        // Where even this cannot be printed there is no one to tell.
        let _printed = error.print();
        return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
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
    eprintln!("gridsync: {what}; --help tells how it is called");
    ExitCode::from(USAGE)
}
