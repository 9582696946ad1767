//! The shared memory of one block.

use crate::bulk::Init;
use crate::memory::{Arena, Label, Region};

/// Alignment of dynamic shared memory: enough for the widest vector access, and the same as
/// `cuda_std` declares on the device (`.extern .shared .align 16`).
const DYNAMIC_ALIGN: usize = 16;

/// Reason why a static variable is refused.
#[derive(Debug)]
pub(crate) enum SharedError {
    /// The block would hold `requested` bytes.
    Limit { requested: usize },
    /// The variable exists with `first` bytes, or with too small an alignment.
    Conflict { first: usize },
}

/// Static variables by name, and the dynamic part.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    arena: Arena,
    variables: Vec<(&'static str, usize, *mut u8)>,
    dynamic: (*mut u8, usize),
    used: usize,
    /// Its initialised barriers.
    pub(crate) inits: Vec<Init>,
}

impl SharedMemory {
    /// Shared memory with `dynamic` bytes of dynamic shared memory, all unwritten.
    pub(crate) fn new(dynamic: usize) -> Self {
        let mut shared = Self {
            arena: Arena::default(),
            variables: Vec::new(),
            dynamic: (core::ptr::without_provenance_mut(DYNAMIC_ALIGN), dynamic),
            used: dynamic,
            inits: Vec::new(),
        };
        if dynamic > 0 {
            shared.dynamic.0 = shared.allocate(dynamic, DYNAMIC_ALIGN, Label::DynamicShared);
        }
        shared
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    /// The dynamic part and its size in bytes.
    pub(crate) fn dynamic(&self) -> (*mut u8, usize) {
        self.dynamic
    }

    /// The variable `name`, created on first use. `align` is a power of two.
    pub(crate) fn variable(
        &mut self,
        name: &'static str,
        bytes: usize,
        align: usize,
        limit: usize,
    ) -> Result<*mut u8, SharedError> {
        let known = self.variables.iter().find(|(known, ..)| *known == name);
        if let Some(&(_, first, start)) = known {
            let fits = first == bytes && start.addr().is_multiple_of(align);
            return if fits { Ok(start) } else { Err(SharedError::Conflict { first }) };
        }
        let requested = self.used.next_multiple_of(align).saturating_add(bytes);
        if requested > limit {
            return Err(SharedError::Limit { requested });
        }
        self.used = requested;
        let start = self.allocate(bytes, align, Label::StaticShared(name));
        self.variables.push((name, bytes, start));
        Ok(start)
    }

    fn allocate(&mut self, bytes: usize, align: usize, label: Label) -> *mut u8 {
        let region = Region::barely_aligned(bytes, align, label)
            .expect("the host should have room for a block's shared memory");
        let start = region.at(0);
        self.arena.insert(region);
        start
    }
}
