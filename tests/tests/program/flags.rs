//! Flags with the same meaning have the same name, and their aliases work too. Counts may be
//! written in several forms.

use crate::call::{WRONG_USAGE, without_cuda};
use crate::folder::Folder;
use gridsync_tests::npy;

#[test]
fn outputs_are_set_with_output_or_its_alias_out() {
    let folder = Folder::new();
    let array = npy::of(&[1i32, 2, 3]);
    for (number, args) in [
        &["scan", "-", "--op", "sum"][..],
        &["reduce", "-", "--op", "sum", "--rows"],
        &["select", "-", "--unique"],
    ]
    .into_iter()
    .enumerate()
    {
        for flag in ["-o", "--output", "--out"] {
            let to = format!("./{number}{flag}.npy");
            let json = folder.call(&[args, &[flag, &to, "--json"]].concat(), &array).json();
            assert_eq!(json["output"], to, "{json}");
            assert!(folder.path(&to).exists(), "{to}");
        }
    }
    for flag in ["--output", "--out"] {
        let to = format!("./{flag}");
        folder.call(&["lab", "ladder", "-n", "5000", "-q", flag, &to], b"").succeeds();
        assert!(folder.path(&to).join("operations.svg").exists());
    }
    for args in [&["reduce"][..], &["bench", "reduce"], &["lab", "scans"]] {
        let help = without_cuda(&[args, &["--help"]].concat(), b"").succeeds().stdout;
        assert!(help.contains("--output <") && !help.contains("--out <"), "{help}");
    }
}

#[test]
fn every_count_accepts_numbers_powers_and_exponents() {
    let array = npy::of(&[1i32; 300]);
    let scan = ["scan", "-", "--op", "sum", "-o", "/dev/null", "-q"];
    let select = ["select", "-", "--unique", "-o", "/dev/null", "--json"];
    for part in ["100", "1e2", "2^6"] {
        without_cuda(&[&scan[..], &["--part", part]].concat(), &array).succeeds();
        let json = without_cuda(&[&select[..], &["--part", part]].concat(), &array).json();
        let taken = if part == "2^6" { 64 } else { 100 };
        assert_eq!(json["part"], taken, "{json}");
    }
    let demo = ["demo", "-n", "2^7", "--blocks", "2^1", "--threads", "6.4e1", "--runs", "1e0"];
    let json = without_cuda(&[&demo[..], &["--json"]].concat(), b"").json();
    let shape = ["n", "blocks", "threads"].map(|key| json[key].as_u64());
    assert_eq!(shape, [Some(128), Some(2), Some(64)]);
    let modulus = ["reduce", "-", "--op", "prod-mod", "--modulus", "2^32", "-q"];
    assert_eq!(without_cuda(&modulus, &array).succeeds().stdout, "1\n");
    for args in [
        &["demo", "-n", "2^99"][..],
        &["verify", "--seeds", "1e"],
        &["bench", "reduce", "--sizes", "2^20,2^64"],
        &["bench", "barrier", "--blocks", "1.5"],
        &["lab", "ladder", "-n", "0"],
        &["lab", "scans", "-n", "2^37"],
        &["lab", "sorts", "-n", "2^37"],
        &["lab", "launches", "--rounds", "1e5"],
        &["lab", "stress", "--rounds", "0"],
    ] {
        let told = ["counts are 1000, 2^20 or 1e6", args[args.len() - 2]];
        without_cuda(args, b"").fails(WRONG_USAGE, &told[..1]);
    }
}

#[test]
fn an_empty_part_is_refused_with_a_message() {
    let array = npy::of(&[1i32; 3]);
    for args in [
        &["reduce", "-", "--op", "sum"][..],
        &["scan", "-", "--op", "sum", "-o", "/dev/null"],
        &["select", "-", "--unique", "-o", "/dev/null"],
        &["kendall", "-", "/dev/null"],
    ] {
        let call = without_cuda(&[args, &["--part", "0"]].concat(), &array);
        call.fails(WRONG_USAGE, &["--part", "at least 1"]);
    }
}
