//! Irregular kernels on a graph: `graphs.cu`.

use crate::problem::Argument::{self, Number, Words};
use crate::problem::Problem;
use crate::problem::Verdict::{OutOfBounds, Race, Right, Wrong};

/// Where the neighbours of each node begin, and the neighbours.
const INDEX: Argument = Words(&[0, 5, 8, 11, 14, 17, 20]);
const LIST: Argument = Words(&[1, 2, 3, 4, 5, 0, 5, 2, 0, 1, 3, 0, 2, 4, 0, 3, 5, 0, 4, 1]);
const NODES: Argument = Number(6);

pub(crate) const PROBLEMS: &[Problem] = &[
    Problem::new(
        (2, 4),
        &[Words(&[0; 6]), INDEX, LIST, NODES],
        &[15, 7, 4, 6, 8, 5],
        &[
            ("push", Right),
            ("pull", Right),
            ("pull_by_block", Right),
            ("push_by_edges", Right),
            ("push_by_copies", Right),
            ("pull_by_warp", Right),
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
            ("push_max_by_swaps", Right),
            ("pull_max", Right),
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
            ("search_level_pulls", Right),
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
            ("components_flag_volatile", Right),
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
