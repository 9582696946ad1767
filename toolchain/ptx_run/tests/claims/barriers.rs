//! Barriers of some warps of a block.

use simt::{Fault, Lanes, LaunchConfig, Policy, Schedule};

use crate::support::{checked, fault, filled, kernel, numbers, pointers};

/// Declarations, the number of the warp in `%w`, and the address of the thread's word in `%rd3`.
const HEAD: &str = ".shared .align 4 .b32 words[128];
    .reg .b32 %r<12>; .reg .b64 %rd<6>; .reg .pred %p<6>; .reg .b32 %w;
    ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; shr.u32 %w, %r1, 5; shl.b32 %r2, %r1, 2;
    mov.u32 %r3, words; add.u32 %r4, %r3, %r2; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    setp.eq.u32 %p1, %w, 0; setp.lt.u32 %p2, %w, 2; xor.b32 %r5, %r2, 128; add.u32 %r6, %r3, %r5;";

fn run(body: &str, threads: u32, config: &LaunchConfig<'_>) -> Result<Vec<u32>, Fault> {
    let (kernel, mut memory) = kernel(body);
    let a = filled(&mut memory, &[0; 128]);
    let config = LaunchConfig { block: threads.into(), zeroed: true, ..*config };
    let launch = kernel.launch(&mut memory, &config, &pointers(a, a));
    if launch.is_ok() { Ok(numbers(&memory, a, 128)) } else { Err(fault(launch)) }
}

/// Warps 0 and 1 exchange words at one barrier, and warps 2 and 3 at another one.
fn pairs(first: &str, second: &str) -> String {
    format!(
        "{HEAD}
        st.shared.u32 [%r4], %r1;
        @%p2 bra FIRST;
        {second}
        bra READ;
    FIRST:
        {first}
    READ:
        ld.shared.u32 %r7, [%r6];
        st.global.u32 [%rd3], %r7;"
    )
}

#[test]
fn pairs_of_warps_meet_at_separate_barriers() {
    let expected: Vec<u32> = (0..128).map(|it| it ^ 32).collect();
    for (first, second) in [
        ("bar.sync 1, 64;", "bar.sync 2, 64;"),
        ("barrier.sync 15, 64;", "barrier.sync.aligned 0, 64;"),
        ("mov.u32 %r8, 3; mov.u32 %r9, 64; bar.sync %r8, %r9;", "bar.sync 1, 64; bar.sync 1, 64;"),
        ("bar.red.popc.u32 %r8, 4, 64, %p1;", "bar.red.and.pred %p3, 5, 64, %p1;"),
        ("bar.sync 7;", "bar.sync 7, 128;"),
    ] {
        for config in checked(1, 128) {
            let found = run(&pairs(first, second), 128, &config);
            assert_eq!(found.unwrap_or_else(|found| panic!("{first} {found}")), expected);
        }
    }
}

#[test]
fn a_barrier_orders_only_the_warps_that_meet_at_it() {
    // Warps 0 and 2 meet, and then warps 1 and 3.
    let body = pairs("bar.sync %w, 64;", "and.b32 %r8, %w, 1; bar.sync %r8, 64;");
    for config in checked(1, 128) {
        let found = run(&body, 128, &config).expect_err("a race");
        assert!(matches!(found, Fault::Race(_)), "{found}");
    }
}

/// The first warp produces words, the others consume them, several times.
fn producing(full: &str, empty: &str) -> String {
    format!(
        "{HEAD}
        .reg .b32 %n; .reg .b32 %sum; mov.u32 %n, 0; mov.u32 %sum, 0; and.b32 %r8, %r2, 127;
        add.u32 %r8, %r3, %r8;
    NEXT:
        add.u32 %n, %n, 1; setp.le.u32 %p4, %n, 3;
        @!%p4 bra END;
        @%p1 bra PRODUCE;
        bar.sync 1, 96;
        ld.shared.u32 %r9, [%r8]; add.u32 %sum, %sum, %r9;
        {empty}
        bra NEXT;
    PRODUCE:
        mad.lo.u32 %r9, %n, 100, %r1;
        st.shared.u32 [%r8], %r9;
        {full}
        bar.sync 2, 96;
        bra NEXT;
    END:
        st.global.u32 [%rd3], %sum;"
    )
}

#[test]
fn arrivals_release_without_waiting() {
    let body = producing("bar.arrive 1, 96;", "bar.arrive 2, 96;");
    for config in checked(1, 96) {
        let found = run(&body, 96, &config).unwrap_or_else(|found| panic!("{found}"));
        let expected = |it: u32| if (32..96).contains(&it) { 600 + 3 * (it % 32) } else { 0 };
        assert_eq!(found, (0..128).map(expected).collect::<Vec<_>>());
    }
}

#[test]
fn an_arrival_in_the_wrong_order_is_a_race_or_a_deadlock() {
    let early = producing("", "bar.arrive 2, 96;")
        .replace("st.shared.u32 [%r8], %r9;", "")
        .replace("bar.sync 2, 96;", "bar.arrive 1, 96; st.shared.u32 [%r8], %r9; bar.sync 2, 96;");
    for config in checked(1, 96) {
        let found = run(&early, 96, &config).expect_err("a race");
        assert!(matches!(found, Fault::Race(_)), "{found}");
        let missing = producing("", "bar.arrive 2, 96;");
        let found = run(&missing, 96, &config).expect_err("a deadlock");
        assert!(matches!(found, Fault::Deadlock(_)), "{found}");
        let text = found.to_string();
        assert!(text.contains("barrier 1, where 64 of 96 threads have arrived"), "{text}");
        assert!(text.contains("barrier 2, where 32 of 96 threads have arrived"), "{text}");
    }
}

