//! One resident block: its threads, its barrier, and stepping one of its warps.

use std::rc::Rc;
use std::sync::Arc;

use crate::cluster::ClusterBarrier;
use crate::dim::{Dim3, Position, Spot, WARP_LANES};
use crate::fault::{Arrival, Fault, Missing, Site, Waiting, WaitingFor};
use crate::fiber::{Call, Fiber, Reply, Request, Stop, Turn};
use crate::grid::GridInfo;
use crate::here::Here;
use crate::machine::{Machine, Step};
use crate::named::NamedBarrier;
use crate::peers::Peers;
use crate::picker::{Party, Picker};
use crate::place::Place;
use crate::thread::BarrierVotes;
use crate::warp::{Aligned, CallError, Lane, Wait, Warp, lanes};

/// A block whose threads have started.
pub(crate) struct Block<'a> {
    /// Its number among the blocks of all grids of the launch.
    pub(crate) number: u64,
    /// Its grid, and the index in it.
    pub(crate) grid: &'a GridInfo,
    index: Dim3,
    /// Its GPU, for messages.
    gpu: Option<u32>,
    /// Whether it has let dependent grids start.
    pub(crate) has_triggered: bool,
    pub(crate) threads: Vec<Lane<'a>>,
    pub(crate) warps: Vec<Warp>,
    /// The number of its first thread in the launch, for race detection.
    first_thread: u32,
    /// Threads at the block barrier, and how many of them gave a true predicate.
    arrived: usize,
    votes: u32,
    /// Whether all arrivals so far order accesses.
    orders: bool,
    /// How often the block barrier has opened.
    opened: u64,
    exited: usize,
    /// Its barriers of some warps, created when first used.
    pub(crate) named: Vec<NamedBarrier>,
}

impl<'a> Block<'a> {
    /// Creates the block's threads without running them. Fails if there is no memory for stacks.
    pub(crate) fn start(
        number: u64,
        in_launch: u32,
        peers: &Rc<Peers>,
        entry: Place,
        body: &'a dyn Fn(),
        machine: &mut Machine<'a>,
    ) -> Result<Self, Fault> {
        let world = machine.world;
        let grid = &world.grids[in_launch as usize];
        let index = grid.grid.index_of(number - grid.first_block);
        let count = grid.block.count() as usize;
        let shared = peers.start((index.x % grid.cluster) as usize, world.waits.as_ref());
        let mut threads = Vec::with_capacity(count);
        for thread in 0..count as u64 {
            let stack = machine.pool.take().map_err(|error| Fault::StackMapping {
                kernel: Arc::clone(&grid.kernel),
                bytes: machine.pool.chunk_bytes(),
                errno: error.raw_os_error().unwrap_or_default(),
            })?;
            let position = Position {
                thread_idx: grid.block.index_of(thread),
                block_idx: index,
                block_dim: grid.block,
                grid_dim: grid.grid,
                cluster_blocks: grid.cluster,
                gpu: grid.gpu,
                gpus: world.gpus,
                grid: in_launch,
                first_block: grid.first_block,
            };
            let memories = (Rc::clone(&shared), Rc::clone(peers));
            let here = Here::new(world, memories, position, stack.floor(), Spot::at(entry));
            // SAFETY: the scheduler drops its blocks, and so this fiber, before the machine that
            // owns the pool. World and body outlive the scheduler by their lifetimes.
            let fiber = unsafe { Fiber::new(stack, here, body) };
            threads.push(Lane {
                fiber: Some(fiber),
                reply: Reply::Go,
                wait: Wait::Nothing,
                spot: Spot::at(entry),
                spun_at: entry,
                stepped_at: 0,
                seen: 0,
                ticket: None,
            });
        }
        let warps = (0..count)
            .step_by(WARP_LANES as usize)
            .map(|first| Warp::new(first, (count - first).min(WARP_LANES as usize) as u32))
            .collect();
        Ok(Self {
            number,
            grid,
            index,
            gpu: world.named_gpu(grid.gpu),
            has_triggered: false,
            threads,
            warps,
            first_thread: grid.first_thread_of(number),
            arrived: 0,
            votes: 0,
            orders: true,
            opened: 0,
            exited: 0,
            named: Vec::new(),
        })
    }

    /// Ends all threads where they are, without running their destructors.
    pub(crate) fn abandon(&mut self) {
        self.threads.iter_mut().filter_map(|thread| thread.fiber.as_mut()).for_each(Fiber::abandon);
    }

