//! Sorts of a few keys by one thread, in its registers.

use super::each_key::each_key;
use super::tile::MOST_EACH;

/// The most values that are sorted.
pub(super) const MOST: usize = 32;

/// The values of a thread, with unused ones, so that a macro that counts up to here may name them.
pub(super) type Values<V> = [V; MOST_EACH];

/// Whether a step of Batcher's odd-even merge sort of `n` values compares value `i` with value
/// `i + k`. Runs of `p` are merged, and `k` goes from `p` down to 1.
#[inline(always)]
const fn is_compared(i: usize, p: usize, k: usize, n: usize) -> bool {
    let first = k % p;
    i >= first && (i - first) % (2 * k) < k && i + k < n && i / (2 * p) == (i + k) / (2 * p)
}

/// Sorts the first `N` values by `in_order`, which returns the smaller of two first. Not stable. `N` is
/// a power of two, at most [`MOST`].
///
/// Batcher, "Sorting networks and their applications", AFIPS 1968: 19, 63 and 191 comparisons of 8,
/// 16 and 32 values.
#[inline(always)]
pub(super) fn sort<V: Copy, const N: usize>(
    values: &mut Values<V>,
    in_order: impl Fn(V, V) -> [V; 2],
) {
    macro_rules! steps {
        ($($p:literal: $($k:literal)+;)+) => {$(
            if $p < N {$(
                each_key!(N I {
                    if is_compared(I, $p, $k, N) {
                        let j = (I + $k).min(MOST - 1);
                        [values[I], values[j]] = in_order(values[I], values[j]);
                    }
                });
            )+}
        )+};
    }
    steps! {
        1: 1;
        2: 2 1;
        4: 4 2 1;
        8: 8 4 2 1;
        16: 16 8 4 2 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that sorts all sequences of 0 and 1 sorts everything.
    #[test]
    fn networks_of_8_and_16_sort_all_zeros_and_ones() {
        for bits in 0..1_u32 << 16 {
            let mut values = [0; MOST_EACH];
            for (i, value) in values.iter_mut().enumerate() {
                *value = bits >> (i % 16) & 1;
            }
            let (mut half, mut all) = (values, values);
            sort::<_, 8>(&mut half, |a, b| [a.min(b), a.max(b)]);
            sort::<_, 16>(&mut all, |a, b| [a.min(b), a.max(b)]);
            assert!(half[..8].is_sorted() && all[..16].is_sorted(), "{bits:b}");
        }
    }

    #[test]
    fn a_network_of_32_sorts_what_merges_of_16_leave() {
        // Merges of two sorted halves of zeros and ones; the halves are sorted by the same steps
        // as those of 16.
        for first in 0..=16 {
            for second in 0..=16 {
                let mut values = [0_u32; MOST_EACH];
                values[16 - first..16].fill(1);
                values[32 - second..32].fill(1);
                sort::<_, 32>(&mut values, |a: u32, b| [a.min(b), a.max(b)]);
                assert!(values[..32].is_sorted(), "{first} and {second}");
            }
        }
    }
}
