//! The loop that steps warps until every block has exited or a fault is found.

use core::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;

use crate::block::{Block, Machine, Step};
use crate::bulk::Load;
use crate::cluster::ClusterBarrier;
use crate::count::Counter;
use crate::deadlock;
use crate::dim::WARP_LANES;
use crate::early::Waits;
use crate::fault::Fault;
use crate::here::Here;
use crate::launch::{LaunchConfig, Stats};
use crate::peers::Peers;
use crate::picker::{Picker, Starts};
use crate::place::Place;
use crate::quiet::{Quiet, Verdict};
use crate::race::Races;
use crate::schedule::{Policy, Schedule};
use crate::search::{self, Object};
use crate::stack::Pool;
use crate::world::{World, bump, mix};

/// The clock's leaps stop doubling here: 2^40 cycles, 18 minutes at 1 GHz.
const LONGEST_LEAP: u32 = 40;

/// Room for one resident block.
enum Slot<'a> {
    /// The block with this number. Its threads are created when one of its warps is first picked,
    /// so an early block may be done, and its stacks free, before a late one starts.
    Fresh(u64),
    Running(Box<Block<'a>>),
    Empty,
}

/// A launch in progress. The slots hold the fibers and the machine holds their stacks, so the slots
/// are declared first, to be dropped first.
struct Scheduler<'a> {
    slots: Vec<Slot<'a>>,
    /// The barrier of each cluster. A cluster's blocks are in consecutive slots.
    clusters: Vec<ClusterBarrier>,
    /// The shared memories of each cluster.
    peers: Vec<Rc<Peers>>,
    machine: Machine<'a>,
    picker: Picker,
    /// The order in which the clusters of each GPU start.
    starts: Vec<Starts>,
    warps_per_block: usize,
    /// The kernel body of each GPU's threads.
    bodies: &'a [&'a dyn Fn()],
    dynamic_shared: usize,
    entry: Place,
}

