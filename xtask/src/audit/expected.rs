//! The number of block barriers that each kernel should have: `kernels/audit.toml`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::ptx::Module;

const HEAD: &str = "\
# How many block barriers (`bar.sync`, `barrier.sync`) stand in the PTX of each kernel.
# A count that changes without a change to the kernel is a compiler that duplicated or lost a barrier.
# `cargo xtask audit` compares; `cargo xtask audit --bless` writes what the committed PTX has: read the diff.
";

/// For each PTX file, by its name without extension, the barriers of each kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Expected(BTreeMap<String, BTreeMap<String, usize>>);

impl Expected {
    /// The counts of these modules.
    pub(super) fn of<'a>(modules: impl Iterator<Item = (&'a str, &'a Module)>) -> Self {
        Self(modules.map(|(name, module)| (name.to_owned(), module.kernels.clone())).collect())
    }

    /// Reads the file. Without a file nothing is expected, so each kernel is reported as missing in
    /// it.
    pub(super) fn read(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    /// Parses the part of TOML that [`fmt::Display`] below writes: comments, `[file]`, `kernel =
    /// count`.
    fn parse(text: &str) -> Result<Self> {
        let mut expected = Self::default();
        let mut file = String::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                name.clone_into(&mut file);
                continue;
            }
            let (kernel, count) = line
                .split_once('=')
                .and_then(|(kernel, count)| Some((kernel.trim(), count.trim().parse().ok()?)))
                .with_context(|| {
                    format!("line {}: `{line}` is not `kernel = count`", number + 1)
                })?;
            let kernels = expected.0.entry(file.clone()).or_default();
            kernels.insert(kernel.to_owned(), count);
        }
        Ok(expected)
    }

    /// The kernels and counts of a module that differ from the expected ones, and what to do.
    pub(super) fn differences(&self, file: &str, module: &Module) -> Vec<String> {
        let nothing = BTreeMap::new();
        let expected = self.0.get(file).unwrap_or(&nothing);
        let mut differences = Vec::new();
        for (kernel, found) in &module.kernels {
            match expected.get(kernel) {
                Some(count) if count == found => {}
                Some(count) => differences.push(format!(
                    "{file}, {kernel}: {found} block barriers in the PTX, kernels/audit.toml says {count}"
                )),
                None => differences.push(format!(
                    "{file}, {kernel}: not in kernels/audit.toml; under [{file}] add `{kernel} = {found}`"
                )),
            }
        }
        for kernel in expected.keys().filter(|kernel| !module.kernels.contains_key(*kernel)) {
            differences.push(format!(
                "{file}, {kernel}: in kernels/audit.toml and not in the PTX; remove its line"
            ));
        }
        differences
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        for (file, kernels) in &self.0 {
            writeln!(f, "\n[{file}]")?;
            for (kernel, count) in kernels {
                writeln!(f, "{kernel} = {count}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(kernels: &[(&str, usize)]) -> Module {
        Module {
            target: 90,
            kernels: kernels.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            externs: Vec::new(),
            functions_with_barriers: Vec::new(),
        }
    }

    #[test]
    fn what_bless_writes_reads_back_and_has_no_differences() {
        let (a, b) = (module(&[("x", 0), ("y", 3)]), module(&[("x", 1)]));
        let written = Expected::of([("a", &a), ("b", &b)].into_iter());
        let read = Expected::parse(&written.to_string()).unwrap();
        assert_eq!(read, written);
        assert!(read.differences("a", &a).is_empty());
        assert!(read.differences("b", &b).is_empty());
    }

    #[test]
    fn another_count_a_new_kernel_and_a_gone_one_are_each_reported() {
        let expected = Expected::parse("[a]\nx = 1\ngone = 2 # comment\n").unwrap();
        let differences = expected.differences("a", &module(&[("x", 2), ("new", 4)]));
        assert_eq!(differences.len(), 3, "{differences:?}");
        let all = differences.join("\n");
        assert!(all.contains("2 block barriers in the PTX, kernels/audit.toml says 1"), "{all}");
        assert!(all.contains("under [a] add `new = 4`"), "{all}");
        assert!(all.contains("gone: in kernels/audit.toml and not"), "{all}");
    }

    #[test]
    fn a_line_that_is_neither_is_refused_with_its_number() {
        let error = Expected::parse("[a]\nx: 1\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("x: 1"), "{error}");
    }
}
