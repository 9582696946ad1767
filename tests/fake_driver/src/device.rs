//! The devices: their memory, their streams, captures, and graphs.

use crate::control::{Launches, STICKY, count, holds_copies, launches_on};
use crate::launch::Launch;
use crate::log::log;
use simt::Memory;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use std::{mem, ptr, slice};

/// The handle of the first device's context. The handles of the other contexts follow it.
const FIRST_CONTEXT: usize = 0xc0;

/// Bytes of memory of each device.
pub(crate) const BYTES: usize = 1 << 30;

/// Multiprocessors, and the number of blocks of any kernel that fit on each.
pub(crate) const MULTIPROCESSORS: u32 = 4;
pub(crate) const BLOCKS: u32 = 2;

const INVALID_CONTEXT: u32 = 201;
const INVALID_HANDLE: u32 = 400;

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// The handle of the context of a device.
pub(crate) fn context_of(ordinal: usize) -> usize {
    FIRST_CONTEXT + ordinal
}

/// The device of a context.
pub(crate) fn ordinal_of(context: usize) -> usize {
    context - FIRST_CONTEXT
}

/// Makes a context current on this thread.
pub(crate) fn enter(context: usize) {
    CURRENT.set(context);
}

/// The context that is current on this thread, or 0.
pub(crate) fn entered() -> usize {
    CURRENT.get()
}

/// Work in a stream.
#[derive(Clone)]
pub(crate) enum Step {
    Launch(Launch),
    Zero(u64, usize),
    Copy(HostCopy),
    CopyWithin { to: u64, from: u64, bytes: usize },
    Free(u64),
}

/// A copy between the host and a device.
#[derive(Clone, Copy)]
pub(crate) struct HostCopy {
    /// The exposed address of the host memory.
    pub(crate) host: usize,
    pub(crate) device: u64,
    pub(crate) bytes: usize,
    pub(crate) to_host: bool,
}

/// One device.
pub(crate) struct Gpu {
    memory: Memory,
    /// The bytes of each allocation, by its address.
    allocations: BTreeMap<u64, usize>,
    /// Number of holders of its context.
    pub(crate) retained: u32,
    /// The devices whose memory its context can access.
    pub(crate) reaches: HashSet<usize>,
}

impl Gpu {
    fn new() -> Self {
        Self {
            memory: Memory::new(BYTES),
            allocations: BTreeMap::new(),
            retained: 0,
            reaches: HashSet::new(),
        }
    }

    /// Releases the context. Access to other devices ends with its last holder.
    pub(crate) fn release(&mut self) {
        self.retained = self.retained.saturating_sub(1);
        if self.retained == 0 {
            self.reaches.clear();
        }
    }
}

/// The state of all devices.
pub(crate) struct State {
    gpus: Vec<Gpu>,
    /// The device of each stream, event, module, function and graph.
    owners: HashMap<usize, usize>,
    /// The streams that a fault has broken.
    pub(crate) broken: HashSet<usize>,
    /// The streams with endless work, and the events after it.
    pub(crate) endless: HashSet<usize>,
    /// Work behind the endless work of those streams.
    behind: Vec<(usize, Step)>,
    /// The capturing streams with their steps, or `None` if the capture is broken.
    pub(crate) captures: HashMap<usize, Option<Vec<Step>>>,
    /// The streams that take part in another stream's capture, and events of that capture.
    pub(crate) joined: HashMap<usize, usize>,
    pub(crate) captured_events: HashMap<usize, usize>,
    /// The steps of each graph, executable or not.
    pub(crate) graphs: HashMap<usize, Vec<Step>>,
    handles: usize,
}

/// The state, for one call.
pub(crate) fn state() -> MutexGuard<'static, State> {
    static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::after(0x1000)));
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state, once nothing runs in `stream`, or in any stream of the current device. Waits for
/// endless work until it is [forgotten](State::reset).
pub(crate) fn ended(stream: Option<usize>) -> MutexGuard<'static, State> {
    loop {
        let state = state();
        if !state.is_busy(stream) {
            return state;
        }
        drop(state);
        thread::sleep(Duration::from_millis(1));
    }
}

impl State {
    /// New devices, with handles after this one.
    fn after(handles: usize) -> Self {
        Self {
            gpus: Vec::new(),
            owners: HashMap::new(),
            broken: HashSet::new(),
            endless: HashSet::new(),
            behind: Vec::new(),
            captures: HashMap::new(),
            joined: HashMap::new(),
            captured_events: HashMap::new(),
            graphs: HashMap::new(),
            handles,
        }
    }

