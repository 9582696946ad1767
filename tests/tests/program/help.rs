//! Transcripts: `cmd/*.trycmd`. To write them again, run with `TRYCMD=overwrite`.

use gridsync_tests::program;

#[test]
fn the_program_prints_what_the_transcripts_say() {
    trycmd::TestCases::new()
        .register_bin("gridsync", program::path())
        .env("GRIDSYNC_LIBCUDA", "/nonexistent/libcuda.so.1")
        .env("COLUMNS", "100")
        .case("tests/program/cmd/*.trycmd");
}
