//! Packs that are not aligned, from aligned loads.

use core::mem::transmute_copy;
use cuda_std::prelude::*;

/// Elements that begin at any address, surrounded by aligned packs.
#[derive(Clone, Copy)]
pub(in crate::grid) struct Shifted<T: Scalar> {
    /// Begins with a whole pack.
    aligned: Global<T>,
    /// The index of the first element in that pack.
    lead: u32,
}

impl<T: Scalar> Shifted<T> {
    /// `len` elements of `input`, starting at `start`; `None` if a pack may extend past `input`.
    #[device]
    pub(in crate::grid) fn of(input: Global<T>, start: usize, len: usize) -> Option<Self> {
        let head = input.unaligned_head();
        if start < head || start + len + 2 * T::PACK > input.len() {
            return None;
        }
        let lead = (start - head) % T::PACK;
        Some(Self {
            aligned: input.part(start - lead, lead + len + 2 * T::PACK),
            lead: lead as u32,
        })
    }

    /// The pack that starts at element `at`. The rest of the pack may be past the last element.
    #[device]
    pub(in crate::grid) fn read_pack(self, at: usize) -> T::Pack<T> {
        let at = self.lead + at as u32;
        let (pack, past) = (at / T::PACK as u32, at % T::PACK as u32);
        let load = |pack: u32| {
            let first = pack as usize * T::PACK;
            // Cached in the L1, because two lanes need each pack.
            self.aligned.read_pack(first, CacheHint::Default)
        };
        shift::<T>(load(pack), load(pack + 1), past)
    }
}

/// The pack that begins `past` elements into `a`, less than a whole pack, and continues in `b`.
#[inline(always)]
fn shift<T: Scalar>(a: T::Pack<T>, b: T::Pack<T>, past: u32) -> T::Pack<T> {
    // SAFETY: a pack is 16 bytes of plain numbers, without padding, and so are four words.
    let words = |pack: &T::Pack<T>| unsafe { transmute_copy::<T::Pack<T>, [u32; 4]>(pack) };
    let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (words(&a), words(&b));
    let bytes = past * size_of::<T>() as u32;
    // Shifts by two words, one word and half a word, written out to stay in registers.
    let by = |bit: u32, from: u32, further: u32| if bytes & bit != 0 { further } else { from };
    let c0 = by(8, a0, a2);
    let c1 = by(8, a1, a3);
    let c2 = by(8, a2, b0);
    let c3 = by(8, a3, b1);
    let c4 = by(8, b0, b2);
    let c5 = by(8, b1, b3);
    let d0 = by(4, c0, c1);
    let d1 = by(4, c1, c2);
    let d2 = by(4, c2, c3);
    let d3 = by(4, c3, c4);
    let d4 = by(4, c4, c5);
    let half = |low: u32, high: u32| by(2, low, low >> 16 | high << 16);
    let shifted = [half(d0, d1), half(d1, d2), half(d2, d3), half(d3, d4)];
    // SAFETY: four words are 16 bytes without padding, as is a pack, and all bit patterns are
    // valid.
    unsafe { transmute_copy::<[u32; 4], T::Pack<T>>(&shifted) }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn a_pack_can_begin_at_any_element_of_another() {
        let (a, b) = ([0u16, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]);
        for past in 0..8 {
            let expected: [u16; 8] = core::array::from_fn(|i| past as u16 + i as u16);
            assert_eq!(shift::<u16>(a, b, past), expected);
        }
        assert_eq!(shift::<u32>([0, 1, 2, 3], [4, 5, 6, 7], 3), [3, 4, 5, 6]);
        assert_eq!(shift::<u64>([0, 1], [2, 3], 1), [1, 2]);
    }
}
