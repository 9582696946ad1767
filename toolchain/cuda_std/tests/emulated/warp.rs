//! Warp collectives, against tables derived from the PTX ISA's definitions.

use crate::support::{config, run};
use cuda_std::memory::Scalar;
use cuda_std::warp::*;
use cuda_std::{bf16, f16};

const WIDTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Up,
    Down,
    Xor,
    Idx,
}
use Mode::{Down, Idx, Up, Xor};

/// The lane that `lane` reads and the predicate, by the pseudocode of "shfl.sync" in the PTX ISA,
/// with the control word that CUDA's `__shfl_*_sync` computes from a width.
fn source(mode: Mode, lane: u32, b: u32, width: u32) -> (u32, bool) {
    let c = (32 - width) << 8 | if mode == Up { 0 } else { 31 };
    let (lane, bval, cval, mask) =
        (lane as i32, (b & 31) as i32, (c & 31) as i32, (c >> 8 & 31) as i32);
    let (max_lane, min_lane) = ((lane & mask) | (cval & !mask), lane & mask);
    let (j, pval) = match mode {
        Up => (lane - bval, lane - bval >= max_lane),
        Down => (lane + bval, lane + bval <= max_lane),
        Xor => (lane ^ bval, lane ^ bval <= max_lane),
        Idx => {
            let j = min_lane | (bval & !mask);
            (j, j <= max_lane)
        }
    };
    (if pval { j } else { lane } as u32, pval)
}

fn shuffle<T: Scalar>(mode: Mode, value: T, b: u32, width: u32) -> (T, bool) {
    match mode {
        Up => warp_shuffle_up(FULL_MASK, value, b, width),
        Down => warp_shuffle_down(FULL_MASK, value, b, width),
        Xor => warp_shuffle_xor(FULL_MASK, value, b, width),
        Idx => warp_shuffle_idx(FULL_MASK, value, b, width),
    }
}

#[test]
fn every_shuffle_reads_the_lane_defined_by_the_isa() {
    run(&config(1, 32), || {
        let lane = lane_id();
        for mode in [Up, Down, Xor, Idx] {
            for width in WIDTHS {
                for b in 0..40 {
                    let (value, _) = shuffle(mode, 100 + lane, b, width);
                    let (from, _) = source(mode, lane, b, width);
                    assert_eq!(value, 100 + from, "{mode:?} by {b} in {width}, lane {lane}");
                }
            }
        }
    });
}

#[test]
fn a_shuffle_returns_whether_the_other_lane_is_in_the_segment() {
    run(&config(1, 32), || {
        let lane = lane_id();
        for width in WIDTHS {
            for b in 0..32 {
                for mode in [Up, Down] {
                    let (_, there) = source(mode, lane, b, width);
                    assert_eq!(
                        shuffle(mode, 0u32, b, width).1,
                        there,
                        "{mode:?} by {b} in {width}"
                    );
                }
                for mode in [Xor, Idx] {
                    assert_eq!(
                        shuffle(mode, 0u32, b, width).1,
                        b < width,
                        "{mode:?} by {b} in {width}"
                    );
                }
            }
        }
    });
}

#[test]
fn a_shuffle_moves_every_bit_of_every_type() {
    fn rotates<T: Scalar + PartialEq + core::fmt::Debug>(of: impl Fn(u32) -> T) {
        let lane = lane_id();
        let (value, _) = warp_shuffle_idx(FULL_MASK, of(lane), lane + 1, 32);
        assert_eq!(value, of((lane + 1) % 32));
    }
    run(&config(1, 32), || {
        rotates(|lane| u16::MAX - lane as u16);
        rotates(|lane| -(lane as i16));
        rotates(|lane| f16::from_f32(-1.5 * lane as f32));
        rotates(|lane| bf16::from_f32(-1.5 * lane as f32));
        rotates(|lane| u32::MAX - lane);
        rotates(|lane| -(lane as i32));
        rotates(|lane| -1.5 * lane as f32);
        rotates(|lane| u64::MAX - (u64::from(lane) << 40) - u64::from(lane));
        rotates(|lane| i64::MIN + (i64::from(lane) << 33) + i64::from(lane));
        rotates(|lane| -1e300 / f64::from(lane + 1));
    });
}

#[test]
fn halves_of_a_warp_shuffle_separately() {
    run(&config(1, 32), || {
        let lane = lane_id();
        let half = if lane < 16 { 0x0000_FFFF } else { 0xFFFF_0000 };
        if lane < 16 {
            assert_eq!(warp_shuffle_xor(half, lane, 15, 16).0, 15 - lane);
        } else {
            assert_eq!(warp_shuffle_xor(half, lane, 15, 16).0, 47 - lane);
        }
        sync_warp(FULL_MASK);
    });
}

