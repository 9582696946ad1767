//! Clusters: their barrier, and the shared memory of their blocks.

use simt::{Fault, LaunchConfig, Policy, Schedule};

use crate::support::{checked, fault, filled, kernel, numbers, pointers};

/// Declarations, and the block's shared variable `word` in the next block of the cluster: in `%next`
/// as an address in the cluster's memory, and in `%far` as a generic one.
const HEAD: &str = ".shared .align 8 .b64 bar; .shared .align 4 .b32 word;
    .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .pred %p<5>; .reg .b32 %next; .reg .b64 %far;
    ld.param.u64 %rd1, [a]; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank;
    add.u32 %r3, %r1, 1; rem.u32 %r3, %r3, %r2; mov.u32 %r4, word;
    mapa.shared::cluster.u32 %next, %r4, %r3;
    mov.u64 %rd2, word; cvta.shared.u64 %rd2, %rd2; mapa.u64 %far, %rd2, %r3;
    mov.u32 %r5, %ctaid.x; mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3;";

const ARRIVE: &str = "barrier.cluster.arrive.release.aligned;";
const WAIT: &str = "barrier.cluster.wait.acquire.aligned;";

/// Configurations of six blocks in clusters of three.
fn clustered(threads: u32) -> impl Iterator<Item = LaunchConfig<'static>> {
    checked(6, threads).map(|config| LaunchConfig { cluster: Some(3), ..config })
}

fn run(body: &str, config: &LaunchConfig<'_>) -> Result<Vec<u32>, Fault> {
    let (kernel, mut memory) = kernel(body);
    let a = filled(&mut memory, &[0; 6]);
    let arguments = pointers(a, a);
    let launch = kernel.launch(&mut memory, config, &arguments);
    if launch.is_ok() { Ok(numbers(&memory, a, 6)) } else { Err(fault(launch)) }
}

/// Each block writes its index, and reads that of the next block between two barriers.
fn exchange(read: &str, before: &str, after: &str) -> String {
    format!(
        "{HEAD}
        st.shared.u32 [word], %r5;
        {before}
        {read}
        {after}
        st.global.u32 [%rd4], %r6;"
    )
}

#[test]
fn blocks_of_a_cluster_read_each_other_between_barriers() {
    let both = format!("{ARRIVE} {WAIT}");
    let short = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
    let fenced = format!("fence.acq_rel.cluster; barrier.cluster.arrive.relaxed.aligned; {WAIT}");
    let reads = [
        "ld.shared::cluster.u32 %r6, [%next];",
        "ld.u32 %r6, [%far];",
        "cvt.u64.u32 %rd5, %next; cvta.shared::cluster.u64 %rd5, %rd5; ld.u32 %r6, [%rd5];",
        "ld.relaxed.cluster.shared::cluster.u32 %r6, [%next];",
    ];
    for read in reads {
        for before in [&both, short, &fenced] {
            for config in clustered(1) {
                let found = run(&exchange(read, before, &both), &config);
                let found = found.unwrap_or_else(|found| panic!("{read} {before} {found}"));
                assert_eq!(found, [1, 2, 0, 4, 5, 3], "{read} {before}");
            }
        }
    }
}

#[test]
fn stores_and_atomics_reach_other_blocks() {
    let body = format!(
        "{HEAD}
        st.shared.u32 [word], 100;
        {ARRIVE} {WAIT}
        red.relaxed.cluster.shared::cluster.add.u32 [%next], 7;
        atom.relaxed.cluster.add.u32 %r7, [%far], %r5;
        {ARRIVE} {WAIT}
        ld.shared.u32 %r6, [word];
        {ARRIVE} {WAIT}
        st.shared::cluster.u32 [%next], 1;
        {ARRIVE} {WAIT}
        ld.shared::cluster.u32 %r7, [%r4];
        add.u32 %r6, %r6, %r7;
        st.global.u32 [%rd4], %r6;"
    );
    for config in clustered(1) {
        let found = run(&body, &config).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(found, [110, 108, 109, 113, 111, 112]);
    }
}

#[test]
fn addresses_of_other_blocks_are_in_the_memory_of_the_cluster_only() {
    let body = format!(
        "{HEAD}
        isspacep.shared::cluster %p1, %far; isspacep.shared::cta %p2, %far; isspacep.global %p3, %far;
        selp.u32 %r6, 1, 0, %p1; selp.u32 %r7, 2, 0, %p2; or.b32 %r6, %r6, %r7;
        selp.u32 %r7, 4, 0, %p3; or.b32 %r6, %r6, %r7;
        mapa.u64 %rd6, %rd2, %r1; isspacep.shared %p4, %rd6;
        selp.u32 %r7, 8, 0, %p4; or.b32 %r6, %r6, %r7;
        st.global.u32 [%rd4], %r6;"
    );
    for config in clustered(1) {
        assert_eq!(run(&body, &config).unwrap_or_else(|found| panic!("{found}")), [9; 6]);
    }
}

