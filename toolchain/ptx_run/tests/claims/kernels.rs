//! Small whole kernels give right results under all schedules, with checks for races and weak memory.

use simt::{Fault, LaunchConfig, Policy, Schedule};

use crate::support::{checked, fault, filled, kernel, numbers, pointers};

/// The beginning of most kernels: `%r1` is the thread, `%r2` the block, `%r3` the thread of the grid.
pub(crate) const HEAD: &str = "
    .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<10>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r3, %r2, %r4, %r1;
    mul.wide.u32 %rd3, %r3, 4;";

#[test]
fn vectors_are_added() {
    let (kernel, mut memory) = kernel(&format!(
        "{HEAD}
        cvta.to.global.u64 %rd4, %rd1; add.s64 %rd5, %rd4, %rd3; add.s64 %rd6, %rd2, %rd3;
        setp.ge.u32 %p1, %r3, 100;
        @%p1 bra DONE;
        ld.global.u32 %r5, [%rd5]; ld.u32 %r6, [%rd6];
        add.u32 %r7, %r5, %r6;
        st.global.u32 [%rd6], %r7;
    DONE:
        ret;"
    ));
    for config in checked(4, 32) {
        let a = filled(&mut memory, &(0..100).collect::<Vec<_>>());
        let b = filled(&mut memory, &(0..100).map(|it| it * 1000).collect::<Vec<_>>());
        kernel.launch(&mut memory, &config, &pointers(a, b)).expect("no fault");
        let expected: Vec<u32> = (0..100).map(|it| it * 1001).collect();
        assert_eq!(numbers(&memory, b, 100), expected);
    }
}

/// Sums the numbers of a block with shuffles and shared memory; `barrier` is between both steps.
pub(crate) fn block_sum(barrier: &str) -> String {
    format!(
        "{HEAD}
        .shared .align 16 .b8 partial[128];
        add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r5, [%rd4];
        shfl.sync.down.b32 %r6, %r5, 16, 31, -1; add.u32 %r5, %r5, %r6;
        shfl.sync.down.b32 %r6, %r5, 8, 31, -1; add.u32 %r5, %r5, %r6;
        shfl.sync.bfly.b32 %r6, %r5, 4, 31, -1; add.u32 %r5, %r5, %r6;
        shfl.sync.bfly.b32 %r6, %r5, 2, 31, -1; add.u32 %r5, %r5, %r6;
        shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1; add.u32 %r5, %r5, %r6;
        mov.u32 %r7, %laneid; setp.ne.u32 %p1, %r7, 0;
        mov.u32 %r8, partial; shr.u32 %r9, %r1, 5; shl.b32 %r10, %r9, 2; add.u32 %r8, %r8, %r10;
        @!%p1 st.shared.u32 [%r8], %r5;
        {barrier}
        setp.ne.u32 %p2, %r1, 0;
        @%p2 bra DONE;
        ld.shared.v4.u32 {{%r11, %r12, %r13, %r14}}, [partial];
        add.u32 %r11, %r11, %r12; add.u32 %r13, %r13, %r14; add.u32 %r11, %r11, %r13;
        mul.wide.u32 %rd5, %r2, 4; add.s64 %rd6, %rd2, %rd5;
        st.global.u32 [%rd6], %r11;
    DONE:
        ret;"
    )
}

#[test]
fn blocks_sum_with_shuffles_and_shared_memory() {
    let (kernel, mut memory) = kernel(&block_sum("bar.sync 0;"));
    let all: Vec<u32> = (0..256).map(|it| it * it).collect();
    let a = filled(&mut memory, &all);
    for config in checked(2, 128) {
        let b = filled(&mut memory, &[0, 0]);
        kernel.launch(&mut memory, &config, &pointers(a, b)).expect("no fault");
        let sums: Vec<u32> = all.chunks(128).map(|it| it.iter().sum()).collect();
        assert_eq!(numbers(&memory, b, 2), sums);
    }
}

#[test]
fn atomics_count_every_thread_once() {
    let (kernel, mut memory) = kernel(&format!(
        "{HEAD}
        red.global.add.u32 [%rd1], 1;
        atom.global.add.u32 %r5, [%rd1+4], %r3;
        atom.inc.u32 %r6, [%rd1+8], 9;
        atom.global.max.s32 %r7, [%rd1+12], %r3;
        red.global.and.b32 [%rd1+16], -2; atom.xor.b32 %r8, [%rd1+20], %r3;
        atom.global.exch.b32 %r9, [%rd1+24], 5;
    AGAIN:
        ld.relaxed.gpu.global.u32 %r10, [%rd1+28];
        add.u32 %r11, %r10, 3;
        atom.global.cas.b32 %r12, [%rd1+28], %r10, %r11;
        setp.ne.u32 %p1, %r12, %r10;
        @%p1 bra AGAIN;"
    ));
    for config in checked(3, 40) {
        let a = filled(&mut memory, &[0, 0, 0, 0, 7, 0, 0, 0]);
        kernel.launch(&mut memory, &config, &pointers(a, 0)).expect("no fault");
        let xor = (0..120).fold(0, |all, it| all ^ it);
        let expected = [120, 119 * 60, 0, 119, 6, xor, 5, 360];
        assert_eq!(numbers(&memory, a, 8), expected);
    }
}

