//! Extracts the data for the audit from the PTX.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

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
    /// Parses LLVM's output. It has one instruction or directive per line, and each brace of a body
    /// or of a scope of inline PTX on a separate line.
    pub(super) fn parse(ptx: &str) -> Result<Self> {
        let target = ptx
            .lines()
            .find_map(|line| line.strip_prefix(".target sm_"))
            .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>())
            .and_then(|digits| digits.parse().ok())
            .context("no line `.target sm_NN`")?;
        let mut module = Self {
            target,
            kernels: BTreeMap::new(),
            externs: Vec::new(),
            functions_with_barriers: Vec::new(),
        };
        let mut inside: Option<Body> = None;
        for line in ptx.lines() {
            if let Some(name) = line.strip_prefix(".extern .func").and_then(declared) {
                module.externs.push(name);
            } else if let Some(body) = Body::opens_at(line) {
                inside = Some(body);
            } else if let Some(body) = &mut inside {
                match line.trim() {
                    "{" => body.depth += 1,
                    "}" => body.depth -= 1,
                    _ => {}
                }
                body.barriers += line.split(';').filter(|text| is_block_barrier(text)).count();
                if line.trim() == "}"
                    && let Some(body) = inside.take_if(|body| body.depth == 0)
                {
                    module.take(body);
                }
            }
        }
        Ok(module)
    }

    fn take(&mut self, body: Body) {
        if body.is_kernel {
            self.kernels.insert(body.name, body.barriers);
        } else if body.barriers > 0 {
            self.functions_with_barriers.push(body.name);
        }
    }
}

/// A kernel or a function that is being parsed.
struct Body {
    name: String,
    is_kernel: bool,
    barriers: usize,
    /// The number of open braces.
    depth: usize,
}

impl Body {
    /// A declaration opens a body too. It never closes, so the next body replaces it.
    fn opens_at(line: &str) -> Option<Self> {
        let directives = line.trim_start_matches(".visible ").trim_start_matches(".weak ");
        let (rest, is_kernel) = match directives.strip_prefix(".entry") {
            Some(rest) => (rest, true),
            None => (directives.strip_prefix(".func")?, false),
        };
        Some(Self { name: declared(rest)?, is_kernel, barriers: 0, depth: 0 })
    }
}

/// The name in ` name(…`, or in ` (.param .b32 result) name`.
fn declared(rest: &str) -> Option<String> {
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim_start(),
        None => rest,
    };
    let end = rest.find(|c: char| c == '(' || c == ';' || c.is_whitespace());
    let name = &rest[..end.unwrap_or(rest.len())];
    (!name.is_empty()).then(|| name.to_owned())
}

/// Whether an instruction waits for or arrives at a block barrier. Barriers of warps and clusters
/// do not count. `barrier` is the newer spelling of `bar` (PTX ISA, "bar, barrier").
fn is_block_barrier(instruction: &str) -> bool {
    let mut words = instruction.split_whitespace();
    let mut opcode = words.next().unwrap_or_default();
    if opcode.starts_with('@') {
        opcode = words.next().unwrap_or_default();
    }
    let other = opcode.starts_with("bar.warp.") || opcode.starts_with("barrier.cluster.");
    !other && (opcode.starts_with("bar.") || opcode.starts_with("barrier."))
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
	bar.sync 	0;
	@%p1 bra 	$L__BB0_1;
	{ // callseq 0, 0
	} // callseq 0
	@%p2 barrier.cta.sync.aligned 1, 64;
	bar.warp.sync 	-1;
	barrier.cluster.arrive.release.aligned;
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
