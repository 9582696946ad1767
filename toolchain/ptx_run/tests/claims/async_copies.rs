//! `cp.async`, and the barriers that it arrives at.

use simt::{Fault, LaunchConfig};

use crate::support::{checked, fault, filled, kernel, numbers, pointers};

/// Declarations, and the addresses of the thread's 16 bytes in all three memories.
const HEAD: &str = ".shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar;
    .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .pred %p<5>; .reg .b32 %b;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x; mov.u32 %b, bar;
    shl.b32 %r2, %r1, 4; mov.u32 %r3, tile; add.u32 %r4, %r3, %r2; setp.eq.u32 %p1, %r1, 0;
    cvt.u64.u32 %rd3, %r2; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    xor.b32 %r5, %r2, 512; add.u32 %r6, %r3, %r5;";

const STORE: &str = "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];
    st.global.v4.u32 [%rd5], {%r5, %r6, %r7, %r8};";

/// Runs 64 threads with four numbers each. Returns the second array.
fn run(body: &str, config: &LaunchConfig<'_>) -> Result<Vec<u32>, Fault> {
    let (kernel, mut memory) = kernel(body);
    let a = filled(&mut memory, &(1..257).collect::<Vec<_>>());
    let b = filled(&mut memory, &[0; 256]);
    let config = LaunchConfig { zeroed: true, ..*config };
    let launch = kernel.launch(&mut memory, &config, &pointers(a, b));
    if launch.is_ok() { Ok(numbers(&memory, b, 256)) } else { Err(fault(launch)) }
}

/// Checks the results of a body under all schedules.
fn assert_copies(body: &str, expected: impl Fn(u32) -> u32) {
    for config in checked(1, 64) {
        let found = run(body, &config).unwrap_or_else(|found| panic!("{body} {found}"));
        assert_eq!(found, (0..256).map(&expected).collect::<Vec<_>>(), "{body}");
    }
}

#[test]
fn copies_of_all_sizes_are_made_before_the_wait_ends() {
    let wait = "cp.async.commit_group; cp.async.wait_group 0;";
    let copy = "cp.async.cg.shared.global [%r4], [%rd4], 16;";
    assert_copies(&format!("{HEAD} {copy} {wait} {STORE}"), |it| it + 1);
    assert_copies(&format!("{HEAD} {copy} cp.async.wait_all; {STORE}"), |it| it + 1);
    let parts = "cp.async.ca.shared::cta.global.L2::128B [%r4], [%rd4], 8;
        cp.async.ca.shared.global [%r4+8], [%rd4+8], 4; cp.async.ca.shared.global [%r4+12], [%rd4], 4;";
    let last = |it: u32| if it % 4 == 3 { it - 2 } else { it + 1 };
    assert_copies(&format!("{HEAD} {parts} {wait} {STORE}"), last);
}

#[test]
fn bytes_that_are_not_read_are_zeros() {
    let wait = "cp.async.wait_all;";
    for (copy, words) in [
        ("cp.async.ca.shared.global [%r4], [%rd4], 16, 8;", 2),
        ("mov.u32 %r7, 4; cp.async.ca.shared.global [%r4], [%rd4], 16, %r7;", 1),
        ("mov.u32 %r7, 0; cp.async.cg.shared.global [%r4], [0], 16, %r7;", 0),
        ("setp.ne.u32 %p2, %r1, 100; cp.async.cg.shared.global [%r4], [%rd4], 16, %p2;", 0),
        ("setp.ne.u32 %p2, %r1, 100; cp.async.cg.shared.global [%r4], [%rd4], 16, !%p2;", 4),
        ("mov.u64 %rd6, 0; cp.async.cg.shared.global.L2::cache_hint [%r4], [%rd4], 16, %rd6;", 4),
    ] {
        let body = format!("{HEAD} {copy} {wait} {STORE}");
        assert_copies(&body, |it| if it % 4 < words { it + 1 } else { 0 });
    }
}

/// Two groups, and a wait for the first one.
fn grouped(wait: &str, read: &str) -> String {
    format!(
        "{HEAD}
        cp.async.ca.shared.global [%r4], [%rd4], 8;
        cp.async.commit_group;
        cp.async.ca.shared.global [%r4+8], [%rd4+8], 8;
        cp.async.commit_group;
        {wait}
        ld.shared.u32 %r7, [%r4+{read}];
        st.global.u32 [%rd5+{read}], %r7;"
    )
}

