//! The launches of the bitonic sorts.

use gridsync_lab_kernels::ladder::sorts::TILE;

/// A launch. The first one reads the input, all others the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Compares keys whose indices differ in these bits.
    Across {
        /// The bits.
        mask: u32,
    },
    /// Sorts each tile.
    SortTiles,
    /// Finishes a merge: the steps within each tile.
    MergeTiles,
}

/// The number of threads for the pairs of `len` keys whose indices differ in the bits of `mask`.
/// Some pairs may be after the end of the array.
pub(super) fn pairs(mask: u32, len: usize) -> usize {
    let highest = 1usize << mask.ilog2();
    len.div_ceil(2 * highest) * highest
}

/// The launches for `len` keys, with the steps within a tile done in shared memory or not.
pub(super) fn steps(len: usize, by_tiles: bool) -> Vec<Step> {
    let (mut steps, mut size, closest) =
        if by_tiles { (vec![Step::SortTiles], 2 * TILE, TILE) } else { (Vec::new(), 2, 1) };
    // Without tiles one launch is needed even for one key, to copy it.
    while steps.is_empty() || size < 2 * len {
        steps.push(Step::Across { mask: (size - 1) as u32 });
        let mut apart = size / 4;
        while apart >= closest {
            steps.push(Step::Across { mask: apart as u32 });
            apart /= 2;
        }
        if by_tiles {
            steps.push(Step::MergeTiles);
        }
        size *= 2;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_the_length_adds_a_merge_with_one_more_step() {
        let counts = [0, 1, 2, 3, 4, 5, 8, 1 << 20].map(|len| steps(len, false).len());
        assert_eq!(counts, [1, 1, 1, 3, 3, 6, 6, 20 * 21 / 2]);
    }

    #[test]
    fn only_steps_across_tiles_have_their_own_launch() {
        let merge = |masks: &[u32]| {
            let across = masks.iter().map(|&mask| Step::Across { mask });
            across.chain([Step::MergeTiles]).collect::<Vec<_>>()
        };
        assert_eq!(steps(TILE, true), [Step::SortTiles]);
        assert_eq!(steps(TILE + 1, true)[1..], merge(&[4095]));
        assert_eq!(steps(4 * TILE, true)[3..], merge(&[8191, 2048]));
    }

    #[test]
    fn the_last_pair_of_a_step_has_a_thread() {
        assert_eq!(pairs(1, 5), 3);
        assert_eq!(pairs(7, 5), 4);
        assert_eq!(pairs(4, 9), 8);
        assert_eq!(pairs(1, 0), 0);
    }
}
