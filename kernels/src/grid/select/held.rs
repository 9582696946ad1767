//! A tile in registers: which elements are kept, and how many are kept before each.

use crate::grid::scan::Shape;
use crate::grid::tiles::Strip;
use crate::op::Sum;
use crate::warp;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_shuffle_idx};

/// Rows of a warp that fit in a lane's registers.
pub(super) const ROWS: usize = 8;

/// The packs of its warp's strip that a lane keeps: one of each row.
#[derive(Clone, Copy)]
pub(super) struct Held<T: Scalar> {
    pub(super) strip: Strip,
    pub(super) packs: [T::Pack<T>; ROWS],
    /// Which elements are in the array, as [flags](flag).
    pub(super) there: u32,
}

/// Bits of a row in a word of flags for elements of `T`: one for each element of a pack, and at
/// least four.
const fn bits<T: Scalar>() -> usize {
    match T::PACK {
        ..=4 => 4,
        pack => pack,
    }
}

/// Rows of a warp that fit in a word of flags, at most [`ROWS`].
#[must_use]
pub(super) const fn most_rows<T: Scalar>() -> usize {
    32 / bits::<T>()
}

/// The bit of an element. If a pack has fewer than four, some bits of a row stay 0.
#[inline(always)]
pub(super) const fn flag<T: Scalar>(row: usize, place: usize) -> u32 {
    1 << (bits::<T>() * row + place)
}

impl<T: Scalar> Held<T> {
    /// Loads this lane's packs. Elements past the end of the array have an arbitrary value.
    #[device]
    pub(super) fn load(strip: Strip, input: Global<T>) -> Self {
        const { assert!(T::PACK <= 8, "no count of a row fits in 16 bits") };
        if input.unaligned_head() == 0 && strip.is_whole(input.len()) {
            return Self {
                strip,
                packs: Pack::from_fn(|row| match row < most_rows::<T>() && row < strip.rows {
                    true => input.read_pack(strip.pack(row), CacheHint::Streaming),
                    false => Pack::splat(T::default()),
                }),
                there: (u32::MAX / ((1 << bits::<T>()) - 1) * ((1 << T::PACK) - 1))
                    & (u32::MAX >> (bits::<T>() * (most_rows::<T>() - strip.rows))),
            };
        }
        let mut there = 0;
        // The number of elements that exist from the lane's first pack to the end of the strip.
        let first = strip.pack(0).min(input.len());
        let left = (input.len() - first).min(strip.rows * Shape::row::<T>()) as u32;
        let packs = Pack::from_fn(|row| {
            Pack::from_fn(|place| match row * Shape::row::<T>() + place {
                at if row < most_rows::<T>() && (at as u32) < left => {
                    there |= flag::<T>(row, place);
                    input.read(first + at)
                }
                _ => T::default(),
            })
        });
        Self { strip, packs, there }
    }

    /// The flags of the elements that `keeps` accepts, called with the element and its index.
    #[inline(always)]
    pub(super) fn flags(self, keeps: impl Fn(T, usize) -> bool) -> u32 {
        let mut flags = 0;
        self.packs.for_each(|row, pack| {
            let first = self.strip.pack(row);
            pack.for_each(|place, element| {
                if row < most_rows::<T>() {
                    flags |= match keeps(element, first + place) {
                        true => flag::<T>(row, place),
                        false => 0,
                    };
                }
            });
        });
        flags
    }

    /// The flags of the elements that differ from the previous one, and of the first element of the
    /// array. Called by all lanes of the warp.
    #[device]
    pub(super) fn run_starts(self, input: Global<T>, lane: u32) -> u32
    where
        T: PartialEq,
    {
        let start = self.strip.start;
        let mut flags = match start {
            0 if lane == 0 => flag::<T>(0, 0),
            _ => 0,
        };
        // The element before the first lane's pack: from another warp, or from the previous row.
        let mut before_first = match start {
            1.. if lane == 0 && start <= input.len() => input.read(start - 1),
            _ => T::default(),
        };
        self.packs.for_each(|row, pack| {
            let last = pack[T::PACK - 1];
            let below = (lane + WARP_SIZE - 1) % WARP_SIZE;
            let (below, _) = warp_shuffle_idx(FULL_MASK, last, below, WARP_SIZE);
            let mut before = match lane {
                0 => before_first,
                _ => below,
            };
            before_first = below;
            pack.for_each(|place, element| {
                if row < most_rows::<T>() && element != before {
                    flags |= flag::<T>(row, place);
                }
                before = element;
            });
        });
        flags
    }
}

/// How many elements are kept before each pack of the warp: the counts of the even rows in one
/// word, those of the odd rows in another. A count has 8 bits if it is at most 128, otherwise 16.
#[derive(Clone, Copy)]
pub(super) struct Ranks {
    /// Kept by the lanes before this one.
    lanes: [u32; 2],
    /// Kept by all lanes.
    rows: [u32; 2],
    /// Bits per count.
    bits: usize,
}

impl Ranks {
    /// Counts the flags of all lanes of the warp, for elements of `T`. Called by all lanes.
    #[device]
    pub(super) fn of<T: Scalar>(kept: u32) -> Self {
        // Sums adjacent bits within the word: counts of two bits, of four, and of eight.
        let pairs = kept - (kept >> 1 & 0x5555_5555);
        let fours = (pairs & 0x3333_3333) + (pairs >> 2 & 0x3333_3333);
        let own = match bits::<T>() {
            4 => [fours & 0x0F0F_0F0F, fours >> 4 & 0x0F0F_0F0F],
            _ => {
                let eights = (fours & 0x0F0F_0F0F) + (fours >> 4 & 0x0F0F_0F0F);
                [eights & 0x00FF_00FF, eights >> 8 & 0x00FF_00FF]
            }
        };
        let scanned = warp::scan_each(Sum::<u32>::new(), own);
        Self {
            lanes: scanned.zip(own, |with, own| with - own),
            rows: [warp::total(scanned[0]), warp::total(scanned[1])],
            bits: 2 * bits::<T>(),
        }
    }

    /// The number of elements that the warp keeps.
    #[inline(always)]
    pub(super) fn total(self) -> u32 {
        let mut total = 0;
        [(); ROWS].for_each(|row, ()| total += self.of_row(self.rows, row));
        total
    }

    /// The number of elements kept before each pack of this lane, where `before` are kept before
    /// the warp.
    #[inline(always)]
    pub(super) fn after(self, mut before: u32) -> [u32; ROWS] {
        Pack::from_fn(|row| {
            let rank = before + self.of_row(self.lanes, row);
            before += self.of_row(self.rows, row);
            rank
        })
    }

    /// The count of a row; 0 for a row that does not fit in the words.
    #[inline(always)]
    fn of_row(self, counts: [u32; 2], row: usize) -> u32 {
        let at = self.bits * (row / 2);
        match at < 32 {
            true => counts[row % 2] >> at & ((1 << self.bits) - 1),
            false => 0,
        }
    }
}
