//! How fast instructions are interpreted. Run it in release, alone:
//! `cargo test --release -p gridsync-ptx-run -- --ignored --nocapture`

use std::io::Write as _;

use simt::{LaunchConfig, Policy, Schedule};

use crate::support::{filled, kernel, pointers};

/// Seconds that this thread has run, which other processes do not change.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("a Linux with it");
    let nanoseconds = text.split(' ').next().expect("three numbers");
    nanoseconds.parse::<f64>().expect("a number") / 1e9
}

#[test]
#[ignore = "a measurement, for release builds"]
fn loops_of_computations_accesses_and_floats() {
    let cases = [
        (
            "computations",
            6,
            "mad.lo.u32 %r3, %r3, 5, %r2; xor.b32 %r3, %r3, %r1; shr.u32 %r4, %r3, 7;",
        ),
        (
            "accesses",
            6,
            "ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, 1; st.global.u32 [%rd1], %r4;",
        ),
        (
            "floats with modifiers",
            7,
            "fma.rn.ftz.f32 %f1, %f1, %f2, %f2; ex2.approx.ftz.f32 %f3, %f1;
            add.rz.f32 %f2, %f3, %f2; fma.rn.f16x2 %r3, %r3, %r4, %r3;",
        ),
    ];
    for (what, instructions, inside) in cases {
        let (kernel, mut memory) = kernel(&format!(
            ".reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p1; .reg .f32 %f<4>;
            mov.f32 %f1, 0f3F000000; mov.f32 %f2, 0f3DCCCCCD; mov.u32 %r4, 0x3a003b00; ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, %r1;
        NEXT:
            {inside}
            add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 100000; @%p1 bra NEXT;"
        ));
        let a = filled(&mut memory, &[0]);
        let schedule = Schedule::new(Policy::Coarse);
        let config = LaunchConfig { schedule, ..LaunchConfig::new("k", 1, 128) };
        let start = processor_time();
        kernel.launch(&mut memory, &config, &pointers(a, a)).expect("no fault");
        let seconds = processor_time() - start;
        let millions = 128.0 * 100_000.0 * f64::from(instructions) / seconds / 1e6;
        writeln!(std::io::stderr(), "{what}: {millions:.0} million instructions a second")
            .expect("stderr is open");
    }
}
