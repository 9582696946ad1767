//! Reads PTX: the instructions of a kernel, and its loops.

use gridsync::device::cuda::{ImageError, Modules};
use ptx::{Instruction, Operand, parse};

/// The code of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    text: Box<str>,
    code: ptx::Body,
}

impl Body {
    /// The body of `kernel`. `None` if no image has the kernel.
    ///
    /// # Errors
    /// If an image cannot be read.
    ///
    /// # Panics
    /// If the kernel is not valid PTX.
    pub fn of(modules: &Modules<'_>, kernel: &str) -> Result<Option<Self>, ImageError> {
        let module = modules.module(kernel)?.map(|module| parse(&module.text).expect("valid PTX"));
        Ok(module.and_then(|module| {
            let mut functions = module.functions.into_iter();
            let code = functions.find(|function| &*function.name == kernel)?.body?;
            Some(Self { text: module.text, code })
        }))
    }

    /// The instructions, in the order of the text.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.code.instructions
    }

    /// The labels and instructions from instruction `first` to the last one, one per line. If
    /// `first` is the first one of a loop, it includes the label before it.
    pub(crate) fn listing(&self, first: usize) -> String {
        let all = self.instructions();
        let end = all[all.len() - 1].line as usize;
        let start = all[first].line as usize - 1 - usize::from(self.is_looped(first));
        let lines = self.text.lines().map(str::trim).take(end).skip(start);
        let is_code = |line: &&str| !line.is_empty() && !line.starts_with(['.', '/', '{', '}']);
        lines.filter(is_code).collect::<Vec<_>>().join("\n")
    }

    /// Whether instruction `at` can run again after it has run.
    ///
    /// # Panics
    /// If `at` is out of range.
    #[must_use]
    pub fn is_looped(&self, at: usize) -> bool {
        // A branch back is not enough: the compiler may have put the common exit of a kernel first.
        let mut reached = vec![false; self.instructions().len()];
        let mut next = self.successors(at);
        while let Some(at) = next.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                next.extend(self.successors(at));
            }
        }
        reached[at]
    }

    /// The instructions that can run again.
    pub fn looped(&self) -> impl Iterator<Item = &Instruction> {
        let all = self.instructions().iter().enumerate();
        all.filter_map(|(at, instruction)| self.is_looped(at).then_some(instruction))
    }

    /// Number of instructions that may send the lanes of a warp to different targets: branches with
    /// a guard, and `brx.idx` (PTX ISA, "bra" and "brx.idx").
    #[must_use]
    pub fn conditional_branches(&self) -> usize {
        let is_conditional = |instruction: &&Instruction| match instruction.mnemonic.opcode() {
            "bra" => instruction.guard.is_some(),
            opcode => opcode == "brx",
        };
        self.instructions().iter().filter(is_conditional).count()
    }

    /// The instructions that may run right after instruction `at`.
    fn successors(&self, at: usize) -> Vec<usize> {
        let instruction = &self.instructions()[at];
        let opcode = instruction.mnemonic.opcode();
        let leaves = ["bra", "brx", "ret", "exit", "trap"].contains(&opcode);
        let on = (instruction.guard.is_some() || !leaves).then_some(at + 1);
        let labels = instruction.operands.iter().flat_map(|operand| match operand {
            Operand::Label(label) => std::slice::from_ref(label),
            Operand::Targets(list) => &self.code.targets[*list as usize],
            _ => &[],
        });
        let to = labels.map(|label| self.code.labels[label.0 as usize].at);
        on.into_iter().chain(to).filter(|&at| at < self.instructions().len()).collect()
    }
}

/// Whether an instruction loads from memory (PTX ISA, "ld"). Loads of parameters do not count.
#[must_use]
pub fn is_load(instruction: &Instruction) -> bool {
    instruction.mnemonic.opcode() == "ld" && !instruction.mnemonic.has("param")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::cuda::PtxImage;

    const PTX: &str = "
.version 7.4
.target sm_75
.visible .entry other(
	.param .u32 other_param_0
)
{
	ret;
}
	// .globl	waits
.visible .entry waits(
	.param .u64 waits_param_0
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<3>;
	.reg .b64 	%rd<2>;

	ld.param.b64 	%rd1, [waits_param_0];
	@%p1 bra 	$wait;
	bra.uni 	$end;
$leave:
	ret;
$wait:
	{
.reg .pred again;
look:
ld.relaxed.gpu.global.b32 %r1, [%rd1];
@!again bra look;
	}
	bra.uni 	$leave;
$end:
	ld.global.b32 	%r2, [%rd1];
	bra.uni 	$leave;

}
.visible .entry third()
{
	trap;
}
";

    fn body(kernel: &str) -> Option<Body> {
        let modules = Modules::of(&[PtxImage::text(75, PTX)], 75).expect("a whole image");
        Body::of(&modules, kernel).expect("a whole image")
    }

    #[test]
    fn a_listing_ends_with_its_kernel() {
        let listing = body("waits").expect("the kernel is there").listing(0);
        let lines: Vec<_> = listing.lines().collect();
        assert_eq!(lines.first(), Some(&"ld.param.b64 \t%rd1, [waits_param_0];"));
        assert_eq!(lines.last(), Some(&"bra.uni \t$leave;"));
        assert_eq!(lines.len(), 13, "{listing}");
        assert_eq!(body("wait"), None);
    }

    #[test]
    fn an_unconditional_branch_is_not_counted() {
        let branches = |kernel| body(kernel).map(|body| body.conditional_branches());
        assert_eq!(branches("waits"), Some(2));
        assert_eq!(branches("other"), Some(0));
    }

    #[test]
    fn a_branch_back_to_the_exit_is_not_a_loop() {
        let waits = body("waits").expect("the kernel is there");
        let looped: Vec<_> = waits.looped().map(|it| it.mnemonic.text()).collect();
        assert_eq!(looped, ["ld.relaxed.gpu.global.b32", "bra"]);
        let first = (0..).find(|&at| waits.is_looped(at)).expect("it has a loop");
        assert!(waits.listing(first).starts_with("look:\nld.relaxed"), "{waits:?}");
        assert_eq!(body("other").expect("the kernel is there").looped().count(), 0);
    }
}
