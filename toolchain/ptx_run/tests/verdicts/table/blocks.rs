//! Sums and exchanges of a block: `blocks.cu`.

use crate::problem::Argument::{Number, Unwritten, Words};
use crate::problem::Verdict::{Barrier, OutOfBounds, Race, Right, Uninitialised, Wrong};
use crate::problem::{Problem, ZERO, line};

pub(crate) const PROBLEMS: &[Problem] = &[
    Problem::new(
        (1, 64),
        &[ZERO, Words(&line::<64>(0, 1))],
        &[64 * 63 / 2],
        &[
            ("tree", Right),
            ("tree_of_warp", Right),
            ("shuffles", Right),
            ("tree_of_neighbours", Right),
            ("sum_by_atomics", Right),
            ("sum_by_one_thread", Right),
            ("shuffles_butterfly", Right),
            ("reduced_by_instruction", Right),
            ("shuffles_of_half_warps", Right),
            ("tree_no_barrier_in_the_loop", Race),
            ("tree_no_first_barrier", Race),
            ("tree_barrier_in_the_branch", Barrier),
            ("tree_one_element_too_far", OutOfBounds),
            ("tree_half_uninitialised", Uninitialised),
            ("tree_of_warp_no_syncwarp", Race),
            ("tree_of_warp_one_syncwarp", Race),
            ("tree_of_warp_volatile", Wrong),
            ("shuffles_no_barrier", Race),
            ("shuffles_barrier_of_warp", Race),
            ("shuffles_without_half_of_the_lanes", Barrier),
            ("shuffles_one_too_few", Wrong),
        ],
    ),
    Problem::new(
        (1, 64),
        &[Unwritten(40), Words(&line::<40>(0, 1)), Number(40)],
        &line::<40>(39, -1),
        &[
            ("reversed", Right),
            ("reversed_without_sharing", Right),
            ("reversed_late_return", Right),
            ("reversed_early_return", Barrier),
            ("reversed_no_barrier", Race),
            ("reversed_no_guard", OutOfBounds),
            ("reversed_one_too_far", Uninitialised),
        ],
    ),
    Problem::new(
        (1, 8),
        &[Words(&line::<8>(0, 1))],
        &[1, 2, 3, 4, 5, 6, 7, 0],
        &[
            ("shifted", Right),
            ("shifted_by_shuffle", Right),
            ("shifted_barrier_of_warp", Right),
            ("shifted_no_barrier", Race),
        ],
    ),
];
