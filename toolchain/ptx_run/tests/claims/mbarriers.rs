//! Barriers in shared memory.

use simt::{Fault, LaunchConfig, MissingOrder};

use crate::support::{checked, fault, filled, kernel, numbers, pointers};

/// Declarations, and the address of a barrier in `%b`.
const HEAD: &str = ".shared .align 8 .b64 bar; .shared .align 4 .b32 word;
    .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .pred %p<5>; .reg .b32 %b;
    ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mov.u32 %b, bar; setp.eq.u32 %p1, %r1, 0;";

/// Thread 0 initialises the barrier for one arrival. Thread 32 writes a word and arrives, thread 0
/// waits and reads the word.
fn handing_over(arrive: &str, wait: &str) -> String {
    format!(
        "{HEAD}
        @%p1 mbarrier.init.shared.b64 [%b], 1;
        bar.sync 0;
        setp.eq.u32 %p2, %r1, 32;
        @%p2 bra WRITE;
        @!%p1 ret;
    WAIT:
        {wait}
        @!%p3 bra WAIT;
        ld.shared.u32 %r2, [word];
        st.global.u32 [%rd1], %r2;
        ret;
    WRITE:
        st.shared.u32 [word], 7;
        {arrive}"
    )
}

/// The fault of a launch of one block, if there is one.
fn run(body: &str, config: &LaunchConfig<'_>) -> Result<Vec<u32>, Fault> {
    let (kernel, mut memory) = kernel(body);
    let a = filled(&mut memory, &[0; 64]);
    let arguments = pointers(a, a);
    let launch = kernel.launch(&mut memory, config, &arguments);
    if launch.is_ok() { Ok(numbers(&memory, a, 64)) } else { Err(fault(launch)) }
}

const WAIT: &str = "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [%b], 0;";

#[test]
fn an_arrival_hands_a_word_over_under_all_schedules() {
    let tests = [
        WAIT,
        "mbarrier.test_wait.parity.shared.b64 %p3, [%b], 0;",
        "mbarrier.try_wait.parity.shared.b64 %p3, [%b], 0, 1000;",
    ];
    let arrivals = [
        "mbarrier.arrive.shared.b64 _, [%b];",
        "mbarrier.arrive.release.cta.shared::cta.b64 %rd2, [%b], 1;",
        "mbarrier.arrive_drop.shared.b64 _, [%b];",
        "cvt.u64.u32 %rd3, %b; cvta.shared.u64 %rd3, %rd3; mbarrier.arrive.b64 %rd2, [%rd3];",
        "fence.acq_rel.cta; mbarrier.arrive.relaxed.cta.shared.b64 _, [%b];",
        "mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 16; mbarrier.arrive.shared.b64 _, [%b];
        mbarrier.complete_tx.relaxed.cta.shared.b64 [%b], 16;",
    ];
    for arrive in arrivals {
        for wait in tests {
            for config in checked(1, 64) {
                let found = run(&handing_over(arrive, wait), &config);
                let found = found.unwrap_or_else(|found| panic!("{arrive} {wait} {found}"));
                assert_eq!(found[0], 7, "{arrive}");
            }
        }
    }
}

#[test]
fn a_relaxed_arrival_or_wait_does_not_order_the_word() {
    let relaxed = "mbarrier.arrive.relaxed.cta.shared.b64 _, [%b];";
    let unordered = "mbarrier.try_wait.parity.relaxed.cta.shared.b64 %p3, [%b], 0;";
    let arrive = "mbarrier.arrive.shared.b64 _, [%b];";
    for (arrive, wait) in [(relaxed, WAIT), (arrive, unordered)] {
        for config in checked(1, 64) {
            let config = LaunchConfig { zeroed: true, ..config };
            let found = run(&handing_over(arrive, wait), &config).expect_err("a race");
            let Fault::Race(race) = &found else { panic!("{found}") };
            assert!(matches!(race.missing, MissingOrder::Link(_)), "{found}");
        }
    }
}

#[test]
fn a_state_stands_for_its_phase() {
    // All threads arrive in three phases. The state of each is complete, also in the next phase.
    let body = format!(
        "{HEAD}
        .reg .b32 %n; mov.u32 %n, 0;
        @%p1 mbarrier.init.shared.b64 [%b], 64;
        bar.sync 0;
    NEXT:
        atom.shared.add.u32 %r3, [word], 1;
        mbarrier.arrive.shared.b64 %rd2, [%b];
    WAIT:
        mbarrier.try_wait.shared.b64 %p3, [%b], %rd2;
        @!%p3 bra WAIT;
        mbarrier.test_wait.shared.b64 %p3, [%b], %rd2;
        @!%p3 trap;
        atom.shared.add.u32 %r2, [word], 0;
        add.u32 %n, %n, 1;
        mul.lo.u32 %r4, %n, 64;
        setp.lt.u32 %p4, %r2, %r4;
        @%p4 trap;
        setp.lt.u32 %p2, %n, 3;
        @%p2 bra NEXT;
        mbarrier.pending_count.b64 %r5, %rd2;
        mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3;
        st.global.u32 [%rd1], %r5;"
    );
    for config in checked(1, 64) {
        let config = LaunchConfig { zeroed: true, ..config };
        let mut pending = run(&body, &config).unwrap_or_else(|found| panic!("{found}"));
        pending.sort_unstable();
        assert_eq!(pending, (1..=64).collect::<Vec<_>>());
    }
}

