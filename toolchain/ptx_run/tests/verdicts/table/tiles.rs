//! Tiles, histograms and scans of a block: `tiles.cu`.

use crate::problem::Argument::{Unwritten, Words};
use crate::problem::Verdict::{Barrier, OutOfBounds, Race, Right, Uninitialised};
use crate::problem::{Problem, ZERO, ZEROS, line};

pub(crate) const PROBLEMS: &[Problem] = &[
    Problem::new(
        (1, 32),
        &[ZERO, Words(&line::<64>(0, 1))],
        &[64 * 63 / 2],
        &[
            ("tiles", Right),
            ("tiles_of_two_buffers", Right),
            ("tiles_no_first_barrier", Race),
            ("tiles_no_second_barrier", Race),
        ],
    ),
    Problem::new(
        (1, 64),
        &[ZEROS, Words(&line::<64>(0, 1))],
        &[16; 4],
        &[
            ("histogram", Right),
            ("histogram_of_device", Right),
            ("histogram_of_equal_lanes", Right),
            ("histogram_by_votes", Right),
            ("histogram_no_first_barrier", Race),
            ("histogram_no_last_barrier", Race),
            ("histogram_plain", Race),
            ("histogram_not_cleared", Uninitialised),
            ("histogram_too_few_bins", OutOfBounds),
        ],
    ),
    Problem::new(
        (1, 64),
        &[Unwritten(64), Words(&[1; 64])],
        &line::<64>(1, 1),
        &[
            ("scan", Right),
            ("scan_of_two_buffers", Right),
            ("scan_of_warps", Right),
            ("scan_one_barrier", Race),
            ("scan_in_place", Race),
            ("scan_wraps_around", OutOfBounds),
        ],
    ),
    Problem::new(
        (1, 8),
        &[ZEROS],
        &[2; 4],
        &[
            ("rounds", Right),
            ("rounds_counted", Right),
            ("rounds_of_own_number", Barrier),
            ("rounds_in_two_branches", Barrier),
        ],
    ),
];
