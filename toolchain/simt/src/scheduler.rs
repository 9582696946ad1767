//! The loop that steps warps until every block has exited or a fault is found.

use core::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;

use crate::block::Block;
use crate::bulk::Load;
use crate::cluster::ClusterBarrier;
use crate::count::Counter;
use crate::deadlock;
use crate::early::Waits;
use crate::fault::Fault;
use crate::fiber::Reply;
use crate::grid::GridInfo;
use crate::here::Here;
use crate::launch::{LaunchConfig, Stats};
use crate::machine::{Machine, Step};
use crate::peers::Peers;
use crate::picker::Picker;
use crate::place::Place;
use crate::quiet::{Quiet, Verdict};
use crate::race::Races;
use crate::rooms::{Rooms, Start};
use crate::schedule::{Policy, Schedule};
use crate::search::{self, Object};
use crate::stack::Pool;
use crate::warp::Wait;
use crate::world::{World, bump, mix};

/// The clock's leaps stop doubling here: 2^40 cycles, 18 minutes at 1 GHz.
const LONGEST_LEAP: u32 = 40;

/// Room for one resident block.
enum Slot<'a> {
    /// The block with this number, of the grid with this one. Its threads are created when one of
    /// its warps is first picked, so an early block may be done, and its stacks free, before a late
    /// one starts.
    Fresh(u64, u32),
    Running(Box<Block<'a>>),
    Empty,
}

/// A launch in progress. The slots hold the fibers and the machine holds their stacks, so the slots
/// are declared first, to be dropped first.
struct Scheduler<'a> {
    slots: Vec<Slot<'a>>,
    /// Which slots form a cluster, and which cluster starts next.
    rooms: Rooms,
    /// The barrier of each cluster.
    clusters: Vec<ClusterBarrier>,
    /// The shared memories of each cluster.
    peers: Vec<Rc<Peers>>,
    machine: Machine<'a>,
    picker: Picker,
    /// The most warps of a block. Each slot has as many numbers.
    warps_per_block: usize,
    /// The kernel body of each grid's threads.
    bodies: &'a [&'a dyn Fn()],
    entry: Place,
}

/// Runs the grids of the world. `entry` is the location of the call that launched them, `config` the
/// configuration of the launch.
pub(crate) fn run<'a>(
    world: &'a World<'a>,
    config: &LaunchConfig<'_>,
    entry: Place,
    bodies: &'a [&'a dyn Fn()],
) -> Result<Stats, Fault> {
    let grids = &world.grids;
    let warps_per_block = grids.iter().map(GridInfo::warps_per_block).max().unwrap_or(1);
    let rooms = Rooms::new(grids, config.schedule.seed, world.guide.as_ref());
    let mut picks = config.schedule;
    if let Some(recorder) = &world.recorder {
        recorder.begin();
        if recorder.follows() {
            // Used after the end of the script.
            picks = Schedule::new(Policy::RunAhead);
        }
    }
    let of_rooms = (0..rooms.count()).map(|room| &grids[rooms.get(room).0]);
    let threads_of = |grid: &GridInfo| u64::from(grid.cluster) * grid.block.count();
    let resident = of_rooms.clone().fold(0u64, |all, grid| all.saturating_add(threads_of(grid)));
    let machine = Machine {
        world,
        quiet: Quiet::new(config.patience),
        switches: 0,
        barriers: 0,
        cluster_barriers: 0,
        collectives: 0,
        damaged: false,
        pool: Pool::new(config.stack_bytes, resident),
    };
    let warps = rooms.slots() * warps_per_block;
    if let Some(guide) = &world.guide
        && !guide.begin(warps, config.patience)
    {
        let kernel = Arc::clone(&grids[0].kernel);
        let (warps, limit) = (warps as u64, search::MOST_WARPS as u64);
        return Err(Fault::TooLargeForSearch { kernel, warps, limit });
    }
    let mut scheduler = Scheduler {
        slots: (0..rooms.slots()).map(|_| Slot::Empty).collect(),
        clusters: of_rooms.clone().map(|grid| ClusterBarrier::new(threads_of(grid))).collect(),
        peers: of_rooms.map(|grid| Peers::new(grid.cluster, grid.dynamic_shared)).collect(),
        machine,
        picker: Picker::new(picks, rooms.slots(), warps_per_block, config.count),
        rooms,
        warps_per_block,
        bodies,
        entry,
    };
    scheduler.fill_all();
    let steps = scheduler.run_to_end()?;
    let Machine { switches, barriers, cluster_barriers, collectives, .. } = scheduler.machine;
    let ended = || grids.iter().filter(|grid| grid.has_ended());
    Ok(Stats {
        launches: ended().count() as u64,
        blocks: ended().map(|grid| grid.grid.count()).sum(),
        threads: ended().map(|grid| grid.grid.count() * grid.block.count()).sum(),
        steps,
        switches,
        accesses: world.counters.accesses.get(),
        fences: world.counters.fences.get(),
        barriers,
        cluster_barriers,
        collectives,
        spins: world.counters.spins.get(),
        decided: mix(world.decided.get(), world.races.as_ref().map_or(0, Races::decided)),
        early_wait: world.waits.as_ref().and_then(Waits::found),
        counts: world.counter.as_ref().map(Counter::counts),
    })
}

