//! Warp collectives, all computed from the values that the lanes contribute.

use simt::warp_exchange;

#[track_caller]
pub(crate) fn lane_id() -> u32 {
    simt::position().lane()
}

#[track_caller]
pub(crate) fn active_mask() -> u32 {
    simt::active_mask()
}

#[track_caller]
pub(crate) fn sync(mask: u32) {
    simt::warp_barrier(mask);
}

/// One `shfl.sync`. `source` gets the lane and the first and last lane of its segment. It returns
/// the lane to read, or `None` if that is outside the segment; the lane then keeps its own value.
#[track_caller]
fn shuffle(
    mask: u32,
    kind: &'static str,
    value: u32,
    control: u32,
    source: impl FnOnce(i32, i32, i32) -> Option<i32>,
) -> u32 {
    let lane = lane_id() as i32;
    // PTX ISA, "shfl.sync": bits 8..13 of the control are the segment mask, bits 0..5 the clamp.
    let (segment, clamp) = ((control >> 8 & 31) as i32, (control & 31) as i32);
    let (first, last) = (lane & segment, (lane & segment) | (clamp & !segment));
    let brought = warp_exchange(mask, kind, value.into());
    match source(lane, first, last) {
        Some(from) if brought.mask >> from & 1 == 1 => brought.values[from as usize] as u32,
        Some(from) => simt::trap(&format!(
            "{kind} reads lane {from}, which does not take part (lanes {:#010x} do)",
            brought.mask
        )),
        None => value,
    }
}

/// The five bits that `shfl.sync` uses of its second operand.
fn low_bits(by: u32) -> i32 {
    (by & 31) as i32
}

#[track_caller]
pub(crate) fn shuffle_up(mask: u32, value: u32, by: u32, control: u32) -> u32 {
    shuffle(mask, "shfl.sync.up", value, control, |lane, first, _| {
        Some(lane - low_bits(by)).filter(|&from| from >= first)
    })
}

#[track_caller]
pub(crate) fn shuffle_down(mask: u32, value: u32, by: u32, control: u32) -> u32 {
    shuffle(mask, "shfl.sync.down", value, control, |lane, _, last| {
        Some(lane + low_bits(by)).filter(|&from| from <= last)
    })
}

#[track_caller]
pub(crate) fn shuffle_xor(mask: u32, value: u32, by: u32, control: u32) -> u32 {
    shuffle(mask, "shfl.sync.bfly", value, control, |lane, _, last| {
        Some(lane ^ low_bits(by)).filter(|&from| from <= last)
    })
}

#[track_caller]
pub(crate) fn shuffle_idx(mask: u32, value: u32, by: u32, control: u32) -> u32 {
    shuffle(mask, "shfl.sync.idx", value, control, |_, first, last| {
        let width_mask = !((control >> 8 & 31) as i32) & 31;
        Some(first | (low_bits(by) & width_mask)).filter(|&from| from <= last)
    })
}

/// The participating lanes, and those whose value satisfies `select`.
#[track_caller]
fn lanes_where(
    mask: u32,
    kind: &'static str,
    value: u64,
    select: impl Fn(u64) -> bool,
) -> (u32, u32) {
    let brought = warp_exchange(mask, kind, value.into());
    let selected = (0..32)
        .filter(|&lane| brought.mask >> lane & 1 == 1 && select(brought.values[lane] as u64))
        .fold(0, |lanes, lane| lanes | 1 << lane);
    (brought.mask, selected)
}

#[track_caller]
pub(crate) fn vote_all(mask: u32, predicate: bool) -> bool {
    let (present, voted) = lanes_where(mask, "vote.sync.all", predicate.into(), |p| p != 0);
    voted == present
}

#[track_caller]
pub(crate) fn vote_any(mask: u32, predicate: bool) -> bool {
    lanes_where(mask, "vote.sync.any", predicate.into(), |p| p != 0).1 != 0
}

#[track_caller]
pub(crate) fn ballot(mask: u32, predicate: bool) -> u32 {
    lanes_where(mask, "vote.sync.ballot", predicate.into(), |p| p != 0).1
}

#[track_caller]
pub(crate) fn match_any_32(mask: u32, value: u32) -> u32 {
    lanes_where(mask, "match.any.sync.b32", value.into(), |other| other == value.into()).1
}

#[track_caller]
pub(crate) fn match_any_64(mask: u32, value: u64) -> u32 {
    lanes_where(mask, "match.any.sync.b64", value, |other| other == value).1
}

/// `redux.sync`.
pub(crate) mod redux {
    use super::warp_exchange;

    macro_rules! reductions {
        ($($name:ident: $kind:literal, $ty:ty, $combine:expr;)*) => {$(
            #[track_caller]
            pub(crate) fn $name(mask: u32, value: $ty) -> $ty {
                let combine: fn($ty, $ty) -> $ty = $combine;
                let brought = warp_exchange(mask, $kind, (value as u32).into());
                (0..32)
                    .filter(|&lane| brought.mask >> lane & 1 == 1)
                    .map(|lane| brought.values[lane] as u32 as $ty)
                    .reduce(combine)
                    .unwrap_or(value)
            }
        )*};
    }
    reductions! {
        add: "redux.sync.add", u32, |a, b| a.wrapping_add(b);
        umin: "redux.sync.min.u32", u32, |a, b| a.min(b);
        umax: "redux.sync.max.u32", u32, |a, b| a.max(b);
        min: "redux.sync.min.s32", i32, |a, b| a.min(b);
        max: "redux.sync.max.s32", i32, |a, b| a.max(b);
        and: "redux.sync.and", u32, |a, b| a & b;
        or: "redux.sync.or", u32, |a, b| a | b;
        xor: "redux.sync.xor", u32, |a, b| a ^ b;
    }
}
