//! Drawings of a block: the warps in its planes, and the threads in its warps.

use super::{LANES, Record, expected};
use crate::display::svg::CellRow;
use cuda_std::Dim3;

/// Maximum number of drawn threads per row, limited by the width of a line.
const MOST_COLUMNS: u32 = 64;
/// Maximum number of drawn rows per plane.
const MOST_ROWS: u32 = 16;
/// Maximum number of drawn planes.
const MOST_PLANES: u32 = 4;
/// Marks the parts that are not drawn.
const CUT: &str = "…";
/// A lane without a thread.
const IDLE: char = '·';

/// The planes of the block, a line for each row, and for each thread the number of its warp in base
/// 36.
pub(super) fn planes(block: Dim3) -> String {
    let mut lines = Vec::new();
    for z in 0..block.z.min(MOST_PLANES) {
        if block.z > 1 {
            lines.push(format!("  z {z}"));
        }
        for y in 0..block.y.min(MOST_ROWS) {
            let warp = |x| digit(block.linear(Dim3::new(x, y, z)) as u32 / LANES);
            let row: String = (0..block.x.min(MOST_COLUMNS)).map(warp).collect();
            let cut = if block.x > MOST_COLUMNS { CUT } else { "" };
            lines.push(format!("  y {y:<4} {row}{cut}"));
        }
        if block.y > MOST_ROWS {
            lines.push(format!("  {CUT} up to y {}", block.y - 1));
        }
    }
    if block.z > MOST_PLANES {
        lines.push(format!("  {CUT} up to z {}", block.z - 1));
    }
    lines.join("\n")
}

/// The warps with their lanes: for each lane the row of its thread, counted through all planes.
pub(super) fn rows(block: Dim3) -> Vec<CellRow> {
    let threads = block.volume() as u32;
    let row = |warp: u32| {
        let numbers = warp * LANES..(warp + 1) * LANES;
        let cells =
            numbers.map(|number| (number < threads).then(|| (number / block.x).to_string()));
        CellRow { name: format!("warp {warp}"), cells: cells.collect() }
    };
    (0..threads.div_ceil(LANES)).map(row).collect()
}

/// A line for each warp: for each lane the row of its thread in base 36, counted through all planes
/// and from 0 again after 35; and the positions of the first and the last thread.
pub(super) fn warps(block: Dim3) -> String {
    let threads = block.volume() as u32;
    let line = |warp: u32| {
        let lanes = warp * LANES..(warp + 1) * LANES;
        let row = |number| if number < threads { digit(number / block.x) } else { IDLE };
        let drawn: String = lanes.clone().map(row).collect();
        let position = |number| {
            let Record { position: Dim3 { x, y, z }, .. } = expected(block, number);
            match (block.y, block.z) {
                (1, 1) => x.to_string(),
                (_, 1) => format!("({x},{y})"),
                _ => format!("({x},{y},{z})"),
            }
        };
        let (first, last) = (position(lanes.start), position(threads.min(lanes.end) - 1));
        format!("  warp {} {drawn}  {first} to {last}", digit(warp))
    };
    (0..threads.div_ceil(LANES)).map(line).collect::<Vec<_>>().join("\n")
}

/// The last digit of a number in base 36.
fn digit(number: u32) -> char {
    char::from_digit(number % 36, 36).expect("the rest is less than 36")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_continues_in_the_next_row_and_the_last_one_has_idle_lanes() {
        let block = Dim3::new(40, 2, 1);
        let rows = planes(block);
        let rows: Vec<_> = rows.lines().map(|line| line.split_whitespace().last()).collect();
        let (zeros, ones) = ("0".repeat(32), "1".repeat(8));
        assert_eq!(rows[0], Some((zeros + &ones).as_str()));
        assert_eq!(rows[1], Some(("1".repeat(24) + &"2".repeat(16)).as_str()));
        let warps = warps(block);
        let warps: Vec<_> = warps.lines().collect();
        assert!(warps[1].contains(&("0".repeat(8) + &"1".repeat(24))), "{warps:?}");
        assert!(warps[1].ends_with("(32,0) to (23,1)"), "{warps:?}");
        assert!(warps[2].contains(&("1".repeat(16) + &"·".repeat(16))), "{warps:?}");
    }

    #[test]
    fn a_large_block_is_cut_to_the_width_of_a_terminal() {
        for (x, y, z) in [(1024, 1, 1), (1, 1024, 1), (1, 16, 64), (128, 8, 1), (10, 10, 10)] {
            let block = Dim3::new(x, y, z);
            let drawn = planes(block) + "\n" + &warps(block);
            assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
            assert!(drawn.lines().count() <= 110, "{drawn}");
            assert!(drawn.contains(CUT), "{drawn}");
        }
    }
}
