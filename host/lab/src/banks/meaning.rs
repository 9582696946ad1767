//! The meaning of the numbers of `gridsync lab banks`, worded depending on the numbers.

use super::{Load, Tile, WARPS, WIDTHS};
use crate::display::Page;
use crate::display::words::and;

/// Explains the loads.
pub(super) fn of_loads(page: &mut Page, loads: &[Load]) {
    let each: Vec<_> = WIDTHS.iter().filter_map(|width| extremes(width.bytes, loads)).collect();
    page.means(format!("Strides from 1 on. {}.", each.join("; ")));
    page.means(
        "An even stride shares factors with the number of banks, a power of two the most: many \
         lanes come to few banks. An odd stride shares none, and the lanes that go together find \
         a bank each. A warp that loads 8 or 16 bytes for each lane wants two or four times what \
         the banks give in a pass, so two or four passes are no conflict.",
    );
    let broadcast = loads.iter().filter(|load| load.stride == 0).map(|load| {
        let Load { bytes, counted, together, .. } = load;
        match together.cycles {
            Some(cycles) => format!("{cycles:.1} cycles for {bytes} bytes"),
            None => format!("{counted} passes for {bytes} bytes"),
        }
    });
    let fewer = |load: &Load| {
        let cycles = load.together.cycles;
        load.stride == 0 && cycles.is_some_and(|cycles| cycles < 0.9 * load.rule as f64)
    };
    let shared = if loads.iter().any(fewer) {
        " That is fewer than the rule says: it cuts the warp into halves or quarters, and here \
         parts that want the same words shared a pass. The rule is the most that a load takes."
    } else {
        ""
    };
    page.means(format!(
        "Stride 0: lanes that want the same word get it in the same pass. All lanes at one element \
         took {}.{shared}",
        and(broadcast.collect()),
    ));
    of_cycles(page, loads);
}

/// The strides with the most passes and the fewest. `None` if this width was not requested.
fn extremes(bytes: u32, loads: &[Load]) -> Option<String> {
    let loads = loads.iter().filter(|load| load.bytes == bytes && load.stride > 0);
    let loads: Vec<_> = loads.collect();
    let most = loads.iter().map(|load| load.counted).max()?;
    let least = loads.iter().map(|load| load.counted).min()?;
    let strides = |passes| {
        let these = loads.iter().filter(move |load| load.counted == passes);
        these.map(|load| load.stride)
    };
    let odd = loads.iter().map(|load| load.stride).filter(|stride| stride % 2 == 1);
    let best = if strides(least).eq(odd) {
        "all odd strides".to_owned()
    } else {
        format!("stride {}", and(strides(least).map(|stride| stride.to_string()).collect()))
    };
    let worst = and(strides(most).map(|stride| stride.to_string()).collect());
    Some(format!("{bytes} bytes: {most} passes at stride {worst}, {least} at {best}"))
}

/// Explains how the cycles of a GPU compare with the passes.
fn of_cycles(page: &mut Page, loads: &[Load]) {
    // By the rule, half warps and quarter warps are served separately even if they access the same
    // words.
    let timed = loads.iter().filter(|load| load.stride > 0);
    let timed: Vec<_> =
        timed.filter_map(|load| Some((load, load.together.cycles?, load.alone?))).collect();
    let mut ratios: Vec<_> =
        timed.iter().map(|(load, cycles, _)| (cycles / load.rule as f64, *load)).collect();
    ratios.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    if let [(least, below), .., (most, above)] = ratios[..] {
        let (middle, _) = ratios[ratios.len() / 2];
        page.means(format!(
            "With {WARPS} warps together a pass took {middle:.2} cycles in the middle of all \
             strides, {least:.2} at the least ({} bytes, stride {}) and {most:.2} at the most ({} \
             bytes, stride {}).",
            below.bytes, below.stride, above.bytes, above.stride,
        ));
    }
    let fewest = timed.iter().min_by_key(|(load, ..)| load.rule);
    let most = timed.iter().max_by_key(|(load, ..)| load.rule);
    if let (Some((few, _, quick)), Some((many, _, slow))) = (fewest, most) {
        page.means(format!(
            "A warp alone waited {:.0} cycles for a load of {} and {:.0} for one of {} passes. It \
             waits for the latency of shared memory and for the arithmetic between two loads, which \
             other warps can hide; nothing hides the passes.",
            quick, few.rule, slow, many.rule,
        ));
    }
}

/// Explains the tiles.
pub(super) fn of_tiles(page: &mut Page, tiles: &[Tile]) {
    let [plain, padded, swizzled] = tiles else { return };
    page.means(format!(
        "The tile: a column of the plain layout lies in one bank, so each of its loads goes one \
         lane at a time: {} passes in all, {} times as many as in the padded layout. There, each \
         row begins one bank later than the last, for {} words more. The swizzled layout exchanges \
         the columns of each row (column ^ row), takes {} passes, and needs no more words.",
        plain.counted,
        (plain.counted as f64 / padded.counted as f64 * 10.0).round() / 10.0,
        padded.words - plain.words,
        swizzled.counted,
    ));
    let cycles = [plain, padded, swizzled].map(|tile| tile.cycles.cycles);
    if let [Some(plain), Some(padded), Some(swizzled)] = cycles {
        page.means(format!(
            "In cycles, with the two barriers of the block that each tile needs: plain {plain:.0}, \
             padded {padded:.0}, swizzled {swizzled:.0}. The padded tile was {:.1} times as fast as \
             the plain one.",
            plain / padded,
        ));
    }
}
