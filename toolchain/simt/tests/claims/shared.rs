//! Shared memory of a block.

use simt::{Fault, Label, LaunchConfig, Memory, Policy, launch};

use crate::support::{Words, assert_site, config, global_thread, schedules};

#[test]
fn a_block_shares_and_blocks_do_not() {
    for schedule in schedules() {
        let mut memory = Memory::new(1 << 20);
        let out = Words::unwritten(&mut memory, 256);
        let config =
            LaunchConfig { schedule, dynamic_shared: 256, ..config(4, 64, Policy::RoundRobin) };
        launch(&mut memory, &config, &|| {
            let at = simt::position();
            let i = at.linear_thread() as usize;
            let tile = Words::shared(simt::static_shared("tile", 256, 16));
            let (start, bytes) = simt::dynamic_shared();
            // Exactly the alignment that the device guarantees.
            assert_eq!((bytes, start.addr() % 32), (256, 16));
            let extra = Words::shared(start);
            tile.set(i, at.block_idx.x);
            extra.set(i, i as u32);
            simt::block_barrier();
            out.set(global_thread(), 100 * tile.get(63 - i) + extra.get(63 - i));
        })
        .expect("no fault");
        let expected: Vec<u32> = (0..256).map(|i| 100 * (i / 64) + 63 - i % 64).collect();
        assert_eq!(out.host(&memory, 256), expected);
    }
}

#[test]
fn shared_memory_starts_unwritten_in_every_block() {
    let mut memory = Memory::new(1 << 20);
    let config = LaunchConfig { max_resident_blocks: Some(1), ..config(2, 1, Policy::RoundRobin) };
    let line = line!() + 6;
    let fault = launch(&mut memory, &config, &|| {
        let word = Words::shared(simt::static_shared("word", 4, 4));
        if simt::position().block_idx.x == 0 {
            word.set(0, 1);
        }
        word.get(0);
    })
    .expect_err("block 1 did not write");
    let Fault::Uninitialised { target, .. } = &fault else { panic!("{fault}") };
    assert_eq!(target.region, Some((Label::StaticShared("word"), 0)));
    assert_site(&fault, 1, 0, file!(), line);
}

#[test]
fn an_overrun_names_the_variable() {
    let mut memory = Memory::new(1 << 20);
    let fault = launch(&mut memory, &config(1, 33, Policy::RunAhead), &|| {
        let tile = Words::shared(simt::static_shared("tile", 128, 4));
        tile.set(simt::position().linear_thread() as usize, 0);
    })
    .expect_err("word 32 of 32");
    assert!(
        fault.to_string().contains("offset 128 of shared variable tile (128 bytes)"),
        "{fault}"
    );
}

#[test]
fn dynamic_shared_memory_of_zero_bytes_is_empty() {
    let mut memory = Memory::new(1 << 20);
    let fault = launch(&mut memory, &config(1, 1, Policy::RoundRobin), &|| {
        let (start, bytes) = simt::dynamic_shared();
        assert_eq!(bytes, 0);
        Words::shared(start).set(0, 1);
    })
    .expect_err("there is none");
    assert!(matches!(fault, Fault::OutOfBounds { .. }), "{fault}");
}

#[test]
fn too_much_shared_memory_is_a_fault() {
    let mut memory = Memory::new(1 << 20);
    let config = LaunchConfig {
        dynamic_shared: 1000,
        shared_per_block: 2000,
        ..config(1, 32, Policy::RoundRobin)
    };
    let line = line!() + 3;
    let fault = launch(&mut memory, &config, &|| {
        simt::static_shared("first", 960, 4);
        simt::static_shared("second", 64, 4);
    })
    .expect_err("1000 + 960 + 64 > 2000");
    assert_site(&fault, 0, 0, file!(), line);
    let Fault::SharedLimit { name: "second", requested: 2024, limit: 2000, .. } = fault else {
        panic!("{fault}")
    };
}

#[test]
fn one_name_with_two_sizes_is_a_fault() {
    let mut memory = Memory::new(1 << 20);
    let fault = launch(&mut memory, &config(1, 32, Policy::RoundRobin), &|| {
        simt::static_shared("tile", 64, 4);
        simt::static_shared("tile", 128, 4);
    })
    .expect_err("64 is not 128");
    assert!(matches!(fault, Fault::SharedConflict { first: 64, now: 128, .. }), "{fault}");
}
