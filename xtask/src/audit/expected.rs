//! The expected number of block barriers of each kernel: `kernels/audit.toml`.

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

/// The barriers of each kernel, in sections: kernels with the same count in each image of a set
/// (`kernels`), and the others (`kernels_compute_90`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Expected(BTreeMap<String, BTreeMap<String, usize>>);

/// The set of an image: `kernels` of `kernels_compute_90`.
fn set(image: &str) -> &str {
    image.split_once("_compute").map_or(image, |(set, _)| set)
}

impl Expected {
    /// The counts of the modules of these images.
    pub(super) fn of<'a>(modules: impl Iterator<Item = (&'a str, &'a Module)> + Clone) -> Self {
        let mut sections = Self::default();
        for (image, module) in modules.clone() {
            for (kernel, count) in &module.kernels {
                let mut of_the_set = modules.clone().filter(|(other, _)| set(other) == set(image));
                let same = of_the_set.all(|(_, other)| other.kernels.get(kernel) == Some(count));
                let section = if same { set(image) } else { image };
                let counts = sections.0.entry(section.to_owned()).or_default();
                counts.insert(kernel.clone(), *count);
            }
        }
        sections
    }

    /// Reads the file. If there is none, nothing is expected, so each kernel is reported as missing
    /// from it.
    pub(super) fn read(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> Result<Self> {
        Ok(Self(toml::from_str(text)?))
    }

    /// The kernels whose counts differ from the expected ones, and the remedy.
    pub(super) fn differences(&self, image: &str, module: &Module) -> Vec<String> {
        let sections = [set(image), image].into_iter().filter_map(|section| self.0.get(section));
        let expected: BTreeMap<&String, &usize> = sections.flatten().collect();
        let mut differences = Vec::new();
        for (kernel, found) in &module.kernels {
            match expected.get(kernel) {
                Some(count) if *count == found => {}
                Some(count) => differences.push(format!(
                    "{image}, {kernel}: {found} block barriers in the PTX, kernels/audit.toml says {count}"
                )),
                None => differences.push(format!(
                    "{image}, {kernel}: not in kernels/audit.toml; under [{image}] add `{kernel} = {found}`"
                )),
            }
        }
        for kernel in expected.keys().filter(|kernel| !module.kernels.contains_key(**kernel)) {
            differences.push(format!(
                "{image}, {kernel}: in kernels/audit.toml and not in the PTX; remove its line"
            ));
        }
        differences
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        for (section, kernels) in &self.0 {
            writeln!(f, "\n[{section}]")?;
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
    fn blessed_counts_round_trip_and_list_each_kernel_once() {
        let (a, b) = (module(&[("x", 0), ("y", 3), ("z", 1)]), module(&[("x", 0), ("y", 4)]));
        let both = [("k_compute_75", &a), ("k_compute_90", &b)];
        let written = Expected::of(both.into_iter());
        let text = written.to_string();
        let sections = "[k]\nx = 0\n\n[k_compute_75]\ny = 3\nz = 1\n\n[k_compute_90]\ny = 4\n";
        assert!(text.ends_with(sections), "{text}");
        let read = Expected::parse(&text).unwrap();
        assert_eq!(read, written);
        assert!(both.iter().all(|(image, module)| read.differences(image, module).is_empty()));
    }

    #[test]
    fn changed_counts_and_new_and_removed_kernels_are_reported() {
        let expected = Expected::parse("[a]\nx = 1\ngone = 2 # comment\n").unwrap();
        let differences = expected.differences("a", &module(&[("x", 2), ("new", 4)]));
        assert_eq!(differences.len(), 3, "{differences:?}");
        let all = differences.join("\n");
        assert!(all.contains("2 block barriers in the PTX, kernels/audit.toml says 1"), "{all}");
        assert!(all.contains("under [a] add `new = 4`"), "{all}");
        assert!(all.contains("gone: in kernels/audit.toml and not"), "{all}");
    }
}
