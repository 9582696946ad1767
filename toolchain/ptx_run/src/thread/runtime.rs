//! The device runtime: kernels that launch kernels (CUDA C++ Programming Guide, "Device-side Launch
//! from PTX"). Numbers of errors, attributes and streams are those of `cuda_device_runtime_api.h`.

use std::sync::Arc;

use ptx::Type;
use ptx::decode::{Access, AddressSpace, Order, Scope};
use simt::{AccessKind, Child, Dim3, Queue, Refusal};

use super::memory::{Owner, Place, announce};
use super::private::Private;
use super::{BUFFERS, FUNCTIONS, Thread, number};
use crate::code::{Calling, Given, Instruction, Received};
use crate::layout::kept;
use crate::synchronise::Runtime;

/// Where the number of a buffer begins in its address.
const NUMBER: u32 = 24;
/// The first handle of streams and events. Those below are of the runtime's own streams.
const HANDLES: u64 = 0x100;

const SUCCESS: u64 = 0;
const INVALID_CONFIGURATION: u64 = 9;
const LAUNCH_MAX_DEPTH_EXCEEDED: u64 = 65;
const LAUNCH_PENDING_COUNT_EXCEEDED: u64 = 69;

/// A launch whose parameters are being written.
#[derive(Debug)]
pub(super) struct Buffer {
    /// The number of the kernel in the program.
    kernel: usize,
    grid: Dim3,
    block: Dim3,
    dynamic_shared: usize,
    parameters: Private,
}

