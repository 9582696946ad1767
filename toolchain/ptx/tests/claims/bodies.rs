//! Statements and operands.

use ptx::{Address, Base, Instruction, Label, Operand, Part, Register, Symbol, Type};

use crate::{body, module, parsed};

const REGISTERS: &str = ".reg .pred p, q; .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .v4 .f32 %v;\n";

/// The operands of one instruction, where p is register 0, %r0 is 2, %rd0 is 6 and %v is 9.
fn operands(instruction: &str) -> Vec<Operand> {
    let body = body(&format!("{REGISTERS}.shared .u32 s[4];\nhere: {instruction};"));
    body.instructions[0].operands.to_vec()
}

fn register(index: u32) -> Operand {
    Operand::Register(Register(index))
}

fn memory(base: Base, offset: i64) -> Operand {
    Operand::Memory(Address { base, offset })
}

#[test]
fn literals_and_expressions_are_evaluated() {
    let of = |text: &str| operands(&format!("x {text}")).remove(0);
    for (text, value) in [
        ("-1", -1),
        ("0x1F", 31),
        ("052", 42),
        ("0b11U", 3),
        ("18446744073709551615", -1),
        ("(1 << 4) | 3", 19),
        ("WARP_SZ", 32),
        ("~0", -1),
    ] {
        assert_eq!(of(text), Operand::Integer(value), "{text}");
    }
    assert_eq!(of("0f3F800000"), Operand::Single(0x3f80_0000));
    assert_eq!(of("-0f3F800000"), Operand::Single(0xbf80_0000));
    assert_eq!(of("0d3FF0000000000000"), Operand::Double(1_f64.to_bits()));
    assert_eq!(of("1.0"), Operand::Double(1_f64.to_bits()));
}

#[test]
fn an_address_is_a_register_a_symbol_or_a_number_with_an_offset() {
    let (rd, s, param) = (
        Base::Register(Register(6)),
        Base::Symbol(Symbol::Local(0)),
        Base::Symbol(Symbol::Parameter(0)),
    );
    for (text, base, offset) in [
        ("[%rd0]", rd, 0),
        ("[ %rd0 + 0x8 ]", rd, 8),
        ("[%rd0+-4]", rd, -4),
        ("[%rd0-4]", rd, -4),
        ("[s+4]", s, 4),
        ("s[4]", s, 4),
        ("[param]", param, 0),
        ("[0x100]", Base::Zero, 256),
    ] {
        assert_eq!(operands(&format!("ld.u32 %r0, {text}"))[1], memory(base, offset), "{text}");
    }
    let tensor = operands("x [%rd0, {%r0, %r1}]").remove(0);
    let coordinates = Operand::Vector([register(2), register(3)].into());
    assert_eq!(tensor, Operand::Tensor([memory(rd, 0), coordinates].into()));
}

#[test]
fn every_other_operand_is_told_apart() {
    assert_eq!(
        operands("x %r1, _, !q, %v.y, %r0.h1, %r0.b3, s, s+8, here"),
        [
            register(3),
            Operand::Sink,
            Operand::Not(Register(1)),
            Operand::Part(Register(9), Part::Element(1)),
            Operand::Part(Register(2), Part::Half(1)),
            Operand::Part(Register(2), Part::Byte(3)),
            Operand::Symbol(Symbol::Local(0), 0),
            Operand::Symbol(Symbol::Local(0), 8),
            Operand::Label(Label(0)),
        ]
    );
    assert_eq!(
        operands("x {%r0, _, 1}, %r0|p, _|q"),
        [
            Operand::Vector([register(2), Operand::Sink, Operand::Integer(1)].into()),
            Operand::Pair([register(2), register(0)].into()),
            Operand::Pair([Operand::Sink, register(1)].into()),
        ]
    );
    let special = |text: &str| match operands(&format!("mov.u32 %r0, {text}")).remove(1) {
        Operand::Special(special) => (special.name, special.element),
        other => panic!("{other:?}"),
    };
    assert_eq!(special("%tid.x"), ("%tid", Some(0)));
    assert_eq!(special("%nctaid.z"), ("%nctaid", Some(2)));
    assert_eq!(special("%clock64"), ("%clock64", None));
    assert_eq!(special("%envreg31"), ("%envreg31", None));
}

