//! The output of nvcc on this machine. Without nvcc, the test prints SKIPPED.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx::parse;

/// The variable with the path of nvcc. Without it, nvcc is looked up in PATH.
const NVCC: &str = "NVCC";

fn nvcc() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::var_os(NVCC).map(PathBuf::from);
    let found = std::env::split_paths(&path).map(|folder| folder.join("nvcc"));
    named.into_iter().chain(found).find(|program| program.is_file())
}

/// The PTX of a file in tests/cuda.
fn compiled(nvcc: &Path, file: &Path, options: &[&str], folder: &Path) -> String {
    let output = folder.join("output.ptx");
    let mut command = Command::new(nvcc);
    command
        .args(["-ptx", "-arch=sm_80"])
        .args(options)
        .arg("-o")
        .args([output.as_os_str(), file.as_os_str()]);
    let run = command.output().unwrap_or_else(|error| panic!("{nvcc:?}: {error}"));
    assert!(run.status.success(), "{file:?}: {}", String::from_utf8_lossy(&run.stderr));
    std::fs::read_to_string(output).expect("nvcc wrote it")
}

#[test]
fn the_output_of_nvcc_is_parsed() {
    let Some(nvcc) = nvcc() else {
        writeln!(std::io::stderr(), "SKIPPED: no nvcc in PATH or {NVCC}").expect("stderr is open");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda");
    let mut compilations = 0;
    for source in std::fs::read_dir(sources).expect("it is committed") {
        let source = source.expect("a file").path();
        assert_eq!(source.extension(), Some(OsStr::new("cu")));
        for options in [&["-O3"][..], &["-O3", "-lineinfo"], &["-G"]] {
            let text = compiled(&nvcc, &source, options, folder.path());
            let module =
                parse(&text).unwrap_or_else(|error| panic!("{source:?} {options:?}: {error}"));
            assert_eq!(module.kernels().count(), 1, "{source:?}");
            let body = module.kernels().find_map(|kernel| kernel.body.as_ref()).expect("a body");
            let ends = body.instructions.last().expect("at least one").mnemonic.opcode();
            assert!(["ret", "trap", "bra"].contains(&ends), "{source:?}: {ends}");
            let known = body.instructions.iter().all(|instruction| instruction.location.is_some());
            assert_eq!(known, options.len() > 1 || options == ["-G"], "{source:?} {options:?}");
            compilations += 1;
        }
    }
    assert_eq!(compilations, 9);
}