impl Thread<'_> {
    pub(super) fn call_runtime(&mut self, function: Runtime, call: &Calling, at: &Instruction) {
        let argument = |index| self.argument(call, index, 0, 8, at);
        let short = |index| self.argument(call, index, 0, 4, at);
        let result = match function {
            Runtime::GetParameterBuffer => self.buffer(call, at),
            Runtime::LaunchDevice => self.launch_device(argument(0), argument(1), at),
            // Launches return their errors.
            Runtime::GetLastError | Runtime::Destroy => SUCCESS,
            Runtime::StreamCreate => {
                let stream = HANDLES + u64::from(simt::create_stream());
                self.answer(argument(0), 8, stream, at)
            }
            Runtime::EventCreate => {
                let event = HANDLES + u64::from(simt::create_event());
                self.answer(argument(0), 8, event, at)
            }
            Runtime::StreamWaitEvent => {
                simt::wait_event(queue(argument(0)), event(argument(1)));
                SUCCESS
            }
            Runtime::EventRecord => {
                simt::record_event(event(argument(0)), queue(argument(1)));
                SUCCESS
            }
            Runtime::Print => self.print(argument(0), argument(1), at),
            Runtime::GetDevice => self.answer(argument(0), 4, 0, at),
            Runtime::DeviceGetAttribute => {
                let value = self.attribute(short(1), at);
                self.answer(argument(0), 4, value, at)
            }
        };
        match call.results.first() {
            Some(Received::Register(slot)) => self.write(*slot, result, 0),
            Some(Received::Bytes(to)) => {
                let bytes = if matches!(function, Runtime::GetParameterBuffer) { 8 } else { 4 };
                self.write_private((Owner::Frames, self.frame + to), bytes, result, 0);
            }
            None => {}
        }
    }

    /// A number of `bytes` bytes at an offset of an argument.
    fn argument(
        &self,
        call: &Calling,
        index: usize,
        offset: usize,
        bytes: usize,
        at: &Instruction,
    ) -> u64 {
        match call.arguments[index] {
            Given::Value(slot) => self.used(slot, bytes as u32, at, "an argument"),
            Given::Bytes(from) => {
                let (value, undefined) = self.private.read(self.frame + from + offset, bytes);
                if undefined != 0 {
                    self.trap(at, &format!("argument {index} of the call was not written"));
                }
                value
            }
        }
    }

    /// Writes a result of a call to its address.
    fn answer(&mut self, address: u64, bytes: usize, value: u64, at: &Instruction) -> u64 {
        let access = Access {
            space: AddressSpace::Generic,
            order: Order::Weak,
            scope: Scope::Block,
            ty: Type::B64,
            vector: 1,
            non_coherent: false,
        };
        match self.place(&access, address, bytes, at) {
            Place::Private(owner, to) => self.write_private((owner, to), bytes, value, 0),
            Place::Checked(pointer, space) => {
                if announce(&access, AccessKind::Write, pointer, bytes, space) {
                    // SAFETY: the emulator found these bytes live and aligned.
                    unsafe { number::write(pointer, bytes, value) };
                    self.changes.memory();
                }
            }
        }
        SUCCESS
    }

    fn attribute(&self, attribute: u64, at: &Instruction) -> u64 {
        match attribute {
            1 => 1024,
            8 => 48 << 10,
            10 => simt::WARP_LANES.into(),
            16 => simt::multiprocessors().into(),
            _ => self.trap(at, &format!("device attribute {attribute} is not supported")),
        }
    }

    /// The address of a new buffer for parameters.
    fn buffer(&mut self, call: &Calling, at: &Instruction) -> u64 {
        let kernel = self.argument(call, 0, 0, 8, at);
        let Some(kernel) = self.program.launchable(kernel.wrapping_sub(FUNCTIONS)) else {
            self.trap(at, &format!("a launch of {kernel:#x}, which is not a kernel of the module"));
        };
        let extent = |index, axis: usize| self.argument(call, index, 4 * axis, 4, at) as u32;
        let dim = |index| Dim3::new(extent(index, 0), extent(index, 1), extent(index, 2));
        let (grid, block) = (dim(1), dim(2));
        let dynamic_shared = self.argument(call, 3, 0, 4, at) as usize;
        let code = self.program.entry(kernel).code();
        let mut parameters = Private::default();
        parameters.resize(0, code.parameters.last().map_or(0, |(offset, bytes)| offset + bytes));
        self.buffers.push(Some(Buffer { kernel, grid, block, dynamic_shared, parameters }));
        BUFFERS | (self.buffers.len() as u64 - 1) << NUMBER
    }

    /// Launches a grid with the parameters at an address. Returns the number of an error.
    fn launch_device(&mut self, address: u64, stream: u64, at: &Instruction) -> u64 {
        let index = usize::try_from(address.wrapping_sub(BUFFERS) >> NUMBER).unwrap_or(usize::MAX);
        let Some(buffer) = self.buffers.get_mut(index).and_then(Option::take) else {
            let message =
                format!("a launch with parameters at {address:#x}, which is not a buffer");
            self.trap(at, &message);
        };
        let Buffer { kernel, grid, block, dynamic_shared, parameters } = buffer;
        let entry = self.program.entry(kernel);
        if entry.needs(block).is_some() {
            return INVALID_CONFIGURATION;
        }
        let program = Arc::clone(self.program);
        let child = Child {
            kernel: kept(&entry.code().name),
            grid,
            block,
            dynamic_shared,
            body: Box::new(move || {
                let give = |memory: &mut Private| memory.write_from(&parameters);
                Thread::run(&program, program.entry(kernel), give);
            }),
        };
        self.changes.memory();
        match simt::launch_child(queue(stream), child) {
            Ok(()) => SUCCESS,
            Err(Refusal::Configuration) => INVALID_CONFIGURATION,
            Err(Refusal::TooDeep) => LAUNCH_MAX_DEPTH_EXCEEDED,
            Err(Refusal::TooMany) => LAUNCH_PENDING_COUNT_EXCEEDED,
        }
    }

    /// The place of `bytes` bytes at an address in a buffer.
    pub(super) fn in_buffer(&self, address: u64, bytes: usize, at: &Instruction) -> Place {
        let (index, offset) =
            ((address >> NUMBER) as usize, address as usize & ((1 << NUMBER) - 1));
        let Some(Some(buffer)) = self.buffers.get(index) else {
            self.trap(at, "an access to the parameters of a launch of another thread, or after it");
        };
        let size = buffer.parameters.len();
        if offset + bytes > size || !offset.is_multiple_of(bytes) {
            let message = format!(
                "{bytes} bytes at offset {offset} of the {size} bytes of a launch's parameters: out of \
                 bounds or not aligned"
            );
            self.trap(at, &message);
        }
        Place::Private(Owner::Buffer(index), offset)
    }

    /// A memory of the thread.
    pub(super) fn private_of(&self, owner: Owner) -> &Private {
        match owner {
            Owner::Frames => &self.private,
            Owner::Buffer(index) => {
                let buffer = self.buffers[index].as_ref();
                &buffer.expect("its place was found just now").parameters
            }
        }
    }

    /// Writes the lowest bytes of a number to a memory of the thread.
    pub(super) fn write_private(
        &mut self,
        (owner, to): (Owner, usize),
        bytes: usize,
        value: u64,
        undefined: u8,
    ) {
        match owner {
            Owner::Frames => {
                let changed = self.private.write(to, bytes, value, undefined);
                self.changes.private(to, changed);
            }
            Owner::Buffer(index) => {
                if let Some(buffer) = &mut self.buffers[index] {
                    buffer.parameters.write(to, bytes, value, undefined);
                    self.changes.memory();
                }
            }
        }
    }
}

fn queue(stream: u64) -> Queue {
    match stream {
        0..=2 => Queue::Block,
        3 => Queue::TailLaunch,
        4 => Queue::FireAndForget,
        made => Queue::Stream(made.wrapping_sub(HANDLES) as u32),
    }
}

fn event(handle: u64) -> u32 {
    handle.wrapping_sub(HANDLES) as u32
}
