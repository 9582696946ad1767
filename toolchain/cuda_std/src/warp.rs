//! The 32 lanes of a warp.
//!
//! The first argument of each of these functions is the mask of the participating lanes, as in
//! CUDA. Every lane in the mask must call the same function with the same mask, and the caller must
//! be in the mask. All of them wait for each other, because since Volta lanes do not run in
//! lockstep. Only [`sync_warp`] orders memory. If a block does not fill its last warp, lanes beyond
//! its end do not participate, and reading from one is undefined.

use crate::backend::warp as backend;
use crate::memory::Scalar;
use core::mem::transmute_copy;
use cuda_std_macros::instruction;

/// The number of lanes of a warp.
pub const WARP_SIZE: u32 = 32;

/// The mask of all lanes.
pub const FULL_MASK: u32 = u32::MAX;

/// The lane of the thread in its warp, 0 to 31: `%laneid`.
#[instruction]
pub fn lane_id() -> u32 {
    backend::lane_id()
}

/// The index of the warp in its block: the linear thread index divided by 32.
#[instruction]
pub fn warp_index() -> u32 {
    crate::thread::in_32_bits::index_in_block() / WARP_SIZE
}

/// The lanes that happen to execute this together: `activemask`. A snapshot: it does not determine
/// which lanes participate in later operations.
#[instruction]
pub fn activemask() -> u32 {
    backend::active_mask()
}

/// Waits for the lanes of `mask`, and makes each lane's earlier memory accesses visible to all of
/// them: `bar.warp.sync` (`__syncwarp`).
#[instruction]
pub fn sync_warp(mask: u32) {
    backend::sync(mask);
}

/// Moves `$value` as one or two 32-bit words, each `$word` with `$shuffle`. A macro, because a
/// closure would hide from the emulator which line of the kernel shuffles.
macro_rules! by_words {
    ($T:ty, $value:expr, $word:ident => $shuffle:expr) => {{
        let value: $T = $value;
        // SAFETY: a `Scalar` is a plain number of 1, 2, 4 or 8 bytes, and each arm moves all of them.
        unsafe {
            match size_of::<$T>() {
                1 => {
                    let $word = u32::from(transmute_copy::<$T, u8>(&value));
                    transmute_copy::<u8, $T>(&($shuffle as u8))
                }
                2 => {
                    let $word = u32::from(transmute_copy::<$T, u16>(&value));
                    transmute_copy::<u16, $T>(&($shuffle as u16))
                }
                4 => {
                    let $word = transmute_copy::<$T, u32>(&value);
                    transmute_copy::<u32, $T>(&$shuffle)
                }
                _ => {
                    let bits = transmute_copy::<$T, u64>(&value);
                    let $word = bits as u32;
                    let low: u32 = $shuffle;
                    let $word = (bits >> 32) as u32;
                    let high: u32 = $shuffle;
                    transmute_copy::<u64, $T>(&(u64::from(high) << 32 | u64::from(low)))
                }
            }
        }
    }};
}

/// The control word of `shfl.sync` for segments of `width` lanes (a power of two up to 32).
#[inline(always)]
const fn control(width: u32, clamp: u32) -> u32 {
    (WARP_SIZE - width) << 8 | clamp
}

/// The value of the lane `delta` below, within segments of `width` lanes: `shfl.sync.up`. `delta`
/// is below 32.
///
/// Returns the value, and whether it came from another lane of the segment. If not, it is the
/// caller's own.
#[instruction]
pub fn warp_shuffle_up<T: Scalar>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    let moved =
        by_words!(T, value, word => backend::shuffle_up(mask, word, delta, control(width, 0)));
    (moved, lane_id() % width >= delta)
}

