//! Messages, and scopes of fences and atomics: `scopes.cu`.

use crate::problem::Verdict::{Race, Right, Wrong};
use crate::problem::{Problem, ZERO, ZEROS};

pub(crate) const PROBLEMS: &[Problem] = &[
    Problem::new(
        (2, 1),
        &[ZERO, ZEROS],
        &[7],
        &[
            ("mp_fences", Right),
            ("mp_atomics", Right),
            ("mp_release_acquire", Right),
            ("mp_fences_of_system", Right),
            ("mp_relaxed_with_fences", Right),
            ("mp_volatile_data", Right),
            ("mp_one_word", Right),
            ("mp_by_additions", Right),
            ("mp_fence_after_the_loop", Right),
            ("mp_no_fences", Race),
            ("mp_no_release_fence", Race),
            ("mp_no_acquire_fence", Race),
            ("mp_block_fences", Race),
            ("mp_fence_after_flag", Race),
            ("mp_plain_flag", Race),
            ("mp_relaxed", Race),
            ("mp_acquire_of_block", Race),
            ("mp_release_of_block", Race),
        ],
    ),
    Problem::new(
        (1, 64),
        &[ZERO, ZEROS],
        &[7],
        &[
            ("mp_within_block", Right),
            ("mp_within_block_scoped", Right),
            ("mp_within_block_barrier", Right),
            ("mp_within_block_device_scope", Right),
            ("mp_within_block_no_fences", Race),
        ],
    ),
    Problem::new(
        (3, 1),
        &[ZERO, ZEROS],
        &[7],
        &[
            ("chain", Right),
            ("chain_of_additions", Right),
            ("chain_of_fences", Right),
            ("chain_relaxed_in_the_middle", Race),
        ],
    ),
    Problem::new(
        (2, 33),
        &[ZEROS],
        &[66],
        &[
            ("count_device", Right),
            ("count_system", Right),
            ("count_per_block", Right),
            ("count_by_swaps", Right),
            ("count_by_leaders", Right),
            ("count_by_barrier", Right),
            ("count_block", Race),
            ("count_plain", Race),
            ("count_volatile", Wrong),
            ("count_per_block_no_barrier", Race),
        ],
    ),
    Problem::new(
        (2, 1),
        &[ZERO, ZEROS],
        &[1],
        &[
            ("store_buffering_fence", Right),
            ("store_buffering_threadfence", Right),
            ("store_buffering_weaker_fence", Wrong),
        ],
    ),
];
