//! Warp collectives (PTX ISA, "shfl.sync", "vote.sync", "match.sync", "redux.sync",
//! "bar.warp.sync", "activemask"), all with convergent intrinsics.

use core::arch::asm;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.activemask"]
    fn activemask() -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_up(mask: u32, value: u32, delta: u32, control: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_down(mask: u32, value: u32, delta: u32, control: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_bfly(mask: u32, value: u32, delta: u32, control: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_idx(mask: u32, value: u32, lane: u32, control: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn vote_all_sync(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any_sync(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot_sync(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn match_any_i32(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    fn match_any_i64(mask: u32, value: u64) -> u32;
}

#[inline(always)]
pub(crate) fn lane_id() -> u32 {
    let lane: u32;
    // SAFETY: reads a special register.
    unsafe {
        asm!("mov.u32 {}, %laneid;", out(reg32) lane,
             options(pure, nomem, nostack, preserves_flags));
    }
    lane
}

#[inline(always)]
pub(crate) fn active_mask() -> u32 {
    // SAFETY: a convergent intrinsic without operands in memory.
    unsafe { activemask() }
}

#[inline(always)]
pub(crate) fn sync(mask: u32) {
    // SAFETY: a convergent intrinsic without operands in memory.
    unsafe { bar_warp_sync(mask) }
}

macro_rules! shuffles {
    ($($name:ident: $intrinsic:ident;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(mask: u32, value: u32, by: u32, control: u32) -> u32 {
            // SAFETY: a convergent intrinsic; the public function documents which threads must call
            // it.
            unsafe { $intrinsic(mask, value, by, control) }
        }
    )*};
}
shuffles! {
    shuffle_up: shfl_up;
    shuffle_down: shfl_down;
    shuffle_xor: shfl_bfly;
    shuffle_idx: shfl_idx;
}

#[inline(always)]
pub(crate) fn vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: a convergent intrinsic; the public function documents which threads must call it.
    unsafe { vote_all_sync(mask, predicate) }
}

#[inline(always)]
pub(crate) fn vote_any(mask: u32, predicate: bool) -> bool {
    // SAFETY: a convergent intrinsic; the public function documents which threads must call it.
    unsafe { vote_any_sync(mask, predicate) }
}

#[inline(always)]
pub(crate) fn ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: a convergent intrinsic; the public function documents which threads must call it.
    unsafe { vote_ballot_sync(mask, predicate) }
}

#[inline(always)]
pub(crate) fn match_any_32(mask: u32, value: u32) -> u32 {
    // SAFETY: a convergent intrinsic; the public function documents which threads must call it.
    unsafe { match_any_i32(mask, value) }
}

#[inline(always)]
pub(crate) fn match_any_64(mask: u32, value: u64) -> u32 {
    // SAFETY: a convergent intrinsic; the public function documents which threads must call it.
    unsafe { match_any_i64(mask, value) }
}

/// `redux.sync`, one instruction since sm_80.
#[cfg(compute_ge_80)]
pub(crate) mod redux {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.redux.sync.add"]
        fn redux_add(value: u32, mask: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.umin"]
        fn redux_umin(value: u32, mask: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.umax"]
        fn redux_umax(value: u32, mask: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.min"]
        fn redux_min(value: i32, mask: u32) -> i32;
        #[link_name = "llvm.nvvm.redux.sync.max"]
        fn redux_max(value: i32, mask: u32) -> i32;
        #[link_name = "llvm.nvvm.redux.sync.and"]
        fn redux_and(value: u32, mask: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.or"]
        fn redux_or(value: u32, mask: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.xor"]
        fn redux_xor(value: u32, mask: u32) -> u32;
    }

    macro_rules! reductions {
        ($($name:ident: $intrinsic:ident $ty:ty;)*) => {$(
            #[inline(always)]
            pub(crate) fn $name(mask: u32, value: $ty) -> $ty {
                // SAFETY: a convergent intrinsic; the public function documents which threads must
                // call it.
                unsafe { $intrinsic(value, mask) }
            }
        )*};
    }
    reductions! {
        add: redux_add u32;
        umin: redux_umin u32;
        umax: redux_umax u32;
        min: redux_min i32;
        max: redux_max i32;
        and: redux_and u32;
        or: redux_or u32;
        xor: redux_xor u32;
    }
}

/// The same with shuffles, for devices before sm_80: every lane reads the value of each lane of
/// `mask` in turn. This works for any mask; for a full warp, five shuffles are faster.
#[cfg(not(compute_ge_80))]
pub(crate) mod redux {
    use super::shuffle_idx;

    macro_rules! reductions {
        ($($name:ident: $ty:ty, $combine:expr;)*) => {$(
            #[inline(always)]
            pub(crate) fn $name(mask: u32, value: $ty) -> $ty {
                let combine: fn($ty, $ty) -> $ty = $combine;
                let first = mask.trailing_zeros();
                let mut result = shuffle_idx(mask, value as u32, first, 31) as $ty;
                let mut rest = mask & (mask - 1);
                while rest != 0 {
                    let lane = rest.trailing_zeros();
                    result = combine(result, shuffle_idx(mask, value as u32, lane, 31) as $ty);
                    rest &= rest - 1;
                }
                result
            }
        )*};
    }
    reductions! {
        add: u32, |a, b| a.wrapping_add(b);
        umin: u32, |a, b| a.min(b);
        umax: u32, |a, b| a.max(b);
        min: i32, |a, b| a.min(b);
        max: i32, |a, b| a.max(b);
        and: u32, |a, b| a & b;
        or: u32, |a, b| a | b;
        xor: u32, |a, b| a ^ b;
    }
}