    /// Replaces all devices with new ones.
    pub(crate) fn reset(&mut self) {
        *self = Self::after(self.handles);
    }

    /// A new handle.
    pub(crate) fn handle(&mut self) -> usize {
        self.handles += 1;
        self.handles
    }

    /// A new handle of the current device.
    pub(crate) fn owned_handle(&mut self) -> usize {
        let handle = self.handle();
        self.own(handle);
        handle
    }

    /// Makes something belong to the current device.
    pub(crate) fn own(&mut self, handle: usize) {
        self.owners.insert(handle, self.current());
    }

    /// Ends the ownership of something by the current device. Returns the error if the device does
    /// not own it, or 0.
    pub(crate) fn disown(&mut self, handle: usize) -> u32 {
        let ready = self.ready(handle);
        if ready != INVALID_HANDLE && ready != INVALID_CONTEXT {
            self.owners.remove(&handle);
            return 0;
        }
        ready
    }

    /// A device by its number.
    pub(crate) fn gpu(&mut self, ordinal: usize) -> &mut Gpu {
        while self.gpus.len() <= ordinal {
            self.gpus.push(Gpu::new());
        }
        &mut self.gpus[ordinal]
    }

    /// The number of the current device, for a call that is [ready](Self::ready).
    pub(crate) fn current(&self) -> usize {
        ordinal_of(CURRENT.get())
    }

    /// The memory of the current device, for a call that is [ready](Self::ready).
    pub(crate) fn memory(&mut self) -> &mut Memory {
        let current = self.current();
        &mut self.gpu(current).memory
    }

    /// The device that a handle belongs to.
    pub(crate) fn owner(&self, handle: usize) -> Option<usize> {
        self.owners.get(&handle).copied()
    }

    /// Notes an allocation of the current device.
    pub(crate) fn allocated(&mut self, address: u64, bytes: usize) {
        let current = self.current();
        self.gpu(current).allocations.insert(address, bytes);
    }

    /// Frees an allocation of the current device. Returns whether there was one.
    pub(crate) fn free(&mut self, address: u64) -> bool {
        let current = self.current();
        if self.memory().free(address).is_err() {
            self.mistake("memory");
            return false;
        }
        self.gpu(current).allocations.remove(&address);
        count("allocation", -1);
        true
    }

    /// The allocation that has this address: its device, its start and its bytes.
    pub(crate) fn allocation_at(&self, address: u64) -> Option<(usize, u64, usize)> {
        self.gpus.iter().enumerate().find_map(|(device, gpu)| {
            let (&start, &bytes) = gpu.allocations.range(..=address).next_back()?;
            (address < start + bytes as u64).then_some((device, start, bytes))
        })
    }

    /// Whether this is the context of a device, and is retained.
    pub(crate) fn is_context(&self, context: usize) -> bool {
        let gpu = context.checked_sub(FIRST_CONTEXT).and_then(|ordinal| self.gpus.get(ordinal));
        gpu.is_some_and(|gpu| gpu.retained > 0)
    }

    /// Records an error of the caller: it used something that does not belong to the current
    /// device. The record counts as an object that is never released. Returns the error.
    pub(crate) fn mistake(&self, what: &str) -> u32 {
        log(&format!("mistake {what} of another device, or of none"));
        count("use of what another device has", 1);
        INVALID_HANDLE
    }

    /// The first check of every call that needs a context and an unbroken stream, or something else
    /// that belongs to a device; a handle of 0 is nothing, and 2 the default stream of each thread.
    /// Returns the error, or 0.
    pub(crate) fn ready(&self, handle: usize) -> u32 {
        if !self.is_context(CURRENT.get()) {
            INVALID_CONTEXT
        } else if ![0, 2].contains(&handle) && self.owners.get(&handle) != Some(&self.current()) {
            self.mistake("a handle")
        } else if self.broken.contains(&handle) {
            STICKY
        } else {
            0
        }
    }

    /// Whether a stream has endless work, or without `stream`, any stream of the current device.
    fn is_busy(&self, stream: Option<usize>) -> bool {
        match stream {
            Some(stream) => self.endless.contains(&stream),
            None => self.endless.iter().any(|stream| {
                self.owners.get(stream).map(|&owner| context_of(owner)) == Some(CURRENT.get())
            }),
        }
    }

