//! Sizes of the arrays.

use super::MemoryError;

/// Bytes of the large arrays in device memory, if there is room: far more than any L2.
const LARGE: usize = 1 << 30;

/// An array uses at most the free memory divided by this. With everything else that is allocated
/// at the same time, the total stays below a quarter: other programs may need some.
const PART_OF_FREE: usize = 8;

/// An array that is read from device memory is at least this many times as large as the L2.
const CACHES: usize = 4;

/// Sizes of the arrays in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Fits in the L2 with room to spare: a power of two, at most a third. Lines may be in the L2
    /// twice, near and far.
    pub(super) in_l2: usize,
    /// A few times the L2: no line is in the L2, and address translation is fast.
    pub(super) few_caches: usize,
    /// Many times the L2.
    pub(super) many_caches: usize,
    /// The array to read from device memory: a power of two.
    pub(super) array: usize,
}

impl Sizes {
    pub(super) fn of(l2: usize, free: usize) -> Result<Self, MemoryError> {
        // A device that does not report its L2 is assumed to be small.
        let l2 = l2.max(1 << 20);
        let usable = free / PART_OF_FREE;
        let least = (CACHES * l2).next_power_of_two();
        if usable < least {
            return Err(MemoryError::NoRoom { free, needed: least * PART_OF_FREE });
        }
        let largest = 1 << usable.ilog2();
        Ok(Self {
            in_l2: 1 << (l2 / 3).ilog2(),
            few_caches: (CACHES - 1) * l2,
            many_caches: LARGE.max(2 * CACHES * l2).min(usable),
            array: LARGE.max(least).min(largest),
        })
    }
}

/// The size of an array, in the largest unit in which it is at least one.
pub(super) fn size(bytes: usize) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(log, _)| bytes >= 1 << log);
    let Some((log, unit)) = unit else { return format!("{bytes} bytes") };
    let number = bytes as f64 / f64::from(1 << log);
    if number.fract() == 0.0 { format!("{number} {unit}") } else { format!("{number:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_larger_than_the_l2_and_leave_most_of_the_free_memory() {
        for l2 in [0, 4 << 20, 50 << 20, 126 << 20] {
            for free in [2usize << 30, 3 << 30, 8 << 30, 150 << 30] {
                let sizes = match Sizes::of(l2, free) {
                    Ok(sizes) => sizes,
                    Err(MemoryError::NoRoom { needed, .. }) => {
                        assert!(free < needed && needed <= 8 * 8 * l2, "{l2}, {free}: {needed}");
                        continue;
                    }
                    Err(error) => panic!("{error}"),
                };
                let Sizes { in_l2, few_caches, many_caches, array } = sizes;
                assert!(l2 == 0 || 3 * in_l2 <= l2, "{sizes:?}");
                assert!(few_caches >= 2 * l2 && few_caches < many_caches, "{sizes:?}");
                assert!(array >= 4 * l2 && array.is_power_of_two(), "{sizes:?}");
                assert!(many_caches.max(array) <= free / 8, "{sizes:?}");
            }
        }
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit() {
        let told = [1 << 30, 150 << 20, 3 << 29, 16 << 10, 100].map(size);
        assert_eq!(told, ["1 GiB", "150 MiB", "1.5 GiB", "16 KiB", "100 bytes"]);
    }
}
