//! Calls of device functions, branches by index, and recursion.

use simt::LaunchConfig;

use crate::support::{fault, filled, load, numbers};

const FUNCTIONS: &str = "
.func (.param .b32 result) factorial(.param .b32 n)
{
    .reg .b32 %r<6>; .reg .pred %p1;
    ld.param.b32 %r1, [n];
    setp.lt.u32 %p1, %r1, 2;
    @%p1 bra ONE;
    {
        .param .b32 argument; .param .b32 value;
        sub.u32 %r2, %r1, 1;
        st.param.b32 [argument+0], %r2;
        call.uni (value), factorial, (argument);
        ld.param.b32 %r3, [value+0];
    }
    mul.lo.u32 %r4, %r3, %r1;
    st.param.b32 [result+0], %r4;
    ret;
ONE:
    st.param.b32 [result+0], 1;
    ret;
}
.func (.param .align 8 .b8 result[16]) swap(.param .align 8 .b8 pair[16])
{
    .reg .b64 %rd<3>;
    ld.param.b64 %rd1, [pair]; ld.param.b64 %rd2, [pair+8];
    st.param.b64 [result], %rd2; st.param.b64 [result+8], %rd1;
    ret;
}
.func poll(.param .b64 flag, .param .b64 result)
{
    .reg .b32 %r1; .reg .b64 %rd<3>;
    ld.param.b64 %rd1, [flag]; ld.param.b64 %rd2, [result];
    ld.acquire.gpu.u32 %r1, [%rd1];
    st.u32 [%rd2], %r1;
    ret;
}
.global .align 8 .u64 table[2] = {factorial, 0};
";

#[test]
fn functions_are_called_by_name_and_by_address() {
    let (kernel, mut memory) = load(
        &format!(
            "{FUNCTIONS} .entry k(.param .u64 a) {{
            .reg .b32 %r<9>; .reg .b64 %rd<9>;
            ld.param.u64 %rd1, [a];
            .param .b32 n; .param .b32 f; .param .align 8 .b8 pair[16]; .param .align 8 .b8 swapped[16];
            st.param.b32 [n], 5;
            call (f), factorial, (n);
            ld.param.b32 %r1, [f];
            ld.global.u64 %rd2, [table];
            prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
            st.param.b32 [n], 6;
            call (f), %rd2, (n), prototype;
            ld.param.b32 %r2, [f];
            st.param.b64 [pair], 1; st.param.b64 [pair+8], 2;
            call (swapped), swap, (pair);
            ld.param.v2.b64 {{%rd3, %rd4}}, [swapped];
            cvt.u32.u64 %r3, %rd3; cvt.u32.u64 %r4, %rd4;
            st.global.v4.u32 [%rd1], {{%r1, %r2, %r3, %r4}};
            }}"
        ),
        "k",
    );
    let a = filled(&mut memory, &[0; 4]);
    let launch = kernel.launch(&mut memory, &LaunchConfig::new("k", 1, 3), &a.to_le_bytes());
    launch.expect("no fault");
    assert_eq!(numbers(&memory, a, 4), [120, 720, 2, 1]);
}

#[test]
fn a_call_through_a_wrong_address_and_endless_recursion_are_faults() {
    let run = |statements: &str| {
        let functions = "
            .func endless() { call endless; }
            .func (.param .b32 r) one(.param .b32 a) { ret; }
            .extern .func missing(.param .b64 text);";
        let entry = format!("{functions}\n.entry k() {{ .reg .b64 %rd1; {statements} }}");
        let (kernel, mut memory) = load(&entry, "k");
        fault(kernel.launch(&mut memory, &LaunchConfig::new("k", 1, 1), &[])).to_string()
    };
    let found = run("p: .callprototype _ (); mov.u64 %rd1, 64; call %rd1, p;");
    assert!(found.contains("a call of 0x40, which is not the address of a function"), "{found}");
    let found = run("call endless;");
    assert!(found.contains("more than 4096 nested calls"), "{found}");
    let found = run("call one;");
    assert!(
        found.contains("a call of one with 0 arguments and 0 results, but it has 1 and 1"),
        "{found}"
    );
    let found = run(".param .b64 t; st.param.b64 [t], 0; call missing, (t);");
    assert!(
        found.contains("`call missing, (t)` in line") && found.contains("is not supported"),
        "{found}"
    );
}

#[test]
fn a_loop_that_polls_in_a_function_lets_others_run() {
    let (kernel, mut memory) = load(
        &format!(
            "{FUNCTIONS} .entry k(.param .u64 a) {{
            .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .local .b32 seen;
            .param .b64 flag; .param .b64 to;
            ld.param.u64 %rd1, [a];
            mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1;
            @%p1 bra WRITE;
            mov.u64 %rd2, seen; cvta.local.u64 %rd3, %rd2;
        WAIT:
            st.param.b64 [flag], %rd1; st.param.b64 [to], %rd3;
            call poll, (flag, to);
            ld.local.u32 %r2, [seen];
            setp.eq.u32 %p2, %r2, 0;
            @%p2 bra WAIT;
            ret;
        WRITE:
            st.release.gpu.global.u32 [%rd1], 1;
            }}"
        ),
        "k",
    );
    for config in crate::support::checked(2, 1) {
        let a = filled(&mut memory, &[0]);
        kernel.launch(&mut memory, &config, &a.to_le_bytes()).expect("the writer runs");
    }
}

#[test]
fn a_loop_that_polls_into_registers_with_a_default_lets_others_run() {
    let (kernel, mut memory) = load(
        ".entry k(.param .u64 a) {
            .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
            ld.param.u64 %rd1, [a];
            mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1;
            @%p1 bra WRITE;
        WAIT:
            mov.u32 %r2, 7; mov.u32 %r3, 8; mov.u32 %r4, 9;
            ld.relaxed.gpu.global.u32 %r2, [%rd1];
            ld.relaxed.gpu.global.u32 %r3, [%rd1+4];
            ld.relaxed.gpu.global.u32 %r4, [%rd1+8];
            and.b32 %r5, %r2, %r3; and.b32 %r5, %r5, %r4;
            setp.eq.u32 %p2, %r5, 0;
            @%p2 bra WAIT;
            ret;
        WRITE:
            st.relaxed.gpu.global.u32 [%rd1], 1;
            st.relaxed.gpu.global.u32 [%rd1+4], 1;
            st.relaxed.gpu.global.u32 [%rd1+8], 1;
            }",
        "k",
    );
    for config in crate::support::checked(2, 1) {
        let a = filled(&mut memory, &[0; 3]);
        kernel.launch(&mut memory, &config, &a.to_le_bytes()).expect("the writer runs");
    }
}

#[test]
fn a_branch_by_index_goes_to_the_label_of_the_list() {
    let (kernel, mut memory) = load(
        ".entry k(.param .u64 a) {
            .reg .b32 %r<9>; .reg .b64 %rd<9>;
            ld.param.u64 %rd1, [a];
            mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
            list: .branchtargets A, B, A;
            brx.idx %r1, list;
        A:  st.global.u32 [%rd3], 100; exit;
        B:  st.global.u32 [%rd3], 200;
        }",
        "k",
    );
    let a = filled(&mut memory, &[0; 3]);
    kernel.launch(&mut memory, &LaunchConfig::new("k", 1, 3), &a.to_le_bytes()).expect("no fault");
    assert_eq!(numbers(&memory, a, 3), [100, 200, 100]);
}
