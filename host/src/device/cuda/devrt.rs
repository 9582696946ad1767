//! Finds NVIDIA's device runtime, the library that kernels which launch kernels are linked with.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// The environment variable with the path of the library, in place of the usual paths.
pub(super) const VARIABLE: &str = "GRIDSYNC_CUDADEVRT";

const LIBRARY: &str = "libcudadevrt.a";

/// The path of the library, or the paths that were tried.
pub(super) fn find() -> Result<PathBuf, Vec<PathBuf>> {
    first_of(env::var_os(VARIABLE))
}

/// The library at this path, or else at one of the usual paths.
fn first_of(named: Option<OsString>) -> Result<PathBuf, Vec<PathBuf>> {
    let candidates = match named {
        Some(named) => vec![named.into()],
        None => toolkits().iter().flat_map(|toolkit| in_toolkit(toolkit)).collect(),
    };
    candidates.iter().find(|file| file.is_file()).cloned().ok_or(candidates)
}

/// The directories of CUDA toolkits: `CUDA_HOME`, `CUDA_PATH`, that of an `nvcc` or `ptxas` in
/// `PATH`, and `/usr/local/cuda` and its siblings, newest first.
fn toolkits() -> Vec<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let bins = env::split_paths(&path)
        .filter(|dir| ["nvcc", "ptxas"].iter().any(|tool| dir.join(tool).is_file()));
    let of_bins = bins.filter_map(|dir| dir.parent().map(PathBuf::from)).collect::<Vec<_>>();
    let mut versions = below(Path::new("/usr/local"), "cuda-");
    versions.reverse();
    named.chain(of_bins).chain([PathBuf::from("/usr/local/cuda")]).chain(versions).collect()
}

/// The candidate paths in a toolkit. Python wheels have a toolkit in `site-packages/nvidia/cu13`,
/// next to their `bin`.
fn in_toolkit(toolkit: &Path) -> Vec<PathBuf> {
    let targets = below(&toolkit.join("targets"), "");
    let libs = targets.iter().map(|target| target.join("lib"));
    let own = ["lib64", "lib"].map(|lib| toolkit.join(lib));
    own.into_iter().chain(libs).map(|lib| lib.join(LIBRARY)).collect()
}

/// The entries of a directory with this prefix, sorted by name.
fn below(dir: &Path, begins: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(begins));
    let mut paths: Vec<_> = named.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::DeviceError;

    #[test]
    fn a_missing_library_is_an_error_that_names_package_and_variable() {
        let looked_at = first_of(Some("/no/such.a".into())).expect_err("there is no such file");
        assert_eq!(looked_at, [Path::new("/no/such.a")]);
        let (kernel, variable) = ("parent", VARIABLE);
        let said = DeviceError::NoDeviceRuntime { kernel, variable, looked_at }.to_string();
        for part in ["`parent`", "nvidia-cuda-runtime", "GRIDSYNC_CUDADEVRT", "/no/such.a"] {
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn the_library_is_found_in_toolkits_and_wheels() {
        let dir = tempfile::tempdir().expect("a folder to write to");
        for place in ["lib64", "lib", "targets/sbsa-linux/lib"] {
            let toolkit = dir.path().join(place.replace('/', "-"));
            let file = toolkit.join(place).join(LIBRARY);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder to write to");
            fs::write(&file, "").expect("a folder to write to");
            assert!(in_toolkit(&toolkit).contains(&file), "{place}");
        }
    }
}