#[test]
fn a_wait_for_some_groups_leaves_the_last_ones() {
    let only = |word: u32| move |it: u32| if it % 4 == word { it + 1 } else { 0 };
    assert_copies(&grouped("cp.async.wait_group 1;", "4"), only(1));
    assert_copies(&grouped("cp.async.wait_group 0;", "12"), only(3));
    for (wait, read) in
        [("cp.async.wait_group 1;", "12"), ("cp.async.wait_group 2;", "0"), ("", "0")]
    {
        for config in checked(1, 64) {
            let found = run(&grouped(wait, read), &config).expect_err("a race");
            assert!(matches!(found, Fault::Race(_)), "{found}");
        }
    }
    // A copy that is in no group is not waited for.
    let open = grouped("cp.async.wait_group 0;", "12").replacen("cp.async.commit_group;", "", 2);
    for config in checked(1, 64) {
        assert!(matches!(run(&open, &config).expect_err("a race"), Fault::Race(_)));
    }
}

#[test]
fn other_threads_read_a_copy_after_the_wait_and_a_barrier() {
    let body = |wait: &str, barrier: &str| {
        format!(
            "{HEAD}
            cp.async.cg.shared.global [%r4], [%rd4], 16;
            {wait}
            {barrier}
            ld.shared.u32 %r7, [%r6];
            st.global.u32 [%rd5], %r7;"
        )
    };
    let wait = "cp.async.wait_all;";
    let expected = |it: u32| if it.is_multiple_of(4) { (it ^ 128) + 1 } else { 0 };
    assert_copies(&body(wait, "bar.sync 0;"), expected);
    for (wait, barrier) in [(wait, ""), ("", "bar.sync 0;")] {
        for config in checked(1, 64) {
            let found = run(&body(wait, barrier), &config).expect_err("a race");
            assert!(matches!(found, Fault::Race(_)), "{found}");
        }
    }
}

/// All threads copy and arrive at a barrier, and then read what the other warp has copied.
fn arriving(count: u32, arrive: &str) -> String {
    format!(
        "{HEAD}
        @%p1 mbarrier.init.shared.b64 [%b], {count};
        bar.sync 0;
        cp.async.cg.shared.global [%r4], [%rd4], 16;
        {arrive}
    WAIT:
        mbarrier.try_wait.parity.shared.b64 %p2, [%b], 0;
        @!%p2 bra WAIT;
        ld.shared.u32 %r7, [%r6];
        st.global.u32 [%rd5], %r7;"
    )
}

#[test]
fn copies_arrive_at_a_barrier() {
    let expected = |it: u32| if it.is_multiple_of(4) { (it ^ 128) + 1 } else { 0 };
    let arrive = "mbarrier.arrive.shared.b64 _, [%b];";
    let only = "cp.async.mbarrier.arrive.noinc.shared.b64 [%b];";
    assert_copies(&arriving(64, only), expected);
    assert_copies(&arriving(128, &format!("{only} {arrive}")), expected);
    let added = format!("cp.async.mbarrier.arrive.shared::cta.b64 [%b]; {arrive}");
    assert_copies(&arriving(64, &added), expected);
    for config in checked(1, 64) {
        let found = run(&arriving(64, arrive), &config).expect_err("a race");
        assert!(matches!(found, Fault::Race(_)), "{found}");
    }
}

#[test]
fn wrong_copies_are_faults() {
    let cases = [
        ("cp.async.ca.shared.global [%r4+4], [%rd4], 8;", "misaligned: 8-byte store"),
        ("cp.async.ca.shared.global [%r4], [%rd4+4], 8;", "which is not aligned"),
        ("cp.async.ca.shared.global [%r4], [%rd4], 8, 9;", "a copy of 8 bytes cannot read 9"),
        ("cp.async.ca.shared.global [%r4+1008], [%rd4+1024], 16;", "not in the block's shared"),
        ("cp.async.ca.shared.global [%r4], [%rd4], 12;", "is not supported"),
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [%r3];", "is not a barrier"),
    ];
    for (statement, message) in cases {
        let body = format!("{HEAD} {statement} cp.async.wait_all;");
        let found = run(&body, &LaunchConfig::new("k", 1, 64)).expect_err("a fault").to_string();
        assert!(found.contains(message), "{statement} {found}");
    }
}
