//! Instructions.

use std::sync::Arc;

use crate::operand::{Operand, Register};

/// An instruction. The parser does not know which ones exist, only how their operands are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The predicate of its guard, `@%p1` or `@!%p1`.
    pub guard: Option<Guard>,
    /// Its opcode and modifiers. Equal ones share one value.
    pub mnemonic: Arc<Mnemonic>,
    /// Its operands, in the order of the text.
    pub operands: Box<[Operand]>,
    /// Its line in the text of the module, starting at 1.
    pub line: u32,
    /// Its line in the source: an index into [`Body::locations`](crate::Body::locations).
    pub location: Option<u32>,
    /// The bytes of the text from its guard to its last operand.
    span: [u32; 2],
}

impl Instruction {
    pub(crate) fn new(
        guard: Option<Guard>,
        mnemonic: Arc<Mnemonic>,
        operands: Box<[Operand]>,
        line: u32,
        location: Option<u32>,
        span: [u32; 2],
    ) -> Self {
        Self { guard, mnemonic, operands, line, location, span }
    }

    /// The instruction as it is written in `ptx`, the text that was parsed, without its semicolon.
    /// Empty in a shorter text.
    #[must_use]
    pub fn text<'a>(&self, ptx: &'a str) -> &'a str {
        let [start, end] = self.span.map(|at| at as usize);
        ptx.get(start..end).unwrap_or_default()
    }
}

/// The guard of an instruction: it is executed if the predicate is true, or false if negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate.
    pub register: Register,
    /// Whether it is negated.
    pub negated: bool,
}

/// An opcode and its modifiers, such as `ld.global.u32`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mnemonic {
    text: Box<str>,
}

impl Mnemonic {
    pub(crate) fn new(opcode: &str, modifiers: &[&str]) -> Self {
        let words = std::iter::once(opcode).chain(modifiers.iter().copied());
        Self { text: words.collect::<Vec<_>>().join(".").into() }
    }

    /// The whole mnemonic, without spaces.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The opcode, such as `ld`.
    #[must_use]
    pub fn opcode(&self) -> &str {
        self.text.split('.').next().unwrap_or_default()
    }

    /// The modifiers without their dots, in the order of the text.
    pub fn modifiers(&self) -> impl Iterator<Item = &str> {
        self.text.split('.').skip(1)
    }

    /// Whether `modifier`, without its dot, is there, at any place.
    #[must_use]
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers().any(|word| word == modifier)
    }
}

/// The group of an instruction that an interpreter of threads is not expected to run. It needs
/// units that several warps or devices share, textures, or memory that the parser cannot lay out.
///
/// `opcode` may be a whole mnemonic: only the part before its first dot counts.
#[must_use]
pub fn refused(opcode: &str) -> Option<&'static str> {
    Some(match opcode.split('.').next().unwrap_or_default() {
        "wgmma" => "matrix products of warp groups",
        "tcgen05" => "tensor memory",
        "wmma" => "matrix products of a warp",
        "tex" | "tld4" | "txq" | "istypep" => "textures",
        "suld" | "sust" | "sured" | "suq" => "surfaces",
        "multimem" => "multicast objects",
        "clusterlaunchcontrol" => "control of cluster launches",
        "alloca" | "stacksave" | "stackrestore" => "a stack that grows",
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad" | "vset"
        | "vadd2" | "vsub2" | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4"
        | "vsub4" | "vavrg4" | "vabsdiff4" | "vmin4" | "vmax4" | "vset4" => "video instructions",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_are_found_in_any_order() {
        let mnemonic = Mnemonic::new("ld", &["global", "gpu", "acquire", "L2::128B", "b32"]);
        assert_eq!(mnemonic.opcode(), "ld");
        assert_eq!(mnemonic.text(), "ld.global.gpu.acquire.L2::128B.b32");
        assert!(mnemonic.has("acquire") && mnemonic.has("L2::128B") && !mnemonic.has("ld"));
        assert_eq!(mnemonic.modifiers().count(), 5);
    }

    #[test]
    fn refused_instructions_are_named() {
        assert_eq!(refused("wgmma.fence.sync.aligned"), Some("matrix products of warp groups"));
        assert_eq!(refused("tex"), Some("textures"));
        assert_eq!(refused("texture"), None);
        assert_eq!(refused("mma"), None);
    }
}
