//! Inputs in other formats, and outputs that cannot be written: a message says which.

use crate::call::{WRONG_USAGE, without_cuda};
use crate::folder::Folder;
use gridsync_tests::npy;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

#[test]
fn files_of_other_formats_are_named_without_a_hint_to_dtype() {
    let formats: [(&[u8], &str); 9] = [
        (b"", "empty (0 bytes)"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\x03", "gunzip"),
        (b"\x28\xb5\x2f\xfd\x04\0", "zstd"),
        (b"PAR1\x15\x04\x15\0", "Parquet"),
        (b"\x89HDF\r\n\x1a\n\0\0\0\0", "HDF5"),
        (b"\x80\x04\x95\x20\0\0\0\0\0\0\0", "pickle"),
        (b"\x80\x02}q\0", "pickle"),
        (b"x,y\n1.5,2\n", "text (\"x,y\")"),
        (b"1.5 2.5 3.5\n", "np.loadtxt"),
    ];
    for (bytes, part) in formats {
        let folder = Folder::new().with("x.npy", bytes).with("x", bytes);
        let sum = |input: &str| {
            let stdin = if input == "-" { bytes } else { b"" };
            folder.call(&["reduce", input, "--op", "sum"], stdin)
        };
        for input in ["x", "x.npy", "-"] {
            let message = sum(input).stderr;
            assert!(!message.contains("--dtype"), "{message}");
            sum(input).fails(WRONG_USAGE, &["not .npy", part]);
        }
    }
    // If the call names a type, the program uses it.
    let raw = ["reduce", "-", "--op", "count", "--dtype", "u8", "-q"];
    assert_eq!(without_cuda(&raw, b"PAR1").succeeds().stdout, "4\n");
}

#[test]
fn a_read_only_output_is_not_changed() {
    let folder = Folder::new().with("x.npy", npy::of(&[1i32, 2, 3])).with("out.npy", "old");
    fs::create_dir(folder.path("charts")).expect("the folder should be there");
    let folder = folder.with("charts/limits.svg", "old");
    for name in ["out.npy", "charts/limits.svg"] {
        fs::set_permissions(folder.path(name), Permissions::from_mode(0o444)).expect("our file");
    }
    for args in [
        &["scan", "x.npy", "--op", "sum", "-o", "out.npy"][..],
        &["scan", "x.npy", "--op", "sum", "--rows", "-o", "out.npy"],
        &["select", "x.npy", "--unique", "-o", "out.npy"],
        &["select", "x.npy", "--unique", "-o", "/dev/null", "--counts", "out.npy"],
        &["lab", "limits", "-o", "charts"],
    ] {
        let call = folder.call(args, b"");
        call.fails(WRONG_USAGE, &["read-only", "chmod +w"]);
    }
    assert_eq!(folder.read("out.npy"), b"old");
    assert_eq!(folder.read("charts/limits.svg"), b"old");
}

#[test]
fn an_invalid_array_name_is_refused_and_no_file_is_created() {
    let folder = Folder::new().with("x.npy", npy::of(&[1i32, 2, 3]));
    let scan = |to: &str| folder.call(&["scan", "x.npy", "--op", "sum", "-o", to], b"");
    scan("y.npz:a").fails(WRONG_USAGE, &["y.npz:a", "can only be read", "np.savez"]);
    scan("").fails(WRONG_USAGE, &["''", "empty", "standard output"]);
    let none = folder.call(&["reduce", "", "--op", "sum"], b"");
    none.fails(WRONG_USAGE, &["'': no such file"]);
    assert_eq!(folder.names(), ["x.npy"]);
}

#[test]
fn names_with_newlines_and_escape_sequences_are_printed_escaped() {
    let name = "a\nb\u{1b}[31m.npy";
    let folder = Folder::new().with(name, npy::of(&[1i32, 2, 3]));
    let absent = folder.call(&["reduce", "c\nd\u{1b}[2J.npy", "--op", "sum"], b"");
    absent.fails(WRONG_USAGE, &[r"c\nd\u{1b}[2J.npy: no such file"]);
    let scan = ["scan", name, "--op", "sum", "-o", "o\nut\u{1b}.npy"];
    let call = folder.call(&scan, b"").says(&[r"o\nut\u{1b}.npy: 3 elements"]);
    assert!(!call.stderr.contains('\u{1b}'), "{call:?}");
    let json = folder.call(&[&scan[..], &["--json"]].concat(), b"").json();
    assert_eq!(json["output"], "o\nut\u{1b}.npy", "JSON has the name as it is");
    for args in [
        &["report", "c\nd", "-o", "page"][..],
        &["bench", "compare", "c\nd", "e"],
        &["dag", "c\nd.toml"],
        &["lab", "litmus", "c\nd"],
        &["reduce", "x.npy", "--op", "\u{1b}[31m\nred"],
        &["new", "c\nd"],
    ] {
        let call = folder.call(args, b"");
        assert!(!call.stderr.contains('\u{1b}'), "{call:?}");
        call.fails(WRONG_USAGE, &[]);
    }
}

#[test]
fn an_array_without_elements_has_no_throughput() {
    let none = npy::of::<f32>(&[]);
    for args in [
        &["reduce", "-", "--op", "sum"][..],
        &["scan", "-", "--op", "sum", "-o", "/dev/null"],
        &["select", "-", "--unique", "-o", "/dev/null"],
    ] {
        let call = without_cuda(&[args, &["--device", "cpu"]].concat(), &none).succeeds();
        assert!(!call.stderr.contains("NaN"), "{call:?}");
    }
}

#[test]
fn a_header_of_python_2_is_read() {
    let header = "{u'descr': u'<i4', u'fortran_order': False, u'shape': (3L,), }";
    let file = npy::raw(header, &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    let sum = without_cuda(&["reduce", "-", "--op", "sum", "-q"], &file);
    assert_eq!(sum.succeeds().stdout, "6\n");
}

#[test]
fn a_condition_that_is_not_a_comparison_is_refused_with_the_syntax() {
    let array = npy::of(&[1i32, 2, 3]);
    let select = |condition: &str| {
        without_cuda(&["select", "-", "--where", condition, "-o", "/dev/null"], &array)
    };
    select("> 1 and < 3")
        .fails(WRONG_USAGE, &["one comparison", "--where \"> 1\" -o - | gridsync"]);
    select("<> 1").fails(WRONG_USAGE, &["<> is not a comparison", "\"!= 1\""]);
}
