//! A litmus test as a PTX kernel.
//!
//! Each warp runs one thread of the test, and each of its lanes a different run of it, in its own
//! memory. The blocks of a group run the CTAs. In each round the warps of a group meet, wait for a
//! random time, and execute the instructions of the test. Blocks beyond the groups load and store
//! other memory during the rounds.

use litmus::{
    Access, Arithmetic, Comparison, FenceOrder, Instruction, Operand, Order, Scope, Space, Term,
    Test, Thread, Update,
};
use std::fmt::Write;

/// The parameters of the kernel, in order: addresses, then 32-bit numbers.
pub(super) const ADDRESSES: [&str; 4] = ["memory", "out", "meeting", "scratch"];
pub(super) const NUMBERS: [&str; 10] = [
    "groups",
    "spread",
    "rounds",
    "mask",
    "factor",
    "location_words",
    "run_words",
    "seed",
    "delay",
    "fuel",
];

/// Number of times that a warp polls for the others of its group before it continues without them.
const PATIENCE: u32 = 4000;

/// The blocks and warps that run a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// CTAs of the test.
    pub(super) ctas: u32,
    /// Warps of a block: the most threads that a CTA of the test has.
    pub(super) warps: u32,
}

/// The text of the kernel `name` for a device of compute capability `compute`, without a header.
///
/// # Errors
/// The reason why the test cannot run on one GPU.
pub(super) fn kernel(
    name: &str,
    test: &Test,
    columns: &[Term],
    compute: u32,
) -> Result<(Shape, String), &'static str> {
    let places = places(test)?;
    let shape = Shape {
        ctas: places.iter().map(|place| place.0 + 1).max().unwrap_or(1),
        warps: places.iter().map(|place| place.1 + 1).max().unwrap_or(1),
    };
    let mut text = head(name, test, shape);
    for (number, (cta, warp)) in places.iter().enumerate() {
        line(&mut text, &format!("setp.eq.u32 %p1, %key, {}", cta * shape.warps + warp));
        line(&mut text, &format!("@%p1 bra THREAD_{number}"));
    }
    line(&mut text, "ret");
    for (number, thread) in test.threads.iter().enumerate() {
        Code { test, thread, number, compute }.write(&mut text, columns)?;
    }
    text += TAIL;
    Ok((shape, text))
}

/// The CTA of each thread, numbered from 0, and its index in the CTA.
fn places(test: &Test) -> Result<Vec<(u32, u32)>, &'static str> {
    if test.threads.iter().any(|thread| thread.gpu != test.threads[0].gpu) {
        return Err("it has several GPUs");
    }
    let mut ctas: Vec<(u32, u32)> = Vec::new();
    let place = |thread: &Thread| {
        let at = ctas.iter().position(|cta| cta.0 == thread.cta).unwrap_or_else(|| {
            ctas.push((thread.cta, 0));
            ctas.len() - 1
        });
        ctas[at].1 += 1;
        (at as u32, ctas[at].1 - 1)
    };
    Ok(test.threads.iter().map(place).collect())
}

fn line(text: &mut String, instruction: &str) {
    writeln!(text, "\t{instruction};").expect("a string can be written to");
}

fn label(text: &mut String, label: &str) {
    writeln!(text, "{label}:").expect("a string can be written to");
}

