//! A graph of tasks inside one kernel: each block runs its list of tasks, and waits for tasks of others
//! edge by edge.
//!
//! The host makes the plan: which block runs which task, in which order, and what each waits for. A kernel
//! walks through its block's list:
//!
//! ```
//! use cuda_std::prelude::*;
//! use gridsync_kernels::grid::tasks::Tasks;
//!
//! /// Each task adds its first argument to the sum of the values that it waits for.
//! #[kernel(cooperative)]
//! unsafe fn add_up(plan: Global<u64>, state: Global<u64>, results: Global<u32>) {
//!     let mut tasks = Tasks::attach(plan, state);
//!     while let Some(task) = tasks.next() {
//!         let sum = task.argument(0) + task.input(0) + task.input(1);
//!         if thread::is_first_in_block() {
//!             results.write(task.argument(1) as usize, sum);
//!         }
//!         task.finish(sum);
//!     }
//! }
//! ```
//!
//! An edge is one of three things ([`Link`]), from cheap to dear: nothing, within a block; a word that
//! carries the value and the number of the launch, as in the look-back of a scan (Merrill and Garland, 2016);
//! a release and an acquire, with the data in memory. No word is ever reset, because each one is written in
//! each launch.

mod record;

pub use record::{
    ARGUMENTS, INPUTS, KEPT, Link, Purpose, RECORD, Record, records_start, state_words,
};

use cuda_std::prelude::*;
use cuda_std::warp::{
    FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_shuffle_idx, warp_vote_all, warp_vote_any,
};
use record::{ENDED_LINK, Encoded, FIRST_ARGUMENT, FIRST_INPUT, KEPT_LINK, SIGNAL, state_word};

/// The name of the graph in messages of the emulator.
const NAME: &str = "the graph of tasks";

shared_array! {
    /// The values that this task waited for. Tasks at odd and even positions have places of their own,
    /// so that a warp can still read the last task's.
    fn gridsync_task_inputs() -> [u32; 2 * INPUTS];
}

shared_array! {
    /// The latest values of the block's own tasks, by their position modulo the length.
    fn gridsync_task_values() -> [u32; KEPT];
}

/// The tasks of this block, in their order.
#[derive(Debug)]
pub struct Tasks {
    plan: Global<u64>,
    state: Global<u64>,
    /// The position of the next task in the block's list.
    position: usize,
    /// The number of the next record, and of the first one that is not this block's.
    next: usize,
    end: usize,
    /// This lane's word of the next record. It is loaded while the task before it runs.
    record: u64,
    /// The number of this launch, which is the stamp of its words.
    launch: u32,
}

impl Tasks {
    /// Attaches to the list of this block in `plan`. `state` has the words of the graph.
    ///
    /// Called by every thread of the grid. Blocks are a multiple of 32 threads. The plan is for as many
    /// blocks as the grid has, and **all of them are resident**: the kernel is cooperative. `state` has
    /// [`state_words`] words, which are 0 before the first launch and belong to one plan and to one launch
    /// at a time.
    #[device]
    pub fn attach(plan: Global<u64>, state: Global<u64>) -> Self {
        let block = thread::block_index();
        let mut tasks = Self {
            plan,
            state,
            position: 0,
            next: plan.read(block) as usize,
            end: plan.read(block + 1) as usize,
            record: 0,
            launch: (state.read(block) as u32).wrapping_add(1),
        };
        tasks.record = tasks.load();
        tasks
    }

