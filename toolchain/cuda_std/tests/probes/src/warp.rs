//! Shuffles, votes, matches, reductions. The mask is a parameter, so the PTX shows where it goes.

use crate::{does, gives};
use cuda_std::warp::*;
use cuda_std::{bf16, f16};

does! {
    sync_warp(mask: u32) { cuda_std::warp::sync_warp(mask); }
}

gives! {
    activemask() -> u32 { cuda_std::warp::activemask() }

    shuffle_up_u32(mask: u32, value: u32, by: u32) -> u32 { warp_shuffle_up(mask, value, by, 32).0 }
    shuffle_down_f32(mask: u32, value: f32, by: u32) -> f32 { warp_shuffle_down(mask, value, by, 32).0 }
    shuffle_xor_i32(mask: u32, value: i32, by: u32) -> i32 { warp_shuffle_xor(mask, value, by, 32).0 }
    shuffle_idx_u32(mask: u32, value: u32, lane: u32) -> u32 { warp_shuffle_idx(mask, value, lane, 32).0 }

    shuffle_up_u64(mask: u32, value: u64, by: u32) -> u64 { warp_shuffle_up(mask, value, by, 32).0 }
    shuffle_down_i64(mask: u32, value: i64, by: u32) -> i64 { warp_shuffle_down(mask, value, by, 32).0 }
    shuffle_xor_f64(mask: u32, value: f64, by: u32) -> f64 { warp_shuffle_xor(mask, value, by, 32).0 }
    shuffle_idx_u64(mask: u32, value: u64, lane: u32) -> u64 { warp_shuffle_idx(mask, value, lane, 32).0 }

    shuffle_down_f16(mask: u32, value: u16, by: u32) -> f16 { warp_shuffle_down(mask, f16::from_bits(value), by, 32).0 }
    shuffle_idx_bf16(mask: u32, value: u16, lane: u32) -> bf16 { warp_shuffle_idx(mask, bf16::from_bits(value), lane, 32).0 }

    shuffle_up_in_8(mask: u32, value: u32) -> u32 { warp_shuffle_up(mask, value, 3, 8).0 }
    shuffle_down_in_8(mask: u32, value: u32) -> u32 { warp_shuffle_down(mask, value, 3, 8).0 }
    shuffle_xor_in_8(mask: u32, value: u32) -> u32 { warp_shuffle_xor(mask, value, 3, 8).0 }
    shuffle_idx_in_8(mask: u32, value: u32) -> u32 { warp_shuffle_idx(mask, value, 3, 8).0 }

    vote_all(mask: u32, predicate: u32) -> u32 { warp_vote_all(mask, predicate != 0).into() }
    vote_any(mask: u32, predicate: u32) -> u32 { warp_vote_any(mask, predicate != 0).into() }
    vote_ballot(mask: u32, predicate: u32) -> u32 { warp_vote_ballot(mask, predicate != 0) }

    match_any_u32(mask: u32, value: u32) -> u32 { warp_match_any(mask, value) }
    match_any_f64(mask: u32, value: f64) -> u32 { warp_match_any(mask, value) }
    match_any_bf16(mask: u32, value: u16) -> u32 { warp_match_any(mask, bf16::from_bits(value)) }
    match_all_u32(mask: u32, value: u32) -> u32 { warp_match_all(mask, value) }

    redux_add(mask: u32, value: u32) -> u32 { warp_redux_add(mask, value) }
    redux_min_u32(mask: u32, value: u32) -> u32 { warp_redux_min_u32(mask, value) }
    redux_max_u32(mask: u32, value: u32) -> u32 { warp_redux_max_u32(mask, value) }
    redux_min_i32(mask: u32, value: i32) -> i32 { warp_redux_min_i32(mask, value) }
    redux_max_i32(mask: u32, value: i32) -> i32 { warp_redux_max_i32(mask, value) }
    redux_and(mask: u32, value: u32) -> u32 { warp_redux_and(mask, value) }
    redux_or(mask: u32, value: u32) -> u32 { warp_redux_or(mask, value) }
    redux_xor(mask: u32, value: u32) -> u32 { warp_redux_xor(mask, value) }
}
