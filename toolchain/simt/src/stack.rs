//! Stacks for tens of thousands of fibers, carved from a few mappings.
//!
//! One mapping for each stack would hit `vm.max_map_count` (65 530) at 33 000 threads. From its low
//! end, a stack has: a guard page if the kernel can place one inside a mapping (Linux 6.13,
//! `MADV_GUARD_INSTALL`), [`SLACK`] bytes, then the part that the thread may use. The lowest words
//! of that part are the canary. They stay zero, because a zero canary does not commit a page. A
//! dirty canary, or a stack pointer below it, is an overflow. The slack lets it be reported before
//! it reaches a neighbour.
//!
//! The stacks of a launch that ended without a fault are reused by later launches: mapping new
//! ones, with a guard page each, takes longer than a small launch.

use core::mem;
use core::ptr::NonNull;
use std::io;
use std::sync::{Mutex, PoisonError};

use corosensei::stack::{Stack, StackPointer};

/// Smallest page size of the supported systems. The stack size of a launch includes one page as the
/// guard.
const SMALL_PAGE: usize = 4096;
/// Room below the canary: for a panic and its unwinding from the deepest allowed frame (about 6
/// KiB, more if the dynamic linker saves wide vector registers), and for a frame that goes too far
/// but does not reach the neighbour.
const SLACK: usize = 4 * SMALL_PAGE;
/// Smallest stack that leaves a kernel two small pages below its colour.
const MIN_STACK: usize = SMALL_PAGE + SLACK + 3 * SMALL_PAGE;
/// Words of the canary: one cache line.
const CANARY: usize = 8;
/// The tops of neighbouring stacks differ by this much within a small page. At equal offsets they
/// would all compete for the same few cache sets. 7 lines, a typical frame, use all 64.
const COLOUR: usize = 7 * 64;
/// Bytes mapped at once: enough that 135 000 stacks take a few hundred mappings.
const CHUNK: usize = 64 << 20;
/// Maximum number of stacks kept from ended launches. Most kernels commit 8 KiB of each.
const KEPT: usize = 8192;
/// `MADV_GUARD_INSTALL` of Linux 6.13, which older C libraries do not define.
const MADV_GUARD_INSTALL: i32 = 102;

/// One stack of the pool, as plain addresses that are valid while the pool lives.
#[derive(Debug)]
pub(crate) struct Slot {
    low: NonNull<u8>,
    /// Bytes of the guard page.
    guard: usize,
    /// From `low` to the start of the first frame.
    bytes: usize,
}

impl Slot {
    /// The lowest address that the thread may use.
    pub(crate) fn floor(&self) -> usize {
        self.low.addr().get() + self.guard + SLACK
    }

    /// The canary, to check while a fiber owns the stack.
    pub(crate) fn canary(&self) -> Canary {
        // SAFETY: inside the stack: `MIN_STACK` leaves more than this above the guard.
        Canary(unsafe { self.low.add(self.guard + SLACK) }.cast())
    }
}

/// The lowest words that a thread may use.
#[derive(Debug)]
pub(crate) struct Canary(NonNull<[u64; CANARY]>);

impl Canary {
    /// Whether a frame has ever reached below the floor.
    pub(crate) fn overflowed(&self) -> bool {
        // SAFETY: above the guard page, in a mapping that the pool keeps longer than any fiber;
        // only an overflowing frame writes it, and the thread is not running.
        unsafe { self.0.read_volatile() != [0; CANARY] }
    }
}

// SAFETY: `base` and `limit` bound at least MIN_STACK bytes that belong to this slot alone. Both
// are multiples of 64, so they are aligned for calls. The trait requires a guard page below. There
// is one if the system supports guards inside a mapping. Otherwise an overflow of more than SLACK
// bytes can write to the neighbour's stack. The scheduler then finds the canary dirty, and abandons
// every fiber of the launch without running any of them again.
unsafe impl Stack for Slot {
    fn base(&self) -> StackPointer {
        self.low.addr().checked_add(self.bytes).expect("a mapping ends below the top of memory")
    }

    fn limit(&self) -> StackPointer {
        self.low.addr()
    }
}

