//! Kernels that launch kernels, by the device runtime.

use ptx_run::{Error, Program};
use simt::{LaunchConfig, Memory, Stats};

use crate::support::{checked, fault, filled, module, numbers, pointers};

/// The functions of the runtime, and a kernel that adds its number to a word for each thread, after
/// it has multiplied it by 10.
const RUNTIME: &str = "
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f,
    .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2StreamCreateWithFlags(.param .b64 to, .param .b32 flags);
.extern .func (.param .b32 r) __cudaCDP2StreamDestroy(.param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2EventCreateWithFlags(.param .b64 to, .param .b32 flags);
.extern .func (.param .b32 r) __cudaCDP2EventRecord(.param .b64 event, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2EventDestroy(.param .b64 event);
.extern .func (.param .b32 r) __cudaCDP2StreamWaitEvent(.param .b64 s, .param .b64 e, .param .b32 f);
.extern .func (.param .b32 r) __cudaCDP2GetDevice(.param .b64 to);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b32 r) __cudaCDP2DeviceGetAttribute(.param .b64 to, .param .b32 a, .param .b32 d);
.extern .func (.param .b32 r) __cudaCDP2Unheard(.param .b64 to);
.visible .entry add(.param .u64 to, .param .u32 number) {
    .shared .b32 word;
    .reg .b64 %rd<3>; .reg .b32 %r<5>; .reg .pred %p;
    ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [number];
    mov.u32 %r3, %tid.x; mov.u32 %r4, %ctaid.x; or.b32 %r3, %r3, %r4; setp.ne.u32 %p, %r3, 0;
    @%p bra ADD;
    st.shared.u32 [word], %r1;
    ld.global.u32 %r2, [%rd1]; mul.lo.u32 %r2, %r2, 10; add.u32 %r2, %r2, %r1;
    st.global.u32 [%rd1], %r2;
    ret;
ADD:
    red.global.add.u32 [%rd1+4], %r1;
}";

/// Statements that launch `add` with a number in a stream, of one block with so many threads.
fn launch(number: u32, stream: &str, threads: u32) -> String {
    format!(
        "{{ .param .b64 f; .param .align 4 .b8 grid[12]; .param .align 4 .b8 block[12];
        .param .b32 shared; .param .b64 buffer; .param .b64 stream; .param .b64 r; .param .b32 error;
        .reg .b64 %f; mov.u64 %f, add;
        st.param.b64 [f], %f; st.param.b32 [shared], 0;
        st.param.b32 [grid], 1; st.param.b32 [grid+4], 1; st.param.b32 [grid+8], 1;
        st.param.b32 [block], {threads}; st.param.b32 [block+4], 1; st.param.b32 [block+8], 1;
        call.uni (r), __cudaCDP2GetParameterBufferV2, (f, grid, block, shared);
        ld.param.b64 %rd2, [r];
        st.b64 [%rd2], %rd1; st.b32 [%rd2+8], {number};
        st.param.b64 [buffer], %rd2; st.param.b64 [stream], {stream};
        call.uni (error), __cudaCDP2LaunchDeviceV2, (buffer, stream);
        ld.param.b32 %error, [error]; }}\n"
    )
}

/// Runs one thread with these statements. Returns two words.
fn run(statements: &str, config: &LaunchConfig<'_>) -> (Result<Stats, Error>, Vec<u32>) {
    let text = format!(
        "{RUNTIME}
        .visible .entry k(.param .u64 a, .param .u64 b) {{
            .local .b64 handle; .local .b64 event;
            .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .b32 %error; .reg .pred %p<5>;
            ld.param.u64 %rd1, [a];
            {statements}
        }}"
    );
    let mut memory = Memory::new(1 << 20);
    let program = Program::new(&module(&text), "k").expect("a kernel");
    let kernel = program.load(&mut memory).expect("it fits");
    let a = filled(&mut memory, &[0; 8]);
    let launched = kernel.launch(&mut memory, config, &pointers(a, a));
    (launched, numbers(&memory, a, 8))
}

#[test]
fn children_run_in_the_order_of_their_streams() {
    let statements = [launch(1, "0", 3), launch(2, "3", 1), launch(3, "0", 4)].concat();
    for config in checked(1, 1) {
        let (launched, words) = run(&statements, &config);
        assert_eq!(launched.expect("no fault").launches, 4);
        // The tail launch is last, and the other threads add 2 · 1 + 3 · 3.
        assert_eq!(words[..2], [132, 11]);
    }
    let free = [launch(1, "4", 1), launch(2, "4", 1)].concat();
    let outcomes: Vec<u32> = checked(1, 1).map(|config| run(&free, &config).1[0]).collect();
    assert!(outcomes.contains(&12) && outcomes.contains(&21), "{outcomes:?}");
}

