//! One thread: its registers, its private memory, and the loop that runs instructions.

mod calls;
mod changes;
mod copies;
mod matrix;
mod mbarrier;
mod memory;
mod number;
mod polls;
mod print;
mod private;
mod registers;
mod runtime;
mod step;
mod synchronise;
mod warp;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use simt::{Phase, Place, Position};

use self::changes::Changes;
use self::copies::Groups;
use self::polls::Polls;
use self::private::Private;
use self::registers::Register;
use self::runtime::Buffer;
use crate::code::{Code, Instruction};
use crate::program::{Entry, Loaded};

/// The first address of functions.
const FUNCTIONS: u64 = 4 << 56;
/// The first address of the parameters of launches.
const BUFFERS: u64 = 5 << 56;

/// The address of the function with this index.
pub(crate) fn function_address(index: u32) -> u64 {
    FUNCTIONS | u64::from(index)
}

/// A thread of a kernel.
pub(crate) struct Thread<'a> {
    program: &'a Arc<Loaded>,
    kernel: &'a Entry,
    position: Position,
    code: &'a Code,
    /// The next instruction.
    next: usize,
    /// The registers of all functions that are being called.
    values: Vec<Register>,
    /// Where the registers and the private memory of the current function begin.
    registers: usize,
    frame: usize,
    private: Private,
    /// The line in the file of the kernel that has called the current function.
    line: Option<Place>,
    /// The calls that have not returned.
    calls: Vec<Caller<'a>>,
    carry: bool,
    changes: Changes,
    /// Where the last iteration that polled has jumped to, and a hash of its registers.
    ended: Option<(usize, u64)>,
    /// Jumps backwards, for loops without any call of the emulator.
    jumps: u32,
    polls: Polls,
    /// The phase of a barrier in shared memory, if its last strong access found it incomplete.
    awaited: Option<Phase>,
    /// Its groups of bulk copies.
    bulk: Groups,
    /// Its groups of other asynchronous copies.
    elements: Groups,
    /// The parameters of its launches.
    buffers: Vec<Option<Buffer>>,
    /// The shared variables of the block, and the memory of the launch with its bytes.
    shared: Vec<*mut u8>,
    dynamic: (*mut u8, usize),
}

/// A function that waits for the one it has called.
struct Caller<'a> {
    code: &'a Code,
    /// Its call.
    at: usize,
    registers: usize,
    frame: usize,
    changes: Changes,
    line: Option<Place>,
}

/// How an instruction ends.
enum Flow {
    /// With the next one.
    Next,
    /// With the end of the thread.
    Exit,
}

impl<'a> Thread<'a> {
    /// Runs a thread of a kernel in a thread of the emulator. `give` writes its parameters.
    pub(crate) fn run(
        program: &'a Arc<Loaded>,
        kernel: &'a Entry,
        give: impl FnOnce(&mut Private),
    ) {
        let code = kernel.code();
        let mut thread = Self {
            program,
            kernel,
            position: simt::position(),
            code,
            next: 0,
            values: Vec::new(),
            registers: 0,
            frame: 0,
            private: Private::default(),
            line: None,
            calls: Vec::new(),
            carry: false,
            changes: Changes::default(),
            ended: None,
            jumps: 0,
            polls: Polls::default(),
            awaited: None,
            bulk: Groups::default(),
            elements: Groups::default(),
            buffers: Vec::new(),
            shared: Vec::new(),
            dynamic: simt::dynamic_shared(),
        };
        if let Some(first) = code.instructions.first() {
            thread.announce(first);
        }
        if let Some(problem) = thread.overflow(code) {
            simt::trap(&problem);
        }
        thread.enter_frame(code);
        give(&mut thread.private);
        let variables = kernel.window.variables.iter();
        thread.shared =
            variables.map(|it| simt::static_shared(it.name, it.bytes, it.align)).collect();
        thread.run_all();
    }

    fn run_all(&mut self) {
        loop {
            let code = self.code;
            let Some(instruction) = code.instructions.get(self.next) else {
                if self.leave() {
                    return;
                }
                continue;
            };
            self.next += 1;
            if let Some((slot, wanted)) = instruction.guard {
                let (value, undefined) = self.register(slot);
                if undefined != 0 {
                    self.refuse_undefined(slot, instruction, "the guard of an instruction");
                }
                if (value != 0) != wanted {
                    continue;
                }
            }
            if let Flow::Exit = self.step(instruction) {
                return;
            }
        }
    }

    /// Continues at an instruction. A jump backwards ends an iteration of a loop: if the thread has
    /// changed nothing in it, the next one will be the same until another thread changes memory. The
    /// same holds if registers have changed, but have the values of the last iteration again.
    fn jump(&mut self, to: usize, instruction: &Instruction) {
        if to < self.next {
            self.jumps += 1;
            if !self.changes.any || self.is_where_it_was(to) {
                self.announce(instruction);
                self.spin();
            } else if self.jumps.is_multiple_of(1 << 16) {
                // The emulator stops a loop that never ends at its limit of steps.
                self.announce(instruction);
                simt::nanosleep(0);
            }
            self.changes.begin_iteration();
        }
        self.next = to;
    }

    /// Whether an iteration that has polled ends with the registers of the one before, and neither has
    /// changed memory.
    fn is_where_it_was(&mut self, to: usize) -> bool {
        let Changes { stored, polled, .. } = self.changes;
        if stored || !polled {
            self.ended = None;
            return false;
        }
        let mut hasher = DefaultHasher::new();
        self.values[self.registers..].hash(&mut hasher);
        let now = (to, hasher.finish());
        self.ended.replace(now) == Some(now)
    }

    /// Lets other threads run. If the thread waits for a barrier in shared memory, a deadlock report
    /// shows that.
    fn spin(&mut self) {
        match self.awaited {
            Some(phase) => simt::spin_for_phase(phase),
            None => simt::spin(),
        };
    }

    /// Tells the emulator the line of its next calls: the last one in the file of the kernel, and the
    /// innermost one.
    fn announce(&self, instruction: &Instruction) {
        let place = instruction.own.or(self.line).unwrap_or(instruction.inside);
        simt::interpret_at(place, instruction.inside);
    }

    /// Ends the launch at an instruction.
    fn trap(&self, instruction: &Instruction, message: &str) -> ! {
        self.announce(instruction);
        simt::trap(&format!("{}: {message}", instruction.shown))
    }
}
