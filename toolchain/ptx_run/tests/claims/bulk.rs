//! Bulk copies between global and shared memory.

use simt::{Fault, LaunchConfig, MissingOrder};

use crate::support::{checked, fault, filled, kernel, numbers, pointers};

/// Declarations, and a barrier for one arrival, which thread 0 initialises.
const HEAD: &str = ".shared .align 16 .b8 tile[512]; .shared .align 8 .b64 bar;
    .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .pred %p<5>; .reg .b32 %b; .reg .b32 %t;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x; mov.u32 %b, bar;
    mov.u32 %t, tile; setp.eq.u32 %p1, %r1, 0; shl.b32 %r2, %r1, 2; add.u32 %r3, %t, %r2;
    cvt.u64.u32 %rd3, %r2; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    @%p1 mbarrier.init.shared.b64 [%b], 1;";

const LOAD: &str = "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%t], [%rd1], 256, [%b];";
const ARRIVE: &str = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%b], 256;";
const WAIT: &str = "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%b], 0; @!%p2 bra WAIT;";

/// Runs 64 threads with an array of 64 numbers. Returns the second array.
fn run(body: &str, config: &LaunchConfig<'_>) -> Result<Vec<u32>, Fault> {
    let (kernel, mut memory) = kernel(body);
    let a = filled(&mut memory, &(0..64).collect::<Vec<_>>());
    let b = filled(&mut memory, &[0; 64]);
    let launch = kernel.launch(&mut memory, config, &pointers(a, b));
    if launch.is_ok() { Ok(numbers(&memory, b, 64)) } else { Err(fault(launch)) }
}

/// Loads the first array into shared memory, from where each thread stores a number.
fn loading(fence: &str, arrive: &str, wait: &str) -> String {
    format!(
        "{HEAD}
        {fence}
        bar.sync 0;
        {arrive}
        {LOAD}
        {wait}
        ld.shared.u32 %r4, [%r3];
        st.global.u32 [%rd5], %r4;"
    )
}

#[test]
fn a_load_arrives_before_the_wait_for_its_barrier_ends() {
    let all: Vec<u32> = (0..64).collect();
    for fence in ["fence.mbarrier_init.release.cluster;", "fence.proxy.async.shared::cta;"] {
        for config in checked(1, 64) {
            let found = run(&loading(fence, ARRIVE, WAIT), &config);
            assert_eq!(found.unwrap_or_else(|found| panic!("{found}")), all);
        }
    }
}

#[test]
fn a_load_without_a_wait_or_a_fence_is_a_fault() {
    let fence = "fence.mbarrier_init.release.cluster;";
    let too_many = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%b], 272;";
    for config in checked(1, 64) {
        let config = LaunchConfig { zeroed: true, ..config };
        let found = run(&loading(fence, ARRIVE, ""), &config).expect_err("no wait");
        let left = found.to_string().contains("may still write 256 bytes");
        assert!(left || matches!(found, Fault::Race(_)), "{found}");
        let found = run(&loading("", ARRIVE, WAIT), &config).expect_err("no fence");
        assert!(found.to_string().contains("without `fence_init`"), "{found}");
        let found = run(&loading(fence, too_many, WAIT), &config).expect_err("missing bytes");
        assert!(found.to_string().contains("still needs 0 of 1 arrivals and 16 bytes"), "{found}");
    }
}

