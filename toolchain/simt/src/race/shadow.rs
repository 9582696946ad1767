//! The cells of all memory that has been touched.

use super::cell::{CELL_BYTES, Cell};
use std::collections::HashMap;

/// Number of cells created together, when the first of them is touched.
const PAGE_CELLS: usize = 64;

/// The cells of one region.
type Pages = Vec<Option<Box<[Cell; PAGE_CELLS]>>>;

/// Bytes of one region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The region's number.
    pub(crate) region: u64,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

impl Span {
    /// The numbers of the cells that it touches, each with a bit for each byte.
    pub(super) fn cells(self) -> impl Iterator<Item = (usize, u8)> {
        let (start, end) = (self.offset, self.offset + self.bytes);
        (start / CELL_BYTES..end.div_ceil(CELL_BYTES)).map(move |cell| {
            let from = start.max(cell * CELL_BYTES) % CELL_BYTES;
            let to = end.min((cell + 1) * CELL_BYTES) - cell * CELL_BYTES;
            (cell, (0xf << from & 0xf >> (CELL_BYTES - to)) as u8)
        })
    }
}

/// The cells of all regions. A region's number is never reused, so no cells need to be dropped when
/// a block ends.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: Vec<Pages>,
    /// Index of the pages of each region.
    of: HashMap<u64, usize>,
    /// The last region looked up: consecutive accesses are often to one region.
    last: Option<(u64, usize)>,
}

impl Shadow {
    /// A cell of a region.
    pub(super) fn cell(&mut self, region: u64, cell: usize) -> &mut Cell {
        let at = match self.last {
            Some((last, at)) if last == region => at,
            _ => {
                let next = self.pages.len();
                let at = *self.of.entry(region).or_insert(next);
                if at == next {
                    self.pages.push(Pages::new());
                }
                self.last = Some((region, at));
                at
            }
        };
        let (pages, page) = (&mut self.pages[at], cell / PAGE_CELLS);
        if pages.len() <= page {
            pages.resize_with(page + 1, || None);
        }
        let new = || Box::new(core::array::from_fn(|_| Cell::default()));
        &mut pages[page].get_or_insert_with(new)[cell % PAGE_CELLS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_touches_exactly_its_bytes() {
        let cells = |offset, bytes| {
            let region = 0;
            Span { region, offset, bytes }.cells().collect::<Vec<_>>()
        };
        assert_eq!(cells(6, 2), [(1, 0b1100)]);
        assert_eq!(cells(5, 1), [(1, 0b0010)]);
        assert_eq!(cells(8, 8), [(2, 0xf), (3, 0xf)]);
        assert_eq!(cells(3, 6), [(0, 0b1000), (1, 0xf), (2, 0b0001)]);
    }
}
