//! Texts that are refused.

use crate::{module, refused};
use ptx::parse;

fn in_body(statements: &str) -> String {
    refused(&format!(".entry k() {{\n.reg .pred p; .reg .b32 %r<4>;\n{statements}\n}}"))
}

#[test]
fn an_error_has_the_line_the_column_and_what_was_expected() {
    let error = in_body("add.u32 %r1 %r2;");
    assert_eq!(error, "line 6, column 13: found `%r2`, expected `,` or `;`");
    let error = refused(".global .u33 x;");
    assert_eq!(
        error,
        "line 4, column 9: found `.u33`, expected a state space, an alignment or a type"
    );
    let error = parse(".version 8.0\n.target sm_90\n.entry k() { ret;").unwrap_err();
    assert_eq!((error.line, error.column), (3, 18));
    assert!(error.found == "the end of the text");
}

#[test]
fn a_text_begins_with_its_version_and_target() {
    for (text, expected) in [
        ("", "line 1, column 1: found the end of the text, expected `.version`"),
        ("\u{7f}ELF", "line 1, column 1: found `\\u{7f}`, expected `.version`"),
        (".version 8\n", "line 1, column 10: found `8`, expected a version (8.0)"),
        (".version 8.0\n.entry", "line 2, column 1: found `.entry`, expected `.target`"),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_name_is_declared_once_and_before_its_use() {
    for (statements, message) in [
        (
            "mov.b32 %r4, 0;",
            "line 6, column 9: found `%r4`, expected a declared register or a special register",
        ),
        (
            "ld.u32 %r0, [x];",
            "line 6, column 14: found `x`, expected a declared register or variable",
        ),
        ("@%p1 ret;", "line 6, column 2: found `%p1`, expected a declared register"),
        ("bra x;", "line 6, column 5: found `x`, expected a declared name or a label"),
        (
            "x: ret;\nx:",
            "line 7, column 1: found `x` again, expected a label that is not in this block yet",
        ),
        (
            ".reg .b32 %r<2>;",
            "line 6, column 11: found `%r` again, expected a name that is not declared yet",
        ),
        (
            "{ .reg .b32 y; } mov.b32 y, 0;",
            "line 6, column 26: found `y`, expected a declared name or a label",
        ),
    ] {
        assert_eq!(in_body(statements), message);
    }
    let error = refused(".global .u32 a;\n.global .u32 a;");
    assert_eq!(
        error,
        "line 5, column 14: found `a` again, expected a name that is not declared yet"
    );
    let error = refused(".func f() {}\n.func f() {}");
    assert_eq!(error, "line 5, column 7: found `f` again, expected one body for each function");
}

#[test]
fn what_is_too_large_is_refused_with_the_numbers() {
    let most = "at most 1048576 registers in a function";
    assert!(
        in_body(".reg .b32 %x<4000000000>;")
            .ends_with(&format!("4000000005 registers, expected {most}"))
    );
    assert!(
        in_body(".reg .b32 %x<40000000000>;").ends_with(&format!("`40000000000`, expected {most}"))
    );
    let error = refused(".global .b64 x[0x10000][0x10000][0x10000][0x10000][0x10000];");
    assert!(
        error.ends_with("a variable of more than 2^40 bytes, expected at most 2^40 bytes"),
        "{error}"
    );
    let error = refused(".global .pred x[0x7fffffffffffffff][0x7fffffffffffffff] = {1};");
    assert!(
        error.ends_with("found a predicate in memory, expected a type that has bytes"),
        "{error}"
    );
    let rows = "{1},".repeat(100);
    let error = refused(&format!(".global .b8 x[][0x4000000000] = {{ {rows} }};"));
    assert!(error.ends_with("of more than 2^40 bytes, expected at most 2^40 bytes"), "{error}");
    let error = refused(".global .u32 x[2] = {1, 2, 3};");
    assert!(
        error.ends_with("column 28: found more values than elements, expected at most 2"),
        "{error}"
    );
    let error = refused(".global .b32 x[4294967296][-1];");
    assert!(error.ends_with("found -1, expected a length of at least 0"), "{error}");
    for deep in ["{", "mov.b32 {", "mov.b32 [%r0, {", "@p call (", "mov.b32 ("] {
        let error = in_body(&deep.repeat(100_000));
        assert!(error.contains("level") || error.contains("expected"), "{error}");
    }
    let error = in_body(&"{".repeat(100_000));
    assert!(error.contains("found level 65, expected at most 64 levels"), "{error}");
}

#[test]
fn what_is_not_closed_is_refused() {
    assert!(refused("/* x").ends_with(
        "found a comment without `*/`, expected a function, a variable or another directive"
    ));
    assert!(refused(".pragma \"x").ends_with("found a string without its end, expected a string"));
    assert!(
        refused(".section .debug_info { .b8 1")
            .ends_with("found the end of the text, expected `}`")
    );
}

#[test]
fn no_prefix_of_a_module_is_a_panic() {
    for (_, text) in crate::SAMPLES {
        for end in 0..text.len() {
            let _may_fail = parse(&text[..end]);
        }
    }
    assert!(parse(&module("")).is_ok());
}

#[test]
fn the_time_is_proportional_to_the_text() {
    let many = 200_000;
    let dimensions = "[1]".repeat(many);
    assert!(parse(&module(&format!(".global .u32 x{dimensions};"))).is_ok());
    let digits = "1".repeat(many);
    assert!(in_body(&format!("mov.b32 %r{digits}, 0;")).contains("expected a declared register"));
    // Each location refers to another end of the same long name.
    let lines: String = (0..many / 10)
        .map(|plus| format!(".loc 1 1 1, function_name s+{plus}, inlined_at 1 2 1\n"))
        .collect();
    let name = "1,".repeat(many);
    let text = format!(".entry k() {{ {lines} ret; }}\n.section .debug_str {{ s: .b8 {name}0 }}");
    assert!(parse(&module(&text)).is_ok());
}