impl<'a> Scheduler<'a> {
    /// Steps until all blocks have exited; returns the number of steps.
    fn run_to_end(&mut self) -> Result<u64, Fault> {
        let world = self.machine.world;
        let (mut steps, mut changes, mut hand_over) = (0, 0, false);
        while let Some(warp) = self.pick(hand_over) {
            if steps >= world.step_limit {
                return Err(self.over_the_limit(warp));
            }
            steps += 1;
            bump(&world.clock);
            hand_over = self.step(warp)?.hand_over;
            if !world.copies.is_quiet() {
                world.copies.step().iter().try_for_each(|load| self.make(load))?;
            }
            if world.guide.is_some() {
                // The guide decides when nothing can change any more.
                continue;
            }
            if changes != world.changes.get() {
                changes = world.changes.get();
                self.machine.quiet.changed();
            }
            match self.machine.quiet.verdict() {
                Verdict::Open => {}
                // No thread can make progress, so a load in flight is made now.
                _ if !world.copies.is_quiet() => {
                    world.copies.next().iter().try_for_each(|load| self.make(load))?;
                    self.machine.quiet.changed();
                }
                Verdict::Pass(passes) => {
                    let leap = 1 << passes.min(LONGEST_LEAP);
                    world.clock.set(world.clock.get() + leap);
                }
                Verdict::Deadlock => break,
            }
        }
        if world.guide.as_ref().is_some_and(|guide| guide.is_redundant()) {
            search::give_up();
        }
        let live = self.slots.iter().any(|slot| matches!(slot, Slot::Running(_)));
        if live { Err(self.deadlock()) } else { Ok(steps) }
    }

    /// The warp to step next. `hand_over`: the last step spun or slept.
    fn pick(&mut self, hand_over: bool) -> Option<usize> {
        let Some(guide) = &self.machine.world.guide else {
            return self.draw(hand_over);
        };
        if guide.is_redundant() {
            return None;
        }
        let lanes = |warp: usize| match &self.slots[warp / self.warps_per_block] {
            Slot::Fresh(..) => u32::MAX,
            Slot::Running(block) => block.warps[warp % self.warps_per_block].ready,
            Slot::Empty => 0,
        };
        let all = (0..self.slots.len()).flat_map(|number| self.warps_of(number));
        let ready = all.map(|warp| (warp, lanes(warp))).filter(|(_, lanes)| *lanes != 0);
        guide.pick(&ready.collect::<Vec<_>>())
    }

    /// The warp to step next, according to the schedule or a script.
    fn draw(&mut self, hand_over: bool) -> Option<usize> {
        let Some(recorder) = &self.machine.world.recorder else {
            return self.picker.pick(hand_over);
        };
        match recorder.wanted(|warp| self.picker.is_ready(warp)) {
            Some(warp) => {
                self.picker.go_to(warp);
                Some(warp)
            }
            None => self.picker.pick(hand_over),
        }
    }

    /// Steps one warp, and reports to a search which objects besides memory the step has touched.
    fn step(&mut self, warp: usize) -> Result<Step, Fault> {
        let number = warp / self.warps_per_block;
        let starts = matches!(self.slots[number], Slot::Fresh(..));
        let stepped = self.step_warp(warp);
        if let Some(guide) = &self.machine.world.guide {
            let ends = matches!(self.slots[number], Slot::Fresh(..) | Slot::Empty);
            if starts || ends || stepped.as_ref().map_or(true, |step| step.met) {
                guide.touch(Object::block(number));
                if self.machine.world.has_clusters() {
                    guide.touch(Object::CLUSTERS);
                }
            }
            guide.stepped();
        }
        stepped
    }

