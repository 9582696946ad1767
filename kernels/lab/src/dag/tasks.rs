//! All nodes as tasks of one grid.

use super::{Operation, Share, compute, note, work};
use cuda_std::prelude::*;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
use gridsync_kernels::grid::tasks::{Task, Tasks};

/// The arguments of a task, by their index.
pub mod argument {
    /// The number of the [`Operation`](super::Operation).
    pub const OPERATION: usize = 0;
    /// The node's number.
    pub const VALUE: usize = 1;
    /// Minimum cycles of the node.
    pub const CYCLES: usize = 2;
    /// The node, which is the index of its array.
    pub const NODE: usize = 3;
    /// The part of the node that this task computes.
    pub const PART: usize = 4;
    /// The number of parts.
    pub const PARTS: usize = 5;
    /// The index of the node's first input in the list of all inputs.
    pub const FIRST: usize = 6;
    /// The number of inputs.
    pub const COUNT: usize = 7;
    /// 1 if the task's inputs carry their values, in the order of the node's inputs.
    pub const CARRIED: usize = 8;
    /// The first of the node's inputs, up to [`NEAR`] of them: saves a load from the list.
    pub const INPUT: usize = 9;
    /// Number of inputs among the arguments.
    pub const NEAR: usize = 3;
}

/// The memory that all tasks share.
#[derive(Clone, Copy)]
struct Memory {
    arrays: Global<u32>,
    inputs: Global<u32>,
    elements: u32,
    times: Global<u64>,
}

/// Runs the body of a task, and records its times if `times` is not empty.
#[device]
fn noted<T>(task: &Task<'_>, Memory { times, .. }: Memory, body: impl FnOnce() -> T) -> T {
    if times.is_empty() {
        return body();
    }
    let times = times.part(2 * task.argument(argument::NODE) as usize, 2);
    note(times, false);
    let value = body();
    thread::sync_threads();
    note(times, true);
    value
}

/// The body of a task, a part of a node. Returns the node's element if it has one.
#[device]
fn run(task: &Task<'_>, Memory { arrays, inputs, elements, .. }: Memory) -> u32 {
    let number = |at| task.argument(at) as usize;
    let operation = Operation::of(task.argument(argument::OPERATION));
    let mut all = task.argument(argument::VALUE);
    let count = number(argument::COUNT);
    let node = number(argument::NODE);
    work(task.argument(argument::CYCLES));
    if task.argument(argument::CARRIED) == 1 {
        for k in 0..count {
            all = operation.join(all, task.input(k));
        }
        if thread::is_first_in_block() {
            arrays.write(node, all);
        }
        return all;
    }
    let elements = elements as usize;
    let out = arrays.part(node * elements, elements);
    let inputs = inputs.part(number(argument::FIRST), count);
    let threads = thread::in_32_bits::threads_per_block();
    let share = Share {
        first: task.argument(argument::PART) * threads + thread::in_32_bits::index_in_block(),
        stride: task.argument(argument::PARTS) * threads,
    };
    // Only a node of one element returns a value, so this is that element.
    let input = |k| match k < argument::NEAR {
        true => task.argument(argument::INPUT + k),
        false => inputs.read(k),
    };
    compute(arrays, count, input, out, (operation, all), share)
}

/// All nodes in one kernel; they wait for each other edge by edge.
///
/// # Safety
///
/// `plan` and `state` are those of one plan for this grid, with [`argument`]s; no edge of it is
/// missing. `arrays` has `elements` elements for each node, and `inputs` the inputs of all nodes.
/// Nodes with carried inputs have one element. `times` has two words for each node, as for
/// [`dag_node`](super::nodes::dag_node), or is empty.
#[kernel(cooperative)]
pub unsafe fn dag_edges(
    plan: Global<u64>,
    state: Global<u64>,
    arrays: Global<u32>,
    inputs: Global<u32>,
    elements: u32,
    times: Global<u64>,
) {
    let memory = Memory { arrays, inputs, elements, times };
    let mut tasks = Tasks::attach(plan, state);
    while let Some(task) = tasks.next() {
        let value = noted(&task, memory, || run(&task, memory));
        task.finish(value);
    }
}

/// The body of a task whose inputs are words: each thread waits for the elements that it needs.
#[device]
fn run_by_words(
    task: &Task<'_>,
    words: Global<u64>,
    Memory { arrays, inputs, elements, .. }: Memory,
) {
    let number = |at| task.argument(at) as usize;
    let operation = Operation::of(task.argument(argument::OPERATION));
    let (node, count, elements) =
        (number(argument::NODE), number(argument::COUNT), elements as usize);
    let inputs = inputs.part(number(argument::FIRST), count);
    let threads = thread::in_32_bits::threads_per_block() as usize;
    let mut i = number(argument::PART) * threads + thread::in_32_bits::index_in_block() as usize;
    work(task.argument(argument::CYCLES));
    while i < elements {
        let mut all = task.argument(argument::VALUE);
        let mut join = |some: &[u32]| some.iter().for_each(|&x| all = operation.join(all, x));
        let near = |k| task.argument(argument::INPUT + k) as usize * elements + i;
        match count {
            0 => {}
            1 => join(&task.receive(words, [near(0)])),
            2 => join(&task.receive(words, [near(0), near(1)])),
            _ => join(&task.receive(words, [near(0), near(1), near(2)])),
        }
        for k in argument::NEAR..count {
            join(&task.receive(words, [inputs.read(k) as usize * elements + i]));
        }
        task.send(words, node * elements + i, all);
        arrays.write(node * elements + i, all);
        i += number(argument::PARTS) * threads;
    }
}

/// All nodes in one kernel, with arrays sent as words: no node waits for the end of another.
///
/// # Safety
///
/// Same as for [`dag_edges`], but the inputs of all nodes are words. `words` has `elements` words
/// for each node, which are 0 before the first launch and used only by this plan.
#[kernel(cooperative)]
pub unsafe fn dag_words(
    plan: Global<u64>,
    state: Global<u64>,
    arrays: Global<u32>,
    inputs: Global<u32>,
    elements: u32,
    times: Global<u64>,
    words: Global<u64>,
) {
    let memory = Memory { arrays, inputs, elements, times };
    let mut tasks = Tasks::attach(plan, state);
    while let Some(task) = tasks.next() {
        noted(&task, memory, || run_by_words(&task, words, memory));
        task.finish(0);
    }
}

/// All nodes in one kernel, level by level, with a grid barrier after each level.
///
/// # Safety
///
/// Same as for [`dag_edges`]; the plan has barriers in place of edges, the same number for each
/// block. `barrier` has the words of the barrier.
#[kernel(cooperative)]
pub unsafe fn dag_levels(
    plan: Global<u64>,
    state: Global<u64>,
    arrays: Global<u32>,
    inputs: Global<u32>,
    elements: u32,
    times: Global<u64>,
    barrier: Global<u32>,
) {
    let memory = Memory { arrays, inputs, elements, times };
    let mut barrier = GridBarrier::attach(barrier);
    let mut tasks = Tasks::attach(plan, state);
    while let Some(task) = tasks.next() {
        if task.is_barrier() {
            barrier.sync();
            task.finish(0);
            continue;
        }
        let value = noted(&task, memory, || run(&task, memory));
        task.finish(value);
    }
}