    /// The first runnable thread of a warp.
    pub(crate) fn runnable_site(&self, warp: usize) -> Option<Site> {
        let warp = &self.warps[warp];
        let lane = lanes(warp.ready).next()?;
        Some(self.site(warp.first + lane as usize))
    }

    pub(crate) fn is_done(&self) -> bool {
        self.exited == self.threads.len()
    }

    /// Runs the lanes of a warp that the picker chose, each to its next scheduling point.
    pub(crate) fn step(
        &mut self,
        warp: usize,
        picker: &mut Picker,
        cluster: &mut ClusterBarrier,
        machine: &mut Machine<'a>,
    ) -> Result<Step, Fault> {
        let mut step = Step::default();
        let mut slept = 0;
        let now = machine.world.clock.get();
        let first = self.warps[warp].first;
        let guide = machine.world.guide.as_deref();
        let ready = self.warps[warp].ready;
        let party = match guide {
            Some(guide) => Party::in_order(guide.party(ready)),
            None => picker.party(ready),
        };
        let party = match &machine.world.recorder {
            Some(recorder) if guide.is_none() => recorder.party(party, ready),
            _ => party,
        };
        machine.world.decide(party.number());
        for lane in party.lanes() {
            if let Some(guide) = guide {
                guide.turn_of(lane);
            }
            let number = first + lane as usize;
            let thread = &mut self.threads[number];
            let fiber = thread.fiber.as_mut().expect("a ready thread should not have exited");
            let before = core::mem::replace(&mut thread.stepped_at, now);
            machine.switches += 1;
            let turn = fiber.resume(core::mem::replace(&mut thread.reply, Reply::Go));
            if let Turn::Stopped(stop) = &turn {
                thread.spot = stop.spot;
            }
            // The canary is on a separate page, so checking it at each access would cost more than
            // the access. It stays dirty, so the next synchronisation finds it.
            let overflowed = match &turn {
                Turn::Stopped(Stop { request: Request::Step, .. }) => false,
                Turn::Stopped(Stop { request: Request::Overflow, .. }) => true,
                _ => fiber.overflowed(),
            };
            if overflowed {
                machine.damaged = true;
                let (site, bytes) = (self.site(number), machine.pool.stack_bytes());
                return Err(Fault::StackOverflow { site, bytes });
            }
            match turn {
                Turn::Exited(ended) => {
                    step.met = true;
                    if let Some(fiber) = thread.fiber.take() {
                        machine.pool.put(fiber.into_stack());
                    }
                    ended?;
                    let opened = cluster.exit(thread.ticket.take());
                    step.cluster_opened |= opened;
                    if let Some(races) = &machine.world.races
                        && opened
                    {
                        races.cluster_opened(self.number_of(number));
                    }
                    self.exit(warp, lane, machine)?;
                }
                Turn::Stopped(stop) => match stop.request {
                    Request::Step | Request::Overflow => {}
                    Request::Spin => {
                        step.hand_over = true;
                        thread.spun_at = stop.spot.place;
                        machine.quiet.spun(&mut thread.seen);
                        if let Some(guide) = guide {
                            guide.spun(stop.spot.call);
                        }
                    }
                    Request::Sleep(cycles) => {
                        step.hand_over = true;
                        if let Some(guide) = guide {
                            guide.slept(cycles);
                        }
                        let wakes = before + u64::from(cycles);
                        thread.stepped_at = now.max(wakes);
                        slept = slept.max(wakes);
                    }
                    Request::ActiveMask => self.warps[warp].asking |= 1 << lane,
                    Request::Collective(call) => self.call(warp, lane, call, machine)?,
                    Request::Barrier { vote, orders, aligned } => {
                        step.met = true;
                        self.orders &= orders;
                        step.released |= self.arrive(warp, lane, (vote, aligned), machine)?;
                    }
                    Request::Meet(meeting) => {
                        step.met = true;
                        step.released |= self.meet(warp, lane, meeting, machine)?;
                    }
                    Request::ClusterArrive { order, aligned } => {
                        step.met = true;
                        let (at, world) = ((warp, lane, aligned), machine.world);
                        step.cluster_opened |= self.cluster_arrive(at, order, cluster, world)?;
                    }
                    Request::ClusterWait { aligned } => {
                        step.met = true;
                        self.cluster_wait((warp, lane, aligned), cluster, machine)?;
                    }
                    Request::LaunchDependents => {
                        step.met = true;
                        step.triggered |= !core::mem::replace(&mut self.has_triggered, true);
                    }
                    Request::DependencyWait => {
                        step.met = true;
                        if !machine.world.has_ended(&self.grid.overlaps) {
                            self.stand(warp, lane, Wait::Grids, machine);
                        }
                    }
                },
            }
        }
        if let Some(counter) = &machine.world.counter {
            counter.end_step();
        }
        let warp = &mut self.warps[warp];
        let count = warp.lanes.count_ones() as usize;
        warp.answer_active_masks(&mut self.threads[first..first + count]);
        let clock = &machine.world.clock;
        clock.set(clock.get().max(slept));
        Ok(step)
    }

