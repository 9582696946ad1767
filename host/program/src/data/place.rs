//! Inputs and outputs: a path, or `-` for the standard streams.

use crate::shown;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// An input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Standard input, written `-`.
    Stdin,
    /// A file, FIFO or device.
    Path(PathBuf),
}

impl Input {
    /// `-` is standard input; anything else is a path (use `./-` for a file of that name).
    pub fn parse(argument: impl Into<OsString>) -> Self {
        let argument = argument.into();
        if argument == "-" { Self::Stdin } else { Self::Path(argument.into()) }
    }
}

/// For argument parsers. Like [`Input::parse`].
impl From<OsString> for Input {
    fn from(argument: OsString) -> Self {
        Self::parse(argument)
    }
}

/// In messages: control characters are escaped.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("standard input"),
            Self::Path(path) => f.write_str(&shown::path(path)),
        }
    }
}

/// An output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Standard output, written `-`.
    Stdout,
    /// A file, FIFO or device.
    Path(PathBuf),
}

impl Output {
    /// `-` is standard output; anything else is a path (use `./-` for a file of that name).
    pub fn parse(argument: impl Into<OsString>) -> Self {
        let argument = argument.into();
        if argument == "-" { Self::Stdout } else { Self::Path(argument.into()) }
    }
}

/// For argument parsers. Like [`Output::parse`].
impl From<OsString> for Output {
    fn from(argument: OsString) -> Self {
        Self::parse(argument)
    }
}

/// In messages: control characters are escaped.
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("standard output"),
            Self::Path(path) => f.write_str(&shown::path(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_newline_is_one_line_in_a_message() {
        assert_eq!(Input::parse("a\nb\u{1b}[2J").to_string(), r"a\nb\u{1b}[2J");
        assert_eq!(Output::parse("a\tb").to_string(), r"a\tb");
        assert_eq!(Output::parse("").to_string(), "''");
    }

    #[test]
    fn only_a_lone_dash_is_a_standard_stream() {
        assert_eq!(Input::parse("-"), Input::Stdin);
        assert_eq!(Output::parse("-"), Output::Stdout);
        assert_eq!(Input::parse("./-"), Input::Path("./-".into()));
        assert_eq!(Output::parse("--"), Output::Path("--".into()));
    }
}