    /// Waits until the block's next task may run, and returns it; none after the last one.
    ///
    /// Called by every thread of the block, until it returns none. It has a barrier of the block. What the
    /// task's inputs wrote is visible to all threads, for inputs that are [`Link::Ended`] or that the block
    /// itself ran.
    #[device(protocol = NAME)]
    pub fn next(&mut self) -> Option<Task<'_>> {
        loop {
            if self.next == self.end {
                thread::sync_threads();
                if thread::is_first_in_block() {
                    self.state.write(thread::block_index(), self.launch.into());
                }
                return None;
            }
            let record = self.record;
            self.next += 1;
            // The load is in flight while this task waits and runs.
            self.record = self.load();
            if thread::index_in_block() < WARP_SIZE {
                self.wait(record);
            }
            self.position += 1;
            thread::sync_threads();
            let (signal, _) = warp_shuffle_idx(FULL_MASK, record, SIGNAL, WARP_SIZE);
            let signal = Encoded(signal);
            if !signal.is(Purpose::Join) {
                return Some(Task { record, signal, tasks: self });
            }
            self.end_task(signal, 0);
        }
    }

    /// Says that the task at the last position has ended.
    #[device]
    fn end_task(&self, signal: Encoded, value: u32) {
        if signal.kind() == ENDED_LINK {
            thread::sync_threads();
        }
        if !thread::is_first_in_block() {
            return;
        }
        gridsync_task_values().write((self.position - 1) % KEPT, value);
        let word = u64::from(self.launch) << 32 | u64::from(value);
        let at = self.word(signal);
        match (signal.kind(), signal.parts()) {
            (0, _) => {}
            (ENDED_LINK, 1) => self.state.store(at, word, Ordering::Release, Scope::Device),
            (ENDED_LINK, _) => self.state.add(at, 1, Ordering::Release, Scope::Device),
            _ => self.state.store(at, word, Ordering::Relaxed, Scope::Device),
        }
    }

    /// This lane's word of the next record.
    #[device]
    fn load(&self) -> u64 {
        if self.next == self.end {
            return 0;
        }
        let first = records_start(thread::block_count()) + RECORD * self.next;
        self.plan.read(first + lane_id() as usize)
    }

    /// Waits for the inputs of a task, one for each lane, and puts their values into shared memory. Called
    /// by the first warp.
    #[device]
    fn wait(&self, record: u64) {
        let lane = lane_id() as usize;
        let input = Encoded(if lane < FIRST_INPUT { 0 } else { record });
        let goal = self.launch.wrapping_mul(input.parts());
        // The first lane has kept the value of the task before this one.
        sync_warp(FULL_MASK);
        let mut value = match input.kind() {
            KEPT_LINK => gridsync_task_values().read(input.at()),
            _ => 0,
        };
        let mut has_come = input.kind() <= KEPT_LINK;
        let acquires = warp_vote_any(FULL_MASK, input.kind() == ENDED_LINK);
        spin::until(|| {
            if !has_come {
                let order = if acquires { Ordering::Acquire } else { Ordering::Relaxed };
                let word = self.state.load(self.word(input), order, Scope::Device);
                value = word as u32;
                // Many parts count in the lower half; a single one writes its stamp above its value.
                let reached = if input.parts() == 1 { (word >> 32) as u32 } else { word as u32 };
                has_come = reached == goal;
            }
            warp_vote_all(FULL_MASK, has_come)
        });
        if lane >= FIRST_INPUT {
            gridsync_task_inputs().write(self.place() + lane - FIRST_INPUT, value);
        }
    }

    /// Where the inputs of the task at this position begin in shared memory.
    #[device]
    fn place(&self) -> usize {
        self.position % 2 * INPUTS
    }

    /// The index of a node's word.
    #[device]
    fn word(&self, link: Encoded) -> usize {
        state_word(thread::block_count(), link.at())
    }
}

/// A task that may run now.
#[must_use = "other tasks wait until this one has finished"]
#[derive(Debug)]
pub struct Task<'a> {
    record: u64,
    signal: Encoded,
    tasks: &'a mut Tasks,
}

impl Task<'_> {
    /// Whether the plan wants a barrier of the grid here and nothing else. A kernel that runs plans with
    /// barriers crosses its barrier, and finishes the task.
    #[device]
    pub fn is_barrier(&self) -> bool {
        self.signal.is(Purpose::Barrier)
    }

    /// Number `at` of the task's arguments, below [`ARGUMENTS`]. Called by all lanes of a warp.
    #[device]
    pub fn argument(&self, at: usize) -> u32 {
        let (pair, _) =
            warp_shuffle_idx(FULL_MASK, self.record, (FIRST_ARGUMENT + at / 2) as u32, WARP_SIZE);
        (pair >> (32 * (at % 2))) as u32
    }

    /// The value of the task's input number `at`, below [`INPUTS`]. Any thread may call this. A node of
    /// several parts has no value, and an input that the task does not have is 0.
    #[device]
    pub fn input(&self, at: usize) -> u32 {
        // The position is the next one's.
        let place = (self.tasks.position + 1) % 2 * INPUTS;
        gridsync_task_inputs().read(place + at)
    }

    /// Says that the task has ended, with its value.
    ///
    /// Called by every thread of the block. Only the `value` of the block's first thread counts. What all
    /// threads wrote before is visible to tasks that wait for this one by [`Link::Ended`], and to the
    /// block's later tasks. It has a barrier of the block if others wait in that way.
    #[device(protocol = NAME)]
    pub fn finish(self, value: u32) {
        self.tasks.end_task(self.signal, value);
    }
}
