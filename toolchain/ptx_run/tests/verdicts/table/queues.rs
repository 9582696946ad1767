//! Queues and pools of tasks: `queues.cu`.

use crate::problem::Verdict::{Deadlock, OutOfBounds, Race, Right, Wrong};
use crate::problem::{Problem, ZERO, ZEROS};

pub(crate) const PROBLEMS: &[Problem] = &[
    Problem::new(
        (2, 2),
        &[ZEROS, ZEROS],
        &[1; 8],
        &[
            ("draw_tasks", Right),
            ("draw_tasks_by_block", Right),
            ("steal", Right),
            ("draw_tasks_in_pairs", Right),
            ("draw_tasks_for_each_block", Right),
            ("tasks_in_strides", Right),
            ("claim_tasks", Right),
            ("draw_tasks_plain", Race),
            ("draw_tasks_volatile", Wrong),
            ("draw_tasks_of_block_scope", Race),
            ("draw_tasks_too_many", OutOfBounds),
            ("draw_tasks_by_block_one_barrier", Race),
            ("steal_from_block_scope", Race),
            ("steal_from_plain", Race),
        ],
    ),
    Problem::new(
        (2, 1),
        &[ZERO, ZEROS, ZEROS],
        &[21],
        &[
            ("ring", Right),
            ("ring_fences", Right),
            ("ring_of_numbered_slots", Right),
            ("ring_no_wait_for_room", Race),
            ("ring_one_too_many", Race),
            ("ring_consumer_does_not_release", Race),
            ("ring_waits_for_each_other", Deadlock),
        ],
    ),
    Problem::new(
        (2, 4),
        &[ZERO, ZEROS, ZEROS],
        &[8],
        &[
            ("append", Right),
            ("append_with_flags", Right),
            ("append_for_the_block", Right),
            ("append_plain", Race),
            ("append_and_read", Race),
            ("append_beyond_the_end", OutOfBounds),
        ],
    ),
];
