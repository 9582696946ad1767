//! The folders of the workspace, and functions that run cargo in them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The root of the workspace.
///
/// It is read from cargo's variable at run time, so that it is right even if the executable was
/// built in another checkout.
pub(crate) fn root() -> PathBuf {
    let package =
        env::var_os("CARGO_MANIFEST_DIR").map_or(env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    package.parent().map_or(package.clone(), Path::to_owned)
}

/// The cargo that runs this task, in the root of the workspace.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// Runs a command that prints its own output. It is an error if the command fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let mut line = program.to_string_lossy().into_owned();
    for arg in command.get_args() {
        line = format!("{line} {}", arg.to_string_lossy());
    }
    let status = command.status().with_context(|| format!("cannot run `{line}`"))?;
    ensure!(status.success(), "`{line}` failed ({status})");
    Ok(())
}

/// The standard output of a command. It is an error if the command fails.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {}", said.trim_end());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The files below `dir` that `wanted` accepts, sorted. Build folders and hidden files are skipped.
pub(crate) fn walk(dir: &Path, wanted: &dyn Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "dist" {
                found.extend(walk(&path, wanted)?);
            }
        } else if wanted(&path) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_toolchain_is_the_oldest_rust_named_in_the_readme() {
        let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
        let toml = |file: &str| read(file).parse::<toml::Table>().unwrap();
        let manifest = toml("Cargo.toml");
        let oldest = manifest["workspace"]["package"]["rust-version"].as_str().unwrap();
        let built_with = toml("rust-toolchain.toml");
        assert_eq!(built_with["toolchain"]["channel"].as_str(), Some(&*format!("{oldest}.0")));
        assert!(read("README.md").contains(&format!("Rust from rustup ({oldest} or newer)")));
    }
}
