//! The numbers of ptxas for each kernel, and the previous ones: `kernels/machine_code.toml`.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::ptxas::Usage;
use super::sass::Code;

const HEAD: &str = "\
# What ptxas makes of each kernel, for one GPU of each image. `cargo xtask audit` fails if a kernel becomes
# worse: see `Numbers::worse` in xtask. `cargo xtask audit --bless` writes what is so now: read the diff.
#
# registers: of a thread. shared: bytes of a block. stack, spills: bytes of a thread. loads: of 16 bytes from
# device memory, in flight together. instructions: of the whole kernel. What is 0 is left out. ptx: the SHA-256
# of the text without comments. While it is the same, `cargo xtask validate` assembles nothing.
";

/// The numbers that ptxas reports for a kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Numbers {
    registers: u32,
    shared: u32,
    stack: u32,
    spills: u32,
    loads: u32,
    instructions: u32,
}

impl Numbers {
    fn of(usage: &Usage, code: Code) -> Self {
        let Usage { registers, shared, stack, spills, .. } = *usage;
        let Code { instructions, loads } = code;
        Self { registers, shared, stack, spills, loads, instructions }
    }

    /// Each number with its name.
    fn named(self) -> [(&'static str, u32); 6] {
        [
            ("registers", self.registers),
            ("shared", self.shared),
            ("stack", self.stack),
            ("spills", self.spills),
            ("loads", self.loads),
            ("instructions", self.instructions),
        ]
    }

    /// The numbers that got worse: fewer loads in flight, more memory, more than four registers
    /// more, or more than a tenth and 16 instructions more.
    fn worse(self, was: Self) -> Vec<String> {
        let pairs = was.named().into_iter().zip(self.named());
        let is_worse = |&((name, was), (_, is)): &((&str, u32), (&str, u32))| match name {
            "loads" => is < was,
            "registers" => is > was + 4,
            "instructions" => is > was + was / 10 + 16,
            _ => is > was,
        };
        let text = |((name, was), (_, is))| format!("{name} {was} before, {is} now");
        pairs.filter(is_worse).map(text).collect()
    }
}

/// The kernels of each image.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MachineCode {
    /// The version of ptxas that produced the numbers.
    pub(super) ptxas: String,
    /// The kernels of each image, by name.
    pub(super) image: BTreeMap<String, Image>,
}

/// The kernels of an image.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Image {
    /// The hash of the PTX: see [`hash`].
    pub(super) ptx: String,
    /// The compute capability that they were assembled for.
    pub(super) sm: u32,
    /// The numbers of each kernel.
    pub(super) kernel: BTreeMap<String, Numbers>,
}

impl Image {
    /// Adds the kernels that were assembled for `sm`, if their machine code was read.
    pub(super) fn add(
        &mut self,
        sm: u32,
        usages: &BTreeMap<String, Usage>,
        code: &BTreeMap<String, Code>,
    ) {
        for (kernel, code) in code {
            self.sm = sm;
            let usage = usages.get(kernel).cloned().unwrap_or_default();
            self.kernel.insert(kernel.clone(), Numbers::of(&usage, *code));
        }
    }
}

