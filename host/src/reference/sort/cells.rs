//! Sorts what fits into the cache of a core: cells, each an item with its number.

use bytemuck::Pod;
use std::mem;

/// An item with the number by which it is sorted.
pub(super) trait Cell: Pod + Send {
    /// The number.
    fn number(self) -> u64;
}

/// A cell of items of type `T`.
pub(super) trait CellOf<T>: Cell {
    fn new(number: u64, item: T) -> Self;

    fn item(self) -> T;
}

/// Numbers of up to 32 bits, above an item of up to 32 bits.
impl Cell for u64 {
    #[inline(always)]
    fn number(self) -> u64 {
        self >> 32
    }
}

macro_rules! short {
    ($($item:ident)*) => {$(
        impl CellOf<$item> for u64 {
            #[inline(always)]
            fn new(number: u64, item: $item) -> Self {
                number << 32 | u64::from(item)
            }

            #[inline(always)]
            fn item(self) -> $item {
                self as $item
            }
        }
    )*};
}
short! { u8 u16 u32 }

/// The number, and an item.
impl Cell for [u64; 2] {
    #[inline(always)]
    fn number(self) -> u64 {
        self[0]
    }
}

impl CellOf<u64> for [u64; 2] {
    #[inline(always)]
    fn new(number: u64, item: u64) -> Self {
        [number, item]
    }

    #[inline(always)]
    fn item(self) -> u64 {
        self[1]
    }
}

/// Cells can be sorted as items too: they have their number.
impl<C: Cell> CellOf<C> for C {
    #[inline(always)]
    fn new(_: u64, item: C) -> C {
        item
    }

    #[inline(always)]
    fn item(self) -> C {
        self
    }
}

/// Bits of the longest digit: 2048 counters of 4 bytes fit into a first-level cache.
pub(in crate::reference) const WIDTH: u32 = 11;
/// Values of the longest digit.
pub(in crate::reference) const VALUES: usize = 1 << WIDTH;

/// Up to this many cells are sorted by insertion.
const FEW: usize = 32;
/// Cells are moved by this many bits more than their count has. If the bits are random, only about
/// one cell in 2^7 then has the same bits as another one.
const MORE: u32 = 7;

/// The number of bits up to the highest one that is set.
pub(super) fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// The digit of `width` bits from bit `shift`.
#[inline(always)]
pub(in crate::reference) fn digit(number: u64, shift: u32, width: u32) -> usize {
    // The remainder shows the compiler that each is below `VALUES`.
    (number >> shift) as usize & ((1 << width) - 1) & (VALUES - 1)
}

/// Sorts up to 2^32 cells by their numbers, stably, with as much spare memory.
///
/// Moves them by one digit after another, from the lowest to the highest, but skips low bits that
/// are rarely needed. Each run of cells that are equal in the other bits is then sorted separately.
pub(super) fn sort<C: Cell>(cells: &mut [C], spare: &mut [C], starts: &mut [u32; VALUES]) {
    if cells.len() <= FEW {
        return insert(cells);
    }
    let first = cells[0].number();
    let differing = cells.iter().fold(0, |all, cell| all | (cell.number() ^ first));
    if differing == 0 {
        return;
    }
    let (top, lowest) = (bits(differing), differing.trailing_zeros());
    let count_bits = cells.len().ilog2();
    let longest = (count_bits + 2).min(WIDTH);
    let all = top - lowest;
    let enough = all.min(count_bits + MORE);
    let passes = enough.div_ceil(longest);
    let moved = if all <= passes * longest { all } else { enough };
    let width = moved.div_ceil(passes);
    let low = top.saturating_sub(passes * width).max(lowest);
    let (mut from, mut to) = (&mut *cells, &mut *spare);
    for pass in 0..passes {
        move_by_digit(from, to, low + pass * width, width, starts);
        mem::swap(&mut from, &mut to);
    }
    if passes % 2 == 1 {
        to.copy_from_slice(from);
    }
    if low > lowest {
        for run in cells.chunk_by_mut(|x, y| x.number() >> low == y.number() >> low) {
            let len = run.len();
            sort(run, &mut spare[..len], starts);
        }
    }
}

/// Moves cells to `to`, in the order of a digit, stably.
fn move_by_digit<C: Cell>(
    from: &[C],
    to: &mut [C],
    shift: u32,
    width: u32,
    starts: &mut [u32; VALUES],
) {
    let used = 1 << width;
    starts[..used].fill(0);
    for cell in from {
        starts[digit(cell.number(), shift, width)] += 1;
    }
    let mut start = 0;
    for count in &mut starts[..used] {
        start += mem::replace(count, start);
    }
    for &cell in from {
        let start = &mut starts[digit(cell.number(), shift, width)];
        to[*start as usize] = cell;
        *start += 1;
    }
}

/// Sorts a few cells by insertion, stably.
fn insert<C: Cell>(cells: &mut [C]) {
    for end in 1..cells.len() {
        let cell = cells[end];
        let mut at = end;
        while at > 0 && cells[at - 1].number() > cell.number() {
            cells[at] = cells[at - 1];
            at -= 1;
        }
        cells[at] = cell;
    }
}
