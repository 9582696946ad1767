//! Finds nvcc and runs it. Shared by all tests that compile CUDA C++.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable with the path of nvcc.
const NVCC: &str = "NVCC";

/// Options for optimised code with lines, and for debugging.
pub(crate) const MODES: [&[&str]; 2] = [&["-O3", "-lineinfo"], &["-G"]];

/// The first nvcc: of the variable, in `PATH`, or in the workspace's `target/cuda-tools`.
fn find() -> Option<PathBuf> {
    let named = std::env::var_os(NVCC).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::env::split_paths(&path).map(|folder| folder.join("nvcc"));
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/cuda-tools/lib");
    let pythons = folders(&tools).into_iter().map(|it| it.join("site-packages/nvidia"));
    // Without the wheel of the compiler proper, nvcc is only a driver.
    let wheels =
        pythons.flat_map(|it| folders(&it)).filter(|it| it.join("nvvm/bin/cicc").is_file());
    let wheels = wheels.map(|wheel| wheel.join("bin/nvcc"));
    named.into_iter().chain(installed).chain(wheels).find(|program| program.is_file())
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The PTX of a file of CUDA C++ for a device, such as `sm_80`. `None` without nvcc; then it prints
/// SKIPPED.
///
/// # Panics
/// If nvcc rejects the file.
pub(crate) fn compile(source: &Path, device: &str, options: &[&str]) -> Option<ptx::Module> {
    let Some(nvcc) = find() else {
        let skipped = format!("SKIPPED: no nvcc in {NVCC}, PATH or target/cuda-tools");
        writeln!(std::io::stderr(), "{skipped}").expect("stderr is open");
        return None;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().join("output.ptx");
    let mut command = Command::new(&nvcc);
    command.args(["-ptx", "-arch", device, "-o"]).arg(&output).arg(source).args(options);
    let done = command.output().unwrap_or_else(|error| panic!("{nvcc:?}: {error}"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = std::fs::read_to_string(&output).expect("nvcc wrote it");
    Some(ptx::parse(&text).expect("a module"))
}
