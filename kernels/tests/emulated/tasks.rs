//! Graphs of tasks in one kernel, built by hand: the effect of each kind of link, and of a wrong
//! one.

use cuda_std::memory::Global;
use cuda_std::thread;
use gridsync_kernels::grid::tasks::{
    ARGUMENTS, KEPT, Link, Purpose, Record, Tasks, records_start, state_words,
};
use simt::{Fault, LaunchConfig, Memory, Schedule};

/// Elements of the results, and words of nodes.
const RESULTS: usize = 64;

/// A task with one argument.
fn task(argument: u32, inputs: &[Link], signal: Link) -> [u64; 32] {
    let mut arguments = [0; ARGUMENTS];
    arguments[0] = argument;
    Record { arguments, inputs, signal, purpose: Purpose::Body }.encode()
}

/// The plan with these tasks for each block.
fn plan(blocks: &[Vec<[u64; 32]>]) -> Vec<u64> {
    let mut words = vec![0; records_start(blocks.len())];
    let mut tasks = 0;
    for (block, list) in blocks.iter().enumerate() {
        words[block] = tasks;
        tasks += list.len() as u64;
        words.extend(list.iter().flatten());
    }
    words[blocks.len()] = tasks;
    words
}

/// The memory of a launch.
#[derive(Clone, Copy)]
struct Views {
    plan: Global<u64>,
    state: Global<u64>,
    results: Global<u32>,
    /// The number of the launch, from 1. Values are multiplied by it, which makes those of an
    /// earlier launch wrong.
    launch: u32,
}

/// Runs a kernel on the plan `launches` times, and returns the results.
fn run(
    blocks: &[Vec<[u64; 32]>],
    launches: u32,
    schedule: Schedule,
    kernel: impl Fn(Views),
) -> Result<Vec<u32>, Fault> {
    let words = plan(blocks);
    let states = state_words(blocks.len(), RESULTS);
    let mut memory = Memory::new(1 << 20);
    let mut alloc = |bytes: usize| {
        let at = memory.alloc(bytes, 256).expect("it is small");
        memory.zero(at, bytes).expect("it was allocated");
        at
    };
    let (plan, state) = (alloc(8 * words.len()), alloc(8 * states));
    let results = alloc(4 * RESULTS);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    memory.write(plan, &bytes).expect("there is room");
    // SAFETY: each was allocated with this length, and lives as long as the launches.
    let views = unsafe {
        Views {
            plan: Global::from_address(plan, words.len()),
            state: Global::from_address(state, states),
            results: Global::from_address(results, RESULTS),
            launch: 0,
        }
    };
    let config = LaunchConfig {
        schedule,
        races: true,
        cooperative: true,
        ..LaunchConfig::new("test", blocks.len() as u32, 64)
    };
    for launch in 1..=launches {
        simt::launch(&mut memory, &config, &|| kernel(Views { launch, ..views }))?;
    }
    let mut bytes = vec![0; 4 * RESULTS];
    memory.read(results, &mut bytes).expect("it is there");
    let number = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
    Ok(bytes.chunks(4).map(number).collect())
}

/// Each task adds its inputs' values to the argument times the launch, and stores the sum at its
/// argument.
fn add_up(views: Views) {
    let mut tasks = Tasks::attach(views.plan, views.state);
    while let Some(task) = tasks.next() {
        let at = task.argument(0);
        let sum = at * views.launch + task.input(0) + task.input(1);
        if thread::is_first_in_block() {
            views.results.write(at as usize, sum);
        }
        task.finish(sum);
    }
}

/// The task with argument 1 reads what the one with argument 0 has written, in all threads.
fn read_memory(views: Views) {
    let mut tasks = Tasks::attach(views.plan, views.state);
    while let Some(task) = tasks.next() {
        if task.argument(0) == 0 {
            if thread::index_in_block() == 63 {
                views.results.write(0, 9 * views.launch);
            }
        } else {
            let read = views.results.read(0);
            if thread::index_in_block() < 63 {
                views.results.write(thread::index_in_block() + 1, read);
            }
        }
        task.finish(0);
    }
}

const fn value(word: u32) -> Link {
    Link::Value { word }
}

const fn ended(word: u32, parts: u32) -> Link {
    Link::Ended { word, parts }
}

#[test]
fn values_arrive_from_own_and_other_blocks_in_each_launch() {
    let blocks = [
        vec![task(1, &[], value(1)), task(3, &[value(2), Link::Kept { slot: 0 }], value(3))],
        vec![task(2, &[value(1)], value(2)), task(4, &[value(3), value(2)], Link::None)],
    ];
    for seed in 0..20 {
        let results = run(&blocks, 3, Schedule::from_seed(seed), add_up).expect("it runs");
        assert_eq!(results[1..5], [1, 3, 7, 14].map(|sum| 3 * sum), "seed {seed}");
    }
}