#[test]
fn a_load_of_what_the_launch_wrote_needs_the_fence_of_global_memory() {
    let body = |fence: &str| {
        format!(
            "{HEAD}
            fence.mbarrier_init.release.cluster;
            st.global.u32 [%rd4], %r1;
            {fence}
            bar.sync 0;
            {ARRIVE}
            {LOAD}
            {WAIT}
            ld.shared.u32 %r4, [%r3];
            st.global.u32 [%rd5], %r4;"
        )
    };
    for config in checked(1, 64) {
        for fence in ["fence.proxy.async.global;", "fence.proxy.async;"] {
            run(&body(fence), &config).unwrap_or_else(|found| panic!("{found}"));
        }
        for fence in ["", "fence.proxy.async.shared::cta;"] {
            let found = run(&body(fence), &config).expect_err("no fence");
            let Fault::Race(race) = &found else { panic!("{found}") };
            assert_eq!(race.missing, MissingOrder::Proxy(simt::Space::Global), "{found}");
        }
        let calm = LaunchConfig { races: false, weak_memory: false, ..config };
        run(&body("fence.proxy.async.global;"), &calm).expect("the fence is there");
        assert!(run(&body(""), &calm).is_err());
    }
}

/// Stores 64 numbers from shared memory to the second array, in two groups.
fn storing(fence: &str, wait: &str, after: &str) -> String {
    format!(
        "{HEAD}
        st.shared.u32 [%r3], %r1;
        {fence}
        bar.sync 0;
        @!%p1 ret;
        cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%t], 128;
        cp.async.bulk.commit_group;
        cp.async.bulk.global.shared::cta.bulk_group [%rd2+128], [%t+128], 64;
        cp.async.bulk.global.shared::cta.bulk_group [%rd2+192], [%t+192], 64;
        cp.async.bulk.commit_group;
        {wait}
        {after}"
    )
}

#[test]
fn groups_of_stores_are_waited_for() {
    let fence = "fence.proxy.async.shared::cta;";
    let all: Vec<u32> = (0..64).collect();
    let overwrite = "st.shared.u32 [%t], 9;";
    let wait_all = "cp.async.bulk.wait_group.read 0;";
    let cases = [
        ("cp.async.bulk.wait_group.read 0;", overwrite),
        (
            "cp.async.bulk.wait_group 0;",
            "ld.global.u32 %r4, [%rd2+252]; st.shared.u32 [%t+252], %r4;",
        ),
        ("cp.async.bulk.wait_group.read 1;", &format!("{overwrite} {wait_all}")),
        ("cp.async.bulk.wait_group 1;", &format!("ld.global.u32 %r4, [%rd2]; {wait_all}")),
    ];
    for (wait, after) in cases {
        for config in checked(1, 64) {
            let found = run(&storing(fence, wait, after), &config);
            assert_eq!(found.unwrap_or_else(|found| panic!("{wait} {found}")), all);
        }
    }
    let wrong = [
        ("cp.async.bulk.wait_group.read 1;", format!("st.shared.u32 [%t+192], 9; {wait_all}")),
        ("cp.async.bulk.wait_group 1;", format!("ld.global.u32 %r4, [%rd2+252]; {wait_all}")),
        ("cp.async.bulk.wait_group.read 0;", "ld.global.u32 %r4, [%rd2];".to_owned()),
    ];
    for (wait, after) in wrong {
        for config in checked(1, 64) {
            let found = run(&storing(fence, wait, &after), &config).expect_err("a race");
            assert!(matches!(found, Fault::Race(_)), "{wait} {found}");
        }
    }
    for config in checked(1, 64) {
        let found = run(&storing(fence, "", ""), &config).expect_err("no wait");
        assert!(found.to_string().contains("may still read shared memory"), "{found}");
        let found = run(&storing("", wait_all, ""), &config).expect_err("no fence");
        assert!(matches!(found, Fault::Race(_)), "{found}");
    }
}

#[test]
fn sizes_and_addresses_of_copies_are_multiples_of_16() {
    for (text, message) in [
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%t], 40;", "a multiple of 16 bytes"),
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%t+8], 16;", "misaligned"),
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%t+496], 32;", "out of bounds"),
    ] {
        let body = format!("{HEAD} {text} cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
        let config = LaunchConfig { zeroed: true, ..LaunchConfig::new("k", 1, 1) };
        let found = run(&body, &config).expect_err("a fault").to_string();
        assert!(found.contains(message), "{found}");
    }
}