#[test]
fn events_order_streams_that_a_kernel_has_created() {
    let create = "{ .param .b64 to; .param .b32 flags; .param .b32 r; .reg .b64 %to;
        mov.u64 %to, handle; cvta.local.u64 %to, %to;
        st.param.b64 [to], %to; st.param.b32 [flags], 1;
        call.uni (r), __cudaCDP2StreamCreateWithFlags, (to, flags); ld.local.u64 %rd5, [handle];
        mov.u64 %to, event; cvta.local.u64 %to, %to;
        st.param.b64 [to], %to; st.param.b32 [flags], 2;
        call.uni (r), __cudaCDP2EventCreateWithFlags, (to, flags); ld.local.u64 %rd6, [event]; }\n";
    let order = "{ .param .b64 s; .param .b64 e; .param .b32 f; .param .b32 r;
        st.param.b64 [e], %rd6; st.param.b64 [s], 0; st.param.b32 [f], 0;
        call.uni (r), __cudaCDP2EventRecord, (e, s);
        st.param.b64 [s], %rd5; call.uni (r), __cudaCDP2StreamWaitEvent, (s, e, f);
        call.uni (r), __cudaCDP2EventDestroy, (e); call.uni (r), __cudaCDP2StreamDestroy, (s); }\n";
    let ordered = [create, &launch(1, "0", 1), order, &launch(2, "%rd5", 1)].concat();
    let unordered = [create, &launch(1, "0", 1), &launch(2, "%rd5", 1)].concat();
    for config in checked(1, 1) {
        let (launched, words) = run(&ordered, &config);
        launched.expect("no fault");
        assert_eq!(words[0], 12);
    }
    let outcomes: Vec<u32> = checked(1, 1).map(|config| run(&unordered, &config).1[0]).collect();
    assert!(outcomes.contains(&12) && outcomes.contains(&21), "{outcomes:?}");
}

#[test]
fn refused_launches_return_their_errors() {
    let statements = format!("{} st.global.u32 [%rd1+8], %error;", launch(1, "0", 1025));
    let (launched, words) = run(&statements, &LaunchConfig::new("k", 1, 1));
    assert_eq!(launched.expect("no fault").launches, 1);
    assert_eq!(words[2], 9);
}

#[test]
fn the_device_has_attributes() {
    let ask = |attribute: u32| {
        format!(
            "{{ .param .b64 to; .param .b32 a; .param .b32 d; .param .b32 r; .reg .b64 %to;
            mov.u64 %to, handle; cvta.local.u64 %to, %to; st.param.b64 [to], %to;
            call.uni (r), __cudaCDP2GetDevice, (to); ld.local.u32 %r1, [handle];
            st.param.b32 [a], {attribute}; st.param.b32 [d], %r1;
            call.uni (r), __cudaCDP2DeviceGetAttribute, (to, a, d); ld.local.u32 %r1, [handle];
            call.uni (r), __cudaCDP2GetLastError, (); ld.param.b32 %r2, [r];
            add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; }}"
        )
    };
    for (attribute, expected) in [(1, 1024), (8, 48 << 10), (10, 32), (16, 7)] {
        let config = LaunchConfig { multiprocessors: 7, ..LaunchConfig::new("k", 1, 1) };
        let (launched, words) = run(&ask(attribute), &config);
        launched.expect("no fault");
        assert_eq!(words[0], expected);
    }
}

#[test]
fn wrong_launches_are_faults() {
    let right = launch(1, "0", 1);
    let cases = [
        (
            right.replace("mov.u64 %f, add", "mov.u64 %f, 5"),
            "a launch of 0x5, which is not a kernel",
        ),
        (right.replace("st.param.b32 [grid+4], 1;", ""), "argument 1 of the call was not written"),
        (
            right.replace("[%rd2+8]", "[%rd2+12]"),
            "offset 12 of the 12 bytes of a launch's parameters",
        ),
        (right.replace("[%rd2+8]", "[%rd2+6]"), "out of bounds or not aligned"),
        (
            format!("{right} st.b32 [%rd2], 1;"),
            "parameters of a launch of another thread, or after it",
        ),
        (right.replace("[buffer], %rd2", "[buffer], %rd1"), "which is not a buffer"),
        (right.replace("st.b32 [%rd2+8], 1;", ""), "register %r1 of add is stored"),
        (launch(1, "300", 1), "is not a stream of this block"),
        (
            right.replace("LaunchDeviceV2, (buffer, stream)", "Unheard, (buffer)"),
            "__cudaCDP2Unheard",
        ),
    ];
    for (statements, message) in cases {
        let (launched, _) = run(&statements, &LaunchConfig::new("k", 1, 1));
        let found = fault(launched).to_string();
        assert!(found.contains(message), "{message}: {found}");
    }
}

#[test]
fn a_child_that_races_names_its_line() {
    // Two blocks of the child store the same word.
    let statements = launch(1, "0", 1).replace("[grid], 1", "[grid], 2");
    let text = statements.replace(", add;", ", racy;");
    let racy = ".visible .entry racy(.param .u64 to, .param .u32 number) {
        .reg .b64 %rd1; ld.param.u64 %rd1, [to]; st.global.u32 [%rd1], 3; }";
    let config = LaunchConfig { races: true, ..LaunchConfig::new("k", 1, 1) };
    let text = format!(
        "{RUNTIME} {racy}
        .visible .entry k(.param .u64 a, .param .u64 b) {{
            .reg .b64 %rd<9>; .reg .b32 %error; ld.param.u64 %rd1, [a]; {text} }}"
    );
    let mut memory = Memory::new(1 << 20);
    let program = Program::new(&module(&text), "k").expect("a kernel");
    assert_eq!(program.unsupported().count(), 0);
    let kernel = program.load(&mut memory).expect("it fits");
    let a = filled(&mut memory, &[0; 2]);
    let found = fault(kernel.launch(&mut memory, &config, &pointers(a, a))).to_string();
    assert!(
        found.contains("race") && found.contains("kernel racy") && found.contains("k.ptx:"),
        "{found}"
    );
}
