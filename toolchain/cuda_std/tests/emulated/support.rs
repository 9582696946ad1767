//! Helpers that run grids and inspect device memory.

use cuda_std::memory::{Global, Scalar};
use simt::{Dim3, Fault, LaunchConfig, Memory, Policy, Schedule};

/// The default launch of the tests.
pub(crate) fn config(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> LaunchConfig<'static> {
    LaunchConfig::new("test", grid, block)
}

/// Runs `body` in every thread of the grid, only for its assertions.
#[track_caller]
pub(crate) fn run(config: &LaunchConfig<'_>, body: impl Fn()) {
    if let Err(fault) = simt::launch(&mut Memory::new(1 << 20), config, &body) {
        panic!("{fault}");
    }
}

/// The fault that ends `body`.
#[track_caller]
pub(crate) fn fault_of(config: &LaunchConfig<'_>, body: impl Fn()) -> Fault {
    simt::launch(&mut Memory::new(1 << 20), config, &body).expect_err("the kernel should fail")
}

/// New device memory that holds `values`.
pub(crate) fn upload<T: Scalar>(memory: &mut Memory, values: &[T]) -> Global<T> {
    let bytes = size_of_val(values);
    let address = memory.alloc(bytes, 16).expect("tests fit in memory");
    // SAFETY: a `Scalar` has no padding, so all its bytes can be read.
    let raw = unsafe { core::slice::from_raw_parts(values.as_ptr().cast(), bytes) };
    memory.write(address, raw).expect("allocated just now");
    // SAFETY: allocated for exactly these elements, and the tests keep the memory alive.
    unsafe { Global::from_address(address, values.len()) }
}

/// The contents of device memory.
pub(crate) fn download<T: Scalar>(memory: &Memory, view: Global<T>) -> Vec<T> {
    let mut values = vec![T::default(); view.len()];
    let bytes = size_of_val(values.as_slice());
    // SAFETY: every bit pattern is a `Scalar`, so any bytes may be written.
    let raw = unsafe { core::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), bytes) };
    memory.read(view.address(), raw).expect("all of it was written");
    values
}

/// Runs `body` on a view of `before` under several schedules, which must all produce the same
/// values. Returns them.
#[track_caller]
pub(crate) fn leaves<T: Scalar + PartialEq + core::fmt::Debug>(
    config: &LaunchConfig<'_>,
    before: &[T],
    body: impl Fn(Global<T>),
) -> Vec<T> {
    let policies = [
        Policy::RoundRobin,
        Policy::RunAhead,
        Policy::Reverse,
        Policy::Coarse,
        Policy::Random { quantum: 3 },
    ];
    let mut results = policies.map(|policy| {
        let mut memory = Memory::new(1 << 20);
        let view = upload(&mut memory, before);
        let config = LaunchConfig { schedule: Schedule::new(policy), ..*config };
        if let Err(fault) = simt::launch(&mut memory, &config, &|| body(view)) {
            panic!("under {policy:?}: {fault}");
        }
        download(&memory, view)
    });
    for (policy, result) in policies.iter().zip(&results) {
        assert_eq!(result, &results[0], "under {policy:?}");
    }
    core::mem::take(&mut results[0])
}
