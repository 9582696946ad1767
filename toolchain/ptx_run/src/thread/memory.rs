//! Loads, stores, atomics, and the windows of generic addresses.

use ptx::Type;
use ptx::decode::{Access, AddressSpace, Order};
use simt::AccessKind;

use super::{Thread, number};
use crate::arithmetic::{extended, low_bits};
use crate::code::{Address, Instruction, Loading, Slot, Storing, Updating, Window};
use crate::layout::GAP;
use crate::resolve::{order_of, scope_of};

/// A generic address has the number of its window in the highest byte. The window of global memory
/// is 0, because the emulator's addresses are those of the host.
const WINDOW: u32 = 56;

fn number(window: Window) -> u64 {
    match window {
        Window::Global => 0,
        Window::Shared | Window::Cluster => 1,
        Window::Local => 2,
        Window::Parameter => 3,
    }
}

/// An address in the shared memory of another block of the cluster has the block's rank, plus 1, in
/// these and the higher bits.
const RANK: u32 = 24;

/// Where an access goes.
pub(super) enum Place {
    /// To memory that the emulator checks.
    Checked(*mut u8, simt::Space),
    /// To the memory of the thread.
    Private(Owner, usize),
}

/// Which memory of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    /// The frames of its functions.
    Frames,
    /// The parameters of a launch.
    Buffer(usize),
}

