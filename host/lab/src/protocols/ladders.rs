//! The rungs of the ladders: sums, scans and sorts from one thread or block up, each with different
//! barriers.

use super::{Protocol, right};
use crate::ladder::Ladder;
use gridsync::device::{Device, EmulatorConfig};
use gridsync_lab_kernels::ladder::sorts::TILE;
use gridsync_verify::{Input, sample};

/// Enough elements for several blocks, and a remainder. The higher rungs process more per block.
const FEW: usize = 2600;
const MANY: usize = 9000;

/// The rungs of a ladder, except those that are the library's.
pub(super) fn rungs<L: Ladder<Launched: Copy + Send + Sync + 'static>>() -> Vec<Protocol> {
    let own = L::rungs().into_iter().filter(|rung| !rung.name.starts_with("the library's"));
    let all = own.map(|rung| {
        let name = format!("ladder/{}-{}-{}", L::KIND.name, rung.number, words(rung.name));
        let run = move |device: &Device| {
            let len = match (L::KIND.name, rung.number) {
                ("sum", ..14) | ("scan", ..7) => FEW,
                ("sort", number) => keys(number),
                _ => MANY,
            };
            let input = sample::<L::Element>(Input::Values, len.min(rung.at_most), 7);
            let mut ladder = L::new(device, &input)?;
            let plan = ladder.plan(&rung, input.len())?;
            right(ladder.fault(&rung, &input, &plan)?)
        };
        // Few resident blocks, so that some have several tiles.
        let config = EmulatorConfig { multiprocessors: 1, ..EmulatorConfig::default() };
        Protocol { config, ..Protocol::new(name, run) }
    });
    all.collect()
}

/// The keys of a rung that sorts, few because there are many launches: several pairs for some
/// threads, several blocks, two tiles, or three tiles, of which the last looks past an aggregate.
fn keys(number: u32) -> usize {
    match number {
        1 | 2 => 600,
        3..6 => TILE + 52,
        _ => 2 * TILE + 4,
    }
}

/// The words of a name, with hyphens between them.
fn words(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}
