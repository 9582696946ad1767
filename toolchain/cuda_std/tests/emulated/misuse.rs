//! Misuse ends the launch with a fault that names the error and its location.

use crate::support::{config, fault_of};
use cuda_std::memory::CacheHint;
use cuda_std::memory::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use cuda_std::memory::Scope::Device;
use cuda_std::memory::{Global, dynamic_shared};
use cuda_std::warp::*;
use cuda_std::{thread, time, trap};
use simt::{Fault, LaunchConfig, Memory};

/// The fault that ends `body` on eight words, only the first four of them written.
#[track_caller]
fn misuse(body: impl Fn(Global<u32>)) -> Fault {
    let mut memory = Memory::new(1 << 10);
    let address = memory.alloc(32, 16).expect("32 bytes fit");
    memory.zero(address, 16).expect("allocated just now");
    // SAFETY: allocated just now for eight words, and alive until the launch ends.
    let half_written = unsafe { Global::from_address(address, 8) };
    simt::launch(&mut memory, &config(1, 1), &|| body(half_written))
        .expect_err("the kernel should fail")
}

#[track_caller]
fn assert_trap(fault: &Fault, line: u32, says: &str) {
    let Fault::Trap { site, message } = fault else { panic!("{fault}") };
    assert!(message.contains(says), "{message}");
    assert_eq!((site.place.file(), site.place.line()), (file!(), line), "{fault}");
}

#[test]
fn a_trap_reports_its_message_and_location() {
    let line = line!() + 3;
    let fault = fault_of(&config((2, 1, 2), 33), || {
        if thread::block_index() == 3 && thread::index_in_block() == 32 {
            trap("the table is full");
        }
    });
    assert_trap(&fault, line, "the table is full");
    let site = fault.site().expect("a trap has one");
    assert_eq!((site.block.x, site.block.z, site.thread.x), (1, 1, 32));
}

#[test]
fn a_load_that_releases_traps() {
    for order in [Release, AcqRel] {
        let line = line!() + 2;
        let fault = misuse(|at| {
            at.load(0, order, Device);
        });
        assert_trap(&fault, line, "a load cannot have release ordering");
    }
}

#[test]
fn a_store_that_acquires_traps() {
    for order in [Acquire, AcqRel] {
        let line = line!() + 1;
        let fault = misuse(|at| at.store(0, 1, order, Device));
        assert_trap(&fault, line, "a store cannot have acquire ordering");
    }
}

#[test]
fn an_add_that_acquires_traps() {
    for order in [Acquire, AcqRel, SeqCst] {
        let line = line!() + 1;
        let fault = misuse(|at| at.add(0, 1, order, Device));
        assert_trap(&fault, line, "can be Relaxed or Release only");
    }
}

#[test]
fn every_kind_of_access_is_checked_and_faults_in_the_kernel() {
    let beyond: [fn(Global<u32>); 12] = [
        |at| _ = at.read(8),
        |at| at.write(8, 1),
        |at| _ = at.read_volatile(8),
        |at| at.write_volatile(8, 1),
        |at| _ = at.load(8, Acquire, Device),
        |at| at.store(8, 1, Release, Device),
        |at| _ = at.fetch_add(8, 1, Relaxed, Device),
        |at| _ = at.compare_exchange(8, 1, 2, Relaxed, Device),
        |at| at.add(8, 1, Relaxed, Device),
        |at| _ = at.fetch_inc(8, 1, Relaxed, Device),
        |at| _ = at.read_pack(8, CacheHint::Default),
        |at| at.write_pack(8, [1; 4], CacheHint::Default),
    ];
    for body in beyond {
        let fault = misuse(body);
        assert!(matches!(fault, Fault::Trap { .. }), "{fault}");
        let place = fault.site().expect("an access has one").place;
        assert_eq!(place.file(), file!(), "{fault}");
    }
}