impl Thread<'_> {
    /// The generic address of an address in a window.
    pub(super) fn generic(&self, address: u64, window: Window) -> u64 {
        address | number(window) << WINDOW
    }

    /// The reverse, for an address in that window.
    pub(super) fn specific(&self, address: u64, window: Window, instruction: &Instruction) -> u64 {
        if !self.is_in(address, window) {
            let message = format!("the generic address {address:#x} is not in {window:?} memory");
            self.trap(instruction, &message);
        }
        low_bits(address, WINDOW)
    }

    /// Whether a generic address is in a window. Parameters of a kernel are in global memory too.
    pub(super) fn is_in(&self, address: u64, window: Window) -> bool {
        let found = address >> WINDOW;
        let of_kernel = window == Window::Global && found == number(Window::Parameter);
        let is_foreign = window == Window::Shared && low_bits(address, WINDOW) >> RANK > 0;
        found == number(window) && !is_foreign || of_kernel
    }

    /// The value of an address.
    pub(super) fn address(&self, address: Address, instruction: &Instruction) -> u64 {
        let base = self.used(address.base, 8, instruction, "an address");
        base.wrapping_add_signed(address.offset)
    }

    /// The place of `bytes` bytes.
    pub(super) fn place(
        &self,
        access: &Access,
        address: u64,
        bytes: usize,
        at: &Instruction,
    ) -> Place {
        let (window, address) = match access.space {
            AddressSpace::Generic => (address >> WINDOW, low_bits(address, WINDOW)),
            AddressSpace::Shared => {
                return Place::Checked(self.in_shared(address, at), simt::Space::Shared);
            }
            AddressSpace::SharedCluster => (number(Window::Cluster), address),
            AddressSpace::Local | AddressSpace::Parameter => (number(Window::Local), address),
            _ => (0, address),
        };
        match window {
            0 => {
                let pointer = core::ptr::with_exposed_provenance_mut(address as usize);
                let space =
                    if access.non_coherent { simt::Space::ReadOnly } else { simt::Space::Global };
                Place::Checked(pointer, space)
            }
            1 => {
                let (pointer, space) = self.in_cluster(address, bytes, at);
                Place::Checked(pointer, space)
            }
            2 | 3 => {
                let end = (address as usize).saturating_add(bytes);
                let aligned = (address as usize).is_multiple_of(bytes);
                if end > self.private.len() || !aligned {
                    let message = format!(
                        "{bytes} bytes at {address:#x} of the {} bytes of local memory: out of bounds or \
                         not aligned",
                        self.private.len()
                    );
                    self.trap(at, &message);
                }
                Place::Private(Owner::Frames, address as usize)
            }
            5 => self.in_buffer(address, bytes, at),
            _ => self.trap(at, &format!("an access to {address:#x}, which is not in any memory")),
        }
    }

    /// The pointer to `bytes` bytes at an address in the shared memory of a block of the cluster.
    pub(super) fn in_cluster(
        &self,
        address: u64,
        bytes: usize,
        at: &Instruction,
    ) -> (*mut u8, simt::Space) {
        let Some(rank) = (address >> RANK).checked_sub(1) else {
            return (self.in_shared(address, at), simt::Space::Shared);
        };
        if rank >= u64::from(self.position.cluster_blocks) {
            let message =
                format!("{address:#x} is not in the shared memory of a block of the cluster");
            self.trap(at, &message);
        }
        let own = self.in_shared(low_bits(address, RANK), at);
        (simt::cluster_shared(own, bytes, rank as u32), simt::Space::Cluster)
    }

    /// The address, in the block of the cluster with this rank, of an address in shared memory.
    pub(super) fn map_shared(&self, address: u64, rank: u32, at: &Instruction) -> u64 {
        let blocks = self.position.cluster_blocks;
        if rank >= blocks {
            let message =
                format!("`mapa` of block {rank}: the cluster has {blocks} blocks, from 0");
            self.trap(at, &message);
        }
        self.in_shared(address, at);
        if rank == self.position.cluster_rank() {
            return address;
        }
        address | u64::from(rank + 1) << RANK
    }

    /// The pointer to an address in shared memory. Slightly beyond a variable, it is one with which
    /// the emulator reports the access as out of its bounds.
    pub(super) fn in_shared(&self, address: u64, at: &Instruction) -> *mut u8 {
        let window = &self.kernel.window;
        let offset = usize::try_from(address).unwrap_or(usize::MAX);
        let (dynamic, bytes) = self.dynamic;
        let (pointer, offset, room) = match offset.checked_sub(window.dynamic) {
            Some(offset) if bytes > 0 => (dynamic, offset, bytes),
            _ => {
                let after = window.variables.partition_point(|it| it.offset <= offset);
                match after.checked_sub(1).map(|index| (index, &window.variables[index])) {
                    Some((index, it)) => (self.shared[index], offset - it.offset, it.bytes + GAP),
                    None => (core::ptr::null_mut(), offset, 0),
                }
            }
        };
        if offset > room || pointer.is_null() {
            let end = window.dynamic + bytes;
            let message =
                format!("{address:#x} is not in the block's shared memory, which ends at {end:#x}");
            self.trap(at, &message);
        }
        pointer.wrapping_add(offset)
    }

    pub(super) fn load(&mut self, it: &Loading, instruction: &Instruction) {
        let bytes = it.access.ty.bytes() as usize;
        let address = self.address(it.address, instruction);
        let before = std::mem::take(&mut self.changes.any);
        let together = together(&it.access);
        for (part, slots) in it.to.chunks(together).enumerate() {
            let at = address.wrapping_add((part * together * bytes) as u64);
            let size = slots.len() * bytes;
            let place = self.place(&it.access, at, size, instruction);
            let is_good = match place {
                Place::Checked(pointer, space) => {
                    self.refuse_barrier((pointer, size), space, instruction);
                    announce(&it.access, AccessKind::Read, pointer, size, space)
                }
                Place::Private(..) => true,
            };
            for (index, &slot) in slots.iter().enumerate() {
                let (value, undefined) = match place {
                    Place::Private(owner, at) => {
                        self.private_of(owner).read(at + index * bytes, bytes)
                    }
                    Place::Checked(pointer, _) if is_good => {
                        // SAFETY: the emulator found these bytes live, aligned and written.
                        (unsafe { number::read(pointer.wrapping_add(index * bytes), bytes) }, 0)
                    }
                    Place::Checked(..) => (0, 0),
                };
                let value = match it.extend_to {
                    Some(width) => low_bits(extended(value, bytes as u32 * 8) as u64, width),
                    None => value,
                };
                self.write(slot, value, undefined);
            }
        }
        if it.access.order != Order::Weak {
            self.awaited = None;
        }
        self.poll(it.access.order, address, before);
    }

    /// Refuses an access to the word of a barrier in shared memory, which only `mbarrier` may access.
    fn refuse_barrier(
        &self,
        (pointer, bytes): (*mut u8, usize),
        space: simt::Space,
        instruction: &Instruction,
    ) {
        if matches!(space, simt::Space::Shared | simt::Space::Cluster)
            && let Some(place) = simt::mbarrier_at(pointer, bytes)
        {
            let message = format!(
                "an ordinary access to the word of the barrier that was initialised at {place}: use \
                 `mbarrier`, or `mbarrier.inval` first"
            );
            self.trap(instruction, &message);
        }
    }

    /// Yields if the thread polls. `changed_before` is what `changes.any` was before the access.
    pub(super) fn poll(&mut self, order: Order, address: u64, changed_before: bool) {
        self.changes.polled |= order != Order::Weak;
        if self.changes.any {
            self.polls.reset();
        } else if order != Order::Weak && self.polls.add(address) {
            self.spin();
        }
        self.changes.any |= changed_before;
    }

    pub(super) fn store(&mut self, it: &Storing, instruction: &Instruction) {
        let bytes = it.access.ty.bytes() as usize;
        let address = self.address(it.address, instruction);
        let together = together(&it.access);
        for (part, values) in it.values.chunks(together).enumerate() {
            let at = address.wrapping_add((part * together * bytes) as u64);
            let size = values.len() * bytes;
            match self.place(&it.access, at, size, instruction) {
                Place::Private(owner, at) => {
                    for (index, &slot) in values.iter().enumerate() {
                        let (value, undefined) = self.register(slot);
                        self.write_private((owner, at + index * bytes), bytes, value, undefined);
                    }
                }
                Place::Checked(pointer, space) => {
                    for &slot in values {
                        self.used(slot, bytes as u32, instruction, "stored");
                    }
                    self.refuse_barrier((pointer, size), space, instruction);
                    if !announce(&it.access, AccessKind::Write, pointer, size, space) {
                        return;
                    }
                    for (index, &slot) in values.iter().enumerate() {
                        let (value, _) = self.register(slot);
                        let pointer = pointer.wrapping_add(index * bytes);
                        // SAFETY: the emulator found these bytes live and aligned.
                        let old = unsafe { number::read(pointer, bytes) };
                        // SAFETY: as above.
                        unsafe { number::write(pointer, bytes, value) };
                        if low_bits(value, bytes as u32 * 8) != old {
                            self.changes.memory();
                            self.polls.reset();
                        }
                    }
                }
            }
        }
    }

    /// Loads one number without a register.
    pub(super) fn read_one(&mut self, access: &Access, address: u64, at: &Instruction) -> u64 {
        let bytes = access.ty.bytes() as usize;
        let Place::Checked(pointer, space) = self.place(access, address, bytes, at) else {
            self.trap(at, "a matrix in local memory");
        };
        if !announce(access, AccessKind::Read, pointer, bytes, space) {
            return 0;
        }
        // SAFETY: the emulator found these bytes live, aligned and written.
        unsafe { number::read(pointer, bytes) }
    }

    /// Stores one number.
    pub(super) fn write_one(
        &mut self,
        access: &Access,
        address: u64,
        value: u64,
        at: &Instruction,
    ) {
        let bytes = access.ty.bytes() as usize;
        let Place::Checked(pointer, space) = self.place(access, address, bytes, at) else {
            self.trap(at, "a matrix in local memory");
        };
        if announce(access, AccessKind::Write, pointer, bytes, space) {
            // SAFETY: the emulator found these bytes live and aligned.
            unsafe { number::write(pointer, bytes, value) };
            self.changes.memory();
        }
    }

    pub(super) fn update(&mut self, it: &Updating, instruction: &Instruction) {
        let bytes = it.access.ty.bytes();
        let address = self.address(it.address, instruction);
        for (index, (&to, &sources)) in it.to.iter().zip(&it.sources).enumerate() {
            let address = address.wrapping_add(index as u64 * u64::from(bytes));
            self.update_one(it, address, to, sources, instruction);
        }
    }

    fn update_one(
        &mut self,
        it: &Updating,
        address: u64,
        to: Slot,
        sources: [Slot; 2],
        instruction: &Instruction,
    ) {
        let bytes = it.access.ty.bytes();
        let [first, second] =
            sources.map(|source| self.used(source, bytes, instruction, "an operand of an atomic"));
        let size = bytes as usize;
        let Place::Checked(pointer, space) = self.place(&it.access, address, size, instruction)
        else {
            self.trap(instruction, "an atomic on local memory");
        };
        self.refuse_barrier((pointer, size), space, instruction);
        if !announce(&it.access, AccessKind::Atomic, pointer, size, space) {
            return;
        }
        let before = std::mem::take(&mut self.changes.any);
        // SAFETY: the emulator found these bytes live, aligned and written.
        let old = unsafe { number::read(pointer, size) };
        let new = match &it.function {
            Some(function) => function.of(old, first),
            None if old == low_bits(first, bytes * 8) => second,
            None => old,
        };
        if low_bits(new, bytes * 8) != old {
            self.changes.memory();
        }
        // SAFETY: as above; no other thread runs before the next call of the emulator.
        unsafe { number::write(pointer, size, new) };
        self.write(to, old, 0);
        self.awaited = None;
        self.poll(it.access.order, address, before);
    }
}

/// The elements that are accessed together: up to 16 bytes of a weak vector, and each one of a
/// strong one.
fn together(access: &Access) -> usize {
    if access.order == Order::Weak { 16 / access.ty.bytes() as usize } else { 1 }
}

/// Reports an access to the emulator. Returns whether it must be performed.
pub(super) fn announce(
    access: &Access,
    kind: AccessKind,
    pointer: *const u8,
    bytes: usize,
    space: simt::Space,
) -> bool {
    let order = order_of(access.order);
    let announced = simt::Access { kind, order, scope: scope_of(access.scope), space };
    if matches!(access.ty, Type::F32 | Type::F64) {
        simt::access_float(pointer, bytes, announced)
    } else {
        simt::access(pointer, bytes, announced)
    }
}
