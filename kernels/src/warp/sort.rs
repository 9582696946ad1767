//! Ranks and sorts of one value per lane.

use super::shuffle::of_lane;
use crate::op::Carried;
use cuda_std::device;
use cuda_std::memory::Pack;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_vote_ballot};

/// The ranks of several values of this lane, each among the values with its index of the `count`
/// lanes from lane `first`, of which this lane is one: how many of them would come before it in a
/// stable sort. Of equal values, those of lower lanes come first.
///
/// Called by all 32 lanes of the warp with the same `count`, at most 32. Orders no memory. It
/// shuffles each value `count` times. For up to 16 lanes that is less than a bitonic sort of values
/// with their lanes needs, and for 32 lanes about as much.
#[device]
pub fn ranks<T: Carried + Ord, const N: usize>(values: [T; N], first: u32, count: u32) -> [u32; N]
where
    [T; N]: Pack<T>,
    [u32; N]: Pack<u32>,
{
    let own = lane_id() - first;
    let mut ranks = <[u32; N]>::splat(0);
    let mut lane = 0;
    while lane < count {
        ranks = Pack::from_fn(|i| {
            let other = of_lane(values[i], first + lane);
            let is_before = (other == values[i]) & (lane < own) | (other < values[i]);
            one_more_if(is_before, ranks[i])
        });
        lane += 1;
    }
    ranks
}

/// `number`, or one more if the condition holds. ptxas would select instead, which takes two
/// instructions more.
#[inline(always)]
fn one_more_if(condition: bool, number: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let mut number = number;
        // SAFETY: arithmetic.
        unsafe {
            core::arch::asm!(
                "{{ .reg .pred %one; setp.ne.u32 %one, {one}, 0; @%one add.u32 {number}, {number}, 1; }}",
                one = in(reg32) u32::from(condition), number = inout(reg32) number,
                options(pure, nomem, nostack, preserves_flags));
        }
        number
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        number + u32::from(condition)
    }
}

/// The values of all lanes in order: lane i gets the value of rank i. The sort is stable.
///
/// Called by all 32 lanes of the warp. Orders no memory.
#[device]
pub fn sort<T: Carried + Ord>(value: T) -> T {
    let [rank] = ranks([value], 0, WARP_SIZE);
    // The lane whose rank is the index of this one: its bits are the same.
    let mut source = FULL_MASK;
    for bit in 0..WARP_SIZE.ilog2() {
        let with_bit = warp_vote_ballot(FULL_MASK, rank >> bit & 1 != 0);
        source &= if lane_id() >> bit & 1 != 0 { with_bit } else { !with_bit };
    }
    of_lane(value, source.trailing_zeros())
}
