//! The module of a file: PTX, or CUDA C++ that nvcc compiles.

use crate::cli::exit::Usage;
use anyhow::{Context, bail};
use gridsync::ptx::Module;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How nvcc compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Optimised, with the lines of the source.
    Optimised,
    /// For debugging: what the source says.
    Debug,
}

/// Whether nvcc has to compile the file.
pub(super) fn is_cuda(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "cu")
}

/// The module of a file. `options` are for nvcc.
pub(super) fn module(path: &Path, mode: Mode, options: &[OsString]) -> anyhow::Result<Module> {
    let text = if is_cuda(path) {
        compiled(path, mode, options)?
    } else {
        if let Some(option) = options.first() {
            let (option, path) = (option.display(), path.display());
            bail!(Usage(format!("--nvcc {option} is for a .cu file, and {path} is none")));
        }
        read(path)?
    };
    let name = path.file_name().unwrap_or(path.as_os_str()).display().to_string();
    Ok(Module::parse(&name, &text).map_err(|error| Usage(error.to_string()))?)
}

fn read(path: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(path);
    text.map_err(|error| Usage(format!("cannot read {}: {error}", path.display())).into())
}

/// The PTX of a file in CUDA C++.
fn compiled(path: &Path, mode: Mode, options: &[OsString]) -> anyhow::Result<String> {
    let Some(nvcc) = nvcc() else {
        bail!(Usage(format!(
            "{} is CUDA C++, and there is no nvcc in PATH, NVCC or CUDA_HOME: install it (it needs \
             no GPU), or give the output of nvcc -ptx -lineinfo",
            path.display()
        )));
    };
    let folder = tempfile::tempdir().context("a folder for the output of nvcc")?;
    let output = folder.path().join("module.ptx");
    let mut command = Command::new(&nvcc);
    command.arg("-ptx").arg("-o").arg(&output).arg(path);
    command.args(match mode {
        Mode::Optimised => ["-O3", "-lineinfo"].as_slice(),
        Mode::Debug => &["-G"],
    });
    let names_a_target = |option: &OsString| {
        let option = option.to_string_lossy();
        option.starts_with("-arch") || option.starts_with("--gpu-architecture")
    };
    if !options.iter().any(names_a_target) {
        command.arg("-arch=sm_90");
    }
    let done = command.args(options).output();
    let done = done.map_err(|error| Usage(format!("cannot run {}: {error}", nvcc.display())))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        bail!(Usage(format!("nvcc cannot compile {}: {}", path.display(), said.trim())));
    }
    let text = read(&output)?;
    // nvcc names files by their whole paths: from here, they are shorter.
    Ok(match env::current_dir() {
        Ok(here) => text.replace(&format!("\"{}/", here.display()), "\""),
        Err(_) => text,
    })
}

/// The path of nvcc.
fn nvcc() -> Option<PathBuf> {
    let named = env::var_os("NVCC").filter(|name| !name.is_empty()).map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).map(|folder| folder.join("nvcc"));
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os);
    let homes = homes.chain([OsStr::new("/usr/local/cuda").to_owned()]);
    let in_homes = homes.map(|home| Path::new(&home).join("bin/nvcc"));
    named.into_iter().chain(in_path).chain(in_homes).find(|program| program.is_file())
}
