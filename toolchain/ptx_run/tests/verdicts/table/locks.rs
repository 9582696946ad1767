//! Locks: `locks.cu`.

use crate::problem::Verdict::{Deadlock, Race, Right, Wrong};
use crate::problem::{Problem, ZERO, ZEROS};

pub(crate) const PROBLEMS: &[Problem] = &[
    Problem::new(
        (3, 2),
        &[ZERO, ZEROS],
        &[6],
        &[
            ("lock_fences", Right),
            ("lock_released_by_volatile", Right),
            ("lock_polled", Right),
            ("ticket_lock", Right),
            ("two_locks", Right),
            ("lock_acquire_release", Right),
            ("lock_with_pauses", Right),
            ("lock_in_the_loop", Right),
            ("lock_for_the_block", Right),
            ("lock_of_each_block", Right),
            ("lock_no_fences", Race),
            ("lock_no_acquire_fence", Race),
            ("lock_no_release_fence", Race),
            ("lock_fences_of_block", Race),
            ("lock_of_block_scope", Race),
            ("lock_released_by_plain_store", Race),
            ("lock_polled_by_plain_load", Race),
            ("ticket_lock_no_fences", Race),
            ("ticket_lock_plain", Race),
            ("ticket_lock_drawn_by_load", Deadlock),
            ("lock_not_taken_by_all", Race),
            ("lock_another", Race),
            ("lock_kept", Deadlock),
            ("two_locks_in_opposite_orders", Deadlock),
        ],
    ),
    Problem::new(
        (2, 1),
        &[ZERO, ZEROS],
        &[0],
        &[
            ("sequence_lock", Right),
            ("sequence_lock_acquires", Right),
            ("sequence_lock_no_fences", Wrong),
            ("sequence_lock_of_plain_data", Race),
        ],
    ),
    Problem::new(
        (3, 1),
        &[ZERO, ZEROS],
        &[21],
        &[
            ("double_checked", Right),
            ("initialised_by_the_first", Right),
            ("initialised_by_all", Right),
            ("double_checked_no_release", Race),
            ("double_checked_no_acquire", Race),
        ],
    ),
    Problem::new(
        (2, 33),
        &[ZERO],
        &[65],
        &[
            ("cas_loop", Right),
            ("cas_loop_of_a_guess", Right),
            ("cas_loop_that_ends_early", Right),
            ("cas_loop_of_weak_load", Race),
        ],
    ),
];