#[test]
fn reading_unwritten_or_half_written_memory_is_detected() {
    let fault = misuse(|at| _ = at.read(4));
    assert!(matches!(fault, Fault::Uninitialised { .. }), "{fault}");
    let fault = misuse(|at| _ = at.fetch_add(5, 1, Relaxed, Device));
    assert!(matches!(fault, Fault::Uninitialised { .. }), "{fault}");
    let fault = misuse(|at| _ = at.read_pack(4, CacheHint::Default));
    assert!(matches!(fault, Fault::Uninitialised { bytes: 16, .. }), "{fault}");
}

#[test]
fn a_pack_must_be_aligned_to_its_16_bytes() {
    let fault = misuse(|at| _ = at.read_pack(2, CacheHint::Default));
    assert!(matches!(fault, Fault::Misaligned { bytes: 16, .. }), "{fault}");
    let fault = misuse(|at| at.part(1, 4).write_pack(0, [0; 4], CacheHint::Streaming));
    assert!(matches!(fault, Fault::Misaligned { bytes: 16, .. }), "{fault}");
    let fault = misuse(|at| _ = at.part(1, 4).cast::<u64>().read(0));
    assert!(matches!(fault, Fault::Misaligned { bytes: 8, .. }), "{fault}");
}

#[test]
fn dynamic_shared_memory_has_the_launched_size() {
    let with_shared = LaunchConfig { dynamic_shared: 64, ..config(1, 1) };
    let fault = fault_of(&with_shared, || {
        dynamic_shared::<u32>().part(16, 1).write(0, 1);
    });
    assert!(matches!(fault, Fault::Trap { .. }), "{fault}");
}

#[test]
fn a_barrier_that_a_thread_skips_is_detected() {
    let line = line!() + 3;
    let fault = fault_of(&config(1, 64), || {
        if thread::index_in_block() != 40 {
            thread::sync_threads();
        }
    });
    assert!(matches!(fault, Fault::BarrierSkipped { .. }), "{fault}");
    let place = fault.site().expect("a barrier has one").place;
    assert_eq!((place.file(), place.line()), (file!(), line));
}

#[test]
fn a_collective_whose_mask_lacks_the_caller_faults_in_the_kernel() {
    type Call = fn(u32);
    let calls: [(&str, Call); 9] = [
        ("shfl.sync.up", |mask| _ = warp_shuffle_up(mask, 1u16, 1, 32)),
        ("shfl.sync.down", |mask| _ = warp_shuffle_down(mask, 1u32, 1, 32)),
        ("shfl.sync.bfly", |mask| _ = warp_shuffle_xor(mask, 1u64, 1, 32)),
        ("shfl.sync.idx", |mask| _ = warp_shuffle_idx(mask, 1f64, 1, 32)),
        ("vote.sync.ballot", |mask| _ = warp_vote_ballot(mask, true)),
        ("match.any.sync.b32", |mask| _ = warp_match_any(mask, 1u32)),
        ("match.any.sync.b64", |mask| _ = warp_match_all(mask, 1u64)),
        ("redux.sync.add", |mask| _ = warp_redux_add(mask, 1)),
        ("bar.warp.sync", |mask| sync_warp(mask)),
    ];
    for (instruction, call) in calls {
        let fault = fault_of(&config(1, 32), || call(0x0000_FFFF));
        let Fault::NotInMask { site, kind, lane, .. } = &fault else { panic!("{fault}") };
        assert_eq!((*kind, *lane), (instruction, 16));
        assert_eq!(site.place.file(), file!(), "{fault}");
    }
}

#[test]
fn a_shuffle_from_a_lane_outside_the_mask_traps() {
    let line = line!() + 4;
    let fault = fault_of(&config(1, 32), || {
        let even = 0x5555_5555;
        if lane_id().is_multiple_of(2) {
            warp_shuffle_xor(even, 1u32, 1, 32);
        }
    });
    assert_trap(&fault, line, "reads lane 1, which does not take part");
}

#[test]
fn a_device_function_called_on_the_host_says_so() {
    let said = std::panic::catch_unwind(time::clock).expect_err("there is no grid");
    let said = said.downcast_ref::<String>().expect("a formatted message");
    assert!(said.contains("outside an emulated thread"), "{said}");
}
