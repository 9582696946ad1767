//! The order of the words of a call.

use clap::{Arg, Command};
use std::ffi::OsString;

/// The words of a call of `command`, with the suite before the flags of `bench`, which may come
/// first: `bench --peers reduce` is `bench reduce --peers`.
pub(crate) fn suite_first(command: &Command, mut words: Vec<OsString>) -> Vec<OsString> {
    let bench = command.find_subcommand("bench").expect("bench is a subcommand");
    let of_suites = bench.get_subcommands().flat_map(Command::get_arguments);
    let flags: Vec<_> = command.get_arguments().chain(of_suites).collect();
    // The index of the first word, at or after `at`, that is neither a flag nor the value of one.
    let name_from = |mut at: usize| {
        while words.get(at)?.as_encoded_bytes().starts_with(b"-") {
            let flag = words[at].to_str().unwrap_or_default();
            at += 1 + usize::from(flags.iter().any(|arg| is_value_next(arg, flag)));
        }
        Some(at)
    };
    if let Some(bench) = name_from(1)
        && words[bench] == "bench"
        && let Some(suite) = name_from(bench + 1)
    {
        words[bench + 1..=suite].rotate_right(1);
    }
    words
}

/// Whether the word after `flag` is a value of `arg`: after `--output`, `-o` and `-qo`, but not
/// after `--output=FILE` and `-oFILE`, nor after a flag whose value only comes after `=`.
fn is_value_next(arg: &Arg, flag: &str) -> bool {
    let is_named = match flag.strip_prefix("--") {
        Some(long) => {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            aliases.into_iter().chain(arg.get_long()).any(|name| name == long)
        }
        None => arg.get_short().is_some_and(|short| {
            flag.strip_suffix(short).is_some_and(|before| !before.contains(short))
        }),
    };
    is_named && arg.get_action().takes_values() && !arg.is_require_equals_set()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;

    #[test]
    fn the_suite_may_come_after_its_flags() {
        for (given, ordered) in [
            ("bench --peers reduce", "bench reduce --peers"),
            ("bench -o reduce --sizes 5 scan -q", "bench scan -o reduce --sizes 5 -q"),
            ("bench -qo reduce scan", "bench scan -qo reduce"),
            ("bench -oreduce scan", "bench scan -oreduce"),
            ("bench --out reduce scan", "bench scan --out reduce"),
            ("bench --only=split barrier", "bench barrier --only=split"),
            ("--device cuda bench --json -- calls", "--device cuda bench calls --json --"),
            ("bench barrier --only system", "bench barrier --only system"),
            ("reduce bench --op scan", "reduce bench --op scan"),
            ("bench --peers", "bench --peers"),
            ("bench --peers=cuda,cpu reduce", "bench reduce --peers=cuda,cpu"),
        ] {
            let words = |call: &str| -> Vec<OsString> {
                ["gridsync"].into_iter().chain(call.split(' ')).map(OsString::from).collect()
            };
            assert_eq!(suite_first(&command(), words(given)), words(ordered));
        }
    }
}
