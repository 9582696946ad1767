//! Calls with wrong arguments.

use crate::call::{WRONG_USAGE, without_cuda};

#[test]
fn usage_errors_of_clap_are_one_line_too() {
    let call = |args: &[&str]| without_cuda(args, b"");
    call(&["frobnicate"]).fails(WRONG_USAGE, &["frobnicate"]);
    call(&["reduce"]).fails(WRONG_USAGE, &["--op", "INPUT"]);
    call(&["reduce", "x.npy"]).fails(WRONG_USAGE, &["--op"]);
    call(&["reduce", "--op", "sum"]).fails(WRONG_USAGE, &["INPUT"]);
    call(&["reduce", "a", "b", "--op", "sum"]).fails(WRONG_USAGE, &["'b'"]);
    call(&["reduce", "a", "--op", "median"]).fails(WRONG_USAGE, &["median", "sum, prod, min"]);
    call(&["reduce", "a", "--op", "sum", "--dtype", "f8"]).fails(WRONG_USAGE, &["f8", "f16"]);
    call(&["reduce", "a", "--op", "sum", "--acc", "f16"]).fails(WRONG_USAGE, &["f16", "f32, f64"]);
    call(&["reduce", "a", "--op", "sum", "--variant", "x"]).fails(WRONG_USAGE, &["tiles"]);
    call(&["devices", "-q", "-v"]).fails(WRONG_USAGE, &["--quiet", "--verbose"]);
    call(&["demo", "-n", "many"]).fails(WRONG_USAGE, &["many"]);
    call(&["demo", "--nonsense"]).fails(WRONG_USAGE, &["--nonsense"]);
}

#[test]
fn a_call_without_a_subcommand_shows_the_help_and_fails() {
    let call = without_cuda(&[], b"");
    assert_eq!((call.code, call.stdout.as_str()), (Some(WRONG_USAGE), ""));
    assert!(call.stderr.contains("Usage: gridsync"), "{call:?}");
}
