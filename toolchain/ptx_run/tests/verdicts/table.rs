//! All problems, by file of kernels.

use crate::problem::Argument::{self, Number, Unwritten, Words};
use crate::problem::Verdict::{Barrier, Deadlock, OutOfBounds, Race, Right, Uninitialised, Wrong};
use crate::problem::{Problem, ZERO, ZEROS, line};

/// `scopes.cu`
pub(crate) const SCOPES: &[Problem] = &[
    Problem::new(
        (2, 1),
        &[ZERO, ZEROS],
        &[7],
        &[
            ("mp_fences", Right),
            ("mp_atomics", Right),
            ("mp_release_acquire", Right),
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
            ("mp_within_block_no_fences", Race),
        ],
    ),
    Problem::new(
        (3, 1),
        &[ZERO, ZEROS],
        &[7],
        &[("chain", Right), ("chain_relaxed_in_the_middle", Race)],
    ),
    Problem::new(
        (2, 33),
        &[ZEROS],
        &[66],
        &[
            ("count_device", Right),
            ("count_system", Right),
            ("count_per_block", Right),
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
        &[("store_buffering_fence", Right), ("store_buffering_weaker_fence", Wrong)],
    ),
];

/// `locks.cu`
pub(crate) const LOCKS: &[Problem] = &[
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
            ("double_checked_no_release", Race),
            ("double_checked_no_acquire", Race),
        ],
    ),
    Problem::new((2, 33), &[ZERO], &[65], &[("cas_loop", Right), ("cas_loop_of_weak_load", Race)]),
];

/// Room for a word of each thread of three blocks of 33.
const DATA: Argument = Words(&[0; 3 * 33]);

/// `barriers.cu`
pub(crate) const BARRIERS: &[Problem] = &[
    Problem::new(
        (3, 33),
        &[ZERO, ZEROS, DATA],
        &[99 * 98 / 2],
        &[
            ("grid_barrier", Right),
            ("grid_barrier_release_acquire", Right),
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

/// `queues.cu`
pub(crate) const QUEUES: &[Problem] = &[
    Problem::new(
        (2, 2),
        &[ZEROS, ZEROS],
        &[1; 8],
        &[
            ("draw_tasks", Right),
            ("draw_tasks_by_block", Right),
            ("steal", Right),
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
            ("append_plain", Race),
            ("append_and_read", Race),
            ("append_beyond_the_end", OutOfBounds),
        ],
    ),
];

/// Where the neighbours of each node begin, and the neighbours.
const INDEX: Argument = Words(&[0, 5, 8, 11, 14, 17, 20]);
const LIST: Argument = Words(&[1, 2, 3, 4, 5, 0, 5, 2, 0, 1, 3, 0, 2, 4, 0, 3, 5, 0, 4, 1]);
const NODES: Argument = Number(6);

/// `graphs.cu`
pub(crate) const GRAPHS: &[Problem] = &[
    Problem::new(
        (2, 4),
        &[Words(&[0; 6]), INDEX, LIST, NODES],
        &[15, 7, 4, 6, 8, 5],
        &[
            ("push", Right),
            ("pull", Right),
            ("pull_by_block", Right),
            ("push_plain", Race),
            ("push_of_block_scope", Race),
            ("push_no_guard", OutOfBounds),
            ("push_guard_too_late", OutOfBounds),
            ("push_one_edge_too_many", OutOfBounds),
            ("pull_by_block_no_first_barrier", Race),
            ("pull_by_block_no_second_barrier", Race),
            ("pull_by_block_plain", Race),
        ],
    ),
    Problem::new(
        (2, 4),
        &[Words(&[0; 6]), INDEX, LIST, NODES],
        &[5, 5, 3, 4, 5, 4],
        &[
            ("push_max", Right),
            ("push_max_volatile_look", Right),
            ("push_max_plain_look", Race),
            ("push_max_plain", Race),
            ("push_max_look_and_store", Wrong),
        ],
    ),
    Problem::new(
        (2, 4),
        &[Words(&[9, 0, 9, 0, 9, 0, 0]), INDEX, LIST, NODES],
        &[1, 0, 1, 0, 1, 0, 3],
        &[
            ("search_level", Right),
            ("search_level_looks", Right),
            ("search_level_plain", Race),
            ("search_level_twice", Wrong),
        ],
    ),
    Problem::new(
        (1, 8),
        &[Words(&[3, 1, 4, 1, 5, 2]), INDEX, LIST, NODES],
        &[1; 6],
        &[
            ("components", Right),
            ("components_flag", Right),
            ("components_flag_plain", Race),
            ("components_flag_cleared_early", Race),
            ("components_plain_label", Race),
        ],
    ),
    Problem::new(
        (2, 4),
        &[Words(&[0; 2]), INDEX, LIST, NODES],
        &[1, 0],
        &[("worklist", Right), ("worklist_by_ballot", Right), ("worklist_no_room", OutOfBounds)],
    ),
];

/// `blocks.cu`
pub(crate) const BLOCKS: &[Problem] = &[
    Problem::new(
        (1, 64),
        &[ZERO, Words(&line::<64>(0, 1))],
        &[64 * 63 / 2],
        &[
            ("tree", Right),
            ("tree_of_warp", Right),
            ("shuffles", Right),
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
        &[("shifted", Right), ("shifted_no_barrier", Race)],
    ),
];

/// `tiles.cu`
pub(crate) const TILES: &[Problem] = &[
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
            ("rounds_of_own_number", Barrier),
            ("rounds_in_two_branches", Barrier),
        ],
    ),
];

/// `reports.cu`
pub(crate) const REPORTS: &[Problem] = &[
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
        &[("in_order", Right), ("in_order_no_release", Race), ("in_order_no_last_barrier", Race)],
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
        &[("publish", Right), ("publish_too_early", Race), ("publish_waits_for_one_reader", Race)],
    ),
    Problem::new(
        (3, 1),
        &[ZEROS, ZEROS, ZEROS],
        &[7; 3],
        &[("two_counters", Right), ("one_counter_for_two", Wrong)],
    ),
];