/// Mappings, and the stacks in them.
#[derive(Debug)]
struct Stacks {
    /// Page size in bytes, a power of two.
    page: usize,
    stack_bytes: usize,
    /// The mappings, with their lengths in bytes.
    chunks: Vec<(NonNull<u8>, usize)>,
    /// Stacks of exited threads, the most recently used one last.
    free: Vec<Slot>,
    /// Stacks of the last chunk that have not been handed out.
    fresh: usize,
}

// SAFETY: the addresses point to memory that the value owns.
unsafe impl Send for Stacks {}

/// The stacks left by ended launches.
static SPARE: Mutex<Vec<Stacks>> = Mutex::new(Vec::new());

impl Stacks {
    fn none(page: usize, stack_bytes: usize) -> Self {
        Self { page, stack_bytes, chunks: Vec::new(), free: Vec::new(), fresh: 0 }
    }

    /// The stacks of an ended launch, if their size matches.
    fn spare(page: usize, stack_bytes: usize) -> Option<Self> {
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |one: &Self| (one.page, one.stack_bytes) == (page, stack_bytes);
        let at = spare.iter().rposition(fits)?;
        Some(spare.remove(at))
    }

    /// Keeps them for later launches, unless a thread still has one of them or too many are kept.
    fn keep(self) {
        if self.free.len() + self.fresh < self.count() {
            return;
        }
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.iter().chain([&self]).map(Self::count).sum::<usize>() <= KEPT {
            spare.push(self);
        }
    }

    /// Number of stacks, in use or not.
    fn count(&self) -> usize {
        let bytes = self.chunks.iter().map(|(_, bytes)| bytes);
        bytes.sum::<usize>() / self.stack_bytes
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        for (start, bytes) in &self.chunks {
            // SAFETY: mapped with this length by `map`; the scheduler drops its fibers first.
            unsafe { libc::munmap(start.as_ptr().cast(), *bytes) };
        }
    }
}

/// The stacks of one launch.
#[derive(Debug)]
pub(crate) struct Pool {
    stacks: Stacks,
    /// Size in bytes of each mapping.
    chunk_bytes: usize,
}

impl Pool {
    /// Stacks of `stack_bytes`, rounded up to pages and to [`MIN_STACK`], at most `most` of them in
    /// use at once. If pages are larger than 4 KiB, stacks grow by the same amount as the guard, so
    /// a thread has the same room everywhere.
    pub(crate) fn new(stack_bytes: usize, most: u64) -> Self {
        // SAFETY: this reads a constant of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).expect("POSIX has every system know its page size");
        let mut pool = Self::with_page(page, stack_bytes, most);
        if let Some(spare) = Stacks::spare(page, pool.stack_bytes()) {
            pool.stacks = spare;
        }
        pool
    }

    /// Like [`Pool::new`], but without the stacks of earlier launches.
    fn with_page(page: usize, stack_bytes: usize, most: u64) -> Self {
        let stack_bytes =
            stack_bytes.max(MIN_STACK).saturating_add(page - SMALL_PAGE).next_multiple_of(page);
        let stacks =
            usize::try_from(most).unwrap_or(usize::MAX).clamp(1, (CHUNK / stack_bytes).max(1));
        Self { stacks: Stacks::none(page, stack_bytes), chunk_bytes: stacks * stack_bytes }
    }

    pub(crate) fn stack_bytes(&self) -> usize {
        self.stacks.stack_bytes
    }

    pub(crate) fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }

    pub(crate) fn take(&mut self) -> io::Result<Slot> {
        let stacks = &mut self.stacks;
        if let Some(slot) = stacks.free.pop() {
            return Ok(slot);
        }
        if stacks.fresh == 0 {
            stacks.chunks.push((map(self.chunk_bytes)?, self.chunk_bytes));
            stacks.fresh = self.chunk_bytes / stacks.stack_bytes;
        }
        stacks.fresh -= 1;
        let (chunk, _) = stacks.chunks[stacks.chunks.len() - 1];
        // SAFETY: `fresh` counts the whole stacks that fit a chunk, so the slot is inside it.
        let low = unsafe { chunk.add(stacks.fresh * stacks.stack_bytes) };
        // SAFETY: the page belongs to a stack that no fiber uses yet. A kernel without guard
        // regions refuses with EINVAL and leaves the page as it is: see the impl of Stack.
        unsafe { libc::madvise(low.as_ptr().cast(), stacks.page, MADV_GUARD_INSTALL) };
        let bytes = stacks.stack_bytes - stacks.fresh * COLOUR % SMALL_PAGE;
        Ok(Slot { low, guard: stacks.page, bytes })
    }

    /// Takes back the stack of an exited thread. Its canary must be clean.
    pub(crate) fn put(&mut self, slot: Slot) {
        self.stacks.free.push(slot);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let none = Stacks::none(self.stacks.page, self.stacks.stack_bytes);
        mem::replace(&mut self.stacks, none).keep();
    }
}