#[test]
fn a_block_keeps_its_latest_values() {
    let mut list: Vec<_> = (0..KEPT as u32).map(|at| task(at, &[], Link::None)).collect();
    // The oldest value is in the slot that this task's own value will replace.
    list.push(task(KEPT as u32, &[Link::Kept { slot: 0 }, Link::Kept { slot: 31 }], Link::None));
    let results = run(&[list], 2, Schedule::from_seed(1), add_up).expect("it runs");
    assert_eq!(results[KEPT], 2 * (32 + 31));
}

#[test]
fn a_task_waits_for_all_parts_of_a_node_in_each_launch() {
    let part = |at| vec![task(at, &[], ended(7, 3))];
    let mut blocks = [part(1), part(2), part(3), vec![task(4, &[ended(7, 3)], Link::None)]];
    // In memory, not by value: the last one reads the values that the others have written.
    let sum = |views: Views| {
        let mut tasks = Tasks::attach(views.plan, views.state);
        while let Some(task) = tasks.next() {
            let at = task.argument(0) as usize;
            if thread::is_first_in_block() {
                let written: u32 =
                    (1..at).filter(|_| at == 4).map(|at| views.results.read(at)).sum();
                views.results.write(at, at as u32 * views.launch + written);
            }
            task.finish(0);
        }
    };
    for seed in 0..20 {
        let results = run(&blocks, 3, Schedule::from_seed(seed), sum).expect("it runs");
        assert_eq!(results[1..5], [1, 2, 3, 10].map(|sum| 3 * sum), "seed {seed}");
        blocks.rotate_left(1);
    }
}

#[test]
fn memory_is_visible_after_an_ended_link_but_races_after_a_value_link() {
    let with = |signal, input| [vec![task(0, &[], signal)], vec![task(1, &[input], Link::None)]];
    for seed in 0..20 {
        let schedule = Schedule::from_seed(seed);
        let results = run(&with(ended(0, 1), ended(0, 1)), 2, schedule, read_memory);
        assert_eq!(results.expect("it has no race"), [2 * 9; RESULTS], "seed {seed}");
        for blocks in [with(ended(0, 1), value(0)), with(value(0), ended(0, 1))] {
            let fault = run(&blocks, 1, schedule, read_memory).expect_err("it lacks an order");
            assert!(matches!(fault, Fault::Race(_)), "seed {seed}: {fault}");
        }
    }
}

#[test]
fn threads_receive_words_of_other_tasks_in_each_launch() {
    // To the task's number, each thread adds the values that the opposite threads of the two tasks
    // before it have sent.
    let kernel = |views: Views| {
        // No task has a link, so the words of nodes are unused.
        let words = views.state.part(views.state.len() - 4 * 64, 4 * 64);
        let mut tasks = Tasks::attach(views.plan, views.state);
        while let Some(task) = tasks.next() {
            let (at, me) = (task.argument(0) as usize, thread::index_in_block());
            let sent = match at {
                0 | 1 => 0,
                _ => task.receive(words, [1, 2].map(|ago| (at - ago) * 64 + 63 - me)).iter().sum(),
            };
            let sum = sent + (at + 1) as u32 * (me % 2) as u32 * views.launch;
            task.send(words, at * 64 + me, sum);
            if at == 3 {
                views.results.write(me, sum);
            }
            task.finish(0);
        }
    };
    let blocks = [
        vec![task(0, &[], Link::None), task(2, &[], Link::None)],
        vec![task(1, &[], Link::None), task(3, &[], Link::None)],
    ];
    for seed in 0..20 {
        let results = run(&blocks, 3, Schedule::from_seed(seed), kernel).expect("it runs");
        // The first tasks send 1 and 2 in odd threads, and the next one 3 in all.
        let expected: Vec<u32> =
            (0..64).map(|me| 3 * if me % 2 == 0 { 3 + 2 } else { 3 + 4 }).collect();
        assert_eq!(results, expected, "seed {seed}");
    }
}

#[test]
fn a_join_waits_for_its_inputs_and_is_hidden_from_the_kernel() {
    let inputs = [ended(1, 1), ended(2, 1)];
    let join = Record {
        arguments: [0; ARGUMENTS],
        inputs: &inputs,
        signal: ended(5, 1),
        purpose: Purpose::Join,
    };
    let blocks = [
        vec![task(1, &[], inputs[0]), task(4, &[ended(5, 1)], Link::None)],
        vec![task(2, &[], inputs[1]), join.encode()],
    ];
    let results = run(&blocks, 2, Schedule::from_seed(5), add_up).expect("it runs");
    assert_eq!(results[..5], [0, 2, 4, 0, 8]);
}

#[test]
fn tasks_that_wait_for_each_other_are_reported_as_a_deadlock() {
    let blocks = [vec![task(1, &[value(2)], value(1))], vec![task(2, &[value(1)], value(2))]];
    let fault = run(&blocks, 1, Schedule::from_seed(2), add_up).expect_err("it locks up");
    assert!(matches!(fault, Fault::Deadlock(_)), "{fault}");
    assert!(fault.to_string().contains("tasks.rs"), "{fault}");
}