/// Each block stores a number; the last one to count itself sums them. `release` and `acquire` are
/// around the counter, and the sum is at the end of the array.
pub(crate) fn last_block(release: &str, acquire: &str) -> String {
    format!(
        "{HEAD}
        mul.wide.u32 %rd4, %r2, 4; add.s64 %rd5, %rd1, %rd4;
        mul.lo.u32 %r5, %r2, 10;
        st.global.u32 [%rd5], %r5;
        {release}
        atom.global.add.u32 %r6, [%rd2], 1;
        mov.u32 %r7, %nctaid.x; sub.u32 %r8, %r7, 1;
        setp.ne.u32 %p1, %r6, %r8;
        @%p1 ret;
        {acquire}
        mov.u32 %r9, 0; mov.u32 %r10, 0; mov.u64 %rd6, %rd1;
    NEXT:
        ld.global.u32 %r11, [%rd6];
        add.u32 %r9, %r9, %r11; add.u32 %r10, %r10, 1; add.s64 %rd6, %rd6, 4;
        setp.lt.u32 %p2, %r10, %r7;
        @%p2 bra NEXT;
        st.global.u32 [%rd2+4], %r9;"
    )
}

#[test]
fn the_last_block_sums_what_all_have_stored() {
    for (release, acquire) in [
        ("membar.gl;", "membar.gl;"),
        ("fence.acq_rel.gpu;", "fence.acq_rel.gpu;"),
        ("fence.release.sys;", "fence.acquire.sys;"),
    ] {
        let (kernel, mut memory) = kernel(&last_block(release, acquire));
        for config in checked(5, 1) {
            let a = filled(&mut memory, &[0; 5]);
            let b = filled(&mut memory, &[0, 0]);
            kernel.launch(&mut memory, &config, &pointers(a, b)).expect("no fault");
            assert_eq!(numbers(&memory, b, 2), [5, 100]);
        }
    }
}

/// A barrier between blocks, then each reads what its neighbour has stored. `poll` loads the counter.
fn grid_barrier(poll: &str) -> String {
    format!(
        "{HEAD}
        mul.wide.u32 %rd4, %r2, 4; add.s64 %rd5, %rd1, %rd4;
        st.global.u32 [%rd5], %r2;
        atom.add.release.gpu.global.u32 %r5, [%rd2], 1;
        mov.u32 %r6, %nctaid.x;
    WAIT:
        {poll}
        setp.lt.u32 %p1, %r7, %r6;
        @%p1 bra WAIT;
        fence.acq_rel.gpu;
        add.u32 %r8, %r2, 1; rem.u32 %r8, %r8, %r6;
        mul.wide.u32 %rd6, %r8, 4; add.s64 %rd7, %rd1, %rd6;
        ld.global.u32 %r9, [%rd7];
        st.global.u32 [%rd5+256], %r9;"
    )
}

#[test]
fn a_barrier_that_polls_lets_other_blocks_run() {
    let counted =
        "mov.u32 %r14, %r10; add.u32 %r10, %r14, 1; ld.relaxed.gpu.global.u32 %r7, [%rd2];";
    let timed = "mov.u64 %rd8, %clock64; ld.relaxed.gpu.global.u32 %r7, [%rd2];";
    for poll in [
        "ld.acquire.gpu.global.u32 %r7, [%rd2];",
        "ld.volatile.global.u32 %r7, [%rd2];",
        "atom.global.or.b32 %r7, [%rd2], 0;",
        "ld.relaxed.sys.u32 %r7, [%rd2]; nanosleep.u32 20;",
        "st.global.u32 [%rd5+128], 7; ld.acquire.gpu.global.u32 %r7, [%rd2];",
        counted,
        "mov.u32 %r14, %r10; add.u32 %r10, %r14, 1; atom.global.add.u32 %r7, [%rd2], 0;",
        timed,
    ] {
        let (kernel, mut memory) = kernel(&grid_barrier(poll));
        for config in checked(4, 1) {
            let a = filled(&mut memory, &[0; 128]);
            let b = filled(&mut memory, &[0]);
            kernel
                .launch(&mut memory, &config, &pointers(a, b))
                .unwrap_or_else(|error| panic!("{poll} {:?}: {error}", config.schedule));
            assert_eq!(numbers(&memory, a + 256, 4), [1, 2, 3, 0]);
        }
    }
}

