//! A graph of tasks inside one kernel: each block runs its list of tasks, and waits for tasks of
//! others edge by edge.
//!
//! The host makes the plan: which block runs which task, in which order, and what each waits for. A
//! kernel works through its block's list:
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
//! An edge is one of three things ([`Link`]), from cheap to expensive: nothing, within a block; a
//! word that carries the value and the number of the launch, as in the look-back of a scan (Merrill
//! and Garland, 2016); a release and an acquire, with the data in memory. No word is ever reset,
//! because each one is written in each launch.
//!
//! A fourth one is implemented by the body: it [sends](Task::send) a whole array as such words, and
//! each thread of another task [receives](Task::receive) those that it needs. That doubles the
//! memory, and saves the fence, the wait for the slowest thread, and the trip from the flag to the
//! data.

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

/// The number of records of a page. A page is loaded while the tasks of the page before it run: a
/// short task ends sooner than a load from the L2.
const PAGE: usize = 8;

shared_array! {
    /// Two pages of records. Before a task runs, the values of its inputs replace its links. With
    /// two pages, a warp can still read the last task of one page when the first warp turns to the
    /// next.
    fn gridsync_tasks() -> [u64; 2 * PAGE * RECORD];
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
    /// The index of this thread in its block.
    thread: u32,
    /// The position of the next task in the block's list, and the length of the list.
    position: usize,
    count: usize,
    /// In the first warp: this lane's words of the next page. Nothing uses them before the page is
    /// turned, because a register whose load is in flight cannot even be copied without waiting for
    /// it.
    next_page: [u64; PAGE],
    /// The number of this launch, which is the stamp of its words.
    launch: u32,
}

impl Tasks {
    /// Attaches to the list of this block in `plan`. `state` has the words of the graph.
    ///
    /// Called by every thread of the grid. Blocks are a multiple of 32 threads. The plan is for as
    /// many blocks as the grid has, and **all of them are resident**: the kernel is cooperative.
    /// `state` has [`state_words`] words, which are 0 before the first launch and used only by one
    /// plan and by one launch at a time.
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
            thread: thread::in_32_bits::index_in_block(),
            position: 0,
            count,
            next_page: [0; PAGE],
            launch,
        };
        if tasks.thread < WARP_SIZE {
            tasks.load_page(0);
        }
        tasks
    }

    /// Waits until the block's next task may run, and returns it; `None` after the last one.
    ///
    /// Called by every thread of the block, until it returns `None`. It has a block barrier.
    /// Everything that the task's inputs wrote is visible to all threads, for inputs that are
    /// [`Link::Ended`] or that the block itself ran.
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
                if self.position.is_multiple_of(PAGE) {
                    self.turn_page();
                }
                self.wait();
            }
            thread::sync_threads();
            let task = Task {
                signal: Encoded(gridsync_tasks().read(place(self.position) + SIGNAL)),
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

    /// Begins to load the page that begins at `position`: this lane's word of each record.
    #[device]
    fn load_page(&mut self, position: usize) {
        for at in 0..PAGE {
            if position + at < self.count {
                let word = RECORD * (position + at) + lane_id() as usize;
                self.next_page[at] = self.records.read(word);
            }
        }
    }

    /// Puts the page that begins at this position into shared memory, and begins to load the next
    /// one.
    #[device]
    fn turn_page(&mut self) {
        let lane = lane_id() as usize;
        for at in 0..PAGE {
            gridsync_tasks().write(place(self.position + at) + lane, self.next_page[at]);
        }
        self.load_page(self.position + PAGE);
    }

    /// Waits for the inputs of the next task, one for each lane, and puts their values into its
    /// record. Called by the first warp.
    #[device]
    fn wait(&self) {
        let lane = lane_id() as usize;
        let here = place(self.position) + lane;
        let record = gridsync_tasks().read(here);
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
                // Several parts count in the lower half; a single one writes its stamp above its
                // value.
                let reached = if input.parts() == 1 { (word >> 32) as u32 } else { word as u32 };
                has_come = reached == goal;
            }
            warp_vote_all(FULL_MASK, has_come)
        });
        if lane >= FIRST_INPUT {
            gridsync_tasks().write(here, value.into());
        }
    }
}

/// The index in shared memory of the task at this position.
#[inline(always)]
const fn place(position: usize) -> usize {
    position % (2 * PAGE) * RECORD
}

/// A word that carries a value and the number of its launch.
#[inline(always)]
const fn stamped(launch: u32, value: u32) -> u64 {
    (launch as u64) << 32 | value as u64
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
    /// Whether this is only a grid barrier of the plan. A kernel that runs plans with barriers
    /// crosses its barrier, and finishes the task.
    #[device]
    pub fn is_barrier(&self) -> bool {
        self.signal.is(Purpose::Barrier)
    }

    /// Argument `at` of the task, below [`ARGUMENTS`]. Any thread may call this: it is a load from
    /// shared memory.
    #[device]
    pub fn argument(&self, at: usize) -> u32 {
        let pair = gridsync_tasks().read(place(self.position) + FIRST_ARGUMENT + at / 2);
        (pair >> (32 * (at % 2))) as u32
    }

    /// The value of input `at` of the task, below [`INPUTS`]. Any thread may call this: it is a
    /// load from shared memory. A node of several parts has no value, and an input that the task
    /// does not have is 0.
    #[device]
    pub fn input(&self, at: usize) -> u32 {
        gridsync_tasks().read(place(self.position) + FIRST_INPUT + at) as u32
    }

    /// Sends element `at` of `words` to the threads that [receive](Self::receive) it. Any thread
    /// may call this. No other memory access is made visible.
    ///
    /// `words` are used only by the launches of one plan, and are 0 before the first one. Each
    /// element is sent once in a launch.
    #[device]
    pub fn send(&self, words: Global<u64>, at: usize, value: u32) {
        words.store(at, stamped(self.launch, value), Ordering::Relaxed, Scope::Device);
    }

    /// Waits until the elements `at` of `words` have been [sent](Self::send) in this launch, and
    /// returns them. Each thread may receive different ones. All are polled at once, so the wait is
    /// only as long as that for the last of them.
    ///
    /// The plan must record that this task waits for the senders: on the host, its node comes after
    /// theirs and takes words (`Node::takes_words`).
    #[device(protocol = NAME)]
    pub fn receive<const N: usize>(&self, words: Global<u64>, at: [usize; N]) -> [u32; N] {
        let mut values = [0; N];
        spin::until(|| {
            let mut have_come = true;
            for k in 0..N {
                let word = words.load(at[k], Ordering::Relaxed, Scope::Device);
                have_come &= (word >> 32) as u32 == self.launch;
                values[k] = word as u32;
            }
            have_come
        });
        values
    }

    /// Ends the task, with its value.
    ///
    /// Called by every thread of the block. Only the `value` of the block's first thread counts.
    /// Everything that the threads wrote before is visible to tasks that wait for this one by
    /// [`Link::Ended`], and to the block's later tasks. It has a block barrier if others wait in
    /// that way.
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
        let word = stamped(self.launch, value);
        let at = self.words + state_word(0, signal.at());
        match (signal.kind(), signal.parts()) {
            (0, _) => {}
            (ENDED_LINK, 1) => state.store(at, word, Ordering::Release, Scope::Device),
            (ENDED_LINK, _) => state.add(at, 1, Ordering::Release, Scope::Device),
            _ => state.store(at, word, Ordering::Relaxed, Scope::Device),
        }
    }
}
