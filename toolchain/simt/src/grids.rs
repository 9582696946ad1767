//! A launch of several grids that depend on each other.
//!
//! A launch consists of parts, which run in sequence. The grids of one part run at the same time, as
//! far as they do not depend on each other. A part ends where every later grid comes after the end
//! of all earlier ones. It also ends early if a kernel has launched grids: these run next, and then
//! the grids of the part that have to come after them.

use core::cell::Cell;
use std::sync::Arc;

use crate::bulk::Copies;
use crate::children::{Children, Launched};
use crate::count::Counter;
use crate::early::Waits;
use crate::family::{Family, Next};
use crate::fault::Fault;
use crate::grid::{After, Grid, GridInfo};
use crate::here::active;
use crate::launch::{LaunchConfig, Stats};
use crate::memory::Memory;
use crate::panics;
use crate::place::Place;
use crate::race::{Draws, MAX_THREADS, Races, Shape};
use crate::replay;
use crate::schedule::{Policy, Schedule};
use crate::scheduler;
use crate::search;
use crate::weaken::{Kinship, Referee};
use crate::world::{Counters, World};

/// A grid of a part, with the indices of the grids of the part that it comes after, and of those
/// that it overlaps.
type Member<'a> = (Grid<'a>, Vec<usize>, Vec<usize>);

/// Runs several grids that share `memory`, and then the grids that they have launched. Grids that do
/// not depend on each other run at the same time, as in several streams. Returns when all have
/// ended.
///
/// The grids of a GPU share its multiprocessors: each block of a grid occupies one part in
/// [`LaunchConfig::max_resident_blocks`]. The schedule's seed chooses which grid's blocks start when.
/// If a kernel launches grids, those that depend on its grid run after them, in which case they
/// overlap nothing.
///
/// # Errors
/// As for [`launch`](crate::launch).
///
/// # Panics
/// If `grids` is empty, or a grid depends on one that is not before it.
#[track_caller]
pub fn launch_grids(memory: &mut Memory, grids: &[Grid<'_>]) -> Result<Stats, Fault> {
    assert!(!grids.is_empty(), "a launch needs a grid");
    let config = &grids[0].config;
    if active() {
        return Err(Fault::Nested { kernel: Arc::from(config.kernel) });
    }
    grids.iter().try_for_each(|grid| grid.config.check())?;
    panics::install();
    // A search does not draw: it makes all decisions itself, and every access is a scheduling
    // point.
    let (schedule, step_limit) = match search::current() {
        Some(_) => (Schedule::default(), config.step_limit.min(search::MOST_STEPS)),
        None => (config.schedule, config.step_limit),
    };
    let config = &LaunchConfig { schedule, step_limit, ..*config };
    let parts = parts(grids);
    parts.iter().try_for_each(|part| check(config, part.iter().map(|&at| &grids[at].config)))?;
    let mut stats = Stats::default();
    for mut part in parts {
        while !part.is_empty() {
            let members: Vec<Member<'_>> =
                part.iter().map(|&at| member(grids, at, &part)).collect();
            let ran = run(memory, config, Place::caller(), &members, Children::default())?;
            stats += ran.stats;
            let mut ended = ran.ended.into_iter();
            part.retain(|_| ended.next() == Some(false));
            stats += run_children(memory, config, ran.launched)?;
        }
    }
    Ok(stats)
}

/// Checks the number of threads of a part.
fn check<'a>(
    config: &LaunchConfig<'_>,
    part: impl Iterator<Item = &'a LaunchConfig<'a>> + Clone,
) -> Result<(), Fault> {
    let threads = part.clone().map(|of| of.grid.count() * of.block.count());
    let threads = threads.fold(0u64, u64::saturating_add);
    let kernel = || part.clone().next().map_or_else(|| Arc::from(""), |of| Arc::from(of.kernel));
    if threads >> 63 != 0 {
        let LaunchConfig { grid, block, .. } = *config;
        return Err(Fault::EmptyLaunch { kernel: kernel(), grid, block });
    }
    if (config.races || config.weak_memory) && threads > MAX_THREADS {
        return Err(Fault::TooLargeForRaces { kernel: kernel(), threads, limit: MAX_THREADS });
    }
    Ok(())
}

/// Runs the grids that kernels have launched, and those that these launch.
fn run_children(
    memory: &mut Memory,
    config: &LaunchConfig<'_>,
    launched: Vec<Launched>,
) -> Result<Stats, Fault> {
    let mut stats = Stats::default();
    let mut family = Family::new(config.schedule.seed);
    family.ran(None, launched);
    while let Some(Next { member, depth, child, place }) = family.next() {
        let children = Children::new(depth, family.pending);
        let config = config.of_child(&child);
        let grid = Grid { config, gpu: 0, after: &[], names: &[], body: &*child.body };
        let ran = run(memory, &config, place, &[(grid, Vec::new(), Vec::new())], children)?;
        stats += ran.stats;
        family.ran(Some(member), ran.launched);
    }
    Ok(stats)
}

