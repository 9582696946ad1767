//! Parsing of tests, and errors for invalid texts.

use litmus::{Instruction, Operand, Quantifier, Register, Scope, Term, judge, parse};

fn message(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

/// A test of one thread and one row.
fn row(row: &str) -> String {
    format!("PTX t\n{{ x=0; }}\nP0@cta 0,gpu 0 ;\n{row} ;\nexists (x == 0)\n")
}

#[test]
fn a_test_is_read_as_data() {
    let text = "PTX name+with-signs
\"A text
 over lines\"
{
x = 3; P1:r2=-1; 1:r3 = 0xffffffff
}
 P0@cta 0, gpu 0        | P1@cta 4,gpu 1  ;
 LC00:                  | ld.weak r0, [x] ; // a comment
 st.release.gpu x, r2   |                 ;
 bne r2, 1, LC00        | LC00: mov r1, 2 ;
~exists (P0:r2 = 1 /\\ ~(1:r1 != 2 \\/ y < 1))";
    let test = parse(text).unwrap();
    assert_eq!(test.name, "name+with-signs");
    assert_eq!(test.description, ["A text over lines"]);
    assert_eq!(test.locations[0].initial, 3);
    assert_eq!((test.threads[1].cta, test.threads[1].gpu), (4, 1));
    assert_eq!(test.threads[1].registers[&Register(3)], -1);
    assert_eq!(test.threads[0].statements[0].line, 9);
    assert!(matches!(
        test.threads[0].statements[1].instruction,
        Instruction::Branch { target: 0, .. }
    ));
    assert_eq!(test.question.quantifier, Quantifier::NotExists);
    let names: Vec<String> = test.asked().into_iter().map(|term| test.term_name(term)).collect();
    assert_eq!(names, ["P0:r2", "P1:r1", "y"]);
    assert_eq!(test.term_name(Term::Constant(-3)), "-3");
}

#[test]
fn a_barrier_has_the_operands_of_ptx_or_a_mark_before_them() {
    let barrier = |text: &str| match parse(&row(text)).unwrap().threads[0].statements[0].instruction
    {
        Instruction::Barrier { id, count, .. } => (id, count),
        _ => panic!("{text} is a barrier"),
    };
    let number = Operand::Constant;
    assert_eq!(barrier("barrier.cta.sync 2, 3"), (number(2), Some(number(3))));
    assert_eq!(barrier("bar.cta.sync 1"), (number(1), None));
    assert_eq!(barrier("bar.cta.sync 1, r2"), (Operand::Register(Register(2)), None));
    assert_eq!(barrier("bar.cta.sync 1, 2, 3"), (number(2), Some(number(3))));
    assert_eq!(barrier("barrier.cta.arrive 2, 3"), (number(2), Some(number(3))));
    assert_eq!(barrier("bar.cta.arrive 1, 2, 3"), (number(2), Some(number(3))));
}

#[test]
fn membar_is_a_sequentially_consistent_fence() {
    let fence = |text: &str| parse(&row(text)).unwrap().threads[0].statements[0].instruction;
    assert_eq!(fence("membar.gl"), fence("fence.sc.gpu"));
    assert!(matches!(fence("membar.cta"), Instruction::Fence { scope: Scope::Cta, .. }));
}

#[test]
fn a_parse_error_names_its_line() {
    for (text, expected) in [
        ("C test\n", "line 1: found `C test`, expected `PTX` and a name"),
        ("PTX t\n\n(x=0)", "line 3: found `(`, expected `{`"),
        ("PTX t\n{ x=y; }", "line 2: found `y`, expected a number"),
        ("PTX t\n{ x=4294967296; }", "line 2: found `4294967296`, expected a number of 32 bits"),
        ("PTX t\n{}\nP1@cta 0,gpu 0;", "line 3: found `P1`, expected `P0`"),
        (
            "PTX t\n{\nP1:r0=1}\nP0@cta 0,gpu 0;",
            "line 3: found P1, expected one of the 1 threads, counted from P0",
        ),
        (
            "PTX t\n{ x=0 }\nP0@cta 0,gpu 0;\nst.weak x, 1",
            "line 4: found the end of the text, expected `;` after 1 columns",
        ),
        (
            "PTX t\n{ x=0 }\nP0@cta 0,gpu 0;\nst.weak x, 1;\n",
            "line 5: found the end of the text, expected `exists`, `~exists` or `forall`",
        ),
        ("PTX t\n{ \"", "line 2: found a quoted text without its end, expected `\"`"),
    ] {
        assert_eq!(message(text), expected);
    }
}

#[test]
fn a_parse_error_names_the_wrong_instruction() {
    for (instruction, expected) in [
        ("lod r0, x", "found `lod`, expected an instruction"),
        (
            "ld.release.gpu r0, x",
            "found `ld.release.gpu`, expected semantics that the instruction can have",
        ),
        ("ld.acquire r0, x", "found `ld.acquire`, expected a scope (.cta, .gpu, .sys)"),
        ("ld.weak.gpu r0, x", "found `ld.weak.gpu`, expected no scope"),
        ("ld.weak r0, r1", "found `r1`, expected a location, not a register"),
        ("st.weak x, y", "found `y`, expected a register or a number"),
        (
            "ld.relaxed.cluster r0, x",
            "found `.cluster` in `ld.relaxed.cluster`, expected at most one each of",
        ),
        ("atom.relaxed.gpu r0, x, 1", "found `atom.relaxed.gpu`, expected an operation"),
        (
            "atom.weak.add r0, x, 1",
            "found `atom.weak.add`, expected relaxed, acquire, release or acq_rel",
        ),
        ("fence.sc", "found `fence.sc`, expected fence"),
        (
            "barrier.cta.arrive 0",
            "found `barrier.cta.arrive` without a count, expected a count of threads, which every arrival needs",
        ),
        (
            "bar.cta.arrive 1, 0",
            "found `bar.cta.arrive` without a count, expected a count of threads, which every arrival needs",
        ),
        ("barrier.cta.sync 0, 0", "found `0`, expected a count of threads from 1"),
        ("goto L", "found `L`, expected a label of P0"),
        ("st.weak x, 1 | st.weak x, 2", "found `|`, expected `;` after 1 columns"),
    ] {
        let found = message(&row(instruction));
        assert!(found.starts_with(&format!("line 4: {expected}")), "{found}");
    }
}

#[test]
fn shared_memory_belongs_to_one_cta() {
    let text = |cta: u32| {
        format!(
            "PTX t\n{{}}\nP0@cta 0,gpu 0 | P1@cta {cta},gpu 0;\nst.shared.u32 x, 1 | ld.shared.u32 r0, x;\nexists (x == 1)"
        )
    };
    assert!(judge(&parse(&text(0)).unwrap()).unwrap().holds);
    assert!(message(&text(1)).starts_with("line 4: found `x` in another state space or CTA"));
}

#[test]
fn the_parser_does_not_panic_on_truncated_tests() {
    let text = row("L: atom.acq_rel.gpu.cas r0, [x], 0, 1");
    for end in 0..text.len() {
        let _ = parse(&text[..end]);
        let _ = parse(&format!("{}@{}", &text[..end], &text[end..]));
    }
}
