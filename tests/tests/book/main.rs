//! The transcripts of the book in `docs`. Run with `TRYCMD=overwrite` to write them again.

use gridsync_tests::npy;
use gridsync_tests::program::{self, workspace};
use std::{env, fs};

#[test]
fn the_program_prints_what_the_book_says() {
    let chapters = workspace().canonicalize().expect("it is there").join("docs/src/**/*.md");
    let program = program::path();
    let folder = tempfile::tempdir().expect("a folder should be there to write to");
    let numbers: Vec<f32> = (1..=1000u16).map(f32::from).collect();
    let files: [(&str, &[u8]); 3] = [
        ("numbers.npy", &npy::of(&numbers)),
        ("message.litmus", include_bytes!("message.litmus")),
        ("released.litmus", include_bytes!("released.litmus")),
    ];
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).expect("the folder should be there");
    }
    // The transcripts call the program in the current folder. This is the only test of the executable.
    env::set_current_dir(&folder).expect("the folder should be there");
    trycmd::TestCases::new()
        .register_bin("gridsync", program)
        .env("GRIDSYNC_LIBCUDA", "/nonexistent/libcuda.so.1")
        .env("COLUMNS", "100")
        // `gridsync new` does not look for a compiler then.
        .env("GRIDSYNC_KERNEL_RUSTC", "rustc")
        .case(chapters);
}
