//! Threads, accesses and locations: the parts of messages.

use core::fmt;
use std::sync::Arc;

use crate::dim::Dim3;
use crate::memory::Label;
use crate::place::Place;

/// A thread of a launch and a location in the kernel's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The kernel's name in the launch.
    pub kernel: Arc<str>,
    /// The block's GPU, in a launch on several.
    pub gpu: Option<u32>,
    /// The block in the grid.
    pub block: Dim3,
    /// The thread in its block.
    pub thread: Dim3,
    /// The in-thread call that the thread is at, or was at last. Within a library, the line that
    /// calls the library.
    pub place: Place,
    /// Within a library, the in-thread call itself, if known.
    pub inside: Option<Place>,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, gpu, block, thread, place, inside } = self;
        write!(f, "kernel {kernel}, ")?;
        if let Some(gpu) = gpu {
            write!(f, "GPU {gpu}, ")?;
        }
        write!(f, "block {block}, thread {thread}, at {place}")?;
        match inside {
            Some(inside) => write!(f, ", in {inside}"),
            None => Ok(()),
        }
    }
}

/// An address, described by the allocation that contains it or ends shortly before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The address itself. It differs between runs, so messages prefer the allocation.
    pub address: u64,
    /// The nearest allocation at or below it and the offset into it, if one is near.
    pub region: Option<(Label, u64)>,
    /// The kernel argument that is a view of this allocation, if there is one.
    pub name: Option<&'static str>,
    /// Size of that allocation in bytes.
    pub size: u64,
}

impl Target {
    /// Whether it is in shared memory.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.region, Some((Label::StaticShared(_) | Label::DynamicShared, _)))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.region {
            Some((label, offset)) => {
                write!(f, "offset {offset} of ")?;
                if let Some(name) = self.name {
                    write!(f, "`{name}`, ")?;
                }
                write!(f, "{label} ({} bytes)", self.size)
            }
            None => write!(f, "{:#x}, near no live allocation", self.address),
        }
    }
}

/// One lane's call of a warp collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The lane and the call.
    pub site: Site,
    /// The collective.
    pub kind: &'static str,
    /// The lanes in its mask.
    pub mask: u32,
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with mask {:#010x} ({})", self.kind, self.mask, self.site)
    }
}