/// Everything up to the selection of the thread that a warp runs: `%run` is the number of the run
/// in this launch, and `%m0`, `%m1`, … are the addresses of its locations.
fn head(name: &str, test: &Test, Shape { ctas, warps }: Shape) -> String {
    let addresses = ADDRESSES.map(|it| format!(".param .u64 {name}_{it}"));
    let numbers = NUMBERS.map(|it| format!(".param .u32 {name}_{it}"));
    let parameters = [&addresses[..], &numbers[..]].concat().join(",\n\t");
    let mut text = format!(".visible .entry {name}(\n\t{parameters}\n)\n{{\n");
    for (number, thread) in test.threads.iter().enumerate() {
        let registers = registers(thread).map_or(0, |most| most + 1);
        line(&mut text, &format!(".reg .b32 %t{number}r<{}>", registers + 1));
    }
    for it in ADDRESSES {
        line(&mut text, &format!(".reg .b64 %{it}"));
        line(&mut text, &format!("ld.param.u64 %{it}, [{name}_{it}]"));
    }
    for it in NUMBERS {
        line(&mut text, &format!(".reg .b32 %{it}"));
        line(&mut text, &format!("ld.param.u32 %{it}, [{name}_{it}]"));
    }
    let (locations, threads) = (test.locations.len().max(1), test.threads.len());
    // `spread` consecutive blocks run the same CTA, of consecutive groups. Depending on the factor,
    // adjacent runs are far apart in memory.
    text += &format!(
        "\
	.reg .pred %p<4>;
	.reg .b32 %a<16>, %round, %run, %key, %group, %played, %start, %left, %scratch_at;
	.reg .b64 %d<8>, %m<{locations}>;
	mov.u32 %a0, %ctaid.x;
	mov.u32 %a1, %tid.x;
	mul.lo.u32 %played, %groups, {ctas};
	setp.ge.u32 %p0, %a0, %played;
	@%p0 bra OTHERS;
	div.u32 %a2, %a0, %spread;
	rem.u32 %a3, %a0, %spread;
	rem.u32 %key, %a2, {ctas};
	div.u32 %a2, %a2, {ctas};
	mad.lo.u32 %group, %a2, %spread, %a3;
	shr.u32 %a4, %a1, 5;
	mad.lo.u32 %key, %key, {warps}, %a4;
	and.b32 %a5, %a1, 31;
	mul.wide.u32 %d0, %group, 128;
	add.u64 %d0, %meeting, %d0;
	mov.u32 %round, 0;
ROUND:
	setp.ge.u32 %p0, %round, %rounds;
	@%p0 ret;
	mad.lo.u32 %a6, %round, %groups, %group;
	mad.lo.u32 %run, %a6, 32, %a5;
	mul.lo.u32 %a7, %run, %factor;
	and.b32 %a7, %a7, %mask;
	mul.lo.u32 %a7, %a7, %run_words;
"
    );
    for location in 0..test.locations.len() {
        line(&mut text, &format!("mad.lo.u32 %a8, %location_words, {location}, %a7"));
        line(&mut text, "mul.wide.u32 %d1, %a8, 4");
        line(&mut text, &format!("add.u64 %m{location}, %memory, %d1"));
    }
    // All warps of the group meet, or continue after some time. Then each waits for a random time,
    // drawn with the last steps of a hash (Murmur3's finaliser).
    text += &format!(
        "\
	setp.ne.u32 %p0, %a5, 0;
	@%p0 bra MET;
	red.relaxed.gpu.global.add.u32 [%d0], 1;
	add.u32 %a9, %round, 1;
	mul.lo.u32 %a9, %a9, {threads};
	mov.u32 %left, {PATIENCE};
LOOK:
	ld.relaxed.gpu.global.u32 %a10, [%d0];
	setp.ge.u32 %p0, %a10, %a9;
	@%p0 bra MET;
	sub.u32 %left, %left, 1;
	setp.ne.u32 %p0, %left, 0;
	@%p0 bra LOOK;
MET:
	bar.warp.sync -1;
	mad.lo.u32 %a11, %a0, 32, %a4;
	mad.lo.u32 %a11, %round, 65537, %a11;
	add.u32 %a11, %a11, %seed;
	shr.u32 %a12, %a11, 16;
	xor.b32 %a11, %a11, %a12;
	mul.lo.u32 %a11, %a11, 0x85ebca6b;
	shr.u32 %a12, %a11, 13;
	xor.b32 %a11, %a11, %a12;
	mul.lo.u32 %a11, %a11, 0xc2b2ae35;
	shr.u32 %a11, %a11, 16;
	and.b32 %a11, %a11, %delay;
	mov.u32 %start, %clock;
DELAY:
	mov.u32 %a12, %clock;
	sub.u32 %a12, %a12, %start;
	setp.lt.u32 %p0, %a12, %a11;
	@%p0 bra DELAY;
"
    );
    text
}

/// The end of a round, and the work of the blocks that run no CTA: they load and store memory that
/// no test uses.
const TAIL: &str = "\
NEXT:
	bar.warp.sync -1;
	add.u32 %round, %round, 1;
	bra ROUND;
OTHERS:
	mov.u32 %a2, %ntid.x;
	mad.lo.u32 %scratch_at, %a0, %a2, %a1;
	mul.lo.u32 %left, %rounds, 64;
DISTURB:
	mad.lo.u32 %scratch_at, %scratch_at, 1664525, 1013904223;
	and.b32 %a3, %scratch_at, 0xffff;
	mul.wide.u32 %d1, %a3, 4;
	add.u64 %d1, %scratch, %d1;
	st.relaxed.gpu.global.u32 [%d1], %scratch_at;
	ld.relaxed.gpu.global.u32 %a4, [%d1];
	sub.u32 %left, %left, 1;
	setp.ne.u32 %p0, %left, 0;
	@%p0 bra DISTURB;
	ret;
}
";

