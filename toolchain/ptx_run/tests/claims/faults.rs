//! Errors in a kernel are faults that name the thread, the line and the cause.

use ptx_run::{Error, Program};
use simt::{Fault, LaunchConfig, Memory};

use crate::support::{fault, filled, kernel, module, numbers, pointers};

/// The fault of one thread that executes these statements.
fn fault_of(statements: &str) -> Fault {
    let (kernel, mut memory) = kernel(&format!(
        ".reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .pred %p<5>; .reg .b16 %h<5>;\n{statements}"
    ));
    let a = filled(&mut memory, &[1, 2, 3, 4]);
    fault(kernel.launch(&mut memory, &LaunchConfig::new("k", 1, 1), &pointers(a, a)))
}

/// Checks that the fault is a trap in the last statement, which is in line 7, with this message.
fn assert_trap(statements: &str, message: &str) {
    let found = fault_of(&format!("ld.param.u64 %rd1, [a];\n{statements}"));
    assert!(matches!(found, Fault::Trap { .. }), "{found}");
    let text = found.to_string();
    assert!(text.contains(message) && text.contains("at k.ptx:7)"), "{found}");
}

#[test]
fn an_instruction_that_is_not_supported_is_a_fault_only_when_reached() {
    let (kernel, mut memory) = kernel(
        ".reg .b32 %r<4>; .reg .pred %p1; .reg .b64 %rd1;
        ld.param.u64 %rd1, [a];
        ld.global.u32 %r1, [%rd1];
        setp.ne.u32 %p1, %r1, 7;
        @%p1 frobnicate.sync %r2;
        st.global.u32 [%rd1], 8;",
    );
    let a = filled(&mut memory, &[7]);
    let config = LaunchConfig::new("k", 1, 1);
    kernel.launch(&mut memory, &config, &pointers(a, a)).expect("it is not reached");
    assert_eq!(numbers(&memory, a, 1), [8]);
    let found = fault(kernel.launch(&mut memory, &config, &pointers(a, a)));
    let text = found.to_string();
    let expected = "`@%p1 frobnicate.sync %r2` in line 9 of the PTX is not supported";
    assert!(text.contains(expected) && text.contains("at k.ptx:9)"), "{text}");
}

#[test]
fn groups_of_instructions_that_are_not_supported_are_named() {
    assert_trap("wgmma.fence.sync.aligned;", "(matrix products of warp groups) is not supported");
    assert_trap("wmma.load.a.sync  %r1,\n[%rd1];", "`wmma.load.a.sync %r1, [%rd1]` in line 7");
    assert_trap("tcgen05.fence::before_thread_sync;", "(tensor memory) is not supported");
    assert_trap("multimem.red.add.u32 [%rd1], %r1;", "(multicast objects) is not supported");
    assert_trap("vadd4.u32.u32.u32 %r1, %r2, %r3, %r4;", "(video instructions)");
    assert_trap("alloca.u64 %rd2, %rd1, 16;", "(a stack that grows) is not supported");
    assert_trap("tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5, %r6}];", "(textures)");
    assert_trap("tld4.r.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5, %r6}];", "(textures)");
    assert_trap("suld.b.1d.b32.trap {%r1}, [%rd1, {%r2}];", "(surfaces) is not supported");
    assert_trap("sust.b.1d.b32.trap [%rd1, {%r2}], {%r1};", "(surfaces) is not supported");
    assert_trap("sured.b.add.1d.u32.trap [%rd1, {%r2}], %r1;", "(surfaces) is not supported");
    let canceled = "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %rd1;";
    assert_trap(canceled, "(control of cluster launches) is not supported");
    assert_trap("trap;", "has executed `trap`");
}

