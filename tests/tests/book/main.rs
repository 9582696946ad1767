//! The transcripts of the book in `docs`. `cargo xtask book` updates them.

use gridsync_tests::npy;
use gridsync_tests::program::{self, workspace};
use std::{env, fs};

#[test]
fn the_output_of_the_program_matches_the_book() {
    let chapters =
        workspace().canonicalize().expect("the workspace should exist").join("docs/src/**/*.md");
    let program = program::path();
    let folder = tempfile::tempdir().expect("the system should have a folder for temporary files");
    let numbers: Vec<f32> = (1..=1000u16).map(f32::from).collect();
    let files: [(&str, &[u8]); 4] = [
        ("numbers.npy", &npy::of(&numbers)),
        ("message.litmus", include_bytes!("message.litmus")),
        ("released.litmus", include_bytes!("released.litmus")),
        (
            "rows.jsonl",
            include_bytes!("../../../bench/runs/2026-11-25-nvidia-h200/reduce-rows.jsonl"),
        ),
    ];
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).expect("the folder should exist");
    }
    // The transcripts call the program in the current folder. This executable has no other test.
    env::set_current_dir(&folder).expect("the folder should exist");
    trycmd::TestCases::new()
        .register_bin("gridsync", program)
        .env("GRIDSYNC_LIBCUDA", "/nonexistent/libcuda.so.1")
        .env("COLUMNS", "100")
        // With this variable, `gridsync new` does not search for a compiler.
        .env("GRIDSYNC_KERNEL_RUSTC", "rustc")
        .case(chapters);
}
