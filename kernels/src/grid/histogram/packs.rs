//! The elements of an array that one thread of a grid counts.

use cuda_std::prelude::*;

/// Calls `each_pack` with packs of 16 bytes of `input` in one thread, `step` apart from pack
/// `first`. A thread that is asked for the `rest` also calls `each` with one of the elements before
/// the packs and one of those after them: `first` must then count from 0 in its block.
///
/// Two packs are in flight. Elements of 4 or 8 bytes are loaded while others are counted: if two
/// packs are loaded where both are counted, ptxas moves the second load behind the use of the first.
/// With shorter ones it does not, and they would need a register each.
#[inline(always)]
pub(super) fn each_pack<W: Scalar>(
    input: Global<W>,
    first: usize,
    step: usize,
    rest: bool,
    each_pack: impl Fn(W::Pack<W>),
    each: impl Fn(W),
) {
    let head = input.unaligned_head();
    let packs = (input.len() - head) / W::PACK;
    let load = |pack: usize| input.read_pack(head + pack * W::PACK, CacheHint::Streaming);
    let mut pack = first;
    if W::PACK > 4 {
        while pack + step < packs {
            let (one, two) = (load(pack), load(pack + step));
            each_pack(one);
            each_pack(two);
            pack += 2 * step;
        }
        if pack < packs {
            each_pack(load(pack));
        }
    } else if pack < packs {
        let mut one = load(pack);
        // Not counted, if it is not there.
        let mut two = if pack + step < packs { load(pack + step) } else { one };
        while pack < packs {
            each_pack(one);
            if pack + 2 * step < packs {
                one = load(pack + 2 * step);
            }
            if pack + step < packs {
                each_pack(two);
            }
            if pack + 3 * step < packs {
                two = load(pack + 3 * step);
            }
            pack += 2 * step;
        }
    }
    // Fewer than one pack on either side.
    let after = head + packs * W::PACK;
    if rest && first < head {
        each(input.read(first));
    }
    if rest && first < input.len() - after {
        each(input.read(after + first));
    }
}
