//! Runs a litmus test in the emulator, instruction by instruction, with weak memory.

use litmus::{
    Access, FenceOrder, Formula, Instruction, Judgement, Operand, Order, Register, Scope, Term,
    Test, Thread, Update,
};
use simt::{Fault, LaunchConfig, Memory, Schedule, Space};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The most words of the emulator's memory: each location is a separate allocation.
const CAPACITY: usize = 1 << 16;

/// The most steps of one run.
const STEPS: u64 = 1 << 20;

/// Results of the emulator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Emulated {
    /// The final states, each with the first seed that reached it.
    pub(super) states: BTreeMap<Vec<i32>, u64>,
    /// The first seed with which a thread waited forever.
    pub(super) endless: Option<u64>,
    /// Number of schedules.
    pub(super) schedules: u64,
}

/// Runs a test under successive schedules until all states of the model have been reached or `most`
/// schedules have run.
///
/// # Errors
/// The reason why the emulator cannot run the test.
pub(super) fn emulate(test: &Test, model: &Judgement, most: u64) -> Result<Emulated, &'static str> {
    let gpus = gpus(test)?;
    let mut emulated = Emulated::default();
    while emulated.schedules < most {
        emulated.schedules += 1;
        let seed = emulated.schedules;
        match run(test, &gpus, &model.columns, seed) {
            Some(values) if !is_filtered(test, &model.columns, &values) => {
                emulated.states.entry(values).or_insert(seed);
            }
            Some(_) => {}
            None => emulated.endless = emulated.endless.or(Some(seed)),
        }
        let complete = model.states.iter().all(|state| emulated.states.contains_key(state));
        if complete && (model.terminates || emulated.endless.is_some()) {
            break;
        }
    }
    Ok(emulated)
}

/// The threads of each block of each GPU.
fn gpus(test: &Test) -> Result<Vec<Vec<Vec<usize>>>, &'static str> {
    let mut gpus: BTreeMap<u32, BTreeMap<u32, Vec<usize>>> = BTreeMap::new();
    for (number, thread) in test.threads.iter().enumerate() {
        gpus.entry(thread.gpu).or_default().entry(thread.cta).or_default().push(number);
    }
    let gpus: Vec<Vec<_>> =
        gpus.into_values().map(|blocks| blocks.into_values().collect()).collect();
    let most = gpus.iter().flatten().map(Vec::len).max().unwrap_or(0);
    for block in gpus.iter().flatten() {
        let barriers: Vec<_> = block.iter().map(|&at| barriers(&test.threads[at], most)).collect();
        let alike = barriers.iter().all(|it| it.is_some() && *it == barriers[0]);
        let none = barriers.iter().all(|it| *it == Some(0));
        if !alike || !none && block.len() < most {
            return Err(
                "its barriers have numbers or counts of their own, or not all threads reach them",
            );
        }
    }
    Ok(gpus)
}

/// Number of times that a thread reaches the barrier of its block of `threads` threads. `None` if
/// it is uncertain, or for any other barrier.
fn barriers(thread: &Thread, threads: usize) -> Option<usize> {
    let instructions = || thread.statements.iter().map(|statement| statement.instruction);
    let all = |operand: Operand| operand == Operand::Constant(threads as i32);
    let plain = |instruction: &Instruction| match *instruction {
        Instruction::Barrier { wait, id, count } => {
            wait && id == Operand::Constant(0) && count.is_none_or(all)
        }
        _ => false,
    };
    let is_barrier = |it: &Instruction| matches!(it, Instruction::Barrier { .. });
    let has_branch = instructions().any(|it| matches!(it, Instruction::Branch { .. }));
    match instructions().filter(is_barrier).count() {
        0 => Some(0),
        count if !has_branch && instructions().filter(is_barrier).all(|it| plain(&it)) => {
            Some(count)
        }
        _ => None,
    }
}

/// Whether the question excludes this state.
fn is_filtered(test: &Test, columns: &[Term], values: &[i32]) -> bool {
    let value = |term| columns.iter().position(|&it| it == term).map_or(0, |at| values[at]);
    test.filter.as_ref().is_some_and(|filter: &Formula| !filter.holds(&value))
}

/// Runs the test once. Returns the final values of `columns`, or `None` if a thread waits forever.
fn run(test: &Test, gpus: &[Vec<Vec<usize>>], columns: &[Term], seed: u64) -> Option<Vec<i32>> {
    let mut memory = Memory::new(CAPACITY);
    let locations: Vec<u64> = test
        .locations
        .iter()
        .map(|location| {
            let at = memory.alloc(4, 4).expect("a litmus test is small");
            memory.write(at, &location.initial.to_ne_bytes()).expect("it was allocated");
            at
        })
        .collect();
    // GPUs and blocks with fewer blocks and threads than others get some that do nothing.
    let blocks = gpus.iter().map(Vec::len).max().unwrap_or(1);
    let threads = gpus.iter().flatten().map(Vec::len).max().unwrap_or(1);
    let config = LaunchConfig {
        schedule: Schedule::from_seed(seed),
        weak_memory: true,
        step_limit: STEPS,
        ..LaunchConfig::new("litmus", blocks as u32, threads as u32)
    };
    let ended = RefCell::new(vec![BTreeMap::new(); test.threads.len()]);
    let body = || {
        let at = simt::position();
        let block = gpus[at.gpu as usize].get(at.linear_block() as usize);
        let number = block.and_then(|threads| threads.get(at.linear_thread() as usize));
        if let Some(&number) = number {
            let registers = execute(&test.threads[number], &locations);
            ended.borrow_mut()[number] = registers;
        }
    };
    match simt::launch_on_gpus(&mut memory, &config, &vec![&body as &dyn Fn(); gpus.len()]) {
        Ok(_) => {}
        Err(Fault::Deadlock(_) | Fault::NoProgress { .. } | Fault::StepLimit { .. }) => {
            return None;
        }
        Err(fault) => panic!("a litmus test has no other fault: {fault}"),
    }
    let registers = ended.into_inner();
    let value = |term: &Term| match *term {
        Term::Register(thread, register) => registers[thread].get(&register).copied().unwrap_or(0),
        Term::Location(location) => {
            let mut bytes = [0; 4];
            memory.read(locations[location.0], &mut bytes).expect("it was written");
            i32::from_ne_bytes(bytes)
        }
        Term::Constant(constant) => constant,
    };
    Some(columns.iter().map(value).collect())
}