/// The largest register number of the thread.
fn registers(thread: &Thread) -> Option<u32> {
    let of = |operand: &Operand| match operand {
        Operand::Register(register) => Some(register.0),
        Operand::Constant(_) => None,
    };
    let used = thread.statements.iter().flat_map(|statement| match &statement.instruction {
        Instruction::Load { to, .. } => vec![Some(to.0)],
        Instruction::Store { value, .. } => vec![of(value)],
        Instruction::Atomic { to, update, .. } => {
            let (a, b) = match update {
                Update::Apply(_, a) => (of(a), None),
                Update::CompareAndSwap(a, b) => (of(a), of(b)),
            };
            vec![to.map(|to| to.0), a, b]
        }
        Instruction::Compute { to, left, right, .. } => vec![Some(to.0), of(left), of(right)],
        Instruction::Branch { when: Some((_, a, b)), .. } => vec![of(a), of(b)],
        _ => Vec::new(),
    });
    used.flatten().chain(thread.registers.keys().map(|register| register.0)).max()
}

/// The code of one thread of the test.
struct Code<'a> {
    test: &'a Test,
    thread: &'a Thread,
    number: usize,
    compute: u32,
}

impl Code<'_> {
    fn write(&self, text: &mut String, columns: &[Term]) -> Result<(), &'static str> {
        let number = self.number;
        label(text, &format!("THREAD_{number}"));
        for register in 0..=registers(self.thread).unwrap_or(0) {
            let initial = self.thread.registers.get(&litmus::Register(register)).unwrap_or(&0);
            line(text, &format!("mov.u32 %t{number}r{register}, {initial}"));
        }
        line(text, "mov.u32 %left, %fuel");
        for (at, statement) in self.thread.statements.iter().enumerate() {
            label(text, &format!("T{number}_{at}"));
            self.instruction(text, at, &statement.instruction)?;
        }
        label(text, &format!("T{number}_{}", self.thread.statements.len()));
        for (column, term) in columns.iter().enumerate() {
            if let Term::Register(of, register) = term
                && *of == number
            {
                // A register that no instruction names keeps its initial value, 0.
                let value = match registers(self.thread) {
                    Some(most) if register.0 <= most => format!("%t{number}r{}", register.0),
                    _ => "0".to_owned(),
                };
                self.store(text, column, &value);
            }
        }
        line(text, "bra NEXT");
        label(text, &format!("ENDLESS_{number}"));
        self.store(text, columns.len(), "1");
        line(text, "bra NEXT");
        Ok(())
    }

    /// Stores a value of this run in a column of the results.
    fn store(&self, text: &mut String, column: usize, value: &str) {
        line(text, "add.u32 %a13, %mask, 1");
        line(text, &format!("mad.lo.u32 %a13, %a13, {column}, %run"));
        line(text, "mul.wide.u32 %d1, %a13, 4");
        line(text, "add.u64 %d1, %out, %d1");
        line(text, &format!("st.global.u32 [%d1], {value}"));
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Constant(constant) => constant.to_string(),
            Operand::Register(register) => format!("%t{}r{}", self.number, register.0),
        }
    }

    fn instruction(
        &self,
        text: &mut String,
        at: usize,
        instruction: &Instruction,
    ) -> Result<(), &'static str> {
        let number = self.number;
        let register = |register: litmus::Register| format!("%t{number}r{}", register.0);
        match *instruction {
            Instruction::Load { to, from, access } => {
                let how = ordered(access)?;
                line(text, &format!("ld{how}.u32 {}, [%m{}]", register(to), from.0));
            }
            Instruction::Store { at, value, access } => {
                let how = ordered(access)?;
                line(text, &format!("mov.u32 %a14, {}", self.operand(value)));
                line(text, &format!("st{how}.u32 [%m{}], %a14", at.0));
            }
            Instruction::Atomic { to, at, update, access } => {
                let to = to.map_or_else(|| "%a15".to_owned(), register);
                let how = ordered(access)?;
                match update {
                    Update::CompareAndSwap(expected, new) => {
                        line(text, &format!("mov.u32 %a13, {}", self.operand(expected)));
                        line(text, &format!("mov.u32 %a14, {}", self.operand(new)));
                        line(text, &format!("atom{how}.cas.b32 {to}, [%m{}], %a13, %a14", at.0));
                    }
                    Update::Apply(function, operand) => {
                        let (name, negated) = atomic(function)?;
                        line(text, &format!("mov.u32 %a14, {}", self.operand(operand)));
                        if negated {
                            line(text, "neg.s32 %a14, %a14");
                        }
                        line(text, &format!("atom{how}.{name} {to}, [%m{}], %a14", at.0));
                    }
                }
            }
            Instruction::Fence { order, scope } => {
                // PTX ISA, "membar / fence": `.acquire` and `.release` need sm_90.
                let order = match order {
                    FenceOrder::Sc => "sc",
                    FenceOrder::Acquire if self.compute >= 90 => "acquire",
                    FenceOrder::Release if self.compute >= 90 => "release",
                    _ => "acq_rel",
                };
                line(text, &format!("fence.{order}.{}", name_of(scope)));
            }
            Instruction::Barrier { wait, id, count } => {
                let (Operand::Constant(id), None | Some(Operand::Constant(_))) = (id, count) else {
                    return Err("its barriers have numbers that it computes");
                };
                let is_branch =
                    |it: &litmus::Statement| matches!(it.instruction, Instruction::Branch { .. });
                if self.thread.statements.iter().any(is_branch) {
                    return Err("it has branches around a barrier");
                }
                // A thread of the test is a warp.
                let threads = match count {
                    Some(Operand::Constant(count)) => count,
                    _ => self.comers(id),
                };
                let what = if wait { "sync" } else { "arrive" };
                line(text, &format!("barrier.cta.{what} {id}, {}", 32 * threads));
            }
            Instruction::Compute { to, function, left, right } => {
                let (left, right, to) = (self.operand(left), self.operand(right), register(to));
                line(text, &format!("mov.u32 %a13, {left}"));
                line(text, &format!("mov.u32 %a14, {right}"));
                let name = match function {
                    Arithmetic::Add => "add.s32",
                    Arithmetic::Sub => "sub.s32",
                    Arithmetic::Mul => "mul.lo.s32",
                    Arithmetic::And => "and.b32",
                    Arithmetic::Or => "or.b32",
                    Arithmetic::Xor => "xor.b32",
                    Arithmetic::Min => "min.s32",
                    Arithmetic::Max => "max.s32",
                    Arithmetic::Second => {
                        line(text, &format!("mov.u32 {to}, %a14"));
                        return Ok(());
                    }
                    Arithmetic::Inc | Arithmetic::Dec => {
                        return Err("PTX has this function only as an atomic");
                    }
                };
                line(text, &format!("{name} {to}, %a13, %a14"));
            }
            Instruction::Branch { when, target } => {
                let is_back = target <= at;
                let skip = format!("T{number}_{}", at + 1);
                if let Some((comparison, a, b)) = when {
                    line(text, &format!("mov.u32 %a13, {}", self.operand(a)));
                    line(text, &format!("mov.u32 %a14, {}", self.operand(b)));
                    let not = name_of_comparison(comparison.negated());
                    line(text, &format!("setp.{not}.s32 %p1, %a13, %a14"));
                    line(text, &format!("@%p1 bra {skip}"));
                }
                if is_back {
                    line(text, "sub.u32 %left, %left, 1");
                    line(text, "setp.eq.u32 %p1, %left, 0");
                    line(text, &format!("@%p1 bra ENDLESS_{number}"));
                }
                line(text, &format!("bra T{number}_{target}"));
            }
        }
        Ok(())
    }

    /// Number of threads of this CTA that reach the barrier.
    fn comers(&self, barrier: i32) -> i32 {
        let comes = |thread: &&Thread| {
            thread.cta == self.thread.cta
                && thread.statements.iter().any(|statement| {
                    matches!(statement.instruction, Instruction::Barrier { id, .. } if id == Operand::Constant(barrier))
                })
        };
        self.test.threads.iter().filter(comes).count() as i32
    }
}

