//! Barriers in shared memory. The word holds the same fields as the hardware's opaque word (PTX
//! ISA, "mbarrier", "Contents of the mbarrier object"), and each operation updates it atomically.

use super::{access, rmw};
use crate::memory::{Ordering, Scope, SharedSpace};

/// The largest count of arrivals, and of pending bytes (positive or negative).
const MOST: u32 = (1 << 20) - 1;

/// Marks a word that `init` has written.
const MARK: u64 = 0b10 << 62;

/// A barrier, packed into a word: [`MARK`], a parity bit, 21 bits of bytes and two 20-bit fields of
/// arrivals.
#[derive(Clone, Copy)]
struct Barrier {
    /// The parity of the current phase.
    parity: u32,
    /// Arrivals per phase, and how many the current phase still waits for.
    arrivals: u32,
    pending: u32,
    /// Bytes that the current phase still waits for; negative if copies completed before they were
    /// expected.
    bytes: i64,
}

impl Barrier {
    fn of(word: u64) -> Result<Self, String> {
        if word & 0b11 << 62 != MARK {
            return Err(format!("{word:#x} is no barrier: call `mbarrier::init` first"));
        }
        let field = |from: u32, bits: u32| (word >> from & ((1 << bits) - 1)) as u32;
        Ok(Self {
            parity: field(61, 1),
            arrivals: field(0, 20),
            pending: field(20, 20),
            bytes: i64::from(field(40, 21)) - i64::from(MOST),
        })
    }

    fn word(self) -> u64 {
        let bytes = (self.bytes + i64::from(MOST)) as u64;
        let (parity, pending) = (u64::from(self.parity), u64::from(self.pending));
        MARK | parity << 61 | bytes << 40 | pending << 20 | u64::from(self.arrivals)
    }

    /// Waits for `bytes` more bytes, or fewer if negative.
    fn expect(self, bytes: i64) -> Result<Self, String> {
        let bytes = self.bytes + bytes;
        if bytes.unsigned_abs() > u64::from(MOST) {
            return Err(format!(
                "a phase counts at most {MOST} bytes either way, and would have to wait for {bytes}"
            ));
        }
        Ok(Self { bytes, ..self })
    }

    fn arrive(self) -> Result<Self, String> {
        match self.pending.checked_sub(1) {
            Some(pending) => Ok(Self { pending, ..self }),
            None => Err(format!(
                "all {} arrivals of the phase have come, and it still waits for {} bytes: wait for its \
                 end before the next arrival",
                self.arrivals, self.bytes
            )),
        }
    }

    /// The state that a deadlock report shows.
    fn phase(self) -> simt::Phase {
        let Self { parity, arrivals, pending, bytes } = self;
        simt::Phase { parity, arrivals, pending, bytes }
    }

    /// The next phase if nothing is pending, else the same phase.
    fn settled(self) -> Self {
        if self.pending > 0 || self.bytes != 0 {
            return self;
        }
        Self { parity: 1 - self.parity, pending: self.arrivals, ..self }
    }
}

/// Updates a barrier and releases to its waiters.
#[track_caller]
unsafe fn update(at: *mut u8, f: impl FnOnce(Barrier) -> Result<Barrier, String>) {
    let mut flaw = None;
    // SAFETY: the contract of a view.
    unsafe {
        rmw::update::<u64, SharedSpace>(at, Ordering::Release, Scope::Block, |word| {
            match Barrier::of(word).and_then(f) {
                Ok(barrier) => barrier.settled().word(),
                Err(why) => {
                    flaw = Some(why);
                    word
                }
            }
        });
    }
    if let Some(why) = flaw {
        simt::trap(&why);
    }
}

#[track_caller]
pub(crate) unsafe fn init(at: *mut u8, arrivals: u32) {
    if !(1..=MOST).contains(&arrivals) {
        simt::trap(&format!("a barrier takes 1 to {MOST} arrivals a phase, not {arrivals}"));
    }
    let barrier = Barrier { parity: 0, arrivals, pending: arrivals, bytes: 0 };
    // SAFETY: the contract of a view.
    unsafe { access::write::<u64, SharedSpace>(at, barrier.word()) }
    simt::mbarrier_init(at);
}

// The emulator does not model the part of the fence that concerns other blocks. It checks the need
// for a block barrier as for any store.
#[track_caller]
pub(crate) fn fence_init() {
    simt::mbarrier_fence();
}

#[track_caller]
pub(crate) unsafe fn arrive(at: *mut u8) {
    // SAFETY: the contract of a view.
    unsafe { update(at, Barrier::arrive) }
}

#[track_caller]
pub(crate) unsafe fn arrive_expect(at: *mut u8, bytes: u32) {
    // SAFETY: the contract of a view.
    unsafe { update(at, |barrier| barrier.expect(bytes.into())?.arrive()) }
}

/// The word of a barrier after `bytes` bytes have been copied.
pub(super) fn after_copy(word: u64, bytes: usize) -> Result<u64, String> {
    Ok(Barrier::of(word)?.expect(-(bytes as i64))?.settled().word())
}

#[track_caller]
pub(crate) unsafe fn wait(at: *mut u8, parity: u32) {
    if parity > 1 {
        simt::trap(&format!("the parity of a phase is 0 or 1, not {parity}"));
    }
    loop {
        // SAFETY: the contract of a view.
        let word = unsafe { access::load::<u64, SharedSpace>(at, Ordering::Acquire, Scope::Block) };
        match Barrier::of(word) {
            Ok(barrier) if barrier.parity == parity && simt::spin_for_phase(barrier.phase()) => {}
            Ok(_) => return,
            Err(why) => simt::trap(&why),
        }
    }
}
