//! Reduces PTX to the form of a claim.
//!
//! [`effects`] keeps the instructions of a kernel that affect memory, other threads or time, in
//! order. Their operands do not depend on register numbers:
//!
//! * `$2` is the kernel's third parameter, `$0+8` is 8 bytes into its first;
//! * a constant, a special register or a symbol replaces the register that holds it, and `base+4`
//!   replaces a register that is the sum of these;
//! * any other register is only its class: `%r`, `%rd`, `%p`.
//!
//! `loop: ` marks the instructions between the target of a backward branch and that branch.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

/// Opcodes that only compute or branch. Anything not listed counts as an effect, so an unexpected
/// instruction fails a claim.
const PURE: [&str; 19] = [
    "add", "and", "bra", "cvt", "mad", "max", "min", "mov", "mul", "not", "or", "popc", "ret",
    "selp", "setp", "shl", "shr", "sub", "xor",
];

/// Exceptions that belong in claims: reads of clocks, which change each time, of the size of
/// dynamic shared memory, conversions of f16, rounding to integers, and floating-point arithmetic,
/// whose rounding matters.
const NOT_PURE: [&str; 10] = [
    "%clock64",
    "%globaltimer",
    "%dynamic_smem_size",
    ".f16",
    "cvt.rmi.f",
    "cvt.rpi.f",
    "cvt.rzi.f",
    "cvt.rni.f",
    "add.rn.",
    "mul.rn.",
];

/// Each kernel with the statements and labels of its body.
pub(crate) fn bodies(ptx: &str) -> BTreeMap<&str, Vec<&str>> {
    let entries = ptx.split(".visible .entry ").skip(1).map(|entry| {
        let name = entry.split('(').next().unwrap_or_default();
        let body = entry.split_once("\n{\n").map_or("", |(_, rest)| rest);
        let statements = lines(body).flat_map(|line| line.split_inclusive(';'));
        let kept =
            statements.map(str::trim).filter(|text| !text.is_empty() && !text.starts_with('.'));
        (name, kept.collect())
    });
    entries.collect()
}

/// The lines of a body, up to its closing brace, without the braces of inner scopes.
fn lines(body: &str) -> impl Iterator<Item = &str> {
    let mut scopes = 1;
    let within = body.lines().map(str::trim).take_while(move |line| {
        match *line {
            "{" => scopes += 1,
            "}" => scopes -= 1,
            _ => {}
        }
        scopes > 0
    });
    within.filter(|line| !["{", "}"].contains(line))
}

/// The parameters that the kernel `name` declares, without their names: `.u32`, `.align 8 .b8[16]`.
pub(crate) fn parameters(ptx: &str, name: &str) -> Vec<String> {
    let header = ptx
        .split_once(&format!(".visible .entry {name}("))
        .and_then(|(_, rest)| rest.split_once(')'))
        .map_or("", |(header, _)| header);
    let lines = header.lines().map(|line| line.trim().trim_end_matches(','));
    lines
        .filter_map(|line| line.strip_prefix(".param "))
        .enumerate()
        .map(|(i, text)| text.replace(&format!(" {name}_param_{i}"), ""))
        .collect()
}

/// The effects of the kernel `name` with this body: see the module.
pub(crate) fn effects(name: &str, body: &[&str]) -> Vec<String> {
    let values = values(name, body);
    let loops = loops(body);
    let numbered = body.iter().enumerate();
    numbered
        .filter(|(_, statement)| is_effect(statement))
        .map(|(at, statement)| {
            let turns = loops.iter().any(|turns| turns.contains(&at));
            let statement = statement.replace('\t', "");
            let settled = map_registers(&statement, |register| {
                let class = register.trim_end_matches(|c: char| c.is_ascii_digit());
                values.get(register).cloned().unwrap_or(class.to_owned())
            });
            format!("{}{settled}", if turns { "loop: " } else { "" })
        })
        .collect()
}

fn opcode(statement: &str) -> &str {
    let unguarded = match statement.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim()),
        None => statement,
    };
    unguarded.split([' ', '\t', ';']).next().unwrap_or_default()
}

fn is_effect(statement: &str) -> bool {
    let opcode = opcode(statement);
    let pure = PURE.contains(&opcode.split('.').next().unwrap_or_default())
        && !NOT_PURE.iter().any(|mark| statement.contains(mark));
    !statement.ends_with(':') && !opcode.starts_with("ld.param") && !pure
}

