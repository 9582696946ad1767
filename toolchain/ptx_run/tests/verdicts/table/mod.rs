//! All problems, by file of kernels.

mod barriers;
mod blocks;
mod graphs;
mod locks;
mod queues;
mod reports;
mod scopes;
mod tiles;

use crate::problem::Problem;

/// The files of `tests/cuda`, and their problems.
pub(crate) const FILES: [(&str, &[Problem]); 8] = [
    ("scopes.cu", scopes::PROBLEMS),
    ("locks.cu", locks::PROBLEMS),
    ("barriers.cu", barriers::PROBLEMS),
    ("queues.cu", queues::PROBLEMS),
    ("graphs.cu", graphs::PROBLEMS),
    ("blocks.cu", blocks::PROBLEMS),
    ("tiles.cu", tiles::PROBLEMS),
    ("reports.cu", reports::PROBLEMS),
];
