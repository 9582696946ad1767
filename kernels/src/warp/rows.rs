//! Eight values of each lane at once: eight **rows**, with few shuffles.
//!
//! Where the lanes of a pair combine two rows, each keeps one and sends the other. So a step halves
//! the rows that a lane has, and after three steps it has one, of eight lanes.
//!
//! Shuffles go through the pipe of shared memory. In the scan by bulk copies of `u64` on an H200 they
//! had kept it busy for half of the time, now it is a fifth, and the scan takes 5 % less (2026-11-22).

use super::shuffle::swap;
use crate::op::Operation;
use cuda_std::device;
use cuda_std::memory::Pack;
use cuda_std::warp::lane_id;

/// Rows that are combined at once.
pub const ROWS: usize = 8;

/// For each row the balanced tree over all lanes, neighbours first: what [`reduce`](super::reduce())
/// gives of it alone. Lane i has that of row i mod 8.
///
/// Called by all 32 lanes of the warp. Orders no memory. Nine shuffles of a value, forty if row by
/// row.
#[device]
pub fn reduce_rows<O: Operation>(op: O, rows: [O::Accumulator; ROWS]) -> O::Accumulator {
    let both = |pair: Pair<O>| pair.both(op);
    let four: [_; 4] = Pack::from_fn(|i| both(Pair::of_two(rows[2 * i], rows[2 * i + 1], 1)));
    let two: [_; 2] = Pack::from_fn(|i| both(Pair::of_two(four[2 * i], four[2 * i + 1], 2)));
    let row = both(Pair::of_two(two[0], two[1], 4));
    let row = both(Pair::of_one(row, 8));
    both(Pair::of_one(row, 16))
}

/// For each row what lies before this lane: the rows before, and the lanes before in its own. And what
/// all rows combine to, in all lanes.
///
/// Called by all 32 lanes of the warp. Orders no memory. Operands stay in order, but are bracketed in
/// another way than by [`scan`](super::scan()). Nineteen shuffles of a value, 56 if row by row.
#[device]
pub fn scan_rows<O: Operation>(
    op: O,
    rows: [O::Accumulator; ROWS],
) -> ([O::Accumulator; ROWS], O::Accumulator) {
    let by_1: [Pair<O>; 4] = Pack::from_fn(|i| Pair::of_two(rows[2 * i], rows[2 * i + 1], 1));
    let by_2: [Pair<O>; 2] =
        Pack::from_fn(|i| Pair::of_two(by_1[2 * i].both(op), by_1[2 * i + 1].both(op), 2));
    let by_4 = Pair::of_two(by_2[0].both(op), by_2[1].both(op), 4);
    // Now lane i has row i mod 8, of eight lanes: first the lanes before those, then the rows before.
    let by_8 = Pair::of_one(by_4.both(op), 8);
    let by_16 = Pair::of_one(by_8.both(op), 16);
    let lanes = by_16.before(op, by_8.before(op, op.identity()));
    let odd = Pair::of_one(by_16.both(op), 1);
    let pair = Pair::of_one(odd.both(op), 2);
    let half = Pair::of_one(pair.both(op), 4);
    let rows = half.before(op, pair.before(op, odd.before(op, op.identity())));
    // And all the way back.
    let [low, high] = by_4.before_each(op, op.combine(rows, lanes));
    let [[a, b], [c, d]] = [by_2[0].before_each(op, low), by_2[1].before_each(op, high)];
    let [[a, b], [c, d], [e, f], [g, h]] = [
        by_1[0].before_each(op, a),
        by_1[1].before_each(op, b),
        by_1[2].before_each(op, c),
        by_1[3].before_each(op, d),
    ];
    ([a, b, c, d, e, f, g, h], half.both(op))
}

/// What this lane has of something, and what the lane has that is `apart` from it.
#[derive(Clone, Copy)]
struct Pair<O: Operation> {
    own: O::Accumulator,
    other: O::Accumulator,
    apart: u32,
}

impl<O: Operation> Pair<O> {
    /// Of a row that both lanes keep.
    #[device]
    fn of_one(own: O::Accumulator, apart: u32) -> Self {
        let other = swap(own, apart);
        Self { own, other, apart }
    }

    /// Of two rows: the lower lane keeps `first`.
    #[device]
    fn of_two(first: O::Accumulator, second: O::Accumulator, apart: u32) -> Self {
        let (own, sent) = match is_upper(apart) {
            false => (first, second),
            true => (second, first),
        };
        let other = swap(sent, apart);
        Self { own, other, apart }
    }

    /// What both lanes combine to.
    #[inline(always)]
    fn both(self, op: O) -> O::Accumulator {
        if O::COMMUTATIVE || !is_upper(self.apart) {
            op.combine(self.own, self.other)
        } else {
            op.combine(self.other, self.own)
        }
    }

    /// What lies before this lane, of which `before` lies in its own half.
    #[inline(always)]
    fn before(self, op: O, before: O::Accumulator) -> O::Accumulator {
        match is_upper(self.apart) {
            false => before,
            true => op.combine(self.other, before),
        }
    }

    /// What lies before this lane in each of two rows, if `before` lies before both lanes in the row
    /// that it kept.
    #[device]
    fn before_each(self, op: O, before: O::Accumulator) -> [O::Accumulator; 2] {
        let is_upper = is_upper(self.apart);
        let lower = if is_upper { self.other } else { self.own };
        let behind_lower = op.combine(before, lower);
        let (own, others) = match is_upper {
            false => (before, behind_lower),
            true => (behind_lower, before),
        };
        let sent_back = swap(others, self.apart);
        match is_upper {
            false => [own, sent_back],
            true => [sent_back, own],
        }
    }
}

/// Whether this lane is the upper one of two.
#[inline(always)]
fn is_upper(apart: u32) -> bool {
    lane_id() & apart != 0
}