/// The registers with a single definition that is a parameter, a constant, a symbol, or the sum of
/// one of these and a constant.
fn values(name: &str, body: &[&str]) -> HashMap<String, String> {
    let mut definitions: HashMap<&str, Vec<&str>> = HashMap::new();
    for statement in body {
        let operands = statement.trim_end_matches(';').split_once(char::is_whitespace);
        let defines = !matches!(opcode(statement), "nanosleep.u32" | "bar.warp.sync");
        if let Some((_, operands)) = operands.filter(|_| defines) {
            let target = operands.trim().split([',', ' ']).next().unwrap_or_default();
            definitions.entry(target).or_default().push(statement);
        }
    }
    let mut values = HashMap::new();
    for statement in body {
        let Some((_, operands)) = statement.trim_end_matches(';').split_once(char::is_whitespace)
        else {
            continue;
        };
        let operands: Vec<_> = operands.split(',').map(str::trim).collect();
        let known = |operand: &str| match values.get(operand) {
            Some(value) => Some(String::clone(value)),
            None => (!is_register(operand)).then(|| operand.to_owned()),
        };
        let value = match (opcode(statement), operands.as_slice()) {
            (load, [_, from]) if load.starts_with("ld.param") => {
                Some(from.trim_matches(['[', ']']).replace(&format!("{name}_param_"), "$"))
            }
            (opcode, [_, from]) if opcode.starts_with("mov.") && !from.starts_with('{') => {
                known(from).filter(|_| !is_effect(statement))
            }
            ("add.s64" | "add.s32", [_, base, offset]) => {
                known(base).zip(known(offset)).map(|(base, offset)| format!("{base}+{offset}"))
            }
            _ => None,
        };
        if let Some(value) = value
            && definitions[operands[0]].len() == 1
        {
            values.insert(operands[0].to_owned(), value);
        }
    }
    values
}

/// The numbered registers are those that LLVM allocates; `%tid.x` and `%clock64` are special.
fn is_register(operand: &str) -> bool {
    let class = operand.trim_end_matches(|c: char| c.is_ascii_digit());
    class.len() < operand.len() && ["%p", "%rs", "%r", "%rd"].contains(&class)
}

/// The statement with each register replaced.
fn map_registers(statement: &str, f: impl Fn(&str) -> String) -> String {
    let mut mapped = String::new();
    let mut rest = statement;
    while let Some(start) = rest.find('%') {
        mapped.push_str(&rest[..start]);
        rest = &rest[start..];
        let end =
            1 + rest[1..].find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len() - 1);
        let (register, after) = rest.split_at(end);
        if is_register(register) {
            mapped.push_str(&f(register));
        } else {
            mapped.push_str(register);
        }
        rest = after;
    }
    mapped + rest
}

/// The loops of a body: from a label to each branch back to it. Scopes may have the same labels; a
/// branch goes to the nearest one.
fn loops(body: &[&str]) -> Vec<RangeInclusive<usize>> {
    let branches = body.iter().enumerate().filter_map(|(at, line)| {
        let (_, label) = line.trim_end_matches(';').rsplit_once(char::is_whitespace)?;
        let is_label = |line: &&str| line.strip_suffix(':') == Some(label);
        let start = body[..at].iter().rposition(is_label)?;
        Some(start..=at)
    });
    branches.collect()
}

#[test]
fn registers_are_replaced_by_their_values() {
    let ptx = "\
.visible .entry k(
	.param .align 8 .b8 k_param_0[16],
	.param .u32 k_param_1
)
{
	.reg .b32 	%r<6>;

	ld.param.b64 	%rd1, [k_param_0];
	ld.param.b32 	%r1, [k_param_1];
$L__BB0_1:
	mov.u64 %rd3, %clock64;
	bar.warp.sync 	%r1;
	add.s64 	%rd2, %rd1, 4;
	mov.b32 	%r2, 7;
	atom.add.u32 %r3, [%rd2], %r2;
	@%p1 bra 	$L__BB0_1;
	mov.u32 	%r4, %tid.x;
	st.v2 [%rd1], {%r4, %r3};
	{
LOOK:
	ld.volatile.b32 %r5, [%rd1];
	@%p1 bra LOOK;
}
	{
LOOK:
	@%p1 bra LOOK;
}
	trap; exit;
}
";
    assert_eq!(parameters(ptx, "k"), [".align 8 .b8[16]", ".u32"]);
    assert_eq!(
        effects("k", &bodies(ptx)["k"]),
        [
            "loop: mov.u64 %rd, %clock64;",
            "loop: bar.warp.sync $1;",
            "loop: atom.add.u32 %r, [$0+4], 7;",
            "st.v2 [$0], {%tid.x, %r};",
            "loop: ld.volatile.b32 %r, [$0];",
            "trap;",
            "exit;"
        ]
    );
}