/// Executes the code of the calling thread and returns its registers.
fn execute(thread: &Thread, locations: &[u64]) -> BTreeMap<Register, i32> {
    let mut registers = thread.registers.clone();
    let mut next = 0;
    while let Some(statement) = thread.statements.get(next) {
        let here = next;
        next += 1;
        let value = |operand| match operand {
            Operand::Constant(constant) => constant,
            Operand::Register(register) => registers.get(&register).copied().unwrap_or(0),
        };
        match statement.instruction {
            Instruction::Load { to, from, access } => {
                let word = Word::at(locations[from.0]);
                registers.insert(to, word.load(access));
            }
            Instruction::Store { at, value: operand, access } => {
                Word::at(locations[at.0]).store(value(operand), access);
            }
            Instruction::Atomic { to, at, update, access } => {
                let new = |old| match update {
                    Update::Apply(function, operand) => function.apply(old, value(operand)),
                    Update::CompareAndSwap(expected, new) if old == value(expected) => value(new),
                    Update::CompareAndSwap(..) => old,
                };
                let old = Word::at(locations[at.0]).update(access, new);
                if let Some(to) = to {
                    registers.insert(to, old);
                }
            }
            Instruction::Fence { order, scope } => {
                let order = match order {
                    FenceOrder::Acquire => simt::Order::Acquire,
                    FenceOrder::Release => simt::Order::Release,
                    FenceOrder::AcquireRelease => simt::Order::AcqRel,
                    FenceOrder::Sc => simt::Order::SeqCst,
                };
                simt::fence(scope_of(scope), order);
            }
            Instruction::Barrier { .. } => {
                simt::block_barrier();
            }
            Instruction::Compute { to, function, left, right } => {
                let result = function.apply(value(left), value(right));
                registers.insert(to, result);
            }
            Instruction::Branch { when, target } => {
                if when.is_none_or(|(comparison, a, b)| comparison.holds(value(a), value(b))) {
                    if target <= here {
                        simt::spin();
                    }
                    next = target;
                }
            }
        }
    }
    registers
}

/// A location of the test in the emulator's memory.
#[derive(Clone, Copy)]
struct Word(*mut i32);

impl Word {
    fn at(address: u64) -> Self {
        Self(core::ptr::with_exposed_provenance_mut(address as usize))
    }

    /// Whether the emulator allows this access by the calling thread.
    fn may(self, access: simt::Access) -> bool {
        simt::access(self.0.cast(), 4, access)
    }

    fn load(self, access: Access) -> i32 {
        if !self.may(ordered(simt::Access::read(Space::Global), access)) {
            return 0;
        }
        // SAFETY: the emulator has checked that the word is live and written, and no other thread
        // runs now.
        unsafe { self.0.read() }
    }

    fn store(self, value: i32, access: Access) {
        if self.may(ordered(simt::Access::write(Space::Global), access)) {
            // SAFETY: the emulator has checked that the word is live, and no other thread runs now.
            unsafe { self.0.write(value) };
        }
    }

    fn update(self, access: Access, new: impl FnOnce(i32) -> i32) -> i32 {
        let (order, scope) = order_of(access);
        if !self.may(simt::Access::atomic(Space::Global, order, scope)) {
            return 0;
        }
        // SAFETY: the emulator has checked that the word is live and written, and no other thread
        // runs now.
        unsafe {
            let old = self.0.read();
            self.0.write(new(old));
            old
        }
    }
}

fn ordered(plain: simt::Access, access: Access) -> simt::Access {
    let (order, scope) = order_of(access);
    plain.ordered(order, scope)
}

fn order_of(access: Access) -> (simt::Order, simt::Scope) {
    let order = match access.order {
        Order::Weak => simt::Order::Weak,
        Order::Volatile => simt::Order::Volatile,
        Order::Relaxed => simt::Order::Relaxed,
        Order::Acquire => simt::Order::Acquire,
        Order::Release => simt::Order::Release,
        Order::AcquireRelease => simt::Order::AcqRel,
    };
    (order, access.scope.map_or(simt::Scope::System, scope_of))
}

fn scope_of(scope: Scope) -> simt::Scope {
    match scope {
        Scope::Cta => simt::Scope::Block,
        Scope::Gpu => simt::Scope::Device,
        Scope::Sys => simt::Scope::System,
    }
}