#[test]
fn votes_count_the_threads_of_the_warps_that_meet() {
    let body = format!(
        "{HEAD}
        setp.lt.u32 %p3, %r1, 40; mov.u32 %r9, 0;
        @!%p2 bra END;
        bar.red.popc.u32 %r7, 3, 64, %p3;
        bar.red.or.pred %p4, 3, 64, %p3; selp.u32 %r8, 1000, 0, %p4; add.u32 %r9, %r7, %r8;
        bar.red.and.pred %p4, 3, 64, !%p3; selp.u32 %r8, 5000, 0, %p4; add.u32 %r9, %r9, %r8;
        bar.red.and.pred %p4, 3, 64, %p2; selp.u32 %r8, 2000, 0, %p4; add.u32 %r9, %r9, %r8;
    END:
        st.global.u32 [%rd3], %r9;"
    );
    for config in checked(1, 128) {
        let found = run(&body, 128, &config).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(found[..65], [[3040; 64].as_slice(), &[0]].concat());
    }
    // The last warp has only 18 lanes and counts as 32 threads.
    let found = run(&body, 50, &LaunchConfig::new("k", 1, 1)).expect("no fault");
    assert_eq!(found[..50], [3040; 50]);
}

#[test]
fn lanes_meet_from_different_lines_only_without_aligned() {
    let body = |name: &str| {
        format!(
            "{HEAD}
            and.b32 %r8, %r1, 1; setp.eq.u32 %p3, %r8, 0;
            @%p3 bra EVEN;
            {name} 1, 64;
            bra END;
        EVEN:
            {name} 1, 64;
        END:
            ret;"
        )
    };
    let schedule = Schedule::new(Policy::RoundRobin).with_lanes(Lanes::Apart);
    for config in checked(1, 64).chain([LaunchConfig { schedule, ..LaunchConfig::new("k", 1, 64) }])
    {
        run(&body("barrier.sync"), 64, &config).unwrap_or_else(|found| panic!("{found}"));
        let found = run(&body("barrier.sync.aligned"), 64, &config).expect_err("not together");
        assert!(matches!(found, Fault::BarrierDiverged { .. }), "{found}");
    }
    let zero = body("barrier.sync").replace("1, 64", "0");
    run(&zero, 64, &LaunchConfig::new("k", 1, 64)).unwrap_or_else(|found| panic!("{found}"));
}

#[test]
fn wrong_uses_of_barriers_are_faults_that_name_them() {
    let cases = [
        ("bar.sync 16, 64;", "barrier 16: a block has 16 barriers, from 0"),
        ("bar.sync 1, 48;", "barrier 1 of 48 threads: the count must be a multiple of 32"),
        ("bar.sync 1, 0;", "barrier 1 of 0 threads: the count must be a multiple of 32"),
        ("bar.sync 1, 96;", "barrier 1 of 96 threads, but the block has only 64 in its warps"),
        (
            "@%p1 bar.sync 1, 64; @!%p1 bar.sync 1, 32; bar.sync 1, 32;",
            "all must give the same count",
        ),
        (
            "@%p1 bar.arrive 1, 64; @%p1 bar.arrive 1, 64;",
            "arrives at barrier 1 again, before it has opened",
        ),
        ("@%p1 bar.arrive 1, 64; @!%p1 bar.red.popc.u32 %r7, 1, 64, %p1;", "and others do not"),
        ("setp.eq.u32 %p3, %r1, 5; @%p3 ret; bar.sync 1, 64;", "but lane 5 has exited"),
    ];
    for (statement, message) in cases {
        let body = format!("{HEAD}\n{statement}");
        let found = run(&body, 64, &LaunchConfig::new("k", 1, 64)).expect_err("a fault");
        assert!(found.to_string().contains(message), "{statement} {found}");
    }
}

#[test]
fn a_lane_is_elected_and_all_lanes_are_compared() {
    let body = format!(
        "{HEAD}
        elect.sync %r7|%p3, -1; selp.u32 %r8, 100, 0, %p3; add.u32 %r9, %r7, %r8;
        match.all.sync.b32 %r10|%p4, %w, -1; selp.u32 %r8, 1000, 0, %p4; add.u32 %r9, %r9, %r8;
        shr.u32 %r10, %r10, 31; add.u32 %r9, %r9, %r10;
        match.all.sync.b32 %r10|%p4, %r1, -1; selp.u32 %r8, 9000, 0, %p4; add.u32 %r9, %r9, %r8;
        add.u32 %r9, %r9, %r10;
        setp.lt.u32 %p5, %r1, 3;
        @%p5 ret;
        elect.sync _|%p3, 0xfffffff8; selp.u32 %r8, 10000, 0, %p3; add.u32 %r9, %r9, %r8;
        st.global.u32 [%rd3], %r9;"
    );
    for config in checked(1, 32) {
        let found = run(&body, 32, &config).unwrap_or_else(|found| panic!("{found}"));
        let expected = |it: u32| match it {
            0..3 => 0,
            3 => 11001,
            _ => 1001,
        };
        assert_eq!(found[..32], (0..32).map(expected).collect::<Vec<_>>());
    }
}

#[test]
fn special_registers_give_the_size_of_shared_memory() {
    let body = format!("{HEAD} mov.u32 %r7, %total_smem_size; st.global.u32 [%rd3], %r7;");
    let config = LaunchConfig { dynamic_shared: 100, ..LaunchConfig::new("k", 1, 1) };
    assert_eq!(run(&body, 1, &config).expect("no fault")[0], 612);
}
