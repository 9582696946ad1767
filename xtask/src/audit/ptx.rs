//! Extracts the data for the audit from the PTX.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use ptx::{Linkage, Mnemonic};

/// The contents of a PTX file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Module {
    /// The compute capability that the file requires.
    pub(super) target: u32,
    /// Each kernel, with its number of block barriers.
    pub(super) kernels: BTreeMap<String, usize>,
    /// The functions that are declared but not defined.
    pub(super) externs: Vec<String>,
    /// The functions with a block barrier, except kernels.
    pub(super) functions_with_barriers: Vec<String>,
}

impl Module {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let parsed = ptx::parse(text)?;
        let mut module = Self {
            target: parsed.capability().context("no target (sm_90) after `.target`")?,
            kernels: BTreeMap::new(),
            externs: Vec::new(),
            functions_with_barriers: Vec::new(),
        };
        for function in parsed.functions {
            let name = String::from(function.name);
            if let Some(body) = function.body {
                let mnemonics = body.instructions.iter().map(|instruction| &instruction.mnemonic);
                let barriers = mnemonics.filter(|mnemonic| is_block_barrier(mnemonic)).count();
                if function.is_kernel {
                    module.kernels.insert(name, barriers);
                } else if barriers > 0 {
                    module.functions_with_barriers.push(name);
                }
            } else if function.linkage == Linkage::Extern {
                module.externs.push(name);
            }
        }
        Ok(module)
    }
}

/// Whether an instruction waits for or arrives at a block barrier. Barriers of warps and clusters
/// do not count. `barrier` is the newer spelling of `bar` (PTX ISA, "bar, barrier").
fn is_block_barrier(mnemonic: &Mnemonic) -> bool {
    matches!(mnemonic.opcode(), "bar" | "barrier")
        && !mnemonic.has("warp")
        && !mnemonic.has("cluster")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.version 8.0
.target sm_90a
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
)
;
.func forward
()
.noreturn;
.visible .entry two(
	.param .u64 two_param_0
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<3>;
	bar.sync 	0;
	@%p1 bra 	$L__BB0_1;
	{ // callseq 0, 0
	} // callseq 0
	@%p2 barrier.cta.sync.aligned 1, 64;
	bar.warp.sync 	-1;
	barrier.cluster.arrive.release.aligned;
$L__BB0_1:
	ret;
}
	// .globl	none
.visible .entry none()
{
	ret;
}
.func  (.param .b32 func_retval0) forward(
	.param .b64 forward_param_0
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<2>;
	barrier.sync 0; bar.red.popc.u32 %r1, 0, %p1;
	ret;
}
";

    #[test]
    fn block_barriers_are_counted_in_their_function() {
        let module = Module::parse(PTX).unwrap();
        assert_eq!(module.target, 90);
        assert_eq!(module.kernels, BTreeMap::from([("two".to_owned(), 2), ("none".to_owned(), 0)]));
        assert_eq!(module.functions_with_barriers, ["forward"]);
    }

    #[test]
    fn only_extern_declarations_count_as_undefined() {
        assert_eq!(Module::parse(PTX).unwrap().externs, ["vprintf"]);
    }

    #[test]
    fn a_text_without_a_target_is_an_error() {
        assert!(Module::parse(".version 8.0\n").is_err());
    }
}
