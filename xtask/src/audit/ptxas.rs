//! NVIDIA's assembler: finds it, runs it and reads its report.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, ensure};

use crate::audit::sass::{self, Code};
use crate::workspace::root;

/// Shown if ptxas is not installed.
pub(super) const HOW_TO_GET: &str = "no ptxas, so registers, stack and spills were not checked. Get one: \
    `python3 -m venv target/cuda-tools && target/cuda-tools/bin/pip install --no-deps nvidia-cuda-nvcc`, \
    or set PTXAS to the program or GRIDSYNC_CUDA_TOOLS to such a venv";

/// The resource usage of one function, from ptxas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Registers per thread.
    pub(super) registers: u32,
    /// The number of the block's 16 named barriers that are used.
    pub(super) barriers: u32,
    /// Bytes of static shared memory per block.
    pub(super) shared: u32,
    /// Bytes of stack frame per thread, in local memory.
    pub(super) stack: u32,
    /// Bytes of spilled registers, stores plus loads.
    pub(super) spills: u32,
}

/// The result of one run of ptxas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Report {
    /// It assembled the PTX.
    Assembled {
        /// The usage of each function.
        usages: BTreeMap<String, Usage>,
        /// The machine code of each kernel, if requested and if there is an nvdisasm.
        code: BTreeMap<String, Code>,
    },
    /// It rejected the PTX.
    Refused(String),
    /// It does not support the GPU, because it is too old.
    UnknownGpu,
}

/// The first ptxas in: `PTXAS`, the venv or toolkit in `GRIDSYNC_CUDA_TOOLS`, `target/cuda-tools`,
/// `PATH`, `CUDA_HOME`, `CUDA_PATH`.
pub(crate) fn find() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).map(PathBuf::from);
    let mut candidates: Vec<PathBuf> = variable("PTXAS").into_iter().collect();
    let tools = variable("GRIDSYNC_CUDA_TOOLS");
    for dir in tools.into_iter().chain([root().join("target/cuda-tools")]) {
        candidates.extend(in_tools(&dir));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    candidates.extend(env::split_paths(&path).map(|dir| dir.join("ptxas")));
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable);
    candidates.extend(homes.map(|home| home.join("bin/ptxas")));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

/// The folders to search: those of a toolkit, and `nvidia/<version>/bin`, where Python wheels
/// install it.
fn in_tools(dir: &Path) -> Vec<PathBuf> {
    let below = |dirs: Vec<PathBuf>| -> Vec<PathBuf> {
        let entries = dirs.iter().flat_map(fs::read_dir).flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let pythons = below(vec![dir.join("lib")]);
    let wheels = pythons.iter().map(|python| python.join("site-packages/nvidia")).collect();
    let mut places = vec![dir.join("ptxas"), dir.join("bin/ptxas")];
    places.extend(below(wheels).iter().map(|wheel| wheel.join("bin/ptxas")));
    places
}

/// A file of PTX to assemble.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) ptx: &'a Path,
    /// The compute capability to assemble for.
    pub(super) gpu: u32,
    /// Whether to read the machine code too.
    pub(super) with_code: bool,
}

/// Assembles all files, one per core at a time. The reports are in the order of the jobs.
pub(super) fn run_all(ptxas: &Path, jobs: &[Job<'_>]) -> Result<Vec<Report>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(&job) = jobs.get(index) else {
                return done;
            };
            done.push((index, run(ptxas, job)));
        }
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let mut done: Vec<(usize, Result<Report>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let finished =
            workers.into_iter().map(|worker| worker.join().expect("a worker should not panic"));
        finished.flatten().collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, report)| report).collect()
}

