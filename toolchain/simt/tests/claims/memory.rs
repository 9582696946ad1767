//! Checked accesses, and host access to memory.

use simt::{Access, Fault, Label, Memory, MemoryError, Policy, Space, launch};

use crate::support::{Words, assert_site, config, schedules};

#[test]
fn one_word_too_far_is_out_of_bounds() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 64);
    for schedule in schedules() {
        let config = simt::LaunchConfig { schedule, ..config(2, 64, Policy::RoundRobin) };
        let line = line!() + 3;
        let fault = launch(&mut memory, &config, &|| {
            let at = simt::position();
            words.set(at.linear_thread() as usize + at.block_idx.x as usize, 1);
        })
        .expect_err("thread 63 of block 1 writes word 64");
        assert_site(&fault, 1, 63, file!(), line);
        let Fault::OutOfBounds { bytes: 4, target, .. } = &fault else { panic!("{fault}") };
        assert_eq!(target.region, Some((Label::Allocation(0), 256)));
        assert!(fault.to_string().contains("offset 256 of allocation 0 (256 bytes)"), "{fault}");
    }
}

#[test]
fn an_access_across_the_end_is_out_of_bounds() {
    let mut memory = Memory::new(1 << 20);
    let start = memory.alloc(12, 4).expect("12 bytes fit") as usize;
    let fault = launch(&mut memory, &config(1, 1, Policy::RoundRobin), &|| {
        let at = core::ptr::without_provenance(start);
        assert!(simt::access(at, 16, Access::write(Space::Global)));
    })
    .expect_err("16 of 12 bytes");
    assert!(matches!(fault, Fault::OutOfBounds { bytes: 16, .. }), "{fault}");
}

#[test]
fn freed_and_null_addresses_are_out_of_bounds() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 4);
    memory.free(words.address()).expect("allocated");
    let config = config(1, 1, Policy::RoundRobin);
    let fault = launch(&mut memory, &config, &|| words.set(0, 1)).expect_err("freed");
    let Fault::OutOfBounds { target, .. } = &fault else { panic!("{fault}") };
    assert_eq!(target.region, None);
    let null = launch(&mut memory, &config, &|| {
        assert!(simt::access(core::ptr::null(), 4, Access::read(Space::Generic)));
    });
    let fault = null.expect_err("null");
    assert!(fault.to_string().contains("0x0, near no live allocation"), "{fault}");
}

#[test]
fn an_odd_address_is_misaligned() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 4);
    let line = line!() + 3;
    let fault = launch(&mut memory, &config(1, 2, Policy::RunAhead), &|| {
        let at = core::ptr::without_provenance(words.address() as usize + 4);
        assert!(simt::access(at, 8, Access::write(Space::Global)));
    })
    .expect_err("8 bytes at 4");
    assert!(matches!(fault, Fault::Misaligned { bytes: 8, .. }), "{fault}");
    assert_site(&fault, 0, 0, file!(), line);
}

#[test]
fn reading_unwritten_bytes_is_a_fault_until_they_are_written() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::unwritten(&mut memory, 64);
    let one = config(1, 64, Policy::RoundRobin);
    let line = line!() + 5;
    let fault = launch(&mut memory, &one, &|| {
        let i = simt::position().linear_thread() as usize;
        words.set(i & !1, 7);
        simt::block_barrier();
        words.get(i);
    })
    .expect_err("odd words are never written");
    assert!(matches!(fault, Fault::Uninitialised { .. }), "{fault}");
    assert_site(&fault, 0, 1, file!(), line);
    launch(&mut memory, &one, &|| words.set(simt::position().linear_thread() as usize, 7))
        .expect("writes are fine");
    launch(&mut memory, &one, &|| assert_eq!(words.get(simt::position().lane() as usize), 7))
        .expect("all written by an earlier launch");
}

#[test]
fn an_atomic_on_unwritten_bytes_is_a_fault() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::unwritten(&mut memory, 1);
    let fault = launch(&mut memory, &config(1, 1, Policy::Coarse), &|| {
        words.add(0, 1);
    })
    .expect_err("never written");
    assert!(matches!(fault, Fault::Uninitialised { .. }), "{fault}");
}

#[test]
fn an_address_outside_the_named_space_is_out_of_bounds() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 4);
    let fault = launch(&mut memory, &config(1, 1, Policy::RoundRobin), &|| {
        let at = core::ptr::without_provenance(words.address() as usize);
        assert!(simt::access(at, 4, Access::read(Space::Generic)));
        assert!(simt::access(at, 4, Access::read(Space::Shared)));
    })
    .expect_err("global memory is not shared memory");
    assert!(matches!(fault, Fault::OutOfBounds { .. }), "{fault}");
}

#[test]
fn allocations_are_limited_to_the_capacity_and_free_restores_it() {
    let mut memory = Memory::new(1000);
    let first = memory.alloc(600, 16).expect("600 of 1000");
    assert_eq!(first % 256, 0);
    let refused = memory.alloc(401, 1).expect_err("400 left");
    assert_eq!(refused, MemoryError::OutOfMemory { requested: 401, available: 400 });
    memory.free(first).expect("allocated");
    assert_eq!(memory.free(first), Err(MemoryError::NotAnAllocation { address: first }));
    assert_eq!(memory.used(), 0);
    assert_eq!(memory.alloc(1000, 4096).expect("all free again") % 4096, 0);
    assert_eq!(memory.alloc(0, 3), Err(MemoryError::BadAlignment { align: 3 }));
}

#[test]
fn host_copies_are_checked_like_accesses() {
    let mut memory = Memory::new(1 << 20);
    let start = memory.alloc(100, 1).expect("fits");
    memory.write(start + 10, &[1, 2, 3]).expect("inside");
    let mut three = [0; 3];
    memory.read(start + 10, &mut three).expect("written");
    assert_eq!(three, [1, 2, 3]);
    let unwritten = memory.read(start + 11, &mut three).expect_err("byte 13 is not written");
    assert!(unwritten.to_string().contains("offset 13 of allocation 0"), "{unwritten}");
    assert!(matches!(memory.write(start + 99, &[0; 2]), Err(MemoryError::OutOfBounds { .. })));
    assert!(matches!(memory.zero(start - 1, 1), Err(MemoryError::OutOfBounds { .. })));
    memory.write(start + 100, &[]).expect("nothing at the very end");
}

#[test]
fn memory_can_move_to_another_os_thread() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 1);
    let memory = std::thread::spawn(move || {
        launch(&mut memory, &config(1, 32, Policy::RoundRobin), &|| {
            words.add(0, 1);
        })
        .expect("no fault");
        memory
    });
    let memory = memory.join().expect("no panic");
    assert_eq!(words.host(&memory, 1), [32]);
}
