//! Transcripts: `cmd/*.trycmd`. Run with `TRYCMD=overwrite` to update them. Also tests the lists in
//! the help.

use crate::call::without_cuda;
use gridsync_tests::program;

#[test]
fn the_output_of_the_program_matches_the_transcripts() {
    trycmd::TestCases::new()
        .register_bin("gridsync", program::path())
        .env("GRIDSYNC_LIBCUDA", "/nonexistent/libcuda.so.1")
        .env("COLUMNS", "100")
        .case("tests/program/cmd/*.trycmd");
}

/// The subcommands that the help of `gridsync` with `args` lists, without `help`.
pub(crate) fn subcommands(args: &[&str]) -> Vec<String> {
    let help = without_cuda(&[args, &["--help"]].concat(), b"").says_nothing().stdout;
    let (_, list) = help.split_once("\nUsage:").expect("it should have a usage");
    // Arguments and options follow them.
    let lines = list.lines().take_while(|line| !matches!(*line, "Arguments:" | "Options:"));
    // Names are indented by two spaces, continued descriptions by more.
    let names =
        lines.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    names
        .filter_map(|line| line.split(' ').next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_commands_for_arrays_come_first_in_a_group_of_their_own() {
    let help = without_cuda(&["--help"], b"").says_nothing().stdout;
    let (_, groups) = help.split_once("\nUsage: gridsync").expect("a usage");
    let groups: Vec<&str> = groups.split("\n\n").skip(1).collect();
    let names = |group: &str| -> Vec<String> {
        let names = group.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        names.map(str::to_owned).collect()
    };
    assert_eq!(
        names(groups[0]),
        [
            "reduce",
            "scan",
            "select",
            "segments",
            "group",
            "sort",
            "unique",
            "top",
            "quantile",
            "histogram",
            "describe",
            "range-sum",
            "kendall"
        ],
        "{help}"
    );
    let first_screen = help.split_once("\nOptions:").expect("options").0;
    assert!(first_screen.lines().count() <= 40, "{first_screen}");
}

#[test]
fn device_has_at_most_three_lines_of_help_and_none_without_device_work() {
    for args in [&["reduce"][..], &["bench"], &["lab", "ladder"], &["demo"]] {
        let help = without_cuda(&[args, &["--help"]].concat(), b"").says_nothing().stdout;
        let lines = help.lines().skip_while(|line| !line.contains("--device <DEVICE>"));
        let lines = lines.take_while(|line| !line.contains("--json"));
        let lines = lines.filter(|line| !line.is_empty()).count();
        assert!((1..=3).contains(&lines), "{help}");
    }
    for args in [&["new"][..], &["man"], &["completions"], &["report"], &["bench", "compare"]] {
        let help = without_cuda(&[args, &["--help"]].concat(), b"").says_nothing().stdout;
        assert!(!help.contains("--device"), "{args:?}: {help}");
    }
    without_cuda(&["man", "--device", "cpu"], b"").says_nothing();
}

#[test]
fn common_options_come_after_those_of_the_subcommand() {
    for command in subcommands(&[]) {
        let help = without_cuda(&[&command, "--help"], b"").says_nothing().stdout;
        let (own, common) = help.split_once("\nCommon options:\n").expect("both");
        assert!(common.contains("--json") && common.contains("--quiet"), "{command}");
        assert!(!own.contains("--json\n") && own.contains("--help"), "{command}");
    }
    let place = |flag: &str| flags(&["reduce"]).iter().position(|other| other == flag);
    let order =
        ["--op", "--rows", "--output", "--check", "--dtype", "--part", "--ranks", "--device"];
    assert!(order.map(place).is_sorted(), "{:?}", flags(&["reduce"]));
}

/// The long flags that the help of `gridsync` with `args` lists.
pub(crate) fn flags(args: &[&str]) -> Vec<String> {
    let help = without_cuda(&[args, &["--help"]].concat(), b"").says_nothing().stdout;
    // Flags are indented by two spaces, or by six without a short form; descriptions by ten.
    let flags = help.lines().filter(|line| line.starts_with("  -") || line.starts_with("      --"));
    let names = flags.flat_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
    // Without an optional value: "--peers[=<KIND>...]".
    names.filter_map(|name| name.split('[').next()).map(str::to_owned).collect()
}