#[test]
fn a_guard_may_be_negated() {
    let body = body(&format!("{REGISTERS}@p ret; @!q bra x; @ ! p exit; x:"));
    let guards = body.instructions.iter().map(|instruction| instruction.guard.expect("a guard"));
    let guards: Vec<_> = guards.map(|guard| (guard.register.0, guard.negated)).collect();
    assert_eq!(guards, [(0, false), (1, true), (0, true)]);
}

#[test]
fn registers_are_dense_and_have_the_innermost_meaning_of_their_name() {
    let body = body(
        ".reg .b32 %r<3>; .reg .pred %p;
        { .reg .b64 %r<2>; mov.b64 %r1, 0; { .reg .f32 %r1; mov.f32 %r1, 0f00000000; } }
        mov.b32 %r1, 0;",
    );
    assert_eq!(body.registers.count(), 7);
    let of = |instruction: &Instruction| match instruction.operands[0] {
        Operand::Register(register) => register,
        ref other => panic!("{other:?}"),
    };
    let registers: Vec<Register> = body.instructions.iter().map(of).collect();
    assert_eq!(registers, [Register(5), Register(6), Register(1)]);
    let types: Vec<Type> = registers.iter().map(|&register| body.registers.ty(register)).collect();
    assert_eq!(types, [Type::B64, Type::F32, Type::B32]);
    assert_eq!(body.registers.name(Register(5)), "%r1");
    assert_eq!(body.registers.name(Register(3)), "%p");
}

#[test]
fn a_label_is_the_nearest_one_around_the_branch() {
    let body = body("a: bra a; { bra a; nop; a: nop; { bra a; bra b; } } b:");
    let at = |instruction: &Instruction| match instruction.operands[0] {
        Operand::Label(Label(index)) => body.labels[index as usize].at,
        ref other => panic!("{other:?}"),
    };
    let branches = body.instructions.iter().filter(|i| i.mnemonic.opcode() == "bra");
    assert_eq!(branches.map(at).collect::<Vec<_>>(), [0, 3, 3, 6]);
}

#[test]
fn tables_of_branches_and_calls_are_resolved() {
    let module = parsed(
        ".func f; .func g;
        .entry k() {
            .reg .b32 %r<2>; .reg .b64 %rd<2>;
            table: .branchtargets x, y, x;
            callees: .calltargets f, g;
            prototype: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b8 _[4]) .noreturn;
            brx.idx.uni %r0, table;
            call (%r0), %rd1, (%rd0), callees;
            call %rd1, (1, %rd0), prototype;
            x: ret; y: ret;
        }",
    );
    let body = module.function("k").and_then(|kernel| kernel.body.as_ref()).expect("a body");
    let places = body.targets[0].iter().map(|label| body.labels[label.0 as usize].at);
    assert_eq!(places.collect::<Vec<_>>(), [3, 4, 3]);
    assert_eq!(body.callees, [[Symbol::Function(0), Symbol::Function(1)]]);
    assert!(body.prototypes[0].no_return && body.prototypes[0].parameters.len() == 2);
    assert_eq!(body.instructions[0].operands[1], Operand::Targets(0));
    assert_eq!(body.instructions[1].operands[3], Operand::Callees(0));
    assert_eq!(body.instructions[2].operands[2], Operand::Prototype(0));
}

#[test]
fn an_unknown_instruction_is_kept_with_its_text() {
    let statements = format!("{REGISTERS}@p frob .x.y::z  %r0 , [%rd0] ; ret;");
    let body = body(&statements);
    let frob = &body.instructions[0];
    assert_eq!(frob.mnemonic.text(), "frob.x.y::z");
    assert_eq!((frob.operands.len(), frob.line), (2, 7));
    let text = module(&format!(".entry k(.param .u64 param)\n{{\n{statements}\n}}"));
    assert_eq!(frob.text(&text), "@p frob .x.y::z  %r0 , [%rd0]");
    assert_eq!(frob.text(""), "");
}