    /// A thread arrives at the block barrier. Returns whether the barrier opens.
    fn arrive(
        &mut self,
        warp: usize,
        lane: u32,
        (vote, aligned): (bool, bool),
        machine: &mut Machine<'a>,
    ) -> Result<bool, Fault> {
        let number = self.warps[warp].first + lane as usize;
        if self.exited > 0 {
            let gone = self.position_of(|wait| matches!(wait, Wait::Exited));
            let missing = Missing { thread: self.thread_idx(gone), stuck: None };
            return Err(self.skipped(number, missing));
        }
        let now = Aligned { phase: self.opened, lane, spot: self.threads[number].spot };
        if aligned && let Some(other) = Aligned::come(&mut self.warps[warp].barrier, now) {
            return Err(self.diverged(WaitingFor::BlockBarrier, warp, [lane, other]));
        }
        self.stand(warp, lane, Wait::Barrier, machine);
        self.arrived += 1;
        self.votes += u32::from(vote);
        if self.arrived < self.threads.len() {
            return Ok(false);
        }
        let count = core::mem::take(&mut self.votes);
        let all = count as usize == core::mem::take(&mut self.arrived);
        let votes = BarrierVotes { count, all, any: count > 0 };
        if core::mem::replace(&mut self.orders, true)
            && let Some(races) = &machine.world.races
        {
            races.meet(self.number_of(0)..self.number_of(self.threads.len()));
        }
        let waits = |wait: &Wait| matches!(wait, Wait::Barrier);
        self.release(waits, &Reply::Votes(votes), machine);
        self.opened += 1;
        machine.barriers += 1;
        if let Some(counter) = &machine.world.counter {
            counter.barrier(self.number);
        }
        Ok(true)
    }

    /// Blocks a thread at a barrier until [`Block::release`].
    pub(crate) fn stand(&mut self, warp: usize, lane: u32, wait: Wait, machine: &mut Machine<'a>) {
        let warp = &mut self.warps[warp];
        warp.ready &= !(1 << lane);
        let thread = &mut self.threads[warp.first + lane as usize];
        thread.wait = wait;
        machine.quiet.blocked(&mut thread.seen);
    }

    /// Wakes the threads that wait at this barrier and passes them `reply`.
    pub(crate) fn release(
        &mut self,
        barrier: impl Fn(&Wait) -> bool,
        reply: &Reply,
        machine: &mut Machine<'a>,
    ) {
        for warp in 0..self.warps.len() {
            self.release_warp(warp, &barrier, reply, machine);
        }
    }

    /// Wakes the lanes of a warp that wait at this barrier and passes them `reply`.
    pub(crate) fn release_warp(
        &mut self,
        warp: usize,
        barrier: impl Fn(&Wait) -> bool,
        reply: &Reply,
        machine: &mut Machine<'a>,
    ) {
        let warp = &mut self.warps[warp];
        for lane in lanes(warp.lanes) {
            let thread = &mut self.threads[warp.first + lane as usize];
            if barrier(&thread.wait) {
                warp.ready |= 1 << lane;
                thread.wait = Wait::Nothing;
                thread.reply = reply.clone();
                machine.quiet.released(&mut thread.seen);
            }
        }
    }