    /// The stream whose capture this stream takes part in.
    pub(crate) fn origin(&self, stream: usize) -> Option<usize> {
        let origin = self.joined.get(&stream).copied().unwrap_or(stream);
        self.captures.contains_key(&origin).then_some(origin)
    }

    /// Keeps the step if the stream captures. Returns whether it does.
    pub(crate) fn captured(&mut self, stream: usize, step: &Step) -> bool {
        let origin = self.origin(stream).unwrap_or(stream);
        let Some(capture) = self.captures.get_mut(&origin) else {
            return false;
        };
        if let Some(steps) = capture {
            steps.push(step.clone());
        }
        true
    }

    /// The first check of a call that cannot be captured. It breaks a capture. Returns the error,
    /// or 0.
    pub(crate) fn uncapturable(&mut self, stream: usize) -> u32 {
        match self.captures.get_mut(&stream) {
            Some(capture) => {
                *capture = None;
                900
            }
            None => self.ready(stream),
        }
    }

    /// Ends endless work, and runs the work behind it.
    pub(crate) fn end(&mut self) {
        self.endless.clear();
        let before = CURRENT.get();
        for (stream, step) in mem::take(&mut self.behind) {
            if let Some(owner) = self.owner(stream) {
                enter(context_of(owner));
                self.run(stream, &step);
            }
        }
        enter(before);
    }

    /// Adds a copy to a stream of the current device that runs nothing. Returns the error, or 0.
    ///
    /// # Safety
    ///
    /// The host memory must live until the copy has run.
    pub(crate) unsafe fn put_copy(&mut self, stream: usize, copy: HostCopy) -> u32 {
        if holds_copies(self.current()) {
            self.endless.insert(stream);
            self.behind.push((stream, Step::Copy(copy)));
            return 0;
        }
        // SAFETY: the caller upholds this function's contract.
        if unsafe { self.copy(copy) } { 0 } else { self.mistake("memory") }
    }

    /// Copies between the host and the current device. Returns whether the device has the memory.
    ///
    /// # Safety
    ///
    /// The host memory must be live.
    unsafe fn copy(&mut self, copy: HostCopy) -> bool {
        let HostCopy { host, device, bytes, to_host } = copy;
        let host = ptr::with_exposed_provenance_mut::<u8>(host);
        if to_host {
            // SAFETY: the caller guarantees that the host memory is live.
            let to = unsafe { slice::from_raw_parts_mut(host, bytes) };
            self.memory().read(device, to).is_ok()
        } else {
            // SAFETY: the caller guarantees that the host memory is live.
            let from = unsafe { slice::from_raw_parts(host, bytes) };
            self.memory().write(device, from).is_ok()
        }
    }

    /// Runs a step in a stream of the current device. Nothing runs after endless work.
    pub(crate) fn run(&mut self, stream: usize, step: &Step) {
        let current = self.current();
        if self.endless.contains(&stream) {
            self.behind.push((stream, step.clone()));
            return;
        }
        if matches!(step, Step::Launch(_)) && launches_on(current) == Launches::Endless {
            self.endless.insert(stream);
            return;
        }
        let runs = match step {
            Step::Launch(launch) => match launch.stores() {
                Some((address, value)) => self.store(address, value),
                None => launch.run(self.memory()),
            },
            Step::Zero(at, bytes) => self.memory().zero(*at, *bytes).is_ok(),
            // SAFETY: the caller that added the copy keeps the memory alive until it has run.
            Step::Copy(copy) => unsafe { self.copy(*copy) },
            Step::CopyWithin { to, from, bytes } => {
                let mut copied = vec![0; *bytes];
                let memory = self.memory();
                memory.read(*from, &mut copied).and_then(|()| memory.write(*to, &copied)).is_ok()
            }
            Step::Free(address) => self.free(*address),
        };
        if !runs {
            self.broken.insert(stream);
        }
    }

    /// Stores into the memory of the current device, or of a device whose memory it can access.
    /// Returns whether the address exists.
    fn store(&mut self, address: u64, value: u32) -> bool {
        let current = self.current();
        let reached = self.gpu(current).reaches.clone();
        let mut all = [current].into_iter().chain(reached);
        all.any(|ordinal| self.gpu(ordinal).memory.write(address, &value.to_le_bytes()).is_ok())
    }
}