/// Masks with one lane, with gaps, with one half, with all lanes.
const MASKS: [u32; 6] = [1, 0x8000_0000, 0x5555_5555, 0x00FF_0F10, 0xFFFF_0000, FULL_MASK];

/// Runs `body` in the lanes of each mask.
fn in_each_mask(body: impl Fn(u32, u32)) {
    run(&config(1, 32), || {
        for mask in MASKS {
            if mask >> lane_id() & 1 == 1 {
                body(mask, lane_id());
            }
            sync_warp(FULL_MASK);
        }
    });
}

fn lanes(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

fn mask_of(lanes: impl Iterator<Item = u32>) -> u32 {
    lanes.fold(0, |mask, lane| mask | 1 << lane)
}

#[test]
fn votes_include_only_the_lanes_of_the_mask() {
    in_each_mask(|mask, lane| {
        for limit in 0..=32 {
            let holds = mask_of(lanes(mask).filter(|lane| *lane < limit));
            assert_eq!(warp_vote_ballot(mask, lane < limit), holds);
            assert_eq!(warp_vote_all(mask, lane < limit), holds == mask);
            assert_eq!(warp_vote_any(mask, lane < limit), holds != 0);
        }
    });
}

#[test]
fn a_match_finds_the_lanes_with_the_same_bits() {
    in_each_mask(|mask, lane| {
        let same = |key: fn(u32) -> u32| {
            mask_of(lanes(mask).filter(move |other| key(*other) == key(lane)))
        };
        assert_eq!(warp_match_any(mask, lane % 5), same(|lane| lane % 5));
        assert_eq!(warp_match_any(mask, lane as u16 / 7), same(|lane| lane / 7));
        // 64-bit words are compared as a whole: here the low halves agree.
        assert_eq!(warp_match_any(mask, u64::from(lane / 3) << 32), same(|lane| lane / 3));
        assert_eq!(warp_match_all(mask, 7u32), mask);
        let alone = mask.count_ones() == 1;
        assert_eq!(warp_match_all(mask, lane), if alone { mask } else { 0 });
    });
}

#[test]
fn a_match_compares_bits_so_zeros_differ_and_a_nan_matches_itself() {
    run(&config(1, 32), || {
        let even = lane_id().is_multiple_of(2);
        let evens = if even { 0x5555_5555 } else { 0xAAAA_AAAA };
        assert_eq!(warp_match_any(FULL_MASK, if even { 0.0f32 } else { -0.0 }), evens);
        assert_eq!(warp_match_all(FULL_MASK, f64::NAN), FULL_MASK);
    });
}

#[test]
fn reductions_include_only_the_lanes_of_the_mask() {
    in_each_mask(|mask, lane| {
        // Spread over the whole range, so signed and unsigned order differ and sums wrap.
        let value = |lane: u32| lane.wrapping_mul(0x9E37_79B9) ^ 0x8000_0000;
        let (mine, all) = (value(lane), || lanes(mask).map(value));
        let signed = || all().map(|value| value as i32);
        assert_eq!(warp_redux_add(mask, mine), all().fold(0, u32::wrapping_add));
        assert_eq!(Some(warp_redux_min_u32(mask, mine)), all().min());
        assert_eq!(Some(warp_redux_max_u32(mask, mine)), all().max());
        assert_eq!(Some(warp_redux_min_i32(mask, mine as i32)), signed().min());
        assert_eq!(Some(warp_redux_max_i32(mask, mine as i32)), signed().max());
        assert_eq!(warp_redux_and(mask, mine), all().fold(u32::MAX, |a, b| a & b));
        assert_eq!(warp_redux_or(mask, mine), all().fold(0, |a, b| a | b));
        assert_eq!(warp_redux_xor(mask, mine), all().fold(0, |a, b| a ^ b));
    });
}

#[test]
fn a_partial_last_warp_has_only_its_existing_lanes() {
    run(&config(1, 40), || {
        let there = if warp_index() == 0 { FULL_MASK } else { 0xFF };
        assert_eq!(activemask(), there);
        assert_eq!(warp_vote_ballot(FULL_MASK, true), there);
        assert_eq!(warp_redux_add(FULL_MASK, 1), there.count_ones());
        assert!(warp_vote_all(FULL_MASK, true));
    });
}

#[test]
fn a_warp_barrier_makes_earlier_writes_of_all_lanes_visible() {
    let sums = crate::support::leaves(&config(1, 32), &[0u32; 64], |data| {
        let lane = lane_id() as usize;
        data.write(lane, lane as u32);
        sync_warp(FULL_MASK);
        data.write(32 + lane, (0..32).map(|i| data.read(i)).sum());
    });
    assert_eq!(sums[32..], [496; 32]);
}
