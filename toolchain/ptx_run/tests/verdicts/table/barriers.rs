//! Barriers of a grid, and last blocks: `barriers.cu`.

use crate::problem::Argument::{self, Words};
use crate::problem::Verdict::{Deadlock, Race, Right};
use crate::problem::{Problem, ZERO, ZEROS};

/// Room for a word of each thread of three blocks of 33.
const DATA: Argument = Words(&[0; 3 * 33]);

pub(crate) const PROBLEMS: &[Problem] = &[
    Problem::new(
        (3, 33),
        &[ZERO, ZEROS, DATA],
        &[99 * 98 / 2],
        &[
            ("grid_barrier", Right),
            ("grid_barrier_release_acquire", Right),
            ("grid_barrier_polled_by_addition", Right),
            ("grid_barrier_of_flags", Right),
            ("grid_barrier_of_each_thread", Right),
            ("grid_barrier_no_fences", Race),
            ("grid_barrier_no_release", Race),
            ("grid_barrier_no_acquire", Race),
            ("grid_barrier_no_barrier_before", Race),
            ("grid_barrier_no_barrier_after", Race),
            ("grid_barrier_counts_too_many", Deadlock),
            ("grid_barrier_counts_all_threads", Race),
        ],
    ),
    Problem::new(
        (3, 1),
        &[ZEROS, ZEROS],
        &[3, 3, 3],
        &[
            ("generations", Right),
            ("generations_that_only_count", Right),
            ("generations_of_two_senses", Right),
            ("generations_read_late", Deadlock),
            ("generations_by_reset", Deadlock),
            ("generations_reset_late", Deadlock),
        ],
    ),
    Problem::new(
        (4, 1),
        &[ZERO, ZEROS, ZEROS],
        &[10],
        &[
            ("last_block", Right),
            ("last_block_acq_rel", Right),
            ("last_block_relaxed_data", Right),
            ("last_block_no_fences", Race),
            ("last_block_no_release", Race),
            ("last_block_no_acquire", Race),
            ("last_block_release_only", Race),
            ("last_block_by_number", Race),
        ],
    ),
    Problem::new(
        (4, 1),
        &[ZEROS, ZEROS],
        &[5, 10, 15, 20],
        &[
            ("look_back", Right),
            ("look_back_by_flags", Right),
            ("look_back_by_fences", Right),
            ("look_back_at_all", Right),
            ("look_back_by_relaxed_flags", Race),
            ("look_back_flag_first", Race),
            ("look_back_waits_for_itself", Deadlock),
        ],
    ),
    Problem::new(
        (4, 1),
        &[ZERO, ZEROS],
        &[4],
        &[("order_drawn", Right), ("order_by_index", Deadlock), ("order_backwards", Deadlock)],
    )
    .resident(2),
];
