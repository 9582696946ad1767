//! Errors of published code: `reports.cu`.

use crate::problem::Verdict::{Deadlock, Race, Right, Wrong};
use crate::problem::{Problem, ZERO, ZEROS};

pub(crate) const PROBLEMS: &[Problem] = &[
    Problem::new(
        (3, 4),
        &[ZERO, ZEROS, ZEROS],
        &[6],
        &[
            ("last_block_reduces", Right),
            ("last_block_reduces_no_acquire", Race),
            ("last_block_reduces_fence_of_release", Race),
        ],
    ),
    Problem::new(
        (3, 4),
        &[ZEROS, ZEROS],
        &[123; 4],
        &[
            ("in_order", Right),
            ("in_order_fences", Right),
            ("in_order_no_release", Race),
            ("in_order_no_last_barrier", Race),
        ],
    ),
    Problem::new(
        (3, 2),
        &[ZERO, ZEROS],
        &[18],
        &[("passes", Right), ("passes_relaxed_arrival", Deadlock)],
    ),
    Problem::new(
        (3, 1),
        &[ZERO, ZEROS],
        &[2],
        &[("events_by_the_last", Right), ("events_waited_for", Deadlock)],
    )
    .resident(2),
    Problem::new(
        (1, 96),
        &[ZERO],
        &[12],
        &[
            ("publish", Right),
            ("publish_side_by_side", Right),
            ("publish_too_early", Race),
            ("publish_waits_for_one_reader", Race),
        ],
    ),
    Problem::new(
        (3, 1),
        &[ZEROS, ZEROS, ZEROS],
        &[7; 3],
        &[("two_counters", Right), ("one_counter_for_two", Wrong)],
    ),
];