    /// Steps one warp. Starts its block at the first step and ends it after the last.
    fn step_warp(&mut self, warp: usize) -> Result<Step, Fault> {
        let number = warp / self.warps_per_block;
        let cluster = self.rooms.of_slot(number);
        if let Slot::Fresh(block, grid) = self.slots[number] {
            let (peers, body) = (&self.peers[cluster], self.bodies[grid as usize]);
            let block = Block::start(block, grid, peers, self.entry, body, &mut self.machine)?;
            self.slots[number] = Slot::Running(Box::new(block));
        }
        let Slot::Running(block) = &mut self.slots[number] else {
            unreachable!("warps of empty slots are not ready")
        };
        let world = self.machine.world;
        world.decide(block.number);
        world.decide((warp % self.warps_per_block) as u64);
        if let Some(recorder) = &world.recorder {
            recorder.steps(warp);
        }
        let step = block.step(
            warp % self.warps_per_block,
            &mut self.picker,
            &mut self.clusters[cluster],
            &mut self.machine,
        )?;
        if block.warps[warp % self.warps_per_block].ready == 0 {
            self.picker.remove(warp);
        }
        let done = block.is_done();
        let (left, grid) = (block.number, block.grid);
        let triggers = step.triggered || (done && !block.has_triggered);
        if step.released {
            self.insert_ready(number);
        }
        if step.cluster_opened {
            self.pass_cluster_barrier(cluster);
        }
        if done {
            if let Some(load) = self.machine.world.copies.left_by(left) {
                return Err(self.thread_of(cluster, &load).left(&load));
            }
            self.slots[number] = Slot::Empty;
            let (_, first) = self.rooms.get(cluster);
            self.peers[cluster].end(number - first);
            let was_last = grid.end_block();
            self.leave(cluster);
            if was_last {
                self.end(grid);
            }
        }
        if (triggers && grid.trigger()) || done {
            self.fill();
        }
        Ok(step)
    }