#[test]
fn a_wait_that_never_ends_is_a_deadlock() {
    let (kernel, mut memory) = kernel(&format!(
        "{HEAD}\nWAIT: ld.acquire.gpu.global.u32 %r5, [%rd2];\nsetp.ne.u32 %p1, %r5, 1;\n@%p1 bra WAIT;"
    ));
    for policy in [Policy::RoundRobin, Policy::RunAhead] {
        let b = filled(&mut memory, &[0]);
        let config =
            LaunchConfig { schedule: Schedule::new(policy), ..LaunchConfig::new("k", 2, 33) };
        let found = fault(kernel.launch(&mut memory, &config, &pointers(0, b)));
        assert!(matches!(found, Fault::Deadlock(_)), "{found}");
        assert!(found.to_string().contains("k.ptx:13"), "{found}");
    }
}

#[test]
fn an_empty_endless_loop_is_a_deadlock_and_one_that_counts_ends_at_the_limit() {
    let config = LaunchConfig { step_limit: 100, ..LaunchConfig::new("k", 1, 1) };
    let (empty, mut memory) = kernel("LOOP: bra LOOP;");
    let found = fault(empty.launch(&mut memory, &config, &pointers(0, 0)));
    assert!(matches!(found, Fault::Deadlock(_)), "{found}");
    let (counts, mut memory) =
        kernel(".reg .b32 %r1;\nmov.u32 %r1, 0;\nLOOP: add.u32 %r1, %r1, 1; bra LOOP;");
    let found = fault(counts.launch(&mut memory, &config, &pointers(0, 0)));
    assert!(matches!(found, Fault::StepLimit { .. }), "{found}");
}

#[test]
fn lanes_vote_match_and_reduce() {
    let (kernel, mut memory) = kernel(&format!(
        "{HEAD}
        and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0; setp.lt.u32 %p2, %r1, 99;
        vote.sync.ballot.b32 %r6, %p1, -1;
        vote.sync.all.pred %p3, %p2, -1; vote.sync.any.pred %p4, !%p2, -1;
        vote.sync.uni.pred %p5, %p1, -1;
        selp.u32 %r7, 1, 0, %p3; selp.u32 %r8, 2, 0, %p4; selp.u32 %r9, 4, 0, %p5;
        or.b32 %r7, %r7, %r8; or.b32 %r7, %r7, %r9;
        match.any.sync.b32 %r10, %r5, 0xffffffff;
        redux.sync.add.s32 %r11, %r1, -1;
        bar.red.popc.u32 %r12, 0, %p1;
        bar.red.and.pred %p6, 0, %p2; selp.u32 %r13, 1, 0, %p6;
        activemask.b32 %r14;
        mul.wide.u32 %rd4, %r1, 32; add.s64 %rd5, %rd1, %rd4;
        st.global.v4.u32 [%rd5], {{%r6, %r7, %r10, %r11}};
        st.global.v2.u32 [%rd5+16], {{%r12, %r13}};
        bar.warp.sync -1;"
    ));
    for config in checked(1, 32) {
        let a = filled(&mut memory, &[0; 256]);
        kernel.launch(&mut memory, &config, &pointers(a, 0)).expect("no fault");
        for (lane, found) in numbers(&memory, a, 256).chunks(8).enumerate() {
            let equal = if lane % 2 == 0 { 0x5555_5555 } else { 0xaaaa_aaaa };
            assert_eq!(found[..6], [0x5555_5555, 1, equal, 31 * 16, 16, 1]);
        }
    }
}

#[test]
fn shuffles_of_all_modes_say_whether_they_found_a_lane() {
    type Of = fn(u32) -> (u32, bool);
    let cases: [(&str, Of); 6] =
        [
            (
                "up.b32 %r5|%p1, %r1, 3, 0",
                |lane| if lane < 3 { (lane, false) } else { (lane - 3, true) },
            ),
            ("down.b32 %r5|%p1, %r1, 3, 31", |lane| {
                if lane > 28 { (lane, false) } else { (lane + 3, true) }
            }),
            ("bfly.b32 %r5|%p1, %r1, 5, 31", |lane| (lane ^ 5, true)),
            ("idx.b32 %r5|%p1, %r1, 7, 31", |_| (7, true)),
            // Segments of eight lanes.
            ("down.b32 %r5|%p1, %r1, 2, 0x181f", |lane| {
                if lane % 8 > 5 { (lane, false) } else { (lane + 2, true) }
            }),
            ("idx.b32 %r5|%p1, %r1, 10, 0x181f", |lane| (lane / 8 * 8 + 2, true)),
        ];
    for (text, of) in cases {
        let (kernel, mut memory) = kernel(&format!(
            "{HEAD} shfl.sync.{text}, -1; selp.u32 %r6, 1, 0, %p1;
            mul.wide.u32 %rd4, %r1, 8; add.s64 %rd5, %rd1, %rd4; st.global.v2.u32 [%rd5], {{%r5, %r6}};"
        ));
        let a = filled(&mut memory, &[0; 64]);
        let config = LaunchConfig::new("k", 1, 32);
        kernel.launch(&mut memory, &config, &pointers(a, 0)).expect("no fault");
        for (lane, found) in numbers(&memory, a, 64).chunks(2).enumerate() {
            let (from, is_found) = of(lane as u32);
            assert_eq!(found, [from, u32::from(is_found)], "{text}, lane {lane}");
        }
    }
}
