//! Searches for many values in a sorted array.

use super::overlap::begin;
use super::sort::Order;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Blocks that a multiprocessor runs at once.
pub const BLOCKS: u32 = 4;

/// Values that a thread searches for at once, to have as many loads in flight. Other numbers have not
/// been measured.
const EACH: usize = 4;

/// Sets each element of `indices` to the number of keys in `sorted` that come before the element of
/// `values` with the same index: the first index where that could be inserted. If `is_right` is not
/// 0, keys with the same number come before it too, which makes it the last such index.
///
/// Called by every thread of a grid of any shape. `sorted` is in the `order`, and `values` is as long
/// as `indices`, which overlaps neither. Each value is compared with log₂ of the number of keys, and
/// the same comparisons are made for all. Needs no barrier, shared memory or co-residency. The launch
/// may [overlap](cuda_std::dependent) the kernel before it.
#[device]
pub fn search<O: Order>(
    order: O,
    sorted: Global<O::Word>,
    values: Global<O::Word>,
    indices: Global<u64>,
    is_right: u32,
) {
    begin();
    let (is_right, stride) = (is_right != 0, thread::thread_count());
    let is_before = |key: O::Word, value: O::Word| {
        let key = order.number(key);
        (key < value) | (is_right & (key == value))
    };
    let mut first = thread::index();
    while first < values.len() {
        let at = |i: usize| first + i * stride;
        // A search that is past the end repeats the first one.
        let number = |i: usize| if at(i) < values.len() { at(i) } else { first };
        let wanted: [O::Word; EACH] = Pack::from_fn(|i| order.number(values.read(number(i))));
        let mut before = [0; EACH];
        let mut left = sorted.len();
        while left > 1 {
            let half = left / 2;
            let keys: [O::Word; EACH] = Pack::from_fn(|i| sorted.read(before[i] + half - 1));
            before = Pack::from_fn(|i| {
                if is_before(keys[i], wanted[i]) { before[i] + half } else { before[i] }
            });
            left -= half;
        }
        if left == 1 {
            let keys: [O::Word; EACH] = Pack::from_fn(|i| sorted.read(before[i]));
            before = Pack::from_fn(|i| before[i] + usize::from(is_before(keys[i], wanted[i])));
        }
        before.for_each(|i, before| {
            if at(i) < values.len() {
                indices.write(at(i), before as u64);
            }
        });
        first += EACH * stride;
    }
}
