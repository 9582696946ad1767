//! The part of an array that one warp filters.

use super::bracket::Span;
use crate::grid::sort::{Order, Word};
use crate::op::Sum;
use crate::warp;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_vote_any};

/// Rows of a group. A row is one pack of each lane.
pub(super) const GROUP: usize = 4;

/// Elements of a row.
#[must_use]
pub const fn row_len<W: Scalar>() -> usize {
    WARP_SIZE as usize * W::PACK
}

/// Rows that a warp filters together: the counts of their keys fit in one word.
#[must_use]
pub const fn rows_together<W: Scalar>() -> usize {
    if W::PACK <= 4 { GROUP } else { GROUP / 2 }
}

/// Bits of a word of flags for a row, and of a word of counts.
const fn bits<W: Scalar>() -> u32 {
    32 / rows_together::<W>() as u32
}

/// The bit of an element.
const fn flag<W: Scalar>(row: usize, place: usize) -> u32 {
    1 << (bits::<W>() * row as u32 + place as u32)
}

/// The chunk of a warp.
#[derive(Clone, Copy)]
pub(super) struct Chunk<W> {
    input: Global<W>,
    /// The indices of its elements.
    pub(super) start: usize,
    end: usize,
    lane: u32,
}

/// Packs of a lane.
struct Group<W: Scalar> {
    packs: [W::Pack<W>; GROUP],
    /// Which elements exist, as [flags](flag).
    there: u32,
}

/// Keys that a chunk has.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// Of all lanes.
    pub(super) inside: u32,
    /// Of this lane.
    pub(super) below: u32,
    /// Whether this lane has a key with the last number, if it was asked for.
    pub(super) has_last: bool,
}

impl<W: Word> Chunk<W> {
    /// Chunk `number` of an array in chunks of `rows` rows, for one lane.
    #[inline(always)]
    pub(super) fn new(input: Global<W>, number: u32, rows: u32, lane: u32) -> Self {
        let len = rows as usize * row_len::<W>();
        let start = (number as usize * len).min(input.len());
        Self { input, start, end: (start + len).min(input.len()), lane }
    }

    /// The number of its elements.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.end - self.start
    }

    /// Part `number` of `parts` of this chunk.
    #[inline(always)]
    pub(super) fn part(self, number: u32, parts: u32) -> Self {
        let len = self.len().div_ceil((parts as usize) * row_len::<W>()) * row_len::<W>();
        let start = (self.start + number as usize * len).min(self.end);
        Self { start, end: (start + len).min(self.end), ..self }
    }

    /// Calls `each` with the keys in `span`: the number of earlier ones in the chunk, the key, and
    /// its index in the chunk. Also counts the keys below, and looks for those of `last`. Called by
    /// all lanes of a warp.
    #[inline(always)]
    pub(super) fn filter<O: Order<Word = W>>(
        self,
        order: O,
        span: Span<W>,
        last: Option<Span<W>>,
        each: impl Fn(u32, W, u32),
    ) -> Found {
        let mut found = Found { inside: 0, below: 0, has_last: false };
        let mut first = self.start;
        while first < self.end {
            let group = self.load(first);
            let below = group.flags(|key| span.is_below(order.place(key)));
            let inside = group.flags(|key| span.contains(order.place(key)));
            found.below += below.count_ones();
            if let Some(last) = last {
                found.has_last |= group.flags(|key| last.contains(order.place(key))) != 0;
            }
            if warp_vote_any(FULL_MASK, inside != 0) {
                let start = first + self.lane as usize * W::PACK;
                found.inside += each_flag::<W>(inside, |rank, offset| {
                    // They are few: read again, because the packs cannot be indexed.
                    let index = start + offset;
                    each(found.inside + rank, self.input.read(index), (index - self.start) as u32);
                });
            }
            first += rows_together::<W>() * row_len::<W>();
        }
        found
    }

    /// Loads the lane's packs from the rows that begin at element `first`.
    #[inline(always)]
    fn load(self, first: usize) -> Group<W> {
        let all = rows_together::<W>() * row_len::<W>();
        let first_pack = first + self.lane as usize * W::PACK;
        if first + all <= self.end && self.input.unaligned_head() == 0 {
            let pack = |row: usize| {
                if row < rows_together::<W>() {
                    self.input.read_pack(first_pack + row * row_len::<W>(), CacheHint::Streaming)
                } else {
                    Pack::splat(W::default())
                }
            };
            return Group { packs: Pack::from_fn(pack), there: u32::MAX };
        }
        let mut there = 0;
        let packs = Pack::from_fn(|row| {
            Pack::from_fn(|place| {
                let at = first_pack + row * row_len::<W>() + place;
                if row < rows_together::<W>() && at < self.end {
                    there |= flag::<W>(row, place);
                    self.input.read(at)
                } else {
                    W::default()
                }
            })
        });
        Group { packs, there }
    }
}

impl<W: Word> Group<W> {
    /// The flags of the keys that `is` accepts.
    #[inline(always)]
    fn flags(&self, is: impl Fn(W) -> bool) -> u32 {
        let mut flags = 0;
        self.packs.for_each(|row, pack| {
            pack.for_each(|place, key| {
                if row < rows_together::<W>() && is(key) {
                    flags |= flag::<W>(row, place);
                }
            });
        });
        flags & self.there
    }
}

/// Calls `each` with the keys of these flags: the number of earlier ones in the warp's rows, and how
/// far the key is behind the lane's first. Returns how many all lanes have. Called by all lanes of a
/// warp.
#[inline(always)]
fn each_flag<W: Scalar>(flags: u32, each: impl Fn(u32, usize)) -> u32 {
    let counts = counts::<W>(flags);
    let scanned = warp::scan(Sum::<u32>::new(), counts);
    let (before, rows) = (scanned - counts, warp::total(scanned));
    let mut left = flags;
    while left != 0 {
        let bit = left.trailing_zeros();
        left &= left - 1;
        let (row, place) = (bit / bits::<W>(), bit % bits::<W>());
        let first = row * bits::<W>();
        let in_row = before >> first & (u32::MAX >> (32 - bits::<W>()));
        let in_lane = (flags >> first & ((1 << place) - 1)).count_ones();
        let rank = sum::<W>(rows & ((1 << first) - 1)) + in_row + in_lane;
        each(rank, row as usize * row_len::<W>() + place as usize);
    }
    sum::<W>(rows)
}

/// The sum of the counts of all rows.
#[inline(always)]
fn sum<W: Scalar>(counts: u32) -> u32 {
    let halves =
        if W::PACK <= 4 { (counts & 0x00FF_00FF) + (counts >> 8 & 0x00FF_00FF) } else { counts };
    (halves & 0xFFFF) + (halves >> 16)
}

/// How many bits each row has in a word of flags.
#[inline(always)]
fn counts<W: Scalar>(flags: u32) -> u32 {
    let pairs = flags - (flags >> 1 & 0x5555_5555);
    let fours = (pairs & 0x3333_3333) + (pairs >> 2 & 0x3333_3333);
    if W::PACK <= 4 {
        return fours;
    }
    let eights = (fours + (fours >> 4)) & 0x0F0F_0F0F;
    if W::PACK == 8 { eights } else { (eights + (eights >> 8)) & 0x00FF_00FF }
}
