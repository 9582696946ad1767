//! The files of a call, and the check for conflicts between them.

use super::Global;
use super::exit::Usage;
use crate::data::{Identity, Input, Output};
use std::ffi::OsString;

/// The inputs and outputs of a call, each with its name on the command line.
#[derive(Default)]
pub(super) struct Files {
    inputs: Vec<(&'static str, Input)>,
    outputs: Vec<(&'static str, Output)>,
}

impl Files {
    pub(super) fn reads(mut self, name: &'static str, path: &OsString) -> Self {
        self.inputs.push((name, Input::parse(path)));
        self
    }

    pub(super) fn writes(mut self, name: &'static str, path: Option<&OsString>) -> Self {
        let outputs = path.map(|path| (name, Output::parse(path)));
        self.outputs.extend(outputs);
        self
    }

    /// The path of the output with this name, if it is given.
    pub(super) fn path(&self, name: &str) -> Option<String> {
        let (_, to) = self.outputs.iter().find(|(given, _)| *given == name)?;
        Some(match to {
            Output::Path(path) => path.to_string_lossy().into_owned(),
            Output::Stdout => to.to_string(),
        })
    }

    /// Refuses files that would make the call hang or lose a result: an input given twice that can
    /// be read only once, one file for two outputs, an output that would replace an input, and
    /// standard output for both an output and JSON.
    pub(super) fn check_conflicts(&self, global: &Global) -> Result<(), Usage> {
        let inputs = self.inputs.iter().map(|(name, input)| (name, input, input.identity()));
        let inputs: Vec<_> = inputs.collect();
        let outputs = self.outputs.iter();
        let outputs: Vec<_> = outputs.map(|(name, to)| (name, to, to.identity())).collect();
        for (number, (name, input, identity)) in inputs.iter().enumerate() {
            let before = &inputs[..number];
            let twice = before.iter().find(|(_, other, known)| match (input, other) {
                (Input::Stdin, Input::Stdin) => true,
                _ => {
                    is_one(identity, known) && identity.as_ref().is_some_and(Identity::is_read_once)
                }
            });
            if let Some((other, ..)) = twice {
                return Err(Usage(format!(
                    "{other} and {name} are both {input}, which can be read only once: save one of them to a file"
                )));
            }
        }
        for (number, (name, to, identity)) in outputs.iter().enumerate() {
            let before = &outputs[..number];
            let twice = before.iter().find(|(.., known)| is_one(identity, known));
            if let Some((other, known, _)) = twice {
                let one = match known == to {
                    true => format!("are both {to}"),
                    false => format!("are one file, {known} and {to}"),
                };
                return Err(Usage(format!(
                    "--{other} and --{name} {one}: each needs its own file"
                )));
            }
            let both_ways = identity.as_ref().is_some_and(Identity::goes_both_ways);
            let mut inputs = inputs.iter();
            let replaced = inputs.find(|(.., known)| is_one(identity, known) && !both_ways);
            if let Some((input, path, _)) = replaced {
                return Err(Usage(format!(
                    "--{name} {to} is the same file as {input}, {path}, and would replace it: name another file"
                )));
            }
        }
        let standard = Output::Stdout.identity();
        let on_stdout = |(_, to, identity): &(_, &Output, _)| {
            **to == Output::Stdout || is_one(identity, &standard)
        };
        match outputs.iter().find(|output| on_stdout(output)) {
            Some((name, ..)) if global.json => Err(Usage(format!(
                "standard output can get --{name} or the JSON, not both: name a file"
            ))),
            _ => Ok(()),
        }
    }
}

fn is_one(one: &Option<Identity>, other: &Option<Identity>) -> bool {
    one.as_ref().zip(other.as_ref()).is_some_and(|(one, other)| one.is(other))
}