    /// Makes a load that has been in flight. Its thread may have exited.
    fn make(&self, load: &Load) -> Result<(), Fault> {
        let is_its_block = |slot: &Slot<'_>| match slot {
            Slot::Running(block) => block.number == load.position.block_number(),
            Slot::Fresh(..) | Slot::Empty => false,
        };
        let number = self.slots.iter().position(is_its_block);
        let number = number.expect("a block does not end before its loads");
        let here = self.thread_of(self.rooms.of_slot(number), load);
        let made = catch_unwind(AssertUnwindSafe(|| here.make(load)));
        made.map_err(|payload| match payload.downcast::<Fault>() {
            Ok(fault) => *fault,
            Err(payload) => resume_unwind(payload),
        })
    }

    /// The thread that requested a load, in the cluster with this number. It runs only the load.
    fn thread_of(&self, cluster: usize, load: &Load) -> Here<'a> {
        let (world, peers) = (self.machine.world, &self.peers[cluster]);
        let rank = load.position.cluster_rank();
        let memories = (Rc::clone(peers.made(rank as usize)), Rc::clone(peers));
        let here = Here::new(world, memories, load.position, 0, load.spot);
        here.library.set(load.library);
        here
    }

    /// Marks all warps of a slot's block as runnable.
    fn ready_all(&mut self, number: usize) {
        self.warps_of(number).for_each(|warp| self.picker.insert(warp));
    }

    /// The warps of a slot's block.
    fn warps_of(&self, number: usize) -> Range<usize> {
        let (grid, _) = self.rooms.get(self.rooms.of_slot(number));
        let first = number * self.warps_per_block;
        first..first + self.machine.world.grids[grid].warps_per_block()
    }

    /// The slots of a cluster's blocks.
    fn slots_of(&self, cluster: usize) -> Range<usize> {
        let (grid, first) = self.rooms.get(cluster);
        first..first + self.machine.world.grids[grid].cluster as usize
    }

    /// Releases the threads that wait at the barrier of a cluster, which has opened.
    fn pass_cluster_barrier(&mut self, cluster: usize) {
        self.machine.cluster_barriers += 1;
        for number in self.slots_of(cluster) {
            let Slot::Running(block) = &mut self.slots[number] else {
                continue;
            };
            block.pass_cluster_barrier(&mut self.machine);
            self.insert_ready(number);
        }
    }

    /// Frees the room of a cluster, once all its blocks have ended.
    fn leave(&mut self, cluster: usize) {
        let grids = &self.machine.world.grids;
        let empty = |slot: &Slot<'_>| matches!(slot, Slot::Empty);
        if self.slots[self.slots_of(cluster)].iter().all(empty) {
            let grid = &grids[self.rooms.get(cluster).0];
            self.peers[cluster] = Peers::new(grid.cluster, grid.dynamic_shared);
            self.rooms.leave(cluster, grids);
        }
    }

    /// A cluster starts in an empty room, if one has room and its grid may start.
    fn start(&mut self) -> Option<usize> {
        let world = self.machine.world;
        let Start { room, grid, block } =
            self.rooms.start(&world.grids, |at| world.may_start(at))?;
        world.begin(grid);
        let info = &world.grids[grid];
        let threads = u64::from(info.cluster) * info.block.count();
        self.clusters[room] = ClusterBarrier::new(threads);
        self.machine.quiet.started(threads);
        for (number, block) in self.slots_of(room).zip(block..) {
            self.slots[number] = Slot::Fresh(block, grid as u32);
        }
        Some(room)
    }

    /// Starts all clusters that there is room for, before the first step.
    fn fill_all(&mut self) {
        while self.start().is_some() {}
        for number in 0..self.slots.len() {
            let first = number * self.warps_per_block;
            let runs = match self.slots[number] {
                Slot::Empty => 0,
                _ => self.warps_of(number).len(),
            };
            (runs..self.warps_per_block).for_each(|warp| self.picker.remove(first + warp));
        }
    }

    /// Starts all clusters that there is room for.
    fn fill(&mut self) {
        while let Some(room) = self.start() {
            for number in self.slots_of(room) {
                self.ready_all(number);
                if let Some(guide) = &self.machine.world.guide {
                    self.warps_of(number).for_each(|warp| guide.started(warp));
                    guide.touch(Object::block(number));
                    guide.touch(Object::STARTS);
                }
            }
        }
    }

    /// A grid has ended: releases the threads that wait for that.
    fn end(&mut self, grid: &GridInfo) {
        let world = self.machine.world;
        world.end(grid);
        let waits = |wait: &Wait| matches!(wait, Wait::Grids);
        for number in 0..self.slots.len() {
            if let Slot::Running(block) = &mut self.slots[number]
                && !block.grid.overlaps.is_empty()
                && world.has_ended(&block.grid.overlaps)
            {
                block.release(waits, &Reply::Go, &mut self.machine);
                self.insert_ready(number);
            }
        }
    }

    /// Marks the warps of a slot that can run as runnable.
    fn insert_ready(&mut self, number: usize) {
        let Slot::Running(block) = &self.slots[number] else { return };
        let first = number * self.warps_per_block;
        let warps = block.warps.iter().enumerate();
        warps
            .filter(|(_, warp)| warp.ready != 0)
            .for_each(|(warp, _)| self.picker.insert(first + warp));
    }

    fn running(&self) -> impl Iterator<Item = &Block<'a>> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Running(block) => Some(&**block),
            Slot::Fresh(..) | Slot::Empty => None,
        })
    }

    #[cold]
    fn deadlock(&self) -> Fault {
        let grids = self.machine.world.grids.iter().enumerate();
        let left = grids.map(|(at, grid)| self.rooms.left(at) * u64::from(grid.cluster));
        deadlock::explain(self.running(), &left.collect::<Vec<_>>(), self.machine.world)
    }

    /// The fault of a launch that has used up its steps; `warp` would be next.
    #[cold]
    fn over_the_limit(&self, warp: usize) -> Fault {
        let World { grids, step_limit: limit, .. } = self.machine.world;
        let number = warp / self.warps_per_block;
        let site = match &self.slots[number] {
            Slot::Running(block) => block.runnable_site(warp % self.warps_per_block),
            Slot::Fresh(..) | Slot::Empty => None,
        };
        let (grid, _) = self.rooms.get(self.rooms.of_slot(number));
        Fault::StepLimit { kernel: Arc::clone(&grids[grid].kernel), limit: *limit, site }
    }
}

impl Drop for Scheduler<'_> {
    fn drop(&mut self) {
        if self.machine.damaged {
            for slot in &mut self.slots {
                if let Slot::Running(block) = slot {
                    block.abandon();
                }
            }
        }
    }
}
