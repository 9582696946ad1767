//! Transcripts: `cmd/*.trycmd`. Run with `TRYCMD=overwrite` to write them again.

use gridsync_tests::program;

#[test]
fn the_program_prints_what_the_transcripts_say() {
    trycmd::TestCases::new()
        .register_bin("gridsync", program::path())
        .env("GRIDSYNC_LIBCUDA", "/nonexistent/libcuda.so.1")
        .env("COLUMNS", "100")
        .case("tests/program/cmd/*.trycmd");
}