    /// A thread calls a warp collective.
    fn call(
        &mut self,
        warp: usize,
        lane: u32,
        call: Call,
        machine: &mut Machine<'a>,
    ) -> Result<(), Fault> {
        let warp = &mut self.warps[warp];
        let first = warp.first;
        let number = first + lane as usize;
        let threads = &mut self.threads[first..first + warp.lanes.count_ones() as usize];
        let released = warp.call(lane, call, threads).map_err(|error| {
            let Call { kind, mask, .. } = call;
            match error {
                CallError::NotInMask => {
                    Fault::NotInMask { site: self.site(number), kind, lane, mask }
                }
                CallError::Exited(lane) => {
                    Fault::LaneExited { site: self.site(number), kind, lane, mask }
                }
                CallError::Mismatch(other) => {
                    let other = first + other as usize;
                    let theirs = match self.threads[other].wait {
                        Wait::Collective(theirs) => theirs,
                        _ => call,
                    };
                    Fault::WarpMismatch {
                        arrivals: Box::new([
                            Arrival { site: self.site(number), kind, mask },
                            Arrival {
                                site: self.site(other),
                                kind: theirs.kind,
                                mask: theirs.mask,
                            },
                        ]),
                    }
                }
            }
        })?;
        if let Some(races) = &machine.world.races
            && call.orders
            && released != 0
        {
            let first = self.number_of(first);
            races.meet(lanes(released).map(|lane| first + lane));
        }
        machine.quiet.blocked(&mut self.threads[number].seen);
        for lane in lanes(released) {
            machine.quiet.released(&mut self.threads[first + lane as usize].seen);
        }
        if released != 0 {
            machine.collectives += 1;
            if let Some(counter) = &machine.world.counter {
                counter.collective(call.kind);
            }
        }
        Ok(())
    }

    /// A thread has exited.
    fn exit(&mut self, warp: usize, lane: u32, machine: &mut Machine<'a>) -> Result<(), Fault> {
        let first = self.warps[warp].first;
        let number = first + lane as usize;
        self.threads[number].wait = Wait::Exited;
        machine.quiet.exited(&mut self.threads[number].seen);
        self.exited += 1;
        if self.arrived > 0 {
            let waiting = self.position_of(|wait| matches!(wait, Wait::Barrier));
            let missing = Missing { thread: self.thread_idx(number), stuck: None };
            return Err(self.skipped(waiting, missing));
        }
        if let Some(fault) = self.missed(warp, lane) {
            return Err(fault);
        }
        let count = self.warps[warp].lanes.count_ones() as usize;
        let warp = &mut self.warps[warp];
        match warp.exit(lane, &self.threads[first..first + count]) {
            None => Ok(()),
            Some((waiting, Call { kind, mask, .. })) => {
                let site = self.site(first + waiting as usize);
                Err(Fault::LaneExited { site, kind, lane, mask })
            }
        }
    }

    /// The fault if `waiting` is at the block barrier and `missing` will never arrive.
    pub(crate) fn skipped(&self, waiting: usize, missing: Missing) -> Fault {
        Fault::BarrierSkipped { site: self.site(waiting), missing: Box::new(missing) }
    }

    /// The fault if two lanes of a warp reach a barrier through different calls.
    pub(crate) fn diverged(&self, barrier: WaitingFor, warp: usize, lanes: [u32; 2]) -> Fault {
        let first = self.warps[warp].first;
        let sites = Box::new(lanes.map(|lane| self.site(first + lane as usize)));
        Fault::BarrierDiverged { barrier, sites }
    }

    /// A thread and its scheduling point.
    pub(crate) fn site(&self, number: usize) -> Site {
        let spot = self.threads[number].spot;
        Site {
            kernel: Arc::clone(&self.grid.kernel),
            gpu: self.gpu,
            block: self.index,
            thread: self.thread_idx(number),
            place: spot.place,
            inside: spot.inside(),
        }
    }

    /// The wait of one stuck thread, as an entry of a deadlock report.
    pub(crate) fn waiting(&self, number: usize, (what, place): (WaitingFor, Place)) -> Waiting {
        let thread = self.thread_idx(number);
        Waiting { kernel: None, gpu: self.gpu, block: self.index, thread, threads: 1, what, place }
    }

    /// A thread's number in the launch. Only for race detection, where the grid is small.
    pub(crate) fn number_of(&self, thread: usize) -> u32 {
        self.first_thread + thread as u32
    }

    pub(crate) fn thread_idx(&self, number: usize) -> Dim3 {
        self.grid.block.index_of(number as u64)
    }

    /// The first thread in this state. The caller guarantees that one exists.
    fn position_of(&self, state: impl Fn(&Wait) -> bool) -> usize {
        let found = self.threads.iter().position(|thread| state(&thread.wait));
        found.expect("counted threads should be found in their state")
    }
}
