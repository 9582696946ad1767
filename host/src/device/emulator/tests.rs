//! Launches in the emulator: clusters, limits, counts, races.

use super::*;
use cuda_std::{cluster, prelude::*};
use simt::Fault;

/// Counts the blocks of each cluster. Every block reads the count after all blocks of its cluster
/// have arrived.
#[kernel]
unsafe fn count_clusters(counts: Global<u32>, seen: Global<u32>) {
    if thread::is_first_in_block() {
        counts.fetch_add(cluster::index(), 1, Ordering::Relaxed, Scope::Device);
    }
    thread::fence(Ordering::Release, Scope::Device);
    cluster::arrive_relaxed();
    let block = cluster::index() * cluster::blocks() as usize + cluster::rank() as usize;
    cluster::wait();
    if thread::is_first_in_block() {
        seen.write(block, counts.read(cluster::index()));
    }
}

#[test]
fn cluster_launches_have_the_limits_of_the_driver() {
    let device = Device::new(Emulator::new(EmulatorConfig::default()));
    let launch = |blocks: u32, cluster: u32| {
        let counts = device.zeroed::<u32>(blocks as usize)?;
        let seen = device.zeroed::<u32>(blocks as usize)?;
        let geometry = Geometry::new(blocks, 48).clusters_of(cluster);
        // SAFETY: one word per cluster and per block, alive until the download.
        unsafe { device.launch::<count_clusters>(&geometry, (counts.view(), seen.view())) }?;
        seen.download()
    };
    // 304 blocks are more than the 128 that can be resident at once.
    assert_eq!(launch(304, 8), Ok(vec![8; 304]));
    assert_eq!(launch(6, 3), Ok(vec![3; 6]));
    let partial = launch(7, 4).expect_err("seven blocks are no clusters of four");
    let said = "a grid of (7, 1, 1) blocks cannot be cut into clusters of 4 along x";
    assert!(partial.to_string().contains(said), "{partial}");
    let wide = launch(32, 16).expect_err("the most is eight");
    assert!(
        matches!(wide, DeviceError::Launch { result: CUDA_ERROR_INVALID_CLUSTER_SIZE, .. }),
        "{wide}"
    );
}

/// Waits a second for a value that never arrives, and then at the block barrier.
#[kernel]
unsafe fn wait_until_timeout(seen: Global<u32>) {
    if !spin::until_timeout(1_000_000_000, || false) {
        seen.fetch_add(0, 1, Ordering::Relaxed, Scope::Device);
    }
    thread::sync_threads();
}

/// Has a stack frame of 8 KiB or more.
#[kernel]
unsafe fn take_a_frame(seen: Global<u32>) {
    let frame = core::hint::black_box([1u32; 2 << 10]);
    thread::sync_threads();
    seen.fetch_add(0, frame[7], Ordering::Relaxed, Scope::Device);
}

/// Launches a kernel in two blocks of 32 threads, and returns the device.
fn launched<K>(config: EmulatorConfig) -> Result<Device, DeviceError>
where
    K: cuda_std::launch::Kernel<Args = (Global<u32>,)>,
{
    let device = Device::new(Emulator::new(config));
    let seen = device.zeroed::<u32>(1)?;
    // SAFETY: one word for all threads, alive until the download.
    unsafe { device.launch::<K>(&Geometry::new(2, 32), (seen.view(),)) }?;
    assert_eq!(seen.download()?, [64]);
    Ok(device)
}

fn fault(launched: Result<Device, DeviceError>) -> Fault {
    match launched.expect_err("the launch should fail") {
        DeviceError::Fault(fault) => *fault,
        error => panic!("{error}"),
    }
}

#[test]
fn launches_respect_the_limits_of_the_configuration() {
    let config = EmulatorConfig::default();
    assert!(launched::<wait_until_timeout>(config).is_ok());
    assert!(launched::<take_a_frame>(config).is_ok());
    let step_limit = 3;
    let stopped = fault(launched::<wait_until_timeout>(EmulatorConfig { step_limit, ..config }));
    assert!(matches!(stopped, Fault::StepLimit { limit: 3, .. }), "{stopped}");
    let stopped = fault(launched::<wait_until_timeout>(EmulatorConfig { patience: 2, ..config }));
    assert!(matches!(stopped, Fault::Deadlock(_)), "{stopped}");
    let stopped =
        fault(launched::<take_a_frame>(EmulatorConfig { stack_bytes: 32 << 10, ..config }));
    assert!(matches!(stopped, Fault::StackOverflow { .. }), "{stopped}");
    assert!(stopped.to_string().contains("raise stack_bytes"), "{stopped}");
}

#[test]
fn statistics_of_launches_are_available() {
    let device = launched::<wait_until_timeout>(EmulatorConfig::default()).expect("it ends");
    let one = device.emulated().expect("this is an emulator");
    assert_eq!((one.launches, one.blocks, one.threads), (1, 2, 64));
    assert_eq!((one.barriers, one.accesses), (2, 64));
    assert!(one.steps > 0 && one.spins > 0);
    let seen = device.zeroed::<u32>(1).expect("a word");
    // SAFETY: one word for all threads, alive until the end of the launch.
    let again = unsafe { device.launch::<take_a_frame>(&Geometry::new(1, 32), (seen.view(),)) };
    again.expect("it ends");
    let both = device.emulated().expect("this is an emulator");
    assert_eq!((both.launches, both.threads), (2, 96));
    assert_eq!(both.accesses - one.accesses, 32);
}

#[test]
fn checking_configurations_find_races_under_different_schedules() {
    let drawn: Vec<_> = (0..8).map(EmulatorConfig::checking).collect();
    assert!(drawn.iter().all(|config| config.races));
    for (at, config) in drawn.iter().enumerate() {
        let is_new = drawn[..at].iter().all(|other| other.schedule != config.schedule);
        assert!(is_new, "seed {at}");
    }
}