/// Maps zeroed memory that is committed page by page as it is touched.
fn map(bytes: usize) -> io::Result<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: an anonymous mapping at an address chosen by the system does not affect other memory.
    let start = unsafe { libc::mmap(core::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // Huge pages would commit 2 MiB where a fiber touches 4 KiB.
    // SAFETY: the range has just been mapped; the advice only affects its page size.
    unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
    Ok(NonNull::new(start.cast()).expect("mmap without MAP_FIXED never maps address 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_do_not_overlap_and_are_reused() {
        let mut pool = Pool::with_page(SMALL_PAGE, 1, 3000);
        let stack = pool.stack_bytes();
        assert!(stack >= MIN_STACK);
        let slots: Vec<Slot> = (0..4000).map(|_| pool.take().expect("32 KiB map")).collect();
        let chunks = (4000 * stack).div_ceil(pool.chunk_bytes());
        let mut lows: Vec<usize> = slots.iter().map(|slot| slot.limit().get()).collect();
        lows.sort_unstable();
        assert!(lows.windows(2).all(|pair| pair[1] - pair[0] >= stack));
        assert_eq!(pool.stacks.chunks.len(), chunks);
        let warm = slots[7].limit();
        slots.into_iter().for_each(|slot| {
            if slot.limit() == warm {
                pool.put(slot);
            }
        });
        assert_eq!(pool.take().expect("a free one is there").limit(), warm);
        assert_eq!(pool.stacks.chunks.len(), chunks);
    }

    #[test]
    fn returned_stacks_are_reused_by_the_next_launch() {
        // A size that no other test requests.
        let pool = || Pool::new(1_234_567, 2);
        let lows = |slots: &[Slot]| {
            let mut lows: Vec<_> = slots.iter().map(Stack::limit).collect();
            lows.sort_unstable();
            lows
        };
        let take = |pool: &mut Pool| [(); 2].map(|()| pool.take().expect("it maps"));
        let mut first = pool();
        let slots = take(&mut first);
        let used = lows(&slots);
        slots.into_iter().for_each(|slot| first.put(slot));
        drop(first);
        let mut second = pool();
        assert_eq!(lows(&take(&mut second)), used);
        // Its threads have not ended.
        drop(second);
        assert!(pool().stacks.chunks.is_empty());
    }

    #[test]
    fn a_write_on_the_canary_is_an_overflow() {
        let mut pool = Pool::new(0, 1);
        let slot = pool.take().expect("32 KiB map");
        assert!(!slot.canary().overflowed());
        // SAFETY: eleven bytes above the floor are inside the slot's own mapping.
        unsafe { slot.low.as_ptr().with_addr(slot.floor() + 11).write(1) };
        assert!(slot.canary().overflowed());
    }

    #[test]
    fn larger_pages_do_not_shrink_the_room_of_a_thread() {
        let room = |page, stack_bytes| {
            let mut pool = Pool::with_page(page, stack_bytes, 4);
            let slots: Vec<Slot> = (0..5).map(|_| pool.take().expect("it maps")).collect();
            let rooms = slots.iter().map(|slot| {
                // The floor is above the guard. A write to the guard would end this process.
                // SAFETY: the floor of a slot is inside its own mapping.
                unsafe { slot.low.as_ptr().with_addr(slot.floor()).write(1) };
                assert!(slot.canary().overflowed());
                slot.base().get() - slot.floor()
            });
            rooms.min().expect("there are five")
        };
        for stack_bytes in [0, 64 << 10, 100_000, 1 << 20] {
            for page in [16 << 10, 64 << 10] {
                assert!(room(page, stack_bytes) >= room(SMALL_PAGE, stack_bytes));
            }
        }
    }
}
