//! The emulator's claims, by topic. Every test launches small kernels and checks the result, down
//! to block, thread and line.

mod barriers;
mod bulk;
mod children;
mod cluster_memory;
mod clusters;
mod counts;
mod deadlocks;
mod early_waits;
mod fence_order;
mod geometry;
mod gpus;
mod grid_barrier;
mod libraries;
mod library;
mod memory;
mod named_barriers;
mod overlapping;
mod proxies;
mod race_barriers;
mod race_causes;
mod races;
mod recovery;
mod replay;
mod schedules;
mod search;
mod several_grids;
mod shared;
mod stacks;
mod support;
mod warps;
mod weak_memory;
mod weakening;
