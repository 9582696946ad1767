//! Determines what the threads wait for, once nothing can change.

use std::sync::Arc;

use crate::block::Block;
use crate::fault::{Deadlock, Fault, HeldBy, HeldGrid, Missing, Waiting, WaitingFor};
use crate::fiber::Fiber;
use crate::place::Place;
use crate::warp::{Lane, Wait};
use crate::world::World;

/// Maximum number of blocks in a report, and of locations per block: more would hide the pattern.
const REPORTED: usize = 4;

/// The fault of a launch in which all live blocks are stuck. `not_started` has the number of blocks
/// of each grid that have not started.
pub(crate) fn explain<'a, 'b: 'a>(
    blocks: impl Iterator<Item = &'a Block<'b>>,
    not_started: &[u64],
    world: &World<'_>,
) -> Fault {
    let mut blocks: Vec<_> = blocks.collect();
    blocks.sort_by_key(|block| block.number);
    let skipped = blocks.iter().find_map(|block| skipped_barrier(block));
    skipped.unwrap_or_else(|| {
        let names_kernels = world.has_many_kernels();
        let first = blocks.iter().take(REPORTED).flat_map(|block| {
            let kernel = names_kernels.then(|| Arc::clone(&block.grid.kernel));
            waiting(block).into_iter().map(move |group| Waiting { kernel: kernel.clone(), ..group })
        });
        let grid_blocks = world.grids.iter().map(|grid| grid.grid.count()).sum();
        let never_started = not_started.iter().sum();
        let has_exited =
            |number: &u64| blocks.binary_search_by_key(number, |block| block.number).is_err();
        let exited = match never_started {
            0 => (0..grid_blocks).filter(has_exited).take(REPORTED).collect(),
            _ => Vec::new(),
        };
        Fault::Deadlock(Box::new(Deadlock {
            kernel: Arc::clone(&blocks.first().map_or(&world.grids[0], |block| block.grid).kernel),
            waiting: first.collect(),
            live_blocks: blocks.len() as u64,
            never_started,
            grid_blocks,
            exited,
            held: if names_kernels { held(not_started, world) } else { Vec::new() },
        }))
    })
}

/// The grids of which some blocks have not started.
fn held(not_started: &[u64], world: &World<'_>) -> Vec<HeldGrid> {
    let held = world.grids.iter().zip(not_started).filter(|(_, left)| **left > 0);
    let held = held.map(|(grid, &never_started)| {
        let kernel = |at: &usize| Arc::clone(&world.grids[*at].kernel);
        let running = grid.after.iter().find(|&&other| !world.grids[other].has_ended());
        let silent = grid.overlaps.iter().find(|&&other| !world.grids[other].lets_start());
        let by = match (running, silent) {
            (Some(other), _) => HeldBy::End(kernel(other)),
            (None, Some(other)) => HeldBy::Trigger(kernel(other)),
            (None, None) => HeldBy::Full,
        };
        HeldGrid { kernel: Arc::clone(&grid.kernel), never_started, blocks: grid.grid.count(), by }
    });
    held.collect()
}

/// The reason why a live thread waits, and where.
fn stuck(block: &Block<'_>, thread: &Lane<'_>) -> Option<(WaitingFor, Place)> {
    match thread.wait {
        Wait::Exited => None,
        Wait::Nothing => {
            let phase = thread.fiber.as_ref().and_then(Fiber::phase);
            Some((phase.map_or(WaitingFor::Change, WaitingFor::Phase), thread.spun_at))
        }
        Wait::Barrier => Some((WaitingFor::BlockBarrier, thread.spot.place)),
        Wait::Named(number) => {
            Some((block.named[number as usize].waiting(number), thread.spot.place))
        }
        Wait::ClusterBarrier => Some((WaitingFor::ClusterBarrier, thread.spot.place)),
        Wait::Grids => Some((WaitingFor::Grids, thread.spot.place)),
        Wait::Collective(call) => Some((WaitingFor::WarpCollective(call.kind), thread.spot.place)),
    }
}

/// The fault of a block in which some threads are at its barrier and all others at warp
/// collectives. No thread outside the block can help them, so the barrier itself is at fault.
fn skipped_barrier(block: &Block<'_>) -> Option<Fault> {
    let needs_others = |thread: &Lane<'_>| {
        matches!(thread.wait, Wait::Nothing | Wait::Named(_) | Wait::ClusterBarrier | Wait::Grids)
    };
    if block.threads.iter().any(needs_others) {
        return None;
    }
    let find = |wanted: fn(&Wait) -> bool| block.threads.iter().position(|t| wanted(&t.wait));
    let at_barrier = find(|wait| matches!(wait, Wait::Barrier))?;
    let elsewhere = find(|wait| matches!(wait, Wait::Collective(_)))?;
    let stuck = stuck(block, &block.threads[elsewhere]);
    Some(block.skipped(at_barrier, Missing { thread: block.thread_idx(elsewhere), stuck }))
}

/// The block's stuck threads, grouped by what they wait for and where.
fn waiting(block: &Block<'_>) -> Vec<Waiting> {
    let mut groups: Vec<Waiting> = Vec::new();
    for (number, thread) in block.threads.iter().enumerate() {
        let Some((what, place)) = stuck(block, thread) else {
            continue;
        };
        let same = groups.iter_mut().find(|group| group.what == what && group.place == place);
        match same {
            Some(group) => group.threads += 1,
            None => groups.push(block.waiting(number, (what, place))),
        }
    }
    groups.truncate(REPORTED);
    groups
}
