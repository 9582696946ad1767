//! Calls of functions of the module.

use super::registers::Register;
use super::{Caller, FUNCTIONS, Thread};
use crate::code::{Calling, Code, Given, Instruction, Op, Received};

/// Calls may be nested this deeply. Hardware stops at the end of the stack.
const DEPTH: usize = 4096;
/// Bytes of local memory of a thread (CUDA C++ Programming Guide, "Compute Capabilities").
const LOCAL: usize = 512 << 10;
/// Registers of all calls of a thread.
const REGISTERS: usize = 1 << 21;

impl<'a> Thread<'a> {
    /// Why this function cannot be called, if its frame does not fit.
    pub(super) fn overflow(&self, code: &Code) -> Option<String> {
        let (frame, registers) = (self.frame + code.frame, self.registers + code.slots());
        if frame > LOCAL {
            Some(format!("{frame} bytes of local memory, and a thread has {LOCAL} at most"))
        } else if self.calls.len() >= DEPTH || registers > REGISTERS {
            Some(format!("more than {DEPTH} nested calls, or {REGISTERS} registers in all of them"))
        } else {
            None
        }
    }

    /// Makes room for the registers and variables of a function, all undefined but the constants.
    pub(super) fn enter_frame(&mut self, code: &Code) {
        let end = self.registers + code.slots();
        if self.values.len() < end {
            self.values.resize(end, Register::UNDEFINED);
        }
        self.values[self.registers..end].fill(Register::UNDEFINED);
        self.private.resize(self.frame, self.frame + code.frame);
        self.write_constants(code);
    }

    pub(super) fn call(&mut self, call: &Calling, instruction: &Instruction) {
        let callee = self.used(call.callee, 8, instruction, "the address of a call");
        let Some(code) = self.kernel.function(callee.wrapping_sub(FUNCTIONS)) else {
            let message = format!(
                "a call of {callee:#x}, which is not the address of a function with a body and with \
                 parameters in memory"
            );
            self.trap(instruction, &message);
        };
        let counts = (code.parameters.len(), code.results.len());
        if counts != (call.arguments.len(), call.results.len()) {
            let message = format!(
                "a call of {} with {} arguments and {} results, but it has {} and {}",
                code.name,
                call.arguments.len(),
                call.results.len(),
                counts.0,
                counts.1
            );
            self.trap(instruction, &message);
        }
        let values = call.arguments.iter().map(|argument| match *argument {
            Given::Value(slot) => self.register(slot),
            Given::Bytes(_) => (0, 0),
        });
        let values: Vec<(u64, u8)> = values.collect();
        let (registers, frame) = (self.registers, self.frame);
        self.registers += self.code.slots();
        self.frame += self.code.frame;
        if let Some(problem) = self.overflow(code) {
            self.trap(instruction, &problem);
        }
        let changes = std::mem::take(&mut self.changes);
        let (caller, line) = (self.code, self.line);
        let at = self.next - 1;
        self.calls.push(Caller { code: caller, at, registers, frame, changes, line });
        self.line = instruction.own.or(line);
        self.enter_frame(code);
        for ((argument, value), &(at, bytes)) in
            call.arguments.iter().zip(values).zip(&code.parameters)
        {
            let to = self.frame + at;
            match argument {
                Given::Value(_) => self.private.write(to, bytes.min(8), value.0, value.1),
                Given::Bytes(from) => self.private.copy(frame + from, to, bytes),
            };
        }
        self.code = code;
        self.next = 0;
    }

    /// Returns from a function. Returns whether that was the kernel.
    pub(super) fn leave(&mut self) -> bool {
        let Some(caller) = self.calls.pop() else { return true };
        let Caller { code, at, registers, frame, changes, line } = caller;
        let (callee, callee_frame) = (self.code, self.frame);
        self.line = line;
        (self.code, self.next) = (code, at + 1);
        (self.registers, self.frame) = (registers, frame);
        self.changes = changes.after_call(self.changes, callee_frame);
        let Op::Call(call) = &code.instructions[at].op else { return false };
        for (result, &(place, bytes)) in call.results.iter().zip(&callee.results) {
            let from = callee_frame + place;
            match *result {
                Received::Bytes(to) => {
                    let changed = self.private.copy(from, frame + to, bytes);
                    self.changes.private(frame + to, changed);
                }
                Received::Register(slot) => {
                    let (value, undefined) = self.private.read(from, bytes.min(8));
                    self.write(slot, value, undefined);
                }
            }
        }
        false
    }
}
