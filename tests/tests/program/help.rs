//! Transcripts: `cmd/*.trycmd`. Run with `TRYCMD=overwrite` to write them again. And what the help lists.

use crate::call::without_cuda;
use gridsync_tests::program;

#[test]
fn the_program_prints_what_the_transcripts_say() {
    trycmd::TestCases::new()
        .register_bin("gridsync", program::path())
        .env("GRIDSYNC_LIBCUDA", "/nonexistent/libcuda.so.1")
        .env("COLUMNS", "100")
        .case("tests/program/cmd/*.trycmd");
}

/// The subcommands that the help of `gridsync` with `args` lists, without `help`.
pub(crate) fn subcommands(args: &[&str]) -> Vec<String> {
    let help = without_cuda(&[args, &["--help"]].concat(), b"").says_nothing().stdout;
    let (_, list) = help.split_once("\nCommands:\n").expect("it should list subcommands");
    let lines = list.lines().take_while(|line| !line.is_empty());
    // A name stands two places in; a description that goes on, further.
    let names =
        lines.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    names
        .filter_map(|line| line.split(' ').next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The long flags that the help of `gridsync` with `args` lists.
pub(crate) fn flags(args: &[&str]) -> Vec<String> {
    let help = without_cuda(&[args, &["--help"]].concat(), b"").says_nothing().stdout;
    // A flag stands two places in, or six if it has no short form; descriptions, ten.
    let flags = help.lines().filter(|line| line.starts_with("  -") || line.starts_with("      --"));
    let names = flags.flat_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
    names.map(str::to_owned).collect()
}
