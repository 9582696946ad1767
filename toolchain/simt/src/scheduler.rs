//! The loop that steps warps until every block has exited or a fault is found.

use std::sync::Arc;

use crate::block::{Block, Machine, Step};
use crate::deadlock;
use crate::dim::{Place, WARP_LANES};
use crate::fault::Fault;
use crate::here::{World, bump};
use crate::launch::{LaunchConfig, Stats};
use crate::quiet::{Quiet, Verdict};
use crate::ready::ReadySet;
use crate::schedule::Picker;
use crate::stack::Pool;

/// Doublings after which the leaps of the clock stay the same: 2^40 cycles, 18 minutes at 1 GHz.
const LONGEST_LEAP: u32 = 40;

/// Room for one resident block.
enum Slot<'a> {
    /// The block of this number, whose threads are made when one of its warps is first picked: an
    /// early block may then be done, and its stacks free, before a late one starts.
    Fresh(u64),
    Running(Box<Block<'a>>),
    Empty,
}

/// All of a launch in progress. The slots, with the fibers, are declared and so dropped before
/// the machine, which holds their stacks.
struct Scheduler<'a> {
    slots: Vec<Slot<'a>>,
    machine: Machine<'a>,
    ready: ReadySet,
    picker: Picker,
    warps_per_block: usize,
    next_block: u64,
    body: &'a dyn Fn(),
    dynamic_shared: usize,
    entry: Place,
}

/// Runs the launch. `entry` is where it was launched from.
pub(crate) fn run<'a>(
    world: &'a World<'a>,
    config: &LaunchConfig<'_>,
    entry: Place,
    body: &'a dyn Fn(),
) -> Result<Stats, Fault> {
    let blocks = world.grid.count();
    let resident = config
        .max_resident_blocks
        .map_or(blocks, |most| blocks.min(most.max(1).into()));
    let threads = world.block.count();
    let warps_per_block = threads.div_ceil(WARP_LANES.into()) as usize;
    let mut machine = Machine {
        world,
        quiet: Quiet::new(config.patience),
        switches: 0,
        barriers: 0,
        collectives: 0,
        damaged: false,
        pool: Pool::new(config.stack_bytes, resident.saturating_mul(threads)),
    };
    machine.quiet.started(resident * threads);
    let mut scheduler = Scheduler {
        slots: (0..resident).map(Slot::Fresh).collect(),
        machine,
        ready: ReadySet::full(resident as usize * warps_per_block),
        picker: Picker::new(config.schedule),
        warps_per_block,
        next_block: resident,
        body,
        dynamic_shared: config.dynamic_shared,
        entry,
    };
    let steps = scheduler.run_to_end()?;
    let Machine {
        switches,
        barriers,
        collectives,
        ..
    } = scheduler.machine;
    Ok(Stats {
        blocks,
        threads: blocks * threads,
        steps,
        switches,
        accesses: world.counters.accesses.get(),
        fences: world.counters.fences.get(),
        barriers,
        collectives,
        spins: world.counters.spins.get(),
    })
}

impl<'a> Scheduler<'a> {
    /// Steps until all is done; returns the number of steps.
    fn run_to_end(&mut self) -> Result<u64, Fault> {
        let world = self.machine.world;
        let (mut steps, mut changes, mut hand_over) = (0, 0, false);
        while let Some(warp) = self.picker.pick(&self.ready, hand_over) {
            if steps >= world.step_limit {
                return Err(self.over_the_limit());
            }
            steps += 1;
            bump(&world.clock);
            hand_over = self.step(warp)?.hand_over;
            if changes != world.changes.get() {
                changes = world.changes.get();
                self.machine.quiet.changed();
            }
            match self.machine.quiet.verdict() {
                Verdict::Open => {}
                Verdict::Pass(passes) => {
                    let leap = 1 << passes.min(LONGEST_LEAP);
                    world.clock.set(world.clock.get() + leap);
                }
                Verdict::Deadlock => break,
            }
        }
        let live = self
            .slots
            .iter()
            .any(|slot| matches!(slot, Slot::Running(_)));
        if live {
            Err(self.deadlock())
        } else {
            Ok(steps)
        }
    }

    /// Steps one warp, and starts or ends its block where it is the first or the last step.
    fn step(&mut self, warp: usize) -> Result<Step, Fault> {
        let number = warp / self.warps_per_block;
        if let Slot::Fresh(linear) = self.slots[number] {
            let index = self.machine.world.grid.index_of(linear);
            let block = Block::start(
                index,
                self.dynamic_shared,
                self.entry,
                self.body,
                &mut self.machine,
            )?;
            self.slots[number] = Slot::Running(Box::new(block));
        }
        let Slot::Running(block) = &mut self.slots[number] else {
            unreachable!("warps of empty slots are not ready")
        };
        let step = block.step(warp % self.warps_per_block, &mut self.machine)?;
        let first = number * self.warps_per_block;
        if block.warps[warp - first].ready == 0 {
            self.ready.remove(warp);
        }
        if step.released {
            (first..first + self.warps_per_block).for_each(|warp| self.ready.insert(warp));
        }
        if block.is_done() {
            self.slots[number] = Slot::Empty;
            self.start_next(number);
        }
        Ok(step)
    }

    /// Gives an emptied slot to the next block of the grid.
    fn start_next(&mut self, number: usize) {
        let world = self.machine.world;
        if self.next_block == world.grid.count() {
            return;
        }
        self.slots[number] = Slot::Fresh(self.next_block);
        self.next_block += 1;
        self.machine.quiet.started(world.block.count());
        let first = number * self.warps_per_block;
        (first..first + self.warps_per_block).for_each(|warp| self.ready.insert(warp));
    }

    fn running(&self) -> impl Iterator<Item = &Block<'a>> + Clone {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Running(block) => Some(&**block),
            Slot::Fresh(_) | Slot::Empty => None,
        })
    }

    #[cold]
    fn deadlock(&self) -> Fault {
        let world = self.machine.world;
        deadlock::explain(self.running(), world.grid.count() - self.next_block, world)
    }

    #[cold]
    fn over_the_limit(&self) -> Fault {
        let World {
            kernel,
            step_limit: limit,
            ..
        } = self.machine.world;
        let site = self.running().find_map(Block::runnable_site);
        Fault::StepLimit {
            kernel: Arc::clone(kernel),
            limit: *limit,
            site,
        }
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
