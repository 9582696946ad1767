//! The histories of locations, by address.

use super::shadow::Span;
use super::weak::History;
use core::cell::Cell;
use std::collections::HashMap;

/// The widest access in bytes.
const WIDEST: usize = 16;

/// The histories of all locations. Those that begin in the same line of 16 bytes are stored
/// together, so that an access finds the overlapping ones in two lines.
#[derive(Debug, Default)]
pub(super) struct Locations {
    regions: Vec<Vec<Line>>,
    /// Index of the lines of each region.
    of: HashMap<u64, usize>,
    /// The last region looked up, and the index of its lines if it has any. Consecutive accesses
    /// are often to one region.
    last: Cell<(u64, Option<usize>)>,
}

/// The histories of a line, each with the offset of its location.
type Line = Vec<(usize, History)>;

impl Locations {
    /// Index of the lines of a region, if any of its locations has a history.
    fn place(&self, region: u64) -> Option<usize> {
        match self.last.get() {
            (last, at) if last == region => at,
            _ => {
                let at = self.of.get(&region).copied();
                self.last.set((region, at));
                at
            }
        }
    }

    /// The history of the location at this offset of a region.
    pub(super) fn get(&self, (region, offset): (u64, usize)) -> Option<&History> {
        let line = self.regions[self.place(region)?].get(offset / WIDEST)?;
        line.iter().find(|(at, _)| *at == offset).map(|(_, history)| history)
    }

    /// Mutable access to the history of the location at this offset of a region.
    pub(super) fn get_mut(&mut self, (region, offset): (u64, usize)) -> Option<&mut History> {
        let at = self.place(region)?;
        let line = self.regions[at].get_mut(offset / WIDEST)?;
        line.iter_mut().find(|(at, _)| *at == offset).map(|(_, history)| history)
    }

    /// Adds a history for the location at this offset of a region, which must not have one.
    pub(super) fn insert(&mut self, (region, offset): (u64, usize), history: History) {
        let next = self.regions.len();
        let at = *self.of.entry(region).or_insert(next);
        if at == next {
            self.regions.push(Vec::new());
            self.last.set((region, Some(at)));
        }
        let (lines, line) = (&mut self.regions[at], offset / WIDEST);
        if lines.len() <= line {
            lines.resize_with(line + 1, Vec::new);
        }
        lines[line].push((offset, history));
    }

    /// Forgets the locations that overlap with `span`, and the one with exactly these bytes only if
    /// `also_itself`.
    pub(super) fn forget_overlaps(&mut self, span: Span, also_itself: bool) {
        let Some(at) = self.place(span.region) else { return };
        let lines = &mut self.regions[at];
        let end = span.offset + span.bytes;
        let stays = |start: usize, bytes: usize| {
            let same = (start, bytes) == (span.offset, span.bytes);
            start + bytes <= span.offset || start >= end || (same && !also_itself)
        };
        let first = span.offset.saturating_sub(WIDEST - 1) / WIDEST;
        for line in lines.iter_mut().take(end.div_ceil(WIDEST)).skip(first) {
            if !line.iter().all(|(start, history)| stays(*start, history.bytes)) {
                line.retain(|(start, history)| stays(*start, history.bytes));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_forgotten_when_other_bytes_of_it_are_written() {
        let mut locations = Locations::default();
        for (offset, bytes) in [(0, 4), (4, 4), (8, 8), (16, 4), (40, 12)] {
            locations.insert((7, offset), History::of(bytes));
        }
        let known = |locations: &Locations| {
            let offsets = [0, 4, 8, 16, 40].into_iter();
            offsets.filter(|&offset| locations.get((7, offset)).is_some()).collect::<Vec<_>>()
        };
        let span = |offset, bytes| Span { region: 7, offset, bytes };
        locations.forget_overlaps(span(4, 8), false);
        assert_eq!(known(&locations), [0, 16, 40]);
        locations.forget_overlaps(span(0, 4), false);
        assert_eq!(known(&locations), [0, 16, 40]);
        locations.forget_overlaps(span(0, 4), true);
        assert_eq!(known(&locations), [16, 40]);
        // Across a line boundary.
        locations.forget_overlaps(span(48, 4), false);
        assert_eq!(known(&locations), [16]);
        locations.forget_overlaps(Span { region: 8, ..span(16, 2) }, false);
        assert_eq!(known(&locations), [16]);
    }
}
