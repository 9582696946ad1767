//! Kernel images: choosing one, and splitting it into a module for each kernel.

use crate::device::DeviceError;
use std::{collections::BTreeMap, fmt};

/// The kernels as PTX text for one virtual architecture.
#[derive(Clone, Copy)]
pub struct PtxImage {
    /// The compute capability that it is compiled for, 10·major + minor; newer devices run it too.
    pub compute: u32,
    /// The text.
    pub text: &'static str,
}

impl PtxImage {
    /// The image for the highest compute capability that is not above `compute`.
    pub(super) fn choose(images: &[Self], compute: u32) -> Result<Self, DeviceError> {
        images
            .iter()
            .copied()
            .filter(|image| image.compute <= compute)
            .max_by_key(|image| image.compute)
            .ok_or_else(|| DeviceError::NoImage {
                compute,
                offered: images.iter().map(|image| image.compute).collect(),
            })
    }

    /// The text, split into its kernels.
    #[must_use]
    pub fn parts(&self) -> PtxParts {
        PtxParts::of(self.text)
    }
}

impl fmt::Debug for PtxImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "PtxImage(compute_{}, {} bytes)",
            self.compute,
            self.text.len()
        )
    }
}

/// The text of an image, split into its kernels. The driver compiles all of a module when it loads
/// it; in this way it compiles only the kernels that are launched.
///
/// A module has the declarations outside of the kernels, and one kernel. So an image may not have
/// memory at module scope that kernels share (`.global`, `.const`: each kernel would get its own),
/// nor a kernel that takes the address of another. `.shared` belongs to a block anyway, and shared
/// memory that a kernel does not mention costs it nothing.
pub struct PtxParts {
    /// The directives and declarations outside of the kernels, without comments.
    prelude: String,
    /// The kernels by name, each from its `.entry` line to the brace that closes its body.
    entries: BTreeMap<&'static str, &'static str>,
}

impl PtxParts {
    fn of(text: &'static str) -> Self {
        let (mut prelude, mut entries) = (String::new(), BTreeMap::new());
        let mut rest = text;
        while let Some(line) = rest.split_inclusive('\n').next() {
            let part = match entry_name(line) {
                Some(name) => {
                    let entry = &rest[..entry_length(rest)];
                    entries.insert(name, entry);
                    entry
                }
                None => {
                    let code = line.trim_start();
                    if !code.is_empty() && !code.starts_with("//") {
                        prelude.push_str(line);
                    }
                    line
                }
            };
            rest = &rest[part.len()..];
        }
        Self { prelude, entries }
    }

    /// The names of the kernels, in alphabetical order.
    pub fn kernels(&self) -> impl Iterator<Item = &'static str> {
        self.entries.keys().copied()
    }

    /// The text of a module that has `kernel` and no other kernel, or none if the image does not
    /// have it.
    #[must_use]
    pub fn module(&self, kernel: &str) -> Option<String> {
        let entry = self.entries.get(kernel)?;
        Some([&self.prelude, *entry].concat())
    }
}

impl fmt::Debug for PtxParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PtxParts({} kernels)", self.entries.len())
    }
}

/// The name of the kernel that begins in this line (PTX ISA, ".entry"; a linking directive may come
/// before it).
fn entry_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let directive = [".visible ", ".weak "]
        .iter()
        .find_map(|linking| line.strip_prefix(linking));
    let rest = directive.unwrap_or(line).strip_prefix(".entry ")?;
    rest.split(|c: char| c == '(' || c.is_whitespace()).next()
}