#[test]
fn a_dropped_arrival_is_not_expected_in_later_phases() {
    let body = format!(
        "{HEAD}
        @%p1 mbarrier.init.shared.b64 [%b], 2;
        bar.sync 0;
        @%p1 mbarrier.arrive_drop.shared.b64 _, [%b];
        setp.ne.u32 %p2, %r1, 1;
        @%p2 ret;
        mbarrier.arrive.shared.b64 %rd2, [%b];
    FIRST:
        mbarrier.try_wait.shared.b64 %p3, [%b], %rd2;
        @!%p3 bra FIRST;
        mbarrier.arrive.shared.b64 _, [%b];
    SECOND:
        mbarrier.try_wait.parity.shared.b64 %p3, [%b], 1;
        @!%p3 bra SECOND;
        mbarrier.inval.shared.b64 [%b];
        mbarrier.init.shared.b64 [%b], 5;"
    );
    for config in checked(1, 64) {
        run(&body, &config).unwrap_or_else(|found| panic!("{found}"));
    }
}

/// The fault of one thread that executes these statements, after a barrier for two arrivals has been
/// initialised.
fn refused(statements: &str) -> String {
    let body = format!("{HEAD}\nmbarrier.init.shared.b64 [%b], 2;\n{statements}");
    let found = run(&body, &LaunchConfig::new("k", 1, 1)).expect_err("a fault").to_string();
    assert!(found.contains("k.ptx:9"), "{statements} {found}");
    found
}

#[test]
fn wrong_uses_of_a_barrier_are_faults_that_name_them() {
    let cases = [
        ("st.shared.u32 [bar+4], 0;", "ordinary access to the word of the barrier that was init"),
        ("ld.shared.u64 %rd2, [bar];", "at k.ptx:8: use `mbarrier`"),
        ("atom.shared.add.u32 %r2, [bar], 1;", "ordinary access to the word"),
        ("mbarrier.init.shared.b64 [%b], 2;", "was initialised at k.ptx:8 already"),
        ("mbarrier.inval.shared.b64 [%b]; mbarrier.arrive.shared.b64 _, [%b];", "is not a barrier"),
        ("mbarrier.inval.shared.b64 [%b+8];", "of a word that is not a barrier"),
        ("mbarrier.arrive.shared.b64 _, [%b], 3;", "3 arrivals, but the phase waits for only 2"),
        ("mbarrier.arrive.noComplete.shared.b64 %rd2, [%b], 2;", "noComplete` completes the phase"),
        ("mbarrier.arrive_drop.shared.b64 _, [%b], 3;", "3 arrivals, but the phase waits for"),
        (
            "mbarrier.test_wait.parity.shared.b64 %p3, [%b], 2;",
            "parity of a phase is 0 or 1, not 2",
        ),
        ("mbarrier.test_wait.shared.b64 %p3, [%b], 5;", "a state that no `mbarrier.arrive`"),
        ("mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 1048576;", "at most 1048575 bytes"),
        ("mbarrier.arrive.b64 _, [%rd1];", "is not in Cluster memory"),
        ("mbarrier.arrive.shared.b64 _, [%b+4];", "out of bounds"),
    ];
    for (statements, message) in cases {
        let found = refused(statements);
        assert!(found.contains(message), "{statements} {found}");
    }
    let body = format!("{HEAD} mbarrier.arrive.shared.b64 _, [%b];");
    let found = run(&body, &LaunchConfig::new("k", 1, 1)).expect_err("no barrier");
    assert!(matches!(found, Fault::Uninitialised { .. }), "{found}");
    let zeroed = LaunchConfig { zeroed: true, ..LaunchConfig::new("k", 1, 1) };
    let found = run(&body, &zeroed).expect_err("no barrier").to_string();
    assert!(found.contains("0x0 is not a barrier"), "{found}");
}

#[test]
fn a_missing_arrival_is_a_deadlock_that_shows_the_phase() {
    for wait in [WAIT, "add.u32 %r9, %r1, 1; mbarrier.test_wait.parity.shared.b64 %p3, [%b], 0;"] {
        for config in checked(1, 64) {
            let found = run(&handing_over("", wait), &config).expect_err("a deadlock");
            assert!(matches!(found, Fault::Deadlock(_)), "{found}");
            assert!(found.to_string().contains("still needs 1 of 1 arrivals"), "{found}");
        }
    }
}

#[test]
fn a_barrier_that_no_block_barrier_publishes_is_a_race() {
    let body =
        handing_over("mbarrier.arrive.shared.b64 _, [%b];", WAIT).replacen("bar.sync 0;", "", 1);
    for config in checked(1, 64) {
        let found = run(&body, &config).expect_err("a race or an uninitialised word");
        assert!(matches!(found, Fault::Race(_) | Fault::Uninitialised { .. }), "{found}");
    }
}
