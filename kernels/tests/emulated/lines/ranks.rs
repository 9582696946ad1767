//! Selections by rank.

use super::on;
use crate::support::Zeros;
use gridsync_kernels::grid::rank::{self, Bracket, Candidates, Chunks, FOUND, OPEN, Places};
use gridsync_kernels::grid::sort::Floats;

#[test]
fn faults_in_selections_by_rank_name_the_caller() {
    let floats = Floats::numpy(f32::INFINITY.to_bits(), true);
    let bracket = Bracket { low: 2, high: OPEN, looks_for_last: 1 };
    let chunks = |zeros: Zeros| Chunks {
        input: zeros.of(0, 3000),
        rows: 4,
        room: 10,
        counts: zeros.of(3, 8),
        keys: zeros.of(4, 80),
        offsets: zeros.of::<u32>(3, 100).part(20, 80),
    };
    let candidates = |zeros: Zeros| Candidates {
        first: 0,
        keys: zeros.of::<u32>(4, 180).part(80, 100),
        positions: zeros.of::<u64>(2, 140).part(40, 100),
    };
    let places = |zeros: Zeros| Places {
        sorted: zeros.of(1, 20),
        positions: [zeros.of(2, 20), zeros.of(2, 0)],
        first: 3,
    };
    walk! {
        on(1, 32) => |zeros|
            rank::sample(zeros.of::<u32>(0, 90), zeros.of(1, 9), zeros.of(2, FOUND), 10);
        on(1, 256) => |zeros| rank::filter(
            floats, chunks(zeros), (zeros.of(1, 9), bracket), zeros.of(2, FOUND));
        on(1, 256) => |zeros| rank::collect(
            floats, chunks(zeros), (zeros.of(1, 9), bracket), candidates(zeros));
        on(1, 32) => |zeros| rank::take(
            zeros.of::<u32>(0, 90), places(zeros), zeros.of(3, 9), zeros.of(4, 9));
        on(1, 32) => |zeros| rank::take_rows(
            zeros.of::<u32>(0, 90), zeros.of(1, 90), (10, 2), zeros.of(3, 18), zeros.of(4, 18));
    }
}
