//! The direction rule: packages and their modules depend on each other in one direction.
//!
//! cargo refuses circles between packages, but not a library that uses what should be above it, and
//! nothing refuses circles between the modules of a package.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use regex::Regex;
use serde_json::Value;

use crate::outcome::Outcome;
use crate::workspace::{cargo, output_of, root, walk};

/// The packages. Each may depend on those before it only; tests are exempt.
const PACKAGES: [&str; 24] = [
    "gridsync-simt",
    "gridsync-litmus",
    "gridsync-ptx",
    "gridsync-ptx-run",
    "gridsync-image",
    "gridsync-libcuda",
    "gridsync-libnccl",
    "gridsync-cuda-builder",
    "gridsync-cuda-std-macros",
    "gridsync-cuda-std",
    "gridsync-kernels",
    "gridsync-entries",
    "gridsync-lab-kernels",
    "gridsync-example-kernels",
    "gridsync",
    "gridsync-cudarc",
    "gridsync-python",
    "gridsync-ranks",
    "gridsync-verify",
    "gridsync-lab",
    "gridsync-program",
    "gridsync-fake-driver",
    "gridsync-tests",
    "gridsync-book",
];

/// Sources, and their modules. Each module may use those before it only.
const MODULES: [(&str, &[&str]); 4] = [
    ("kernels/src", &["op", "warp", "block", "grid"]),
    (
        "host/src",
        &[
            "memory",
            "parallel",
            "reference",
            "device",
            "launch",
            "dag",
            "check",
            "primitives",
            "prelude",
        ],
    ),
    (
        "host/lab/src",
        &[
            "count",
            "images",
            "ptx",
            "counting",
            "display",
            "bench",
            "sampled",
            "number",
            "experiment",
            "accuracy",
            "atomics",
            "banks",
            "dag",
            "divergence",
            "fences",
            "ladder",
            "limits",
            "litmus",
            "locks",
            "memory",
            "spin",
            "stress",
            "threads",
            "xpx",
            "launches",
            "protocols",
        ],
    ),
    ("host/program/src", &["shown", "number", "data", "records", "report", "cli"]),
];

pub(crate) fn run() -> Result<Outcome> {
    let metadata = output_of(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let mut faults = between_packages(&serde_json::from_str(&metadata)?, &PACKAGES)?;
    for (folder, modules) in MODULES {
        faults.extend(between_modules(&root(), folder, modules)?);
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(Outcome::Passed)
}

/// Dependencies of `cargo metadata` on a package that is later in `order`.
fn between_packages(metadata: &Value, order: &[&str]) -> Result<Vec<String>> {
    let position = |name: &str| order.iter().position(|package| *package == name);
    let mut faults = Vec::new();
    for package in metadata["packages"].as_array().context("`cargo metadata` has no packages")? {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(at) = position(name) else { continue };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let other = dependency["name"].as_str().unwrap_or_default();
            let is_for_tests = dependency["kind"] == "dev";
            if !is_for_tests && position(other).is_some_and(|other| other > at) {
                faults.push(format!("{name} depends on {other}, which is above it"));
            }
        }
    }
    Ok(faults)
}

/// Uses of a module in `folder` that is later in `order`, or that is not in it.
fn between_modules(root: &Path, folder: &str, order: &[&str]) -> Result<Vec<String>> {
    let uses = Regex::new(r"\bcrate::([a-z_]+)")?;
    let position = |name: &str| order.iter().position(|module| *module == name);
    let (mut faults, source) = (BTreeSet::new(), root.join(folder));
    for path in walk(&source, &|path| path.extension().is_some_and(|end| end == "rs"))? {
        let module = module_of(path.strip_prefix(&source)?);
        if ["lib", "main"].contains(&module.as_str()) {
            continue;
        }
        let Some(at) = position(&module) else {
            faults.insert(format!("{folder}: {module} is not in the order of xtask/src/arrows.rs"));
            continue;
        };
        let text = fs::read_to_string(&path)?;
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for used in code.flat_map(|line| uses.captures_iter(line)) {
            if position(&used[1]).is_some_and(|other| other > at) {
                faults.insert(format!("{folder}: {module} uses {}, which is above it", &used[1]));
            }
        }
    }
    Ok(faults.into_iter().collect())
}

/// The module at the root of the package that a file of its sources belongs to.
fn module_of(file: &Path) -> String {
    let first: PathBuf = file.iter().take(1).collect();
    first.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_dependency_on_a_later_package_is_a_fault_unless_for_tests() {
        let metadata = json!({ "packages": [
            { "name": "low", "dependencies": [
                { "name": "high", "kind": null },
                { "name": "high", "kind": "dev" },
            ]},
            { "name": "high", "dependencies": [{ "name": "low", "kind": null }] },
        ]});
        let faults = between_packages(&metadata, &["low", "high"]).unwrap();
        assert_eq!(faults, ["low depends on high, which is above it"]);
    }

    #[test]
    fn a_use_of_a_later_module_is_a_fault_unless_in_a_comment() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("src");
        fs::create_dir_all(source.join("low")).unwrap();
        fs::write(source.join("low/mod.rs"), "/// [`crate::high`]\nuse crate::high::X;").unwrap();
        fs::write(source.join("high.rs"), "use crate::low::Y;").unwrap();
        fs::write(source.join("new.rs"), "").unwrap();
        let faults = between_modules(dir.path(), "src", &["low", "high"]).unwrap();
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults.contains(&"src: low uses high, which is above it".to_owned()), "{faults:?}");
        assert!(faults[1].contains("new is not in the order"), "{faults:?}");
    }
}