/// Bytes up to the brace that closes the body of the kernel at the beginning of `text`; all bytes
/// if there is no such brace. Braces nest: blocks of inline assembly, vectors of registers. Braces
/// in comments do not count.
fn entry_length(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or_default();
        for (i, byte) in code.bytes().enumerate() {
            match byte {
                b'{' => depth += 1,
                b'}' if depth == 1 => return at + i + 1,
                b'}' => depth -= 1,
                _ => {}
            }
        }
        at += line.len();
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::KERNELS;

    fn images() -> [PtxImage; 3] {
        [75, 90, 80].map(|compute| PtxImage { compute, text: "" })
    }

    #[test]
    fn the_highest_image_that_the_device_can_run_is_chosen() {
        for (compute, chosen) in [(75, 75), (79, 75), (86, 80), (90, 90), (121, 90)] {
            let image = PtxImage::choose(&images(), compute).expect("75 and newer have one");
            assert_eq!(image.compute, chosen, "compute capability {compute}");
        }
    }

    #[test]
    fn a_device_older_than_every_image_is_told_the_numbers() {
        let error = PtxImage::choose(&images(), 70).expect_err("70 is below 75");
        assert_eq!(
            error,
            DeviceError::NoImage {
                compute: 70,
                offered: vec![75, 90, 80]
            }
        );
    }

    /// A declaration, a kernel with braces in its body, a function, a kernel on one line, and a
    /// kernel at the end of the file.
    const FOUR_PARTS: PtxImage = PtxImage {
        compute: 75,
        text: "// head\n.version 7.4\n\n.shared .b8 tile[16];\n\n\t// .globl\tfirst\n\
               .visible .entry first(\n\t.param .u32 first_param_0\n)\n\
               .maxntid 512, 1, 1\n{\n// no } here\n{\n.reg .b32 a;\n}\n\
               \tmov.b64 {%r1, %r2}, %rd1; // nor {\n}\n\
               .func helper()\n{\n\tret;\n}\n\
               .entry second(){ret;}\n.weak .entry third()\n{\n}",
    };

    #[test]
    fn a_module_is_what_is_common_and_one_kernel() {
        let parts = FOUR_PARTS.parts();
        let kernels: Vec<_> = parts.kernels().collect();
        assert_eq!(kernels, ["first", "second", "third"]);
        let common = ".version 7.4\n.shared .b8 tile[16];\n.func helper()\n{\n\tret;\n}\n";
        let first = ".visible .entry first(\n\t.param .u32 first_param_0\n)\n\
                     .maxntid 512, 1, 1\n{\n// no } here\n{\n.reg .b32 a;\n}\n\
                     \tmov.b64 {%r1, %r2}, %rd1; // nor {\n}";
        let entries = [
            ("first", first),
            ("second", ".entry second(){ret;}"),
            ("third", ".weak .entry third()\n{\n}"),
        ];
        for (name, entry) in entries {
            assert_eq!(parts.module(name), Some(format!("{common}{entry}")));
        }
        assert_eq!(parts.module("fourth"), None);
    }

    #[test]
    fn a_kernel_without_an_end_is_left_to_the_compiler_to_refuse() {
        let text = ".visible .entry open()\n{\n\tret;\n";
        let image = PtxImage { compute: 75, text };
        assert_eq!(image.parts().module("open").as_deref(), Some(text));
        let nothing = PtxImage {
            compute: 75,
            text: "",
        };
        assert_eq!(nothing.parts().kernels().count(), 0);
    }

    #[test]
    fn the_kernels_of_both_images_are_parted_each_once_and_whole() {
        for image in KERNELS {
            let parts = image.parts();
            let heads = image.text.matches("\n.visible .entry ").count();
            assert_eq!(parts.kernels().count(), heads, "{image:?}");
            let mut lines = lines_of_code(&parts.prelude);
            for (kernel, entry) in &parts.entries {
                let head = format!(".visible .entry {kernel}(");
                assert!(entry.starts_with(&head), "{image:?}: {kernel}");
                assert_eq!(entry.matches(".entry ").count(), 1, "{image:?}: {kernel}");
                lines += lines_of_code(entry);
            }
            assert_eq!(lines, lines_of_code(image.text), "{image:?}");
        }
    }

    #[test]
    fn no_kernel_of_an_image_mentions_another() {
        for image in KERNELS {
            let parts = image.parts();
            for (kernel, entry) in &parts.entries {
                let other = identifiers(entry)
                    .find(|name| name != kernel && parts.entries.contains_key(name));
                assert_eq!(other, None, "{image:?}: {kernel}");
            }
        }
    }

    #[test]
    fn the_kernels_of_an_image_share_no_memory_at_module_scope() {
        for image in KERNELS {
            for line in image.parts().prelude.lines() {
                let of_a_block = [
                    ".version",
                    ".target",
                    ".address_size",
                    ".shared",
                    ".extern .shared",
                ];
                assert!(
                    of_a_block
                        .iter()
                        .any(|directive| line.starts_with(directive)),
                    "{image:?}: each kernel would get its own of `{line}`"
                );
            }
        }
    }

    fn lines_of_code(ptx: &str) -> usize {
        ptx.lines()
            .map(str::trim_start)
            .filter(|line| !line.is_empty() && !line.starts_with("//"))
            .count()
    }

    /// Words that can be identifiers (PTX ISA, "Identifiers").
    fn identifiers(ptx: &str) -> impl Iterator<Item = &str> {
        ptx.split(|c: char| !matches!(c, '_' | '$' | '%') && !c.is_ascii_alphanumeric())
    }
}