/// For each grid, which grids have ended before it starts.
fn ended_before(grids: &[Grid<'_>]) -> Vec<Vec<bool>> {
    let mut before: Vec<Vec<bool>> = Vec::with_capacity(grids.len());
    for (number, grid) in grids.iter().enumerate() {
        let mut ended = vec![false; grids.len()];
        for &after in grid.after {
            let (After::End(other) | After::Trigger(other)) = after;
            assert!(other < number, "grid {number} depends on {after:?}, which is not before it");
            ended[other] |= matches!(after, After::End(_));
            ended.iter_mut().zip(&before[other]).for_each(|(ended, &before)| *ended |= before);
        }
        before.push(ended);
    }
    before
}

/// The parts of a launch.
fn parts(grids: &[Grid<'_>]) -> Vec<Vec<usize>> {
    let before = ended_before(grids);
    let mut parts = vec![Vec::new()];
    for at in 0..grids.len() {
        let part = parts.last_mut().expect("there is always one");
        let comes_after = |later: &Vec<bool>| part.iter().all(|&earlier| later[earlier]);
        if !part.is_empty() && before[at..].iter().all(comes_after) {
            parts.push(vec![at]);
        } else {
            part.push(at);
        }
    }
    parts
}

/// A grid of a part, with its dependencies on grids of that part.
fn member<'a>(grids: &[Grid<'a>], number: usize, part: &[usize]) -> Member<'a> {
    let grid = grids[number];
    let (mut after, mut overlaps) = (Vec::new(), Vec::new());
    for &dependency in grid.after {
        let (of, other) = match dependency {
            After::End(other) => (&mut after, other),
            After::Trigger(other) => (&mut overlaps, other),
        };
        of.extend(part.iter().position(|&at| at == other));
    }
    (grid, after, overlaps)
}

/// Grids that have run.
struct Ran {
    stats: Stats,
    /// Which of them have ended: those that depend on a grid that launched others may be left.
    ended: Vec<bool>,
    launched: Vec<Launched>,
}

/// Runs grids at the same time, as far as they do not depend on each other.
fn run(
    memory: &mut Memory,
    config: &LaunchConfig<'_>,
    entry: Place,
    members: &[Member<'_>],
    children: Children,
) -> Result<Ran, Fault> {
    let grids = GridInfo::all(members);
    let checks = config.races || config.weak_memory;
    let names = || members.iter().flat_map(|(grid, ..)| grid.names).copied();
    if names().next().is_some() {
        memory.name_arguments(names());
    }
    memory.begin_launch();
    let gpus = grids.iter().map(|grid| grid.gpu).max().map_or(1, |gpu| gpu + 1);
    let splits_strong = config.count || config.schedule.policy != Policy::Coarse;
    let (guide, recorder) = (search::current(), replay::current());
    let world = World {
        memory,
        step_limit: config.step_limit,
        splits_strong,
        zeroed: config.zeroed,
        // A race ends the launch, and without races, weak accesses give the same values however
        // threads interleave.
        splits_weak: splits_strong && (config.count || guide.is_some() || !config.races),
        counters: Counters::default(),
        counter: config.count.then(Counter::default),
        clock: Cell::new(0),
        changes: Cell::new(0),
        alarm: Cell::new(0),
        changes_at_alarm: Cell::new(u64::MAX),
        waits: grids.iter().any(GridInfo::may_wait_early).then(Waits::default),
        races: checks.then(|| {
            let weak = config.weak_memory.then(|| Draws {
                seed: config.schedule.seed,
                guide: guide.clone(),
                recorder: recorder.clone(),
            });
            Races::new(Shape::new(&grids), config.races, weak)
        }),
        referee: Referee::new(
            config.sites,
            config.weaken,
            Kinship { in_clusters: grids.iter().any(|grid| grid.cluster > 1), on_gpus: gpus > 1 },
        ),
        copies: Copies::new(config.schedule.seed),
        watched: guide.is_some() || recorder.is_some(),
        guide,
        recorder,
        decided: Cell::new(u64::from(config.schedule.policy == Policy::Coarse)),
        children,
        grids,
        gpus,
    };
    let bodies: Vec<&dyn Fn()> = members.iter().map(|(grid, ..)| grid.body).collect();
    let stats = scheduler::run(&world, config, entry, &bodies)?;
    let ended = world.grids.iter().map(GridInfo::has_ended).collect();
    Ok(Ran { stats, ended, launched: world.children.take() })
}