#[test]
fn a_modifier_that_is_not_supported_is_not_ignored() {
    for text in [
        "min.relu.s32 %r1, 1, 2;",
        "add.rna.f32 %r1, %r2, %r3;",
        "add.ftz.u32 %r1, %r2, %r3;",
        "min.sat.f32 %r1, %r2, %r3;",
        "fma.rn.NaN.f32 %r1, %r2, %r3, %r4;",
        "fma.f16 %h1, %h2, %h3, %h4;",
        "div.f32 %r1, %r2, %r3;",
        "sin.rn.f32 %r1, %r2;",
        "add.relu.f16 %h1, %h2, %h3;",
        "cvt.rn.relu.f64.f32 %rd1, %r3;",
        "mul.sat.lo.s32 %r1, %r2, %r3;",
        "mul24.hi.sat.s32 %r1, %r2, %r3;",
        "setp.lt.ftz.f64 %p1, %rd2, %rd3;",
        "bfind.clamp.u32 %r1, %r2;",
        "add.u32 %r1, %r2, %r3, %r4;",
        "atom.global.inc.s32 %r1, [%rd1], %r2;",
        "shfl.up.b32 %r1, %r2, 1, 0;",
        "ld.global.b128 %rd1, [%rd1];",
    ] {
        let instruction = text.trim_end_matches(';');
        assert_trap(text, &format!("`{instruction}` in line 7 of the PTX is not supported"));
    }
}

#[test]
fn local_memory_beyond_that_of_a_gpu_is_a_fault() {
    let found = fault_of(".local .b8 frame[600000];\nmov.u64 %rd1, frame;");
    let expected = "600016 bytes of local memory, and a thread has 524288 at most";
    assert!(found.to_string().contains(expected), "{found}");
}

#[test]
fn a_result_that_no_value_of_an_unwritten_register_changes_may_be_used() {
    let (kernel, mut memory) = kernel(
        ".reg .b32 %r<9>; .reg .pred %p<9>; .reg .b64 %rd1;
        ld.param.u64 %rd1, [a];
        setp.eq.u64 %p1, %rd1, 0;
        not.pred %p2, %p1;
        and.pred %p3, %p7, %p1;
        or.pred %p4, %p2, %p7;
        setp.gt.and.f32 %p5, %r7, 0f3f800000, %p1;
        setp.eq.or.u64 %p6, %rd1, 0, %p7;
        selp.u32 %r1, 1, 2, %p3;
        @%p4 add.u32 %r1, %r1, 10;
        selp.u32 %r2, 3, 4, %p5;
        st.global.u32 [%rd1], %r1;
        st.global.u32 [%rd1+4], %r2;",
    );
    let a = filled(&mut memory, &[0, 0]);
    let config = LaunchConfig::new("k", 1, 1);
    kernel.launch(&mut memory, &config, &pointers(a, a)).expect("nothing undefined is used");
    assert_eq!(numbers(&memory, a, 2), [12, 4]);
    for statement in [
        "or.pred %p3, %p1, %p4;",
        "setp.ne.and.u64 %p3, %rd1, 0, %p4;",
        "setp.gt.or.u32 %p3, %r3, 1, %p1;",
    ] {
        assert_trap(
            &format!("setp.eq.u64 %p1, %rd1, 0; {statement} @%p3 bra END; END: ret;"),
            "register %p3 of k is the guard",
        );
    }
}

#[test]
fn using_a_register_that_was_not_written_is_a_fault_that_names_it() {
    assert_trap("st.global.u32 [%rd1], %r5;", "register %r5 of k is stored");
    assert_trap("ld.global.u32 %r1, [%rd5];", "register %rd5 of k is an address");
    assert_trap("@%p3 bra END; END: ret;", "register %p3 of k is the guard");
    assert_trap("add.u32 %r1, %r2, 1; st.global.u32 [%rd1], %r1;", "register %r1 of k is stored");
    assert_trap("atom.global.add.u32 %r1, [%rd1], %r6;", "register %r6 of k is an operand");
    assert_trap("mov.b32 %r1, {%h1, %h2}; st.global.u16 [%rd1], %r1;", "register %r1 of k");
}

