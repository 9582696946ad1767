//! Missing order is reported as a race, with the lines of both accesses.

use simt::{Fault, LaunchConfig};

use crate::kernels::{block_sum, last_block};
use crate::support::{checked, fault, filled, kernel, load, numbers, pointers};

/// The line of the statement in the body of `kernel`.
fn line_of(body: &str, statement: &str) -> u32 {
    let at = body.lines().position(|line| line.contains(statement)).expect("it is in the body");
    5 + at as u32
}

/// Checks that each schedule finds the race between these statements.
fn assert_race(body: &str, (grid, block): (u32, u32), statements: [&str; 2]) {
    let (kernel, mut memory) = kernel(body);
    let expected = statements.map(|statement| line_of(body, statement));
    for config in checked(grid, block) {
        let a = filled(&mut memory, &[0; 256]);
        let b = filled(&mut memory, &[0, 0]);
        // Another thread may read before the write, which the bytes never written would hide.
        let config = LaunchConfig { zeroed: true, ..config };
        let found = fault(kernel.launch(&mut memory, &config, &pointers(a, b)));
        let Fault::Race(race) = &found else { panic!("{found}") };
        let mut lines = [&race.earlier, &race.later].map(|it| it.site.place.line());
        lines.sort_unstable();
        assert_eq!(lines, expected, "{found}");
        assert_eq!(race.later.site.place.file(), "k.ptx");
    }
}

#[test]
fn a_missing_barrier_is_a_race_of_the_store_and_the_load() {
    let statements = ["@!%p1 st.shared.u32", "ld.shared.v4.u32"];
    assert_race(&block_sum(""), (1, 128), statements);
    assert_race(&block_sum("bar.warp.sync -1;"), (1, 128), statements);
}

#[test]
fn a_missing_fence_is_a_race_of_the_store_and_the_load() {
    let statements = ["st.global.u32 [%rd5]", "ld.global.u32 %r11"];
    for (release, acquire) in
        [("", "membar.gl;"), ("fence.acq_rel.gpu;", ""), ("membar.cta;", "membar.gl;"), ("", "")]
    {
        assert_race(&last_block(release, acquire), (5, 1), statements);
    }
}

#[test]
fn a_race_names_the_line_of_the_source() {
    let (kernel, mut memory) = load(
        ".file 1 \"kernel.cu\"
        .visible .entry k(.param .u64 a) {
            .reg .b64 %rd1;
            .loc 1 12 3
            ld.param.u64 %rd1, [a];
            .loc 1 13 5
            st.global.u32 [%rd1], 1;
            ret;
        }",
        "k",
    );
    let a = filled(&mut memory, &[0]);
    let config = LaunchConfig { races: true, ..LaunchConfig::new("k", 2, 1) };
    let found = fault(kernel.launch(&mut memory, &config, &a.to_le_bytes()));
    assert!(matches!(found, Fault::Race(_)), "{found}");
    assert!(found.to_string().contains("kernel.cu:13:5"), "{found}");
    assert!(!found.to_string().contains(".rs"), "{found}");
}

#[test]
fn a_race_in_a_function_inlined_from_another_file_names_the_line_before_it() {
    let (kernel, mut memory) = load(
        ".file 1 \"kernel.cu\"
        .file 2 \"header.cuh\"
        .visible .entry k(.param .u64 a) {
            .reg .b64 %rd1;
            .loc 1 12 3
            ld.param.u64 %rd1, [a];
            .loc 2 40 7
            st.global.u32 [%rd1], 1;
            ret;
        }",
        "k",
    );
    let a = filled(&mut memory, &[0]);
    let config = LaunchConfig { races: true, ..LaunchConfig::new("k", 2, 1) };
    let found = fault(kernel.launch(&mut memory, &config, &a.to_le_bytes()));
    assert!(found.to_string().contains("at kernel.cu:12:3, in header.cuh:40:7"), "{found}");
}

#[test]
fn weak_memory_shows_a_stale_value_where_a_fence_is_missing() {
    let body = |fence: &str| {
        format!(
            ".reg .b32 %r<5>; .reg .b64 %rd<3>; .reg .pred %p1;
            ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
            mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0;
            @%p1 bra WRITE;
        WAIT:
            ld.relaxed.gpu.global.u32 %r2, [%rd2];
            setp.eq.u32 %p1, %r2, 0;
            @%p1 bra WAIT;
            {fence}
            ld.relaxed.gpu.global.u32 %r3, [%rd1];
            st.global.u32 [%rd2+4], %r3;
            ret;
        WRITE:
            st.relaxed.gpu.global.u32 [%rd1], 42;
            {fence}
            st.relaxed.gpu.global.u32 [%rd2], 1;"
        )
    };
    for (fence, stale) in [("fence.acq_rel.gpu;", false), ("", true)] {
        let (kernel, mut memory) = kernel(&body(fence));
        let mut seen = Vec::new();
        for seed in 0..100 {
            let a = filled(&mut memory, &[0]);
            let b = filled(&mut memory, &[0, 0]);
            let schedule = simt::Schedule::from_seed(seed);
            let config =
                LaunchConfig { schedule, weak_memory: true, ..LaunchConfig::new("k", 2, 1) };
            kernel.launch(&mut memory, &config, &pointers(a, b)).expect("no fault");
            seen.push(numbers(&memory, b + 4, 1)[0]);
        }
        assert!(seen.contains(&42));
        assert_eq!(seen.contains(&0), stale, "{fence}");
    }
}
