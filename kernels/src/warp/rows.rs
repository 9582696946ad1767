//! Eight values per lane at once: eight **rows**, with few shuffles.
//!
//! When the two lanes of a pair combine two rows, each keeps one and sends the other. So each step
//! halves the rows of a lane. After three steps a lane has one row, combined over eight lanes.
//!
//! Shuffles use the pipe of shared memory, which is also busy in the scan by bulk copies. With
//! fewer shuffles that scan is faster.

use super::shuffle::swap;
use crate::op::Operation;
use cuda_std::device;
use cuda_std::memory::Pack;
use cuda_std::warp::lane_id;

/// The number of rows that are combined at once.
pub const ROWS: usize = 8;

/// Combines each row over all lanes, by a balanced tree with neighbours first. The result is that
/// of [`reduce`](super::reduce()) on the row alone. Lane i gets the result of row i mod 8.
///
/// Called by all 32 lanes of the warp. Orders no memory. It shuffles nine values; row by row it
/// would be forty.
#[device]
pub fn reduce_rows<O: Operation>(op: O, rows: [O::Accumulator; ROWS]) -> O::Accumulator {
    let both = |pair: Pair<O>| pair.both(op);
    let four: [_; 4] = Pack::from_fn(|i| both(Pair::of_two(rows[2 * i], rows[2 * i + 1], 1)));
    let two: [_; 2] = Pack::from_fn(|i| both(Pair::of_two(four[2 * i], four[2 * i + 1], 2)));
    let row = both(Pair::of_two(two[0], two[1], 4));
    let row = both(Pair::of_one(row, 8));
    both(Pair::of_one(row, 16))
}

/// Returns for each row the combined values before this lane: of all earlier rows, and of the
/// earlier lanes of the row. Also returns, to all lanes, the combined value of all rows.
///
/// Called by all 32 lanes of the warp. Orders no memory. Operands stay in order, but are bracketed
/// differently than in [`scan`](super::scan()). It shuffles 19 values; row by row it would be 56.
#[device]
pub fn scan_rows<O: Operation>(
    op: O,
    rows: [O::Accumulator; ROWS],
) -> ([O::Accumulator; ROWS], O::Accumulator) {
    let by_1: [Pair<O>; 4] = Pack::from_fn(|i| Pair::of_two(rows[2 * i], rows[2 * i + 1], 1));
    let by_2: [Pair<O>; 2] =
        Pack::from_fn(|i| Pair::of_two(by_1[2 * i].both(op), by_1[2 * i + 1].both(op), 2));
    let by_4 = Pair::of_two(by_2[0].both(op), by_2[1].both(op), 4);
    // Now lane i has row i mod 8 over eight lanes. Next: the lanes before, then the rows before.
    let by_8 = Pair::of_one(by_4.both(op), 8);
    let by_16 = Pair::of_one(by_8.both(op), 16);
    let lanes = by_16.before(op, by_8.before(op, op.identity()));
    let odd = Pair::of_one(by_16.both(op), 1);
    let pair = Pair::of_one(odd.both(op), 2);
    let half = Pair::of_one(pair.both(op), 4);
    let rows = half.before(op, pair.before(op, odd.before(op, op.identity())));
    // The same steps backwards.
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

/// The values of this lane and of the lane whose index differs by the bit `apart`.
#[derive(Clone, Copy)]
struct Pair<O: Operation> {
    own: O::Accumulator,
    other: O::Accumulator,
    apart: u32,
}

impl<O: Operation> Pair<O> {
    /// One row, which both lanes keep.
    #[device]
    fn of_one(own: O::Accumulator, apart: u32) -> Self {
        let other = swap(own, apart);
        Self { own, other, apart }
    }

    /// Two rows: the lower lane keeps `first`, the upper lane `second`.
    #[device]
    fn of_two(first: O::Accumulator, second: O::Accumulator, apart: u32) -> Self {
        let (own, sent) = match is_upper(apart) {
            false => (first, second),
            true => (second, first),
        };
        let other = swap(sent, apart);
        Self { own, other, apart }
    }

    /// The values of both lanes combined.
    #[inline(always)]
    fn both(self, op: O) -> O::Accumulator {
        if O::COMMUTATIVE || !is_upper(self.apart) {
            op.combine(self.own, self.other)
        } else {
            op.combine(self.other, self.own)
        }
    }

    /// The combined values before this lane, if `before` are those before it in its own half.
    #[inline(always)]
    fn before(self, op: O, before: O::Accumulator) -> O::Accumulator {
        match is_upper(self.apart) {
            false => before,
            true => op.combine(self.other, before),
        }
    }

    /// The combined values before this lane in each of the two rows, if `before` are those before
    /// both lanes in the row that this lane kept.
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
