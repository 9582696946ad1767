//! Copies of 4, 8 or 16 bytes from device to shared memory (PTX ISA, "cp.async"). They access memory
//! through the same proxy as their thread.

use crate::access::{Access, Order, Scope, Space};
use crate::dim::Spot;
use crate::fiber::Request;
use crate::here::{Here, with};
use crate::weaken::Orders;

/// Computes a barrier's word after an arrival, or the reason why it cannot arrive.
pub type Arrive = fn(word: u64) -> Result<u64, String>;

/// The largest copy.
const MOST: usize = 16;

/// A copy that its thread has not waited for.
#[derive(Debug)]
pub(crate) struct Element {
    to: usize,
    from: usize,
    bytes: usize,
    /// The bytes that it reads. The others are zeros.
    read: usize,
    spot: Spot,
    /// Its number in the race detector, if there is one.
    copy: Option<u32>,
    /// The copy's epoch when it was made, if it has been.
    made: Option<u32>,
}

/// Copies `read` bytes of device memory to the block's shared memory (`cp.async`), followed by zeros
/// up to `bytes` bytes, at most 16. A scheduling point.
///
/// The copy is made when the thread waits for it ([`async_wait`]) or exits. Seeds other than 0 choose
/// whether it is made at once instead. Its accesses race with any access that is neither before the
/// call nor after the wait, even by the same thread.
///
/// # Panics
/// Outside an emulated thread, and for more bytes.
#[track_caller]
pub fn async_copy(to: *mut u8, from: *const u8, bytes: usize, read: usize) {
    assert!(read <= bytes && bytes <= MOST, "a copy of {bytes} bytes that reads {read}");
    with("async_copy", |here, spot| {
        here.stop(Request::Step, spot);
        let (to, from, copy) = (to.addr(), from.addr(), here.begin_copy(false));
        let mut element = Element { to, from, bytes, read, spot, copy, made: None };
        if here.world.copies.below(2) == 1 {
            here.make_element(&mut element);
        }
        here.elements.borrow_mut().push(element);
    });
}

/// Waits until all but the last `left` copies of the thread are made (`cp.async.wait_group`). A
/// scheduling point.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn async_wait(left: usize) {
    with("async_wait", |here, spot| {
        if here.meet(Orders::CopyWait, spot).is_some() {
            return;
        }
        here.stop(Request::Step, spot);
        for element in here.make_elements(left) {
            here.wait_for_copy(element.copy, element.made.unwrap_or(0));
            here.end_copy(element.copy);
        }
    });
}

/// Arrives at the barrier in the eight bytes at `barrier`, of the block's shared memory, when all
/// copies of the thread so far are made (`cp.async.mbarrier.arrive`): at once, because they are made
/// then. `arrive` computes its word. A scheduling point.
///
/// A thread that waits for the barrier's phase knows the copies, but not what the calling thread did.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn async_arrive(barrier: *mut u8, arrive: Arrive) {
    with("async_arrive", |here, spot| {
        here.stop(Request::Step, spot);
        let mut elements = here.elements.take();
        for element in &mut elements {
            here.make_element(element);
            // Each copy releases itself to the word, and the last access changes it.
            let release = || here.update_barrier(barrier, Ok, spot);
            element.made = Some(here.copy(element.copy, false, release).1);
        }
        here.elements.replace(elements);
        let arrival = here.begin_copy(false);
        here.copy(arrival, false, || here.update_barrier(barrier, arrive, spot));
        here.end_copy(arrival);
    });
}

impl Here<'_> {
    /// Makes a copy, unless that has been done.
    fn make_element(&self, element: &mut Element) {
        let &mut Element { to, from, bytes, read, spot, copy, made } = element;
        if made.is_some() {
            return;
        }
        let ((), epoch) = self.copy(copy, false, || {
            let mut data = [0; MOST];
            if read > 0 {
                if !self.check(from, read, Access::read(Space::Global), spot) {
                    return;
                }
                let from = core::ptr::with_exposed_provenance::<u8>(from);
                // SAFETY: `check` has found the bytes live and written.
                unsafe { from.copy_to_nonoverlapping(data.as_mut_ptr(), read) };
            }
            if self.check(to, bytes, Access::write(Space::Shared), spot) {
                let to = core::ptr::with_exposed_provenance_mut::<u8>(to);
                // SAFETY: `check` has found the bytes live, and no other emulated thread runs.
                unsafe { to.copy_from_nonoverlapping(data.as_ptr(), bytes) };
            }
        });
        element.made = Some(epoch);
    }

    /// Makes all but the last `left` copies, and removes them.
    fn make_elements(&self, left: usize) -> Vec<Element> {
        let mut elements = self.elements.take();
        let later = elements.split_off(elements.len().saturating_sub(left));
        self.elements.replace(later);
        elements.iter_mut().for_each(|element| self.make_element(element));
        elements
    }

    /// The thread exits, so its copies are made.
    pub(crate) fn end_elements(&self) {
        for element in self.make_elements(0) {
            self.end_copy(element.copy);
        }
    }

    /// Updates the word of a barrier for a copy, and releases to its waiters.
    fn update_barrier(&self, barrier: *mut u8, update: Arrive, spot: Spot) {
        let access = Access::atomic(Space::Shared, Order::Release, Scope::Block);
        if !self.check(barrier.addr(), size_of::<u64>(), access, spot) {
            return;
        }
        let word = barrier.cast::<u64>();
        // SAFETY: `check` has found the word live, aligned and written, and no other emulated thread
        // runs.
        match update(unsafe { word.read() }) {
            // SAFETY: as above.
            Ok(after) => unsafe { word.write(after) },
            Err(why) => self.refuse_copy(why, spot),
        }
    }
}
