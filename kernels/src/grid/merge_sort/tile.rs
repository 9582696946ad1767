//! Sorting and merging within a block: the work of one thread.

use super::keys::Keys;
use super::{EACH, Key};
use cuda_std::device;
use cuda_std::memory::Pack;

/// Two adjacent sorted runs in shared memory: `start..middle` and `middle..end`. One may be empty,
/// not both.
#[derive(Clone, Copy)]
pub(super) struct Runs {
    pub(super) start: u32,
    pub(super) middle: u32,
    pub(super) end: u32,
}

/// Sorts the keys of a thread, and counts the inversions. Odd-even transposition (Knuth, TAOCP 3,
/// 5.3.4) exchanges only neighbours, so each exchange removes exactly one inversion.
#[inline(always)]
pub(super) fn sort_held<K: Key>(mut held: [K; EACH]) -> ([K; EACH], u32) {
    let mut inversions = 0;
    [(); EACH].for_each(|round, ()| {
        [(); EACH / 2].for_each(|pair, ()| {
            let i = 2 * pair + round % 2;
            if i + 1 < EACH {
                let (a, b) = (held[i], held[i + 1]);
                let wrong = b < a;
                held[i] = if wrong { b } else { a };
                held[i + 1] = if wrong { a } else { b };
                inversions += u32::from(wrong);
            }
        });
    });
    (held, inversions)
}

/// The keys at index `from` and after it in the merged runs, and the number of inversions between
/// the runs that those of these keys that come from the right run cause: for each, the number of
/// keys that remain of the left run.
///
/// Keys past the last index are meaningless and count nothing. `from` is at most the number of
/// keys.
#[device]
pub(super) fn merge<K: Key>(keys: Keys<K>, runs: Runs, from: u32) -> ([K; EACH], u32) {
    let Runs { start, middle, end } = runs;
    let taken = split(keys, runs, from);
    let (mut a, mut b) = (start + taken, middle + from - taken);
    // Past the end of a run any key may be read.
    let read = |i: u32| keys.read(i.min(end - 1));
    let (mut left, mut right) = (read(a), read(b));
    let mut inversions = 0;
    let merged = Pack::from_fn(|_| {
        let takes_right = b < end && (a >= middle || right < left);
        let key = if takes_right { right } else { left };
        if takes_right {
            inversions += middle - a;
            b += 1;
        } else {
            a += 1;
        }
        let next = read(if takes_right { b } else { a });
        left = if takes_right { left } else { next };
        right = if takes_right { next } else { right };
        key
    });
    (merged, inversions)
}

/// The number of keys from the left run among the first `count` keys of the merged runs: where the
/// merge path crosses a diagonal (Green, McColl, Bader: "GPU Merge Path", 2012).
#[device]
fn split<K: Key>(keys: Keys<K>, Runs { start, middle, end }: Runs, count: u32) -> u32 {
    let mut low = count.saturating_sub(end - middle);
    let mut high = count.min(middle - start);
    while low < high {
        let at = low.midpoint(high);
        if keys.read(start + at) <= keys.read(middle + count - 1 - at) {
            low = at + 1;
        } else {
            high = at;
        }
    }
    low
}