/// The qualifiers of an access.
fn ordered(access: Access) -> Result<String, &'static str> {
    if access.space == Space::Shared {
        return Err("it has shared memory");
    }
    let order = match access.order {
        Order::Weak => ".weak",
        Order::Volatile => ".volatile",
        Order::Relaxed => ".relaxed",
        Order::Acquire => ".acquire",
        Order::Release => ".release",
        Order::AcquireRelease => ".acq_rel",
    };
    let scope = access.scope.map_or(String::new(), |scope| format!(".{}", name_of(scope)));
    Ok(format!("{order}{scope}.global"))
}

/// The name of an atomic, and whether its operand is negated.
fn atomic(function: Arithmetic) -> Result<(&'static str, bool), &'static str> {
    Ok(match function {
        Arithmetic::Add => ("add.u32", false),
        Arithmetic::Sub => ("add.u32", true),
        Arithmetic::And => ("and.b32", false),
        Arithmetic::Or => ("or.b32", false),
        Arithmetic::Xor => ("xor.b32", false),
        Arithmetic::Min => ("min.s32", false),
        Arithmetic::Max => ("max.s32", false),
        Arithmetic::Inc => ("inc.u32", false),
        Arithmetic::Dec => ("dec.u32", false),
        Arithmetic::Second => ("exch.b32", false),
        Arithmetic::Mul => return Err("PTX has no atomic product"),
    })
}

fn name_of(scope: Scope) -> &'static str {
    match scope {
        Scope::Cta => "cta",
        Scope::Gpu => "gpu",
        Scope::Sys => "sys",
    }
}

fn name_of_comparison(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "eq",
        Comparison::NotEqual => "ne",
        Comparison::Less => "lt",
        Comparison::LessOrEqual => "le",
        Comparison::Greater => "gt",
        Comparison::GreaterOrEqual => "ge",
    }
}
