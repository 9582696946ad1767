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

use core::marker::PhantomData;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, sync_warp, warp_vote_all, warp_vote_any};
use record::{ENDED_LINK, Encoded, FIRST_ARGUMENT, FIRST_INPUT, KEPT_LINK, SIGNAL, state_word};

/// The name of the graph in messages of the emulator.
const NAME: &str = "the graph of tasks";

/// How many records are loaded ahead. A short task takes less time than a load from the L2.
const AHEAD: usize = 4;

shared_array! {
    /// The record of the task that runs, with the values of its inputs in place of the links. Tasks at odd
    /// and even positions have places of their own, so that a warp can still read the last task's.
    fn gridsync_task() -> [u64; 2 * RECORD];
}

shared_array! {
    /// The latest values of the block's own tasks, by their position modulo the length.
    fn gridsync_task_values() -> [u32; KEPT];
}

/// The tasks of this block, in their order.
#[derive(Debug)]
pub struct Tasks {
    /// The records of this block.
    records: Global<u64>,
    state: Global<u64>,
    /// The index of the first node's word in the state.
    words: usize,
    /// The number of this thread in its block.
    thread: u32,
    /// The position of the next task in the block's list, and the length of the list.
    position: usize,
    count: usize,
    /// In the first warp: this lane's words of the next records.
    ahead: [u64; AHEAD],
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
        let (block, blocks) = (thread::block_index(), thread::block_count());
        let (first, end) = (plan.read(block) as usize, plan.read(block + 1) as usize);
        let launch = (state.read(block) as u32).wrapping_add(1);
        let (records, count) = (records_start(blocks) + RECORD * first, end - first);
        let mut tasks = Self {
            records: plan.part(records, RECORD * count),
            state,
            words: state_word(blocks, 0),
            thread: thread::index_in_block(),
            position: 0,
            count,
            ahead: [0; AHEAD],
            launch,
        };
        if tasks.thread < WARP_SIZE {
            for at in 0..AHEAD {
                tasks.ahead[at] = tasks.load(at);
            }
        }
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
            if self.position == self.count {
                thread::sync_threads();
                if self.thread == 0 {
                    self.state.write(thread::block_index(), self.launch.into());
                }
                return None;
            }
            if self.thread < WARP_SIZE {
                let [record, rest @ ..] = self.ahead;
                // The load is in flight while this task and the next ones wait and run.
                let last = self.load(self.position + AHEAD);
                self.ahead = [rest[0], rest[1], rest[2], last];
                self.wait(record);
            }
            thread::sync_threads();
            let task = Task {
                signal: Encoded(gridsync_task().read(place(self.position) + SIGNAL)),
                position: self.position,
                state: self.state,
                words: self.words,
                thread: self.thread,
                launch: self.launch,
                tasks: PhantomData,
            };
            self.position += 1;
            if !task.signal.is(Purpose::Join) {
                return Some(task);
            }
            task.end(0);
        }
    }

    /// This lane's word of a record.
    #[device]
    fn load(&self, position: usize) -> u64 {
        match position < self.count {
            true => self.records.read(RECORD * position + lane_id() as usize),
            false => 0,
        }
    }

    /// Waits for the inputs of a task, one for each lane, and puts the task into shared memory. Called by
    /// the first warp.
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
        let at = self.words + state_word(0, input.at());
        spin::until(|| {
            if !has_come {
                let order = if acquires { Ordering::Acquire } else { Ordering::Relaxed };
                let word = self.state.load(at, order, Scope::Device);
                value = word as u32;
                // Many parts count in the lower half; a single one writes its stamp above its value.
                let reached = if input.parts() == 1 { (word >> 32) as u32 } else { word as u32 };
                has_come = reached == goal;
            }
            warp_vote_all(FULL_MASK, has_come)
        });
        let shown = if lane < FIRST_INPUT { record } else { value.into() };
        gridsync_task().write(place(self.position) + lane, shown);
    }
}

/// Where the task at this position is in shared memory.
#[inline(always)]
const fn place(position: usize) -> usize {
    position % 2 * RECORD
}

/// A task that may run now.
#[must_use = "other tasks wait until this one has finished"]
#[derive(Debug)]
pub struct Task<'a> {
    signal: Encoded,
    position: usize,
    // Copies: a reference to the tasks would keep them in local memory.
    state: Global<u64>,
    words: usize,
    thread: u32,
    launch: u32,
    tasks: PhantomData<&'a mut Tasks>,
}

impl Task<'_> {
    /// Whether the plan wants a barrier of the grid here and nothing else. A kernel that runs plans with
    /// barriers crosses its barrier, and finishes the task.
    #[device]
    pub fn is_barrier(&self) -> bool {
        self.signal.is(Purpose::Barrier)
    }

    /// Number `at` of the task's arguments, below [`ARGUMENTS`]. Any thread may call this: it is a load from
    /// shared memory.
    #[device]
    pub fn argument(&self, at: usize) -> u32 {
        let pair = gridsync_task().read(place(self.position) + FIRST_ARGUMENT + at / 2);
        (pair >> (32 * (at % 2))) as u32
    }

    /// The value of the task's input number `at`, below [`INPUTS`]. Any thread may call this: it is a load
    /// from shared memory. A node of several parts has no value, and an input that the task does not have is
    /// 0.
    #[device]
    pub fn input(&self, at: usize) -> u32 {
        gridsync_task().read(place(self.position) + FIRST_INPUT + at) as u32
    }

    /// Says that the task has ended, with its value.
    ///
    /// Called by every thread of the block. Only the `value` of the block's first thread counts. What all
    /// threads wrote before is visible to tasks that wait for this one by [`Link::Ended`], and to the
    /// block's later tasks. It has a barrier of the block if others wait in that way.
    #[device(protocol = NAME)]
    pub fn finish(self, value: u32) {
        self.end(value);
    }

    #[device]
    fn end(self, value: u32) {
        let Self { signal, state, .. } = self;
        if signal.kind() == ENDED_LINK {
            thread::sync_threads();
        }
        if self.thread > 0 {
            return;
        }
        gridsync_task_values().write(self.position % KEPT, value);
        let word = u64::from(self.launch) << 32 | u64::from(value);
        let at = self.words + state_word(0, signal.at());
        match (signal.kind(), signal.parts()) {
            (0, _) => {}
            (ENDED_LINK, 1) => state.store(at, word, Ordering::Release, Scope::Device),
            (ENDED_LINK, _) => state.add(at, 1, Ordering::Release, Scope::Device),
            _ => state.store(at, word, Ordering::Relaxed, Scope::Device),
        }
    }
}
