//! Reads PTX: the instructions of a kernel, and its loops.

/// The labels and instructions of one kernel, in source order, one per line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body<'a> {
    lines: Vec<&'a str>,
}

impl<'a> Body<'a> {
    /// The body of `kernel` in `ptx`, without declarations, comments and braces. `None` if `ptx`
    /// does not have the kernel.
    #[must_use]
    pub fn of(ptx: &'a str, kernel: &str) -> Option<Self> {
        let entry = format!(".entry {kernel}(");
        let (_, rest) = ptx.split_once(&entry)?;
        // Inline PTX may contain braces.
        let mut depth = 0;
        let mut lines = Vec::new();
        for line in rest.lines().map(str::trim).skip_while(|line| *line != "{") {
            match line {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ if line.is_empty() || line.starts_with(['.', '/']) => {}
                _ => lines.push(line),
            }
            if depth == 0 {
                break;
            }
        }
        Some(Self { lines })
    }

    /// The lines.
    #[must_use]
    pub fn lines(&self) -> &[&'a str] {
        &self.lines
    }

    /// Whether line `at` can run again after it has run.
    ///
    /// # Panics
    /// If `at` is out of range.
    #[must_use]
    pub fn is_looped(&self, at: usize) -> bool {
        // A branch back is not enough: the compiler may have put the common exit of a kernel first.
        let mut reached = vec![false; self.lines.len()];
        let mut next = self.successors(at);
        while let Some(line) = next.pop() {
            if !std::mem::replace(&mut reached[line], true) {
                next.extend(self.successors(line));
            }
        }
        reached[at]
    }

    /// The lines that can run again.
    pub fn looped(&self) -> impl Iterator<Item = &'a str> {
        let lines = self.lines.iter().copied().enumerate();
        lines.filter_map(|(at, line)| self.is_looped(at).then_some(line))
    }

    /// Number of instructions that may send the lanes of a warp to different targets: branches with
    /// a guard, and `brx.idx` (PTX ISA, "bra" and "brx.idx").
    #[must_use]
    pub fn conditional_branches(&self) -> usize {
        let is_conditional = |line: &&&str| {
            let (guarded, instruction) = split_guard(line);
            guarded && branch_target(instruction).is_some() || instruction.starts_with("brx.idx")
        };
        self.lines.iter().filter(is_conditional).count()
    }

    /// The lines that may run right after line `at`.
    fn successors(&self, at: usize) -> Vec<usize> {
        let (guarded, instruction) = split_guard(self.lines[at]);
        let target = branch_target(instruction);
        let leaves = ["ret;", "exit;", "trap;"].contains(&instruction);
        let on = (guarded || !(leaves || target.is_some())).then_some(at + 1);
        let to = target.and_then(|label| self.label(label, at));
        let lines = on.into_iter().chain(to);
        lines.filter(|&line| line < self.lines.len()).collect()
    }

    /// The line of the label that line `from` branches to. Inline PTX may define the same label
    /// several times, each inside its own braces. Chooses the nearest one.
    fn label(&self, name: &str, from: usize) -> Option<usize> {
        let is_label = |&at: &usize| self.lines[at].strip_suffix(':') == Some(name);
        (0..self.lines.len()).filter(is_label).min_by_key(|at| at.abs_diff(from))
    }
}

/// Whether a line loads from memory (PTX ISA, "ld"). Loads of parameters do not count.
#[must_use]
pub fn is_load(line: &str) -> bool {
    line.starts_with("ld.") && !line.starts_with("ld.param")
}

/// Whether a line has a guard, and its instruction without the guard.
fn split_guard(line: &str) -> (bool, &str) {
    match line.split_once(char::is_whitespace) {
        Some((guard, rest)) if guard.starts_with('@') => (true, rest.trim_start()),
        _ => (false, line),
    }
}

/// The target of an instruction (without its guard), if it is a branch (PTX ISA, "bra").
fn branch_target(instruction: &str) -> Option<&str> {
    let (opcode, target) = instruction.split_once(char::is_whitespace)?;
    (opcode == "bra" || opcode == "bra.uni").then(|| target.trim().trim_end_matches(';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "
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

    #[test]
    fn a_body_ends_at_its_closing_brace() {
        let body = Body::of(PTX, "waits").expect("the kernel is there");
        let lines = body.lines();
        assert_eq!(lines.first(), Some(&"ld.param.b64 \t%rd1, [waits_param_0];"));
        assert_eq!(lines.last(), Some(&"bra.uni \t$leave;"));
        assert_eq!(lines.len(), 13, "{body:?}");
        assert_eq!(Body::of(PTX, "wait"), None);
    }

    #[test]
    fn an_unconditional_branch_is_not_counted() {
        let branches = |kernel| Body::of(PTX, kernel).map(|body| body.conditional_branches());
        assert_eq!(branches("waits"), Some(2));
        assert_eq!(branches("other"), Some(0));
    }

    #[test]
    fn a_branch_back_to_the_exit_is_not_a_loop() {
        let body = Body::of(PTX, "waits").expect("the kernel is there");
        let looped: Vec<_> = body.looped().collect();
        let expected = ["look:", "ld.relaxed.gpu.global.b32 %r1, [%rd1];", "@!again bra look;"];
        assert_eq!(looped, expected);
        let other = Body::of(PTX, "other").expect("the kernel is there");
        assert_eq!(other.looped().count(), 0);
    }
}
