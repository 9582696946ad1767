//! Shared memory: each block has its own.

use crate::support::{config, fault_of, leaves, run};
use cuda_std::memory::dynamic_shared;
use cuda_std::memory::{Global, Ordering, Scope};
use cuda_std::{shared_array, thread};
use simt::{Fault, LaunchConfig};

shared_array! {
    fn numbers() -> [u32; 64];
    fn halves() -> [u16; 3];
}

#[test]
fn each_block_has_its_own_arrays_which_its_threads_share() {
    let sums = leaves(&config(3, 64), &[0u32; 3], |out| {
        let i = thread::index_in_block();
        numbers().write(i, (i + 100 * thread::block_index()) as u32);
        thread::sync_threads();
        if i == 0 {
            out.write(thread::block_index(), (0..64).map(|j| numbers().read(j)).sum());
        }
    });
    assert_eq!(sums, [2016, 2016 + 6400, 2016 + 12800]);
}

#[test]
fn arrays_have_their_declared_length_and_are_disjoint_and_aligned() {
    run(&config(1, 1), || {
        assert_eq!((numbers().len(), halves().len()), (64, 3));
        assert_eq!((numbers().unaligned_head(), halves().unaligned_head()), (0, 0));
        for i in 0..3 {
            halves().write(i, 7);
        }
        for i in 0..64 {
            numbers().write(i, 9);
        }
        assert_eq!([0, 1, 2].map(|i| halves().read(i)), [7; 3]);
    });
}

#[test]
fn dynamic_memory_has_the_launched_size_in_whole_elements() {
    let with = |bytes| LaunchConfig { dynamic_shared: bytes, ..config(2, 2) };
    run(&with(0), || assert!(dynamic_shared::<u32>().is_empty()));
    run(&with(30), || {
        let lens = [
            dynamic_shared::<u16>().len(),
            dynamic_shared::<u32>().len(),
            dynamic_shared::<f64>().len(),
        ];
        assert_eq!(lens, [15, 7, 3]);
        assert_eq!(dynamic_shared::<u16>().unaligned_head(), 0);
    });
    let swapped = leaves(&with(8), &[0u32; 4], |out: Global<u32>| {
        let shared = dynamic_shared::<u32>();
        shared.write(thread::index_in_block(), thread::index() as u32);
        thread::sync_threads();
        out.write(thread::index(), shared.read(1 - thread::index_in_block()));
    });
    assert_eq!(swapped, [1, 0, 3, 2]);
}

#[test]
fn atomics_work_in_shared_memory_as_in_global() {
    let counts = leaves(&config(2, 40), &[0u32; 2], |out| {
        let i = thread::index_in_block();
        if i == 0 {
            numbers().write(0, 0);
        }
        thread::sync_threads();
        numbers().add(0, i as u32, Ordering::Relaxed, Scope::Block);
        numbers().fetch_add(0, 1, Ordering::AcqRel, Scope::Block);
        thread::sync_threads();
        out.write(thread::block_index(), numbers().read(0));
    });
    assert_eq!(counts, [780 + 40; 2]);
}

#[test]
fn shared_memory_starts_unwritten_and_is_bounds_checked() {
    let fault = fault_of(&config(1, 1), || {
        numbers().read(0);
    });
    assert!(matches!(fault, Fault::Uninitialised { .. }), "{fault}");
    let fault = fault_of(&config(1, 1), || numbers().write(64, 0));
    assert!(matches!(fault, Fault::Trap { .. }), "{fault}");
}
