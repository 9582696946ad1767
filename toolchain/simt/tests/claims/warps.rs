//! Warp collectives.

use simt::{Fault, Memory, Policy, launch, warp_exchange};

use crate::support::{assert_site, config, schedules};

const FULL: u32 = u32::MAX;

#[test]
fn every_lane_sees_every_value() {
    let mut memory = Memory::new(1 << 20);
    for schedule in schedules() {
        let config = simt::LaunchConfig { schedule, ..config(2, 64, Policy::RoundRobin) };
        let stats = launch(&mut memory, &config, &|| {
            let at = simt::position();
            for round in 0..5 {
                let given =
                    warp_exchange(FULL, "shfl", u128::from(at.linear_thread() + round) << 64);
                assert_eq!(given.mask, FULL);
                for (lane, value) in given.values.into_iter().enumerate() {
                    assert_eq!(value >> 64, u128::from(32 * at.warp() + round) + lane as u128);
                }
            }
        })
        .expect("all lanes take part");
        assert_eq!(stats.collectives, 5 * 4);
    }
}

#[test]
fn a_partial_warp_leaves_out_lanes_that_do_not_exist() {
    let mut memory = Memory::new(1 << 20);
    launch(&mut memory, &config(1, 33, Policy::RoundRobin), &|| {
        let at = simt::position();
        let given = warp_exchange(FULL, "vote", 1);
        assert_eq!(given.mask, if at.warp() == 0 { FULL } else { 1 });
        assert_eq!(given.values.iter().sum::<u128>(), if at.warp() == 0 { 32 } else { 1 });
    })
    .expect("lane 32 is alone in its warp");
}

#[test]
fn halves_of_a_warp_exchange_independently() {
    let mut memory = Memory::new(1 << 20);
    launch(&mut memory, &config(1, 32, Policy::RoundRobin), &|| {
        let lane = simt::position().lane();
        if lane < 16 {
            assert_eq!(warp_exchange(0xFFFF, "low", 3).mask, 0xFFFF);
            assert_eq!(warp_exchange(0xFFFF, "low again", 3).mask, 0xFFFF);
        } else {
            assert_eq!(warp_exchange(0xFFFF_0000, "high", 4).values[31], 4);
        }
    })
    .expect("disjoint masks do not meet");
}

#[test]
fn a_lane_may_go_through_another_collective_first() {
    let mut memory = Memory::new(1 << 20);
    launch(&mut memory, &config(1, 3, Policy::RoundRobin), &|| match simt::position().lane() {
        0 => {
            warp_exchange(0b011, "pair", 0);
        }
        1 => {
            warp_exchange(0b110, "pair", 0);
            warp_exchange(0b011, "pair", 0);
        }
        _ => {
            warp_exchange(0b110, "pair", 0);
        }
    })
    .expect("lane 0 waits while 1 and 2 meet");
}

#[test]
fn a_caller_outside_its_mask_is_a_fault() {
    let mut memory = Memory::new(1 << 20);
    let line = line!() + 3;
    let fault = launch(&mut memory, &config(2, 32, Policy::Reverse), &|| {
        if simt::position().linear_block() == 1 {
            warp_exchange(0xFFFF, "shfl", 0);
        }
    })
    .expect_err("lane 16 is not in 0xffff");
    assert!(
        matches!(fault, Fault::NotInMask { lane: 16, mask: 0xFFFF, kind: "shfl", .. }),
        "{fault}"
    );
    assert_site(&fault, 1, 16, file!(), line);
}

#[test]
fn a_named_lane_that_has_exited_is_a_fault() {
    let mut memory = Memory::new(1 << 20);
    for (early, blamed) in [(0, 1), (31, 0)] {
        let line = line!() + 3;
        let fault = launch(&mut memory, &config(1, 32, Policy::RoundRobin), &|| {
            if simt::position().lane() != early {
                warp_exchange(FULL, "redux", 0);
            }
        })
        .expect_err("one lane has exited");
        let Fault::LaneExited { lane, kind: "redux", .. } = fault else { panic!("{fault}") };
        assert_eq!(lane, early);
        assert_site(&fault, 0, blamed, file!(), line);
    }
}

#[test]
fn different_collectives_or_masks_are_a_mismatch_with_both_places() {
    let mut memory = Memory::new(1 << 20);
    for (kind, mask) in [("ballot", FULL), ("shfl", 0x7FFF_FFFF)] {
        let line = line!() + 3;
        let fault = launch(&mut memory, &config(1, 32, Policy::RoundRobin), &|| {
            match simt::position().lane() {
                0..20 => warp_exchange(FULL, "shfl", 0),
                _ => warp_exchange(mask, kind, 0),
            };
        })
        .expect_err("lane 20 meets lane 0");
        assert_site(&fault, 0, 20, file!(), line + 1);
        let Fault::WarpMismatch { arrivals } = &fault else { panic!("{fault}") };
        assert_eq!((arrivals[0].kind, arrivals[0].mask), (kind, mask));
        assert_eq!((arrivals[1].kind, arrivals[1].mask), ("shfl", FULL));
        assert_eq!(arrivals[1].site.place.line(), line);
    }
}

#[test]
fn active_mask_has_the_lanes_at_the_same_call() {
    let mut memory = Memory::new(1 << 20);
    launch(&mut memory, &config(1, 48, Policy::RoundRobin), &|| {
        let at = simt::position();
        let exists = if at.warp() == 0 { FULL } else { 0xFFFF };
        assert_eq!(simt::active_mask(), exists);
        let even = 0x5555_5555;
        if at.lane().is_multiple_of(2) {
            assert_eq!(simt::active_mask(), exists & even);
        } else {
            assert_eq!(simt::active_mask(), exists & !even);
        }
    })
    .expect("masks hold");
}
