//! Distance of single lines of the L2 from each multiprocessor.

use super::LINE;
use cuda_std::prelude::*;
use cuda_std::time::clock;

/// Loads of a line before the timed ones: the first may fetch the line into the L2.
const WARM: u32 = 2;

/// Loads of the shorter of two timed runs.
const FEW: u32 = 8;

/// Additional loads of the longer run: enough to make the cost of reading the clock negligible.
pub const LOADS: u32 = 32;

/// Times sequential loads of each line separately, with at most one in flight.
///
/// The first word of each line holds its own index. Each block visits all lines. For each it times
/// a run of few loads, and a run with [`LOADS`] more; `cycles` gets the difference, and `found` the
/// index that the last load returned. Both have an element for each line of each block. Blocks
/// begin at different lines, so they rarely load the same one at the same time.
///
/// # Safety
///
/// `words` has whole lines whose first words hold their indices; `cycles` and `found` have an
/// element per line and block. Blocks have one thread.
#[kernel]
pub unsafe fn memory_lines(words: Global<u32>, cycles: Global<u32>, found: Global<u32>) {
    let lines = words.len() / LINE;
    let block = thread::block_index();
    let mut line = block * lines / thread::block_count();
    for _ in 0..lines {
        let mut at = (line * LINE) as u32;
        for _ in 0..WARM {
            at = words.load(at as usize, Ordering::Relaxed, Scope::Device);
        }
        let start = clock();
        for _ in 0..FEW {
            at = words.load(at as usize, Ordering::Relaxed, Scope::Device);
        }
        let middle = clock();
        for _ in 0..FEW + LOADS {
            at = words.load(at as usize, Ordering::Relaxed, Scope::Device);
        }
        let end = clock();
        let (short, long) = (middle - start, end - middle);
        cycles.write(block * lines + line, long.saturating_sub(short) as u32);
        found.write(block * lines + line, at);
        line = if line + 1 < lines { line + 1 } else { 0 };
    }
}
