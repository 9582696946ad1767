//! The fences between ordinary accesses and bulk copies (PTX ISA, "Proxies"), and what is checked of
//! them where no race detector runs. Where one runs, it checks the accesses themselves:
//! [`crate::race`].

use core::fmt;

use crate::dim::Spot;
use crate::fiber::Request;
use crate::here::{Here, with};
use crate::memory::Proxy;
use crate::race::NEEDS_GLOBAL_FENCE;

/// The fence between ordinary accesses to shared memory and bulk copies
/// (`fence.proxy.async.shared::cta`). A scheduling point.
///
/// It counts for what comes before it in the order of causality, if the launch looks for races or memory
/// is weak. Otherwise it counts for all that the block has written so far, by any thread.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn bulk_fence() {
    with("bulk_fence", |here, spot| {
        here.stop(Request::Step, spot);
        if let Some(races) = &here.world.races {
            return races.fence_proxies(here.world.thread_number(&here.position));
        }
        for region in here.shared.borrow().arena().regions() {
            region.fence_stores(0, region.size());
        }
    });
}

impl Here<'_> {
    /// Checks what a load reads and writes, where no race detector does.
    pub(super) fn check_load(&self, to: usize, from: usize, bytes: usize, spot: Spot) {
        self.check_shared("a bulk load writes over", (to, bytes), spot);
        self.check_global("a bulk load reads", (from, bytes), spot);
    }

    /// Checks what a store reads and writes, where no race detector does.
    pub(super) fn check_store(&self, to: usize, from: usize, bytes: usize, spot: Spot) {
        self.check_shared("a bulk store reads", (from, bytes), spot);
        self.check_global("a bulk store writes over", (to, bytes), spot);
    }

    /// Refuses a copy that does this to bytes of shared memory that an ordinary store wrote after the last
    /// fence.
    fn check_shared(&self, does: &str, (address, bytes): (usize, usize), spot: Spot) {
        let shared = self.shared.borrow();
        let found = shared.arena().find(address, bytes).and_then(|(region, offset)| {
            Some(region.first_stored(offset, bytes, Proxy::Generic)? - offset)
        });
        drop(shared);
        let remedy = "after the last fence of the proxies: who writes shared memory must call \
                      `fence_shared` after it and before the barrier";
        self.refuse_stored(found, (does, bytes), remedy, spot);
    }

    /// Refuses a copy that does this to bytes of device memory that an ordinary store of this launch
    /// wrote.
    fn check_global(&self, does: &str, (address, bytes): (usize, usize), spot: Spot) {
        let found = self.world.memory.arena().find(address, bytes).and_then(|(region, offset)| {
            Some(region.first_stored(offset, bytes, Proxy::Generic)? - offset)
        });
        let remedy = format_args!("in this launch: {NEEDS_GLOBAL_FENCE}");
        self.refuse_stored(found, (does, bytes), remedy, spot);
    }

    /// Refuses a copy of so many bytes for the first byte `found`, if there is one.
    fn refuse_stored(
        &self,
        found: Option<usize>,
        (does, bytes): (&str, usize),
        remedy: impl fmt::Display,
        spot: Spot,
    ) {
        if let Some(byte) = found {
            let message = format!(
                "{does} what an ordinary store left in byte {byte} of its {bytes} {remedy}"
            );
            self.refuse_copy(message, spot);
        }
    }
}