/// The SHA-256 of a text without its comments, which name the sources.
pub(super) fn hash(text: &str) -> String {
    let mut hash = Sha256::new();
    for line in text.lines().filter(|line| !line.starts_with("//")) {
        hash.update(line);
        hash.update("\n");
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl MachineCode {
    /// Reads the file, or returns no numbers if there is none.
    pub(super) fn read(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }

    /// The numbers that are worse than in `before`, which is from the same ptxas.
    pub(super) fn worse_than(&self, before: &Self) -> Vec<String> {
        let mut findings = Vec::new();
        for (image, now) in &self.image {
            let empty = BTreeMap::new();
            let before = before.image.get(image).map_or(&empty, |image| &image.kernel);
            for (kernel, numbers) in &now.kernel {
                match before.get(kernel) {
                    Some(was) => findings.extend(
                        numbers.worse(*was).iter().map(|what| format!("{image}, {kernel}: {what}")),
                    ),
                    None => findings.push(format!(
                        "{image}, {kernel}: not in kernels/machine_code.toml; add it by `cargo xtask audit --bless`"
                    )),
                }
            }
            let gone = before.keys().filter(|kernel| !now.kernel.contains_key(*kernel));
            findings.extend(gone.map(|kernel| {
                format!("{image}, {kernel}: in kernels/machine_code.toml and not in the image; remove it by --bless")
            }));
        }
        findings
    }
}

impl fmt::Display for MachineCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        writeln!(f, "ptxas = \"{}\"", self.ptxas)?;
        for (name, image) in &self.image {
            let Image { ptx, sm, .. } = image;
            writeln!(f, "\n[image.{name}]\nptx = \"{ptx}\"\nsm = {sm}\n\n[image.{name}.kernel]")?;
            for (kernel, numbers) in &image.kernel {
                let mut line = String::new();
                for (name, number) in numbers.named().into_iter().filter(|(_, number)| *number > 0)
                {
                    let comma = if line.is_empty() { "" } else { ", " };
                    write!(line, "{comma}{name} = {number}")?;
                }
                writeln!(f, "{kernel} = {{ {line} }}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: Numbers =
        Numbers { registers: 64, shared: 640, stack: 0, spills: 0, loads: 8, instructions: 900 };

    fn of(kernels: &[(&str, Numbers)]) -> MachineCode {
        let kernel = kernels.iter().map(|(name, numbers)| ((*name).to_owned(), *numbers)).collect();
        let image = BTreeMap::from([(
            "kernels_compute_90".to_owned(),
            Image { ptx: hash("ret;"), sm: 90, kernel },
        )]);
        MachineCode { ptxas: "13.5.37".into(), image }
    }

    #[test]
    fn blessed_numbers_round_trip() {
        let written = of(&[("max", Numbers { loads: 0, ..SUM }), ("sum", SUM)]);
        let text = written.to_string();
        assert!(
            text.ends_with(
                "sum = { registers = 64, shared = 640, loads = 8, instructions = 900 }\n"
            ),
            "{text}"
        );
        assert_eq!(toml::from_str::<MachineCode>(&text).unwrap(), written);
    }

    #[test]
    fn fewer_loads_and_more_of_anything_else_are_worse() {
        let worse = |now: Numbers| of(&[("sum", now)]).worse_than(&of(&[("sum", SUM)])).join("; ");
        assert_eq!(worse(SUM), "");
        assert_eq!(
            worse(Numbers { loads: 1, ..SUM }),
            "kernels_compute_90, sum: loads 8 before, 1 now"
        );
        assert!(worse(Numbers { spills: 4, ..SUM }).contains("spills 0 before, 4 now"));
        assert!(worse(Numbers { shared: 641, ..SUM }).contains("shared"));
        assert_eq!(worse(Numbers { registers: 68, instructions: 1006, ..SUM }), "");
        assert!(worse(Numbers { registers: 69, ..SUM }).contains("registers 64 before, 69 now"));
        assert!(worse(Numbers { instructions: 1007, ..SUM }).contains("instructions"));
        let better = Numbers { registers: 40, loads: 16, instructions: 100, ..SUM };
        assert_eq!(worse(better), "");
    }

    #[test]
    fn a_comment_does_not_change_the_hash() {
        assert_eq!(hash("// made from a\nret;\n"), hash("// made from b\nret;\n"));
        assert_ne!(hash("ret;\n"), hash("exit;\n"));
    }

    #[test]
    fn new_and_removed_kernels_are_reported() {
        let findings = of(&[("new", SUM)]).worse_than(&of(&[("gone", SUM)])).join("\n");
        assert!(findings.contains("new: not in") && findings.contains("gone: in"), "{findings}");
    }
}