/// Runs the launch. `entry` is the location of the call that launched it.
pub(crate) fn run<'a>(
    world: &'a World<'a>,
    config: &LaunchConfig<'_>,
    entry: Place,
    bodies: &'a [&'a dyn Fn()],
) -> Result<Stats, Fault> {
    let (blocks, gpus) = (world.grid.count(), u64::from(world.gpus));
    let cluster = u64::from(world.cluster);
    let resident_clusters = config.max_resident_blocks.map_or(blocks, u64::from) / cluster;
    let clusters_of_gpu = (blocks / cluster).min(resident_clusters.max(1));
    let clusters = clusters_of_gpu * gpus;
    let resident = clusters * cluster;
    let threads = world.block.count();
    let warps_per_block = threads.div_ceil(WARP_LANES.into()) as usize;
    let mut picks = config.schedule;
    if let Some(recorder) = &world.recorder {
        recorder.begin();
        if recorder.follows() {
            // Used after the end of the script.
            picks = Schedule::new(Policy::RunAhead);
        }
    }
    let mut machine = Machine {
        world,
        quiet: Quiet::new(config.patience),
        switches: 0,
        barriers: 0,
        cluster_barriers: 0,
        collectives: 0,
        damaged: false,
        pool: Pool::new(config.stack_bytes, resident.saturating_mul(threads)),
    };
    machine.quiet.started(resident * threads);
    if let Some(guide) = &world.guide
        && !guide.begin(resident as usize * warps_per_block, config.patience)
    {
        let (kernel, warps) = (Arc::clone(&world.kernel), resident * warps_per_block as u64);
        return Err(Fault::TooLargeForSearch { kernel, warps, limit: search::MOST_WARPS as u64 });
    }
    // If all are resident, the order of their first steps decides the order in which they start.
    let guide = world.guide.clone().filter(|_| clusters_of_gpu < blocks / cluster);
    let seed_of = |gpu| match config.schedule.seed {
        0 => 0,
        seed => seed.wrapping_add(gpu),
    };
    let of_gpu = |gpu| Starts::new(seed_of(gpu), blocks / cluster, guide.clone());
    let mut starts: Vec<_> = (0..gpus).map(of_gpu).collect();
    let mut slots = Vec::new();
    for (starts, gpu) in starts.iter_mut().zip(0..) {
        let first = core::iter::from_fn(|| starts.next()).take(clusters_of_gpu as usize);
        let first = first.flat_map(|started| started * cluster..(started + 1) * cluster);
        slots.extend(first.map(|block| Slot::Fresh(gpu * blocks + block)));
    }
    let mut scheduler = Scheduler {
        slots,
        clusters: (0..clusters).map(|_| ClusterBarrier::new(cluster * threads)).collect(),
        peers: (0..clusters).map(|_| Peers::new(world.cluster, config.dynamic_shared)).collect(),
        machine,
        picker: Picker::new(picks, resident as usize, warps_per_block, config.count),
        starts,
        warps_per_block,
        bodies,
        dynamic_shared: config.dynamic_shared,
        entry,
    };
    let steps = scheduler.run_to_end()?;
    let Machine { switches, barriers, cluster_barriers, collectives, .. } = scheduler.machine;
    Ok(Stats {
        launches: 1,
        blocks: blocks * gpus,
        threads: blocks * gpus * threads,
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
            Slot::Fresh(_) => u32::MAX,
            Slot::Running(block) => block.warps[warp % self.warps_per_block].ready,
            Slot::Empty => 0,
        };
        let all = 0..self.slots.len() * self.warps_per_block;
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
        let starts = matches!(self.slots[number], Slot::Fresh(_));
        let stepped = self.step_warp(warp);
        if let Some(guide) = &self.machine.world.guide {
            let ends = matches!(self.slots[number], Slot::Fresh(_) | Slot::Empty);
            if starts || ends || stepped.as_ref().map_or(true, |step| step.met) {
                guide.touch(Object::block(number));
                if self.machine.world.cluster > 1 {
                    guide.touch(Object::CLUSTERS);
                }
            }
            if matches!(self.slots[number], Slot::Fresh(_)) {
                guide.touch(Object::STARTS);
            }
            guide.stepped();
        }
        stepped
    }

    /// Steps one warp. Starts its block at the first step and ends it after the last.
    fn step_warp(&mut self, warp: usize) -> Result<Step, Fault> {
        let number = warp / self.warps_per_block;
        let cluster = number / self.machine.world.cluster as usize;
        if let Slot::Fresh(block) = self.slots[number] {
            let (gpu, _) = self.machine.world.block_of(block);
            let (peers, body) = (&self.peers[cluster], self.bodies[gpu as usize]);
            let block = Block::start(block, peers, self.entry, body, &mut self.machine)?;
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
        let left = block.number;
        if step.released {
            self.ready_released(number);
        }
        if step.cluster_opened {
            self.pass_cluster_barrier(cluster);
        }
        if done {
            if let Some(load) = self.machine.world.copies.left_by(left) {
                return Err(self.thread_of(cluster, &load).left(&load));
            }
            self.slots[number] = Slot::Empty;
            self.peers[cluster].end(number % self.machine.world.cluster as usize);
            self.start_next(cluster);
        }
        Ok(step)
    }

    /// Makes a load that has been in flight. Its thread may have exited.
    fn make(&self, load: &Load) -> Result<(), Fault> {
        let is_its_block = |slot: &Slot<'_>| match slot {
            Slot::Running(block) => block.number == load.position.block_number(),
            Slot::Fresh(_) | Slot::Empty => false,
        };
        let number = self.slots.iter().position(is_its_block);
        let number = number.expect("a block does not end before its loads");
        let here = self.thread_of(number / self.machine.world.cluster as usize, load);
        let made = catch_unwind(AssertUnwindSafe(|| here.make(load)));
        made.map_err(|payload| match payload.downcast::<Fault>() {
            Ok(fault) => *fault,
            Err(payload) => resume_unwind(payload),
        })
    }

    /// The thread that requested a load, in the cluster with this number. It runs only the load.
    fn thread_of(&self, cluster: usize, load: &Load) -> Here<'a> {
        let (world, peers) = (self.machine.world, &self.peers[cluster]);
        let rank = load.position.block_idx.x % world.cluster;
        let memories = (Rc::clone(peers.made(rank as usize)), Rc::clone(peers));
        let here = Here::new(world, memories, load.position, 0, load.spot);
        here.library.set(load.library);
        here
    }

    /// Marks all warps of a slot's block as runnable.
    fn ready_all(&mut self, number: usize) {
        let first = number * self.warps_per_block;
        (first..first + self.warps_per_block).for_each(|warp| self.picker.insert(warp));
    }

    /// The slots of a cluster's blocks.
    fn slots_of(&self, cluster: usize) -> Range<usize> {
        let blocks = self.machine.world.cluster as usize;
        cluster * blocks..(cluster + 1) * blocks
    }

    /// Releases the threads that wait at the barrier of a cluster, which has opened.
    fn pass_cluster_barrier(&mut self, cluster: usize) {
        self.machine.cluster_barriers += 1;
        for number in self.slots_of(cluster) {
            let Slot::Running(block) = &mut self.slots[number] else {
                continue;
            };
            block.pass_cluster_barrier(&mut self.machine);
            self.ready_released(number);
        }
    }

    /// Marks the warps of a slot's block that can run again.
    fn ready_released(&mut self, number: usize) {
        if let Slot::Running(block) = &self.slots[number] {
            let first = number * self.warps_per_block;
            let warps = block.warps.iter().enumerate();
            warps
                .filter(|(_, warp)| warp.ready != 0)
                .for_each(|(warp, _)| self.picker.insert(first + warp));
        }
    }

    /// Gives the slots of a cluster to the next cluster of the grid, once all are empty.
    fn start_next(&mut self, cluster: usize) {
        let world = self.machine.world;
        let slots = self.slots_of(cluster);
        let empty = |slot: &Slot<'_>| matches!(slot, Slot::Empty);
        if !self.slots[slots.clone()].iter().all(empty) {
            return;
        }
        self.peers[cluster] = Peers::new(world.cluster, self.dynamic_shared);
        let gpu = cluster / (self.clusters.len() / self.starts.len());
        let Some(next) = self.starts[gpu].next() else {
            return;
        };
        let threads = u64::from(world.cluster) * world.block.count();
        self.clusters[cluster] = ClusterBarrier::new(threads);
        self.machine.quiet.started(threads);
        let first = gpu as u64 * world.grid.count() + next * u64::from(world.cluster);
        for (number, block) in slots.zip(first..) {
            self.slots[number] = Slot::Fresh(block);
            self.ready_all(number);
            if let Some(guide) = &world.guide {
                let first = number * self.warps_per_block;
                (first..first + self.warps_per_block).for_each(|warp| guide.started(warp));
            }
        }
    }

    fn running(&self) -> impl Iterator<Item = &Block<'a>> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Running(block) => Some(&**block),
            Slot::Fresh(_) | Slot::Empty => None,
        })
    }

    #[cold]
    fn deadlock(&self) -> Fault {
        let world = self.machine.world;
        let left: u64 = self.starts.iter().map(Starts::left).sum();
        let never_started = left * u64::from(world.cluster);
        deadlock::explain(self.running(), never_started, world)
    }

    /// The fault of a launch that has used up its steps; `warp` would be next.
    #[cold]
    fn over_the_limit(&self, warp: usize) -> Fault {
        let World { kernel, step_limit: limit, .. } = self.machine.world;
        let site = match &self.slots[warp / self.warps_per_block] {
            Slot::Running(block) => block.runnable_site(warp % self.warps_per_block),
            Slot::Fresh(_) | Slot::Empty => None,
        };
        Fault::StepLimit { kernel: Arc::clone(kernel), limit: *limit, site }
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
