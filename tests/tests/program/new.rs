//! `gridsync new`: the package that it creates works, and wrong calls create nothing.

use crate::call::{Call, WRONG_USAGE, run};
use crate::folder::Folder;
use cuda_builder::Compiler;
use gridsync_tests::devices::skipped;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::{env, fs};

/// Calls cargo, offline, in the package `hello` of `folder`. The build is kept for later runs.
fn cargo(folder: &Folder, args: &[&str]) -> Call {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo
        .current_dir(folder.path("hello"))
        // Building takes far longer than running.
        .env("CARGO_PROFILE_DEV_DEBUG", "none")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/new"))
        .env("CARGO_NET_OFFLINE", "true")
        .env("GRIDSYNC_LIBCUDA", "/nonexistent/libcuda.so.1")
        // The workspace sets this for cust.
        .env_remove("CUDA_LIBRARY_PATH");
    run(cargo, args, b"")
}

const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn made() -> Folder {
    let folder = Folder::new();
    folder.call(&["new", "hello", "--path", CHECKOUT], b"").says_nothing();
    folder
}

#[test]
fn a_new_package_names_the_checkout_as_the_caller_spelled_it() {
    let folder = Folder::new();
    symlink(CHECKOUT, folder.path("gridsync")).expect("the folder should be there to write to");
    let args = ["new", "hello", "--path", "gridsync", "--json"];
    let made = folder.call(&args, b"").json();
    let files = made["files"].as_array().expect("a list");
    assert_eq!(files.len(), 6, "{files:?}");
    for file in files {
        let file = folder.path("hello").join(file.as_str().expect("a name"));
        let text = fs::read_to_string(&file).expect("it should be there");
        assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "{file:?}: {text}");
        if file.ends_with("hello/Cargo.toml") {
            assert!(text.contains("gridsync = { path = \"../gridsync/host\" }"), "{text}");
        }
    }
}

#[test]
fn a_new_package_passes_its_test_and_runs_without_a_gpu() {
    let folder = made();
    let tested = cargo(&folder, &["test"]).succeeds();
    assert!(tested.stdout.contains("test result: ok. 1 passed"), "{tested:?}");
    let ran = cargo(&folder, &["run", "--quiet"]).succeeds();
    assert!(ran.stdout.starts_with("emulator: "), "{ran:?}");
    let formatted = cargo(&folder, &["fmt", "--all", "--check"]);
    assert_eq!(formatted.code, Some(0), "{formatted:?}");
}

#[test]
#[ignore = "compiles gridsync again"]
fn a_new_package_compiles_its_kernel_to_ptx_and_links_without_cuda() {
    if let Err(why) = Compiler::find() {
        return skipped(&why.to_string());
    }
    let ran = cargo(&made(), &["run", "--features", "gpu"]);
    if ran.stderr.contains("offline") {
        return skipped("the crates of Rust's own library are not here, and this test is offline");
    }
    let ran = ran.says(&["no GPU, using the emulator"]);
    assert!(ran.stdout.starts_with("emulator: "), "{ran:?}");
}

#[test]
fn bad_names_and_folders_that_are_not_checkouts_create_nothing() {
    let folder = Folder::new().with("here", "");
    let call = |args: &[&str]| folder.call(&[&["new"], args].concat(), b"");
    call(&["here"]).fails(WRONG_USAGE, &["here", "another name"]);
    call(&["2d"]).fails(WRONG_USAGE, &["`2d`", "begin with a letter"]);
    call(&["a/b"]).fails(WRONG_USAGE, &["`a/b`", "digits"]);
    call(&["gridsync-x"]).fails(WRONG_USAGE, &["gridsync-x"]);
    call(&["hello", "--path", "here"]).fails(WRONG_USAGE, &["here", "not a checkout"]);
    call(&["absent", "--path", "absent"]).fails(WRONG_USAGE, &["absent", "not a checkout"]);
    assert_eq!(folder.names(), ["here"]);
}