/// The value of the lane `delta` above, within segments of `width` lanes: `shfl.sync.down`. `delta`
/// is below 32.
///
/// Returns the value, and whether it came from another lane of the segment. If not, it is the
/// caller's own.
#[instruction]
pub fn warp_shuffle_down<T: Scalar>(mask: u32, value: T, delta: u32, width: u32) -> (T, bool) {
    let moved =
        by_words!(T, value, word => backend::shuffle_down(mask, word, delta, control(width, 31)));
    (moved, lane_id() % width + delta < width)
}

/// The value of the lane whose index differs in the bits of `lanes`: `shfl.sync.bfly`. `lanes` is
/// below `width`.
///
/// Returns the value, and whether that lane is in the segment.
#[instruction]
pub fn warp_shuffle_xor<T: Scalar>(mask: u32, value: T, lanes: u32, width: u32) -> (T, bool) {
    let moved =
        by_words!(T, value, word => backend::shuffle_xor(mask, word, lanes, control(width, 31)));
    (moved, lanes < width)
}

/// The value of lane `lane` of the segment, modulo `width`: `shfl.sync.idx`.
///
/// Returns the value, and whether `lane` is below `width`.
#[instruction]
pub fn warp_shuffle_idx<T: Scalar>(mask: u32, value: T, lane: u32, width: u32) -> (T, bool) {
    let moved =
        by_words!(T, value, word => backend::shuffle_idx(mask, word, lane, control(width, 31)));
    (moved, lane < width)
}

/// Whether `predicate` holds for all lanes of `mask`: `vote.sync.all`.
#[instruction]
pub fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    backend::vote_all(mask, predicate)
}

/// Whether `predicate` holds for any lane of `mask`: `vote.sync.any`.
#[instruction]
pub fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    backend::vote_any(mask, predicate)
}

/// The lanes of `mask` for which `predicate` holds, as a mask: `vote.sync.ballot`.
#[instruction]
pub fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    backend::ballot(mask, predicate)
}

/// The lanes of `mask` that have the same bits as the caller: `match.any.sync`.
#[instruction]
pub fn warp_match_any<T: Scalar>(mask: u32, value: T) -> u32 {
    // SAFETY: a `Scalar` is a plain number of 1, 2, 4 or 8 bytes, and each arm reads all of them.
    unsafe {
        match size_of::<T>() {
            1 => backend::match_any_32(mask, transmute_copy::<T, u8>(&value).into()),
            2 => backend::match_any_32(mask, transmute_copy::<T, u16>(&value).into()),
            4 => backend::match_any_32(mask, transmute_copy(&value)),
            _ => backend::match_any_64(mask, transmute_copy(&value)),
        }
    }
}

/// `mask` if all lanes of `mask` have the same bits, else 0. One `match.any.sync` and a comparison,
/// which gives the same result as `match.all.sync`.
#[instruction]
pub fn warp_match_all<T: Scalar>(mask: u32, value: T) -> u32 {
    if warp_match_any(mask, value) == mask { mask } else { 0 }
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident: $backend:ident $ty:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// Every lane of `mask` gets the result. Before sm_80 it needs one shuffle per lane of the
        /// mask.
        #[instruction]
        pub fn $name(mask: u32, value: $ty) -> $ty {
            backend::redux::$backend(mask, value)
        }
    )*};
}
reductions! {
    /// The sum over the lanes of `mask`, wrapping around: `redux.sync.add`.
    warp_redux_add: add u32;
    /// The smallest value: `redux.sync.min.u32`.
    warp_redux_min_u32: umin u32;
    /// The largest value: `redux.sync.max.u32`.
    warp_redux_max_u32: umax u32;
    /// The smallest value: `redux.sync.min.s32`.
    warp_redux_min_i32: min i32;
    /// The largest value: `redux.sync.max.s32`.
    warp_redux_max_i32: max i32;
    /// Bitwise and: `redux.sync.and.b32`.
    warp_redux_and: and u32;
    /// Bitwise or: `redux.sync.or.b32`.
    warp_redux_or: or u32;
    /// Bitwise exclusive or: `redux.sync.xor.b32`.
    warp_redux_xor: xor u32;
}
