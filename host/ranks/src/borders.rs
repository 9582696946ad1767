//! Elements that ranks exchange where tile boundaries do not match part boundaries.

use gridsync::primitives::parts::Cut;
use std::ops::Range;

/// What one rank does with its part of an array when the parts are given rather than cut.
///
/// A unit of the [`Cut`], such as a tile, belongs to the rank that holds its first element. Each
/// rank sends the head of its part, up to the start of the next unit, to the rank that owns the
/// previous unit. For a short part, the head may be the whole part.
///
/// ```text
/// units   |0       |1       |2       |3    |
/// parts   |0    |1     |2|3         |4     |
/// heads         |--|     |-|        |-|            of parts 1, 2 (all of it), 3 and 4
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Borders {
    /// The elements of the whole array whose leaves this rank computes.
    pub run: Range<usize>,
    /// How many elements at the head of its part this rank sends away, and to which rank. `None` if
    /// its part starts at a unit boundary.
    pub head: Option<(usize, u32)>,
    /// How many elements this rank receives. They follow its part.
    pub tail: usize,
}

impl Borders {
    /// The borders of rank `rank`, where `lens` is the length of each part.
    ///
    /// # Panics
    /// If the rank does not exist, or the lengths do not add up to the array that was cut.
    #[must_use]
    pub fn of(cut: Cut, lens: &[usize], rank: u32) -> Self {
        let mut start = 0;
        let parts = lens.iter().map(|len| {
            start += len;
            start - len..start
        });
        let parts: Vec<_> = parts.collect();
        let held = parts[rank as usize].clone();
        let run = cut.begun_in(&held);
        let head = held.end.min(run.start) - held.start;
        let unit = held.start / cut.unit() * cut.unit();
        let owner = parts.iter().position(|part| part.contains(&unit));
        Self {
            head: owner.filter(|_| head > 0).map(|owner| (head, owner as u32)),
            tail: if run.is_empty() { 0 } else { run.end - held.end },
            run,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_kernels::op::Sum;

    /// Checks that sends match receives and that the runs cover the array exactly once.
    fn fit(cut: Cut, lens: &[usize]) {
        let total: usize = lens.iter().sum();
        let all: Vec<_> = (0..lens.len()).map(|rank| Borders::of(cut, lens, rank as u32)).collect();
        let mut received = vec![0; lens.len()];
        let mut end = 0;
        for (borders, &len) in all.iter().zip(lens) {
            let sent = borders.head.map_or(0, |(head, _)| head);
            if let Some((head, owner)) = borders.head {
                received[owner as usize] += head;
            }
            if borders.run.is_empty() {
                assert_eq!((sent, borders.tail), (len, 0), "{lens:?}");
                continue;
            }
            assert_eq!(borders.run.start, end, "{lens:?}");
            assert_eq!(borders.run.len(), len - sent + borders.tail, "{lens:?}");
            end = borders.run.end;
        }
        assert_eq!(end, total, "{lens:?}");
        let tails: Vec<_> = all.iter().map(|borders| borders.tail).collect();
        assert_eq!(received, tails, "{lens:?}");
    }

    #[test]
    fn every_element_reaches_the_rank_of_its_tile() {
        let lens: [&[usize]; 9] = [
            &[0],
            &[2_000_000],
            &[0, 0, 0],
            &[3, 4, 5],
            &[0, 3, 0, 2_000_000, 0],
            &[700_001, 600_000, 700_003],
            &[16_384, 16_384, 2_000_000],
            &[1_500_000, 1, 1, 1, 100, 3, 500_000],
            &[1, 1_999_999],
        ];
        for lens in lens {
            let total = lens.iter().sum();
            fit(Cut::of::<Sum<f32>>(total), lens);
            fit(Cut::of::<Sum<i32>>(total), lens);
        }
    }

    #[test]
    fn short_parts_are_sent_whole_to_the_rank_of_their_tile() {
        let cut = Cut::of::<Sum<f32>>(2_000_000);
        let unit = cut.unit();
        let lens = [unit + 5, 1, 2, 2_000_000 - unit - 8];
        let borders = |rank| Borders::of(cut, &lens, rank);
        assert_eq!(borders(0), Borders { run: 0..2 * unit, head: None, tail: unit - 5 });
        let nothing = 2 * unit..2 * unit;
        assert_eq!(borders(1), Borders { run: nothing.clone(), head: Some((1, 0)), tail: 0 });
        assert_eq!(borders(2), Borders { run: nothing, head: Some((2, 0)), tail: 0 });
        let last = Borders { run: 2 * unit..2_000_000, head: Some((unit - 8, 0)), tail: 0 };
        assert_eq!(borders(3), last);
    }
}
