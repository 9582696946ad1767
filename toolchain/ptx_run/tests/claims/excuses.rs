//! A race of a load is excused if its value can do no harm.

use ptx_run::{Excuse, Program};
use simt::{Fault, LaunchConfig, Memory};

use crate::support::{fault, filled, module};

/// The excuse of the race of two blocks that execute these statements. `%rd1` is the address of two
/// words, and `%r1` the block.
fn excuse(statements: &str) -> Option<Excuse> {
    let module = module(&format!(
        ".visible .entry k(.param .u64 a) {{
            .reg .b64 %rd<3>; .reg .b32 %r<9>; .reg .pred %p<4>;
            ld.param.u64 %rd1, [a]; mov.u32 %r1, %ctaid.x;
            {statements}
            ret;
        }}"
    ));
    let mut memory = Memory::new(1 << 16);
    let kernel = Program::new(&module, "k").expect("it is in the module");
    let kernel = kernel.load(&mut memory).expect("it fits");
    let a = filled(&mut memory, &[0, 0, 0, 0]);
    let config = LaunchConfig { races: true, ..LaunchConfig::new("k", 2, 1) };
    let found = fault(kernel.launch(&mut memory, &config, &a.to_le_bytes()));
    let Fault::Race(race) = &found else { panic!("{found}") };
    Excuse::of(&module, "k", race)
}

/// A loop of compare-and-swap that begins with a weak load, and these statements after it.
fn swaps(after: &str) -> String {
    format!(
        "ld.global.u32 %r2, [%rd1];
        AGAIN: add.u32 %r3, %r2, 1;
        atom.global.cas.b32 %r4, [%rd1], %r2, %r3;
        setp.ne.s32 %p1, %r4, %r2;
        mov.u32 %r2, %r4;
        @%p1 bra AGAIN;
        {after}"
    )
}

#[test]
fn the_first_load_of_a_loop_of_compare_and_swap_is_excused() {
    let found = excuse(&swaps("red.global.add.u32 [%rd1+4], %r4;"));
    assert_eq!(found, Some(Excuse::CompareAndSwap));
    let text = found.expect("an excuse").to_string();
    assert!(text.contains("loop of compare-and-swap") && text.contains("relaxed"), "{text}");
}

#[test]
fn a_load_that_reaches_memory_a_branch_or_an_address_is_not_excused() {
    for use_it in [
        "red.global.add.u32 [%rd1+4], %r3;",
        "add.u32 %r5, %r2, 1; red.global.add.u32 [%rd1+4], %r5;",
        "add.cc.u32 %r5, %r2, 1; addc.u32 %r6, 0, 0; red.global.add.u32 [%rd1+4], %r6;",
        "setp.eq.u32 %p2, %r2, 5; @%p2 bra END; END:",
        "cvt.u64.u32 %rd2, %r2; red.global.add.u32 [%rd2], 1;",
        "setp.eq.u32 %p2, %r2, 5; selp.u32 %r6, 1, 2, %p2; red.global.add.u32 [%rd1+4], %r6;",
        "setp.eq.u32 %p2, %r2, 5; @%p2 red.global.add.u32 [%rd1+4], 1;",
    ] {
        assert_eq!(excuse(&swaps(use_it)), None, "{use_it}");
    }
}

#[test]
fn a_load_whose_value_is_not_used_is_excused() {
    let unused = "ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r2, 1;";
    assert_eq!(excuse(&format!("{unused} red.global.add.u32 [%rd1], 1;")), Some(Excuse::Unused));
}

#[test]
fn racing_writes_and_a_plain_store_after_a_load_are_not_excused() {
    assert_eq!(excuse("st.global.u32 [%rd1], %r1;"), None);
    assert_eq!(excuse("ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1], 1;"), None);
    assert_eq!(excuse("st.global.u32 [%rd1], 1; red.global.add.u32 [%rd1], 1;"), None);
}
