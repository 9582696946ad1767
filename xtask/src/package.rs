//! Packs and measures every published package, as crates.io would get it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde_json::Value;

use crate::outcome::Outcome;
use crate::workspace::{cargo, output_of, root, run as run_command};

/// The size limit of crates.io for a package, in bytes.
const LIMIT: u64 = 10 << 20;
/// The files that every package has.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// A published package.
struct Package {
    name: String,
    version: String,
    /// Whether the manifest has a description.
    is_described: bool,
}

pub(crate) fn run() -> Result<Outcome> {
    let metadata = cargo_says(&["metadata", "--no-deps", "--format-version", "1"])?;
    let packages = published(&serde_json::from_str(&metadata)?)?;
    let mut pack = cargo();
    pack.args(["package", "--quiet", "--no-verify", "--allow-dirty", "--target-dir"]).arg(folder());
    for package in &packages {
        pack.args(["--package", &package.name]);
    }
    run_command(&mut pack)?;
    let mut table = Table::new();
    table.load_style(NOTHING);
    let mut faults = Vec::new();
    for package in &packages {
        let files =
            cargo_says(&["package", "--list", "--allow-dirty", "--package", &package.name])?;
        let files: Vec<_> = files.lines().collect();
        let bytes = size(&folder().join("package"), package)?;
        let kib = format!("{} KiB", bytes.div_ceil(1024));
        table.add_row([&package.name, &format!("{} files", files.len()), &kib]);
        faults.extend(faults_of(package, &files, bytes));
    }
    println!("{table}");
    ensure!(faults.is_empty(), "{}", faults.join("; "));
    Ok(Outcome::Passed)
}

/// The output folder of the packages.
fn folder() -> PathBuf {
    root().join("target/packages")
}

/// The output of cargo.
fn cargo_says(args: &[&str]) -> Result<String> {
    output_of(cargo().args(args))
}

/// The packages of `cargo metadata` that may be published.
fn published(metadata: &Value) -> Result<Vec<Package>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().context("`cargo metadata` has no packages")?;
    // `publish` is null for all registries, and an empty list for none.
    let published = packages.iter().filter(|package| package["publish"].is_null());
    Ok(published
        .map(|package| Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            is_described: !text(&package["description"]).is_empty(),
        })
        .collect())
}

/// The size of the file that crates.io would get, in bytes.
fn size(folder: &Path, package: &Package) -> Result<u64> {
    let path = folder.join(format!("{}-{}.crate", package.name, package.version));
    Ok(fs::metadata(&path).with_context(|| path.display().to_string())?.len())
}

/// The reasons why the package cannot be published.
fn faults_of(package: &Package, files: &[&str], bytes: u64) -> Vec<String> {
    let name = &package.name;
    let mut faults = Vec::new();
    for file in FILES.iter().filter(|file| !files.contains(file)) {
        faults.push(format!("{name} has no {file}: add it next to its Cargo.toml"));
    }
    if !package.is_described {
        faults.push(format!("{name} has no description: add one to its Cargo.toml"));
    }
    if bytes > LIMIT {
        faults.push(format!(
            "{name} has {bytes} bytes, but the limit of crates.io is {LIMIT}: exclude files in its Cargo.toml"
        ));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package() -> Package {
        Package { name: "a".into(), version: "0.1.0".into(), is_described: true }
    }

    #[test]
    fn unpublished_packages_are_not_checked() {
        let metadata = json!({ "packages": [
            { "name": "a", "version": "0.1.0", "description": "An a.", "publish": null },
            { "name": "b", "version": "0.1.0", "description": null, "publish": [] },
            { "name": "c", "version": "0.1.0", "description": null, "publish": null },
        ]});
        let found = published(&metadata).unwrap();
        let found: Vec<_> = found.iter().map(|p| (p.name.as_str(), p.is_described)).collect();
        assert_eq!(found, [("a", true), ("c", false)]);
    }

    #[test]
    fn a_package_fails_only_beyond_the_limit() {
        assert_eq!(faults_of(&package(), &FILES, LIMIT), [""; 0]);
        let faults = faults_of(&package(), &FILES, LIMIT + 1);
        assert!(faults.len() == 1 && faults[0].contains("10485761"), "{faults:?}");
    }

    #[test]
    fn everything_missing_is_named() {
        let bare = Package { is_described: false, ..package() };
        let faults = faults_of(&bare, &["Cargo.toml", "README.md"], 1).join("\n");
        for missing in ["LICENSE-APACHE", "LICENSE-MIT", "description"] {
            assert!(faults.contains(&format!("a has no {missing}")), "{faults}");
        }
        assert!(!faults.contains("README.md"), "{faults}");
    }
}