fn run(ptxas: &Path, job: Job<'_>) -> Result<Report> {
    let dir = tempfile::tempdir()?;
    let cubin = dir.path().join("cubin");
    let output = Command::new(ptxas)
        .args(["-v", &format!("-arch=sm_{}", job.gpu), "-o"])
        .arg(if job.with_code { &cubin } else { Path::new("/dev/null") })
        .args(to_be_linked(&fs::read_to_string(job.ptx).unwrap_or_default()))
        .arg(job.ptx)
        .output()
        .with_context(|| format!("cannot run {}", ptxas.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        let code = if job.with_code { code(ptxas, &cubin)? } else { BTreeMap::new() };
        return Ok(Report::Assembled { usages: parse(&said), code });
    }
    if said.contains("is not defined for option 'gpu-name'") {
        return Ok(Report::UnknownGpu);
    }
    // One mistake in a macro produces a thousand lines of errors.
    let (lines, more) = (said.lines().take(3), said.lines().count().saturating_sub(3));
    let first = lines.collect::<Vec<_>>().join("\n    ");
    Ok(Report::Refused(if more == 0 {
        first
    } else {
        format!("{first}\n    and {more} more lines")
    }))
}

/// The machine code of the kernels in a file written by ptxas, from the nvdisasm next to it. Empty
/// without one.
fn code(ptxas: &Path, cubin: &Path) -> Result<BTreeMap<String, Code>> {
    let nvdisasm = ptxas.with_file_name("nvdisasm");
    if !nvdisasm.is_file() {
        return Ok(BTreeMap::new());
    }
    let output = Command::new(&nvdisasm).arg("-c").arg(cubin).output();
    let output = output.with_context(|| format!("cannot run {}", nvdisasm.display()))?;
    ensure!(
        output.status.success(),
        "{}: {}",
        nvdisasm.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(sass::read(&String::from_utf8_lossy(&output.stdout)))
}

/// The version of a ptxas, such as 13.5.37.
pub(super) fn version(ptxas: &Path) -> Result<String> {
    let output = Command::new(ptxas).arg("--version").output();
    let output = output.with_context(|| format!("cannot run {}", ptxas.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let word = said.split_whitespace().find_map(|word| word.strip_prefix('V'));
    let version = word.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    version
        .map(str::to_owned)
        .with_context(|| format!("no version in what {} says", ptxas.display()))
}

/// The option for text that calls the device runtime: assemble only, because the functions are in a
/// library.
pub(crate) fn to_be_linked(ptx: &str) -> Option<&'static str> {
    ptx.contains(ptx_image::DEVICE_RUNTIME).then_some("-c")
}

/// Parses the output of `ptxas -v`.
///
/// After `Function properties for NAME` come the stack and spills of that function, which may not
/// be a kernel. `Used …` belongs to the last `Compiling entry function 'NAME'`.
fn parse(said: &str) -> BTreeMap<String, Usage> {
    let mut usages: BTreeMap<String, Usage> = BTreeMap::new();
    let (mut kernel, mut function) = (String::new(), String::new());
    for line in said.lines() {
        let text = line
            .strip_prefix("ptxas info")
            .map_or(line, |rest| rest.trim_start_matches([' ', ':']));
        if let Some(rest) = text.strip_prefix("Compiling entry function '") {
            kernel = rest.split('\'').next().unwrap_or_default().to_owned();
        } else if let Some(name) = text.strip_prefix("Function properties for ") {
            name.trim().clone_into(&mut function);
        } else if text.contains("bytes stack frame") {
            let usage = usages.entry(function.clone()).or_default();
            usage.stack = number_before(text, "bytes stack frame");
            usage.spills = number_before(text, "bytes spill stores")
                + number_before(text, "bytes spill loads");
        } else if text.starts_with("Used ") {
            let usage = usages.entry(kernel.clone()).or_default();
            usage.registers = number_before(text, "registers");
            usage.barriers = number_before(text, "barriers");
            usage.shared = number_before(text, "bytes smem");
        }
    }
    usages
}

/// The number in `… 128 bytes smem …`, or 0 without these words.
fn number_before(text: &str, words: &str) -> u32 {
    let parts = text.split(',').find_map(|part| part.trim().strip_suffix(words));
    let last = parts.and_then(|part| part.split_whitespace().last());
    last.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
ptxas info    : 19 bytes gmem
ptxas info    : Compiling entry function 'reduce' for 'sm_90'
ptxas info    : Function properties for reduce
    64 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 38 registers, used 1 barriers, 64 bytes cumulative stack size, 128 bytes smem, 360 bytes cmem[0]
ptxas info    : Compile time = 2.445 ms
ptxas info    : Function properties for helper
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'empty' for 'sm_90'
ptxas info    : Function properties for empty
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
";

    #[test]
    fn every_number_belongs_to_its_function() {
        let usages = parse(SAID);
        assert_eq!(usages.len(), 3);
        let reduce = Usage { registers: 38, barriers: 1, shared: 128, stack: 64, spills: 20 };
        assert_eq!(usages["reduce"], reduce);
        assert_eq!(usages["helper"].stack, 16);
        assert_eq!(usages["empty"].registers, 4);
        assert_eq!(usages["empty"].stack, 0);
    }

    #[test]
    fn ptxas_is_found_in_a_python_wheel() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("lib/python3.11/site-packages/nvidia/cu13/bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("ptxas"), "").unwrap();
        assert!(in_tools(dir.path()).contains(&bin.join("ptxas")));
    }

    #[test]
    fn reports_are_in_the_order_of_the_jobs() {
        let echo = tempfile::tempdir().unwrap();
        let script = echo.path().join("ptxas");
        // It prints its argument. The first job ends last.
        let text = "#!/bin/sh\n[ $2 = -arch=sm_1 ] && sleep 0.2\necho \"$2\" >&2\nexit 1\n";
        fs::write(&script, text).unwrap();
        let mode = Command::new("chmod").arg("+x").arg(&script).status().unwrap();
        assert!(mode.success());
        let job = |gpu| Job { ptx: Path::new("x"), gpu, with_code: false };
        let jobs: Vec<_> = (1..6).map(job).collect();
        let expected: Vec<Report> =
            (1..6).map(|gpu| Report::Refused(format!("-arch=sm_{gpu}"))).collect();
        assert_eq!(run_all(&script, &jobs).unwrap(), expected);
    }
}