#[test]
fn a_missing_or_relaxed_cluster_barrier_is_a_race() {
    let read = "ld.shared::cluster.u32 %r6, [%next];";
    let both = format!("{ARRIVE} {WAIT}");
    let relaxed = format!("barrier.cluster.arrive.relaxed.aligned; {WAIT}");
    for config in clustered(1) {
        let config = LaunchConfig { zeroed: true, ..config };
        let found = run(&exchange(read, &relaxed, &both), &config).expect_err("a race");
        assert!(matches!(found, Fault::Race(_)), "{found}");
        let found = run(&exchange(read, "", &both), &config).expect_err("a race or an early block");
        let early = matches!(found, Fault::ClusterBlockAbsent { .. });
        assert!(early || matches!(found, Fault::Race(_)), "{found}");
    }
}

#[test]
fn wrong_uses_of_clusters_are_faults() {
    let read = "ld.shared::cluster.u32 %r6, [%next];";
    let both = format!("{ARRIVE} {WAIT}");
    let cases = [
        (exchange(read, &both, ""), "which has ended"),
        (
            exchange("ld.shared.u32 %r6, [%next];", &both, &both),
            "is not in the block's shared memory",
        ),
        (
            exchange("ld.shared::cluster.u32 %r6, [%next+8];", &both, &both),
            "are not in one variable",
        ),
        (exchange("cvta.to.shared.u64 %rd5, %far;", "", ""), "is not in Shared memory"),
        (
            exchange("mapa.shared::cluster.u32 %r6, %r4, 3;", "", ""),
            "the cluster has 3 blocks, from 0",
        ),
        (
            exchange("mapa.shared::cluster.u32 %r6, 9999, 1;", "", ""),
            "0x270f is not in the block's",
        ),
        (
            exchange("ld.shared::cluster.u32 %r6, [0x7fffffff];", "", ""),
            "of a block of the cluster",
        ),
        (exchange("", WAIT, ""), "waits without having arrived"),
        (exchange("", ARRIVE, ARRIVE), "arrives again without having waited"),
    ];
    for (body, message) in cases {
        let schedule = Schedule::new(Policy::RunAhead);
        let config = LaunchConfig { cluster: Some(3), schedule, ..LaunchConfig::new("k", 6, 1) };
        let found = run(&body, &config).expect_err("a fault").to_string();
        assert!(found.contains(message), "{body} {found}");
    }
}

/// Thread 0 of block 0 waits at its barrier for the other blocks, which arrive there.
fn gathering(scope: &str) -> String {
    format!(
        "{HEAD}
        mov.u32 %r7, bar; mapa.shared::cluster.u32 %r8, %r7, 0;
        setp.eq.u32 %p1, %r1, 0;
        @%p1 mbarrier.init.shared.b64 [%r7], 2;
        {ARRIVE} {WAIT}
        @%p1 bra WAITING;
        st.global.u32 [%rd4], %r5;
        mbarrier.arrive{scope}.shared::cluster.b64 _, [%r8];
        bra END;
    WAITING:
        mbarrier.try_wait.parity{wait}.shared.b64 %p2, [%r7], 0;
        @!%p2 bra WAITING;
        ld.global.u32 %r6, [%rd4+4]; ld.global.u32 %r7, [%rd4+8];
        add.u32 %r6, %r6, %r7;
        st.global.u32 [%rd4], %r6;
    END:
        {ARRIVE} {WAIT}",
        wait = scope.replace("release", "acquire")
    )
}

#[test]
fn arrivals_at_a_barrier_of_another_block_release() {
    for scope in ["", ".release.cluster"] {
        for config in clustered(1) {
            let found = run(&gathering(scope), &config);
            let found = found.unwrap_or_else(|found| panic!("{scope} {found}"));
            assert_eq!(found, [3, 1, 2, 9, 4, 5], "{scope}");
        }
    }
    for config in clustered(1) {
        let found = run(&gathering(".release.cta"), &config).expect_err("the scope is too narrow");
        assert!(matches!(found, Fault::Race(_)), "{found}");
    }
}

#[test]
fn special_registers_describe_the_cluster() {
    let parts = ["%clusterid.x", "%nclusterid.x", "%cluster_ctaid.x", "%cluster_nctaid.x"];
    let expected: [fn(u32) -> u32; 4] = [|it| it / 3, |_| 2, |it| it % 3, |_| 3];
    for (part, expected) in parts.iter().zip(expected) {
        let body = format!("{HEAD} mov.u32 %r6, {part}; st.global.u32 [%rd4], %r6;");
        let config = LaunchConfig { cluster: Some(3), ..LaunchConfig::new("k", 6, 1) };
        let found = run(&body, &config).expect("no fault");
        assert_eq!(found, (0..6).map(expected).collect::<Vec<_>>(), "{part}");
    }
}

#[test]
fn lanes_come_to_the_cluster_barrier_from_different_lines_only_without_aligned() {
    let body = |aligned: &str| {
        format!(
            "{HEAD}
            mov.u32 %r6, %laneid; and.b32 %r6, %r6, 1; setp.eq.u32 %p1, %r6, 0;
            @%p1 bra EVEN;
            barrier.cluster.arrive{aligned}; barrier.cluster.wait{aligned};
            bra END;
        EVEN:
            barrier.cluster.arrive{aligned}; barrier.cluster.wait{aligned};
        END:
            ret;"
        )
    };
    for config in clustered(32) {
        run(&body(""), &config).unwrap_or_else(|found| panic!("{found}"));
        let found = run(&body(".aligned"), &config).expect_err("not together");
        assert!(matches!(found, Fault::BarrierDiverged { .. }), "{found}");
    }
}
