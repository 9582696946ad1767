//! Stacks are unmapped after their launch. Runs in a separate process, because other launches map
//! too.

use simt::{LaunchConfig, Memory, Policy, Schedule, launch};

/// Mappings of this process.
fn mappings() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux lists mappings");
    maps.lines().count()
}

#[test]
fn a_thousand_launches_leak_no_stacks() {
    let mut memory = Memory::new(1 << 20);
    let before = mappings();
    for round in 0..1000 {
        // Stacks so large that a thousand leaked pools would be visible as mappings.
        let config = LaunchConfig {
            stack_bytes: 1 << 20,
            schedule: Schedule::new(Policy::Coarse),
            ..LaunchConfig::new("leaves_nothing", 2, 33)
        };
        let ended = launch(&mut memory, &config, &|| {
            simt::block_barrier();
            assert!(round % 2 == 0 || simt::position().linear_thread() != 20);
        });
        assert_eq!(ended.is_err(), round % 2 == 1);
    }
    let after = mappings();
    assert!(after < before + 100, "{before} mappings before, {after} after");
}