#[test]
fn moving_and_choosing_registers_that_were_not_written_is_no_fault() {
    let (kernel, mut memory) = kernel(
        ".reg .b32 %r<9>; .reg .b16 %h<9>; .reg .b64 %rd<3>; .reg .pred %p1;
        .local .align 4 .b8 frame[8];
        ld.param.u64 %rd1, [a];
        mov.u32 %r1, %r2; setp.eq.u32 %p1, 1, 1; selp.u32 %r3, 6, %r1, %p1;
        mov.b16 %h1, 5; mov.b32 %r4, {%h1, %h2}; mov.b32 {%h3, %h4}, %r4;
        st.local.u32 [frame+4], %r1; ld.local.u32 %r5, [frame];
        st.global.u16 [%rd1+2], %h3; st.global.u16 [%rd1], %r3;",
    );
    let a = filled(&mut memory, &[0]);
    let launch = kernel.launch(&mut memory, &LaunchConfig::new("k", 1, 1), &pointers(a, a));
    launch.expect("only defined bytes are stored");
    assert_eq!(numbers(&memory, a, 1), [5 << 16 | 6]);
}

#[test]
fn accesses_out_of_bounds_and_out_of_windows_are_faults() {
    let found = fault_of("ld.param.u64 %rd1, [a];\nld.global.u32 %r1, [%rd1+16];");
    assert!(matches!(found, Fault::OutOfBounds { .. }), "{found}");
    assert!(found.to_string().contains("at k.ptx:7)"), "{found}");
    let found = fault_of(".shared .b32 first;\n.shared .b32 tile[4];\nst.shared.u32 [tile+16], 1;");
    let text = found.to_string();
    assert!(matches!(found, Fault::OutOfBounds { .. }), "{found}");
    assert!(text.contains("offset 16 of shared variable tile (16 bytes)"), "{text}");
    let found = fault_of("ld.param.u64 %rd1, [a];\nld.global.u32 %r1, [%rd1+2];");
    assert!(matches!(found, Fault::Misaligned { .. }), "{found}");
    let found = fault_of(".shared .b32 tile[4];\n\nld.shared.u32 %r1, [tile];");
    assert!(matches!(found, Fault::Uninitialised { .. }), "{found}");
    assert_trap("ld.shared.u32 %r1, [64];", "0x40 is not in the block's shared memory");
    assert_trap("cvta.to.shared.u64 %rd2, %rd1;", "is not in Shared memory");
    assert_trap(
        "mov.u64 %rd2, 8; ld.local.u32 %r1, [%rd2+8];",
        "4 bytes at 0x10 of the 16 bytes of local memory",
    );
    let targets = "mov.u32 %r1, 2;\n{ list: .branchtargets A, B; brx.idx %r1, list; } A: B: ret;";
    let found = fault_of(targets);
    assert!(found.to_string().contains("index 2 of a branch with 2 targets"), "{found}");
}

#[test]
fn a_shuffle_from_a_lane_that_does_not_take_part_is_a_fault() {
    assert_trap("mov.u32 %r1, 1; shfl.sync.idx.b32 %r2, %r1, 1, 31, -1;", "reads lane 1");
}

#[test]
fn launches_that_do_not_fit_the_kernel_are_refused() {
    let unknown = Program::new(&module(".entry k() { ret; }"), "q").expect_err("it is not there");
    assert_eq!(unknown.to_string(), "the module has no kernel `q`: it has k");
    let narrow = ptx::parse(".version 8.0 .target sm_90 .address_size 32 .entry k() { ret; }");
    let narrow = Program::new(&narrow.expect("a module"), "k").expect_err("32 bits");
    assert!(narrow.to_string().contains("addresses have 32 bits"), "{narrow}");
    let mut memory = Memory::new(1 << 20);
    let text = ".entry k(.param .u32 a, .param .u64 b) .reqntid 32 { ret; }";
    let program = Program::new(&module(text), "k").expect("it is there");
    assert_eq!((program.argument_bytes(), program.parameters()), (16, &[(0, 4), (8, 8)][..]));
    let kernel = program.load(&mut memory).expect("it fits");
    let refused = kernel.launch(&mut memory, &LaunchConfig::new("k", 1, 32), &[0; 12]);
    let expected = "kernel k: 12 bytes of arguments, but the parameters need 16";
    assert_eq!(refused.expect_err("12 bytes").to_string(), expected);
    let refused = kernel.launch(&mut memory, &LaunchConfig::new("k", 1, 64), &[0; 16]);
    assert!(matches!(refused, Err(Error::Block { .. })), "{refused:?}");
    kernel.launch(&mut memory, &LaunchConfig::new("k", 1, 32), &[0; 16]).expect("it fits");
}
