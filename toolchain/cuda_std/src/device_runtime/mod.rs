//! Kernels that launch kernels: CUDA's device runtime (CUDA C++ Programming Guide, "CUDA Dynamic
//! Parallelism"; version 2, CUDA 12.0 and newer).
//!
//! ```ignore
//! #[kernel(launchable)]
//! unsafe fn fill(out: Global<u32>, value: u32) { … }
//!
//! #[kernel]
//! unsafe fn parent(a: Global<u32>, b: Global<u32>) {
//!     if thread::is_first_in_block() {
//!         let block = Block::this();
//!         let fill_256 = Geometry::new(1, 256);
//!         // SAFETY: …
//!         unsafe {
//!             launch::<fill>(fill_256, &block.default_stream(), (a, 5))?;
//!             launch::<fill>(fill_256, &FireAndForget, (b, 7))?;
//!         }
//!     }
//! }
//! ```
//!
//! # Who launches
//!
//! A launch is the act of one thread: each thread that calls [`launch`] launches a grid. To wait for
//! each other is the act of the block, by [`thread::sync_threads`](crate::thread::sync_threads). So
//! the usual form is a barrier, and then launches by one thread.
//!
//! A cooperative grid cannot launch, and a cooperative kernel cannot be launched by a kernel.
//!
//! # In which order grids run
//!
//! | where | the grid waits for |
//! |---|---|
//! | [`Block::default_stream`] | the launches before it in this block's default stream |
//! | [`Block::stream`] | the launches before it in this stream, and [events](Stream::wait) |
//! | [`FireAndForget`] | nothing |
//! | [`TailLaunch`] | the launching grid, all that it has launched elsewhere, and earlier tail launches |
//!
//! Grids that do not wait for each other run in any order, and perhaps at the same time. Nothing
//! promises that they do: two grids must not wait for each other. The launches of two threads into
//! one stream are in the order in which they happen. If that matters, order them by a barrier of the
//! block. The default stream of a block has no effect on its other streams or on other blocks,
//! because all streams of the device are non-blocking.
//!
//! A grid has ended when all grids that it launched have ended, tail launches last. The host, and a
//! stream, wait for all of that. A kernel cannot wait for a grid that it launched: there is no
//! `cudaDeviceSynchronize` on the device. What has to happen afterwards goes into a tail launch.
//!
//! # What a child sees
//!
//! A child sees all that the launching thread wrote to device memory before the launch. It sees the
//! writes of other threads of the block that a barrier of the block orders before the launch. It
//! may see writes made after the launch, or not. The parent never knows what a child has written;
//! a tail launch sees all of it.
//!
//! # What a child gets
//!
//! A child gets views of device memory. Views of shared memory are no
//! [`KernelArg`](crate::launch::KernelArg)s, because the child has its own shared memory. Pointers
//! to local memory mean nothing in another thread.
//!
//! # Handles
//!
//! [`Stream`]s and [`Event`]s belong to the block that made them. They are neither `Copy` nor
//! `Send`, borrow their [`Block`], and cannot be stored in device memory, which holds
//! [`Scalar`](crate::memory::Scalar)s. Events order streams and do nothing else: they have no times,
//! and nobody can wait for them or ask about them.
//!
//! # Limits
//!
//! Grids are at most 24 launches deep. At most 2048 launched grids wait to begin
//! (`cudaLimitDevRuntimePendingLaunchCount`); a launch beyond that is
//! [`Error::LAUNCH_PENDING_COUNT_EXCEEDED`]. Arguments take at most 4 KiB. A block has at most 48
//! KiB of dynamic shared memory, because only the host can allow more.
//!
//! A kernel can ask for the number of its own device and for [attributes](Attribute) of it. It
//! cannot steer any other device.
//!
//! # In the emulator
//!
//! Children run when the grid that launched them has run all its threads, one after the other, in an
//! order that the streams and events allow. The seed of the schedule draws it; seed 0 takes what was
//! launched first. So the emulator shows an order that is missing between two children, if their
//! results depend on it and the seeds are enough. It does not find races between a child and its
//! parent, or between children that may run at the same time: all writes of the parent are seen, also
//! those after the launch and those of threads that no barrier orders. A child that waits for its
//! parent, or for another child, is a deadlock here, and may be one on hardware. Launches beyond the
//! limits are refused. Since no child begins before its parent has run, a parent that makes more than
//! 2048 launches is refused here, and on hardware only if they wait.

mod block;
mod device;
mod error;

pub use block::{Block, Event, Stream};
pub use device::{Attribute, attribute, device};
pub use error::Error;

use crate::Dim3;
use crate::backend::device_runtime as backend;
use crate::launch::Launchable;
use cuda_std_macros::device;

/// The shape of a grid that a kernel launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// Blocks of the grid.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
}

impl Geometry {
    /// `grid` blocks of `block` threads, without dynamic shared memory.
    #[inline(always)]
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self { grid: grid.into(), block: block.into(), dynamic_shared: 0 }
    }

    /// This shape with `bytes` of dynamic shared memory a block.
    #[inline(always)]
    #[must_use]
    pub const fn with_dynamic_shared(mut self, bytes: u32) -> Self {
        self.dynamic_shared = bytes;
        self
    }
}

/// Where a grid is launched into: a [`Stream`], [`FireAndForget`] or [`TailLaunch`].
pub trait Queue: sealed::Queue {}

/// Launches that wait for nothing (`cudaStreamFireAndForget`). Each is as if in a stream of its
/// own. Events cannot be recorded here.
#[derive(Clone, Copy, Debug)]
pub struct FireAndForget;

/// Launches that run when the launching grid, and everything that it has launched elsewhere, have
/// ended (`cudaStreamTailLaunch`).
///
/// The tail launches of a grid run one after the other, in the order of the launches, and each waits
/// for all that the one before it has launched. Events cannot be recorded here.
#[derive(Clone, Copy, Debug)]
pub struct TailLaunch;

pub(crate) mod sealed {
    /// What [`Queue`](super::Queue) hides.
    pub trait Queue {
        /// The queue as the backend knows it.
        fn place(&self) -> Place;
    }

    /// A queue, for the backend.
    #[derive(Clone, Copy, Debug)]
    pub enum Place {
        /// The default stream of the block.
        Block,
        /// A stream that was made, by its handle.
        Made(u64),
        /// See [`FireAndForget`](super::FireAndForget).
        FireAndForget,
        /// See [`TailLaunch`](super::TailLaunch).
        TailLaunch,
    }
}

macro_rules! queues {
    ($($name:ident),*) => {$(
        impl Queue for $name {}

        impl sealed::Queue for $name {
            #[inline(always)]
            fn place(&self) -> sealed::Place {
                sealed::Place::$name
            }
        }
    )*};
}
queues!(FireAndForget, TailLaunch);

/// Launches a grid of `K` from a kernel. The calling thread launches one grid; it goes on at once.
///
/// The child sees what this thread wrote before. It is a release of these writes, and of no others:
/// see [the module](self).
///
/// # Errors
/// If the launch is refused; nothing is launched then. [`Error::INVALID_CONFIGURATION`] if there are
/// no blocks or threads, or more than a grid may have; [`Error::LAUNCH_PENDING_COUNT_EXCEEDED`] if
/// too many grids wait; [`Error::LAUNCH_MAX_DEPTH_EXCEEDED`]. A child that faults later is a fault of
/// the whole launch, as on the host.
///
/// # Panics
/// In the emulator, outside a kernel, and in a cooperative grid.
///
/// # Safety
///
/// The kernel's own contract holds for `args` and `geometry`. The memory that `args` view stays
/// alive until the host's launch has ended, and accesses that nothing orders before or after the
/// child do not conflict with the child's.
#[device]
pub unsafe fn launch<K: Launchable>(
    geometry: Geometry,
    queue: &impl Queue,
    args: K::Args,
) -> Result<(), Error> {
    // SAFETY: the caller's promise.
    unsafe { backend::launch::<K>(geometry, queue.place(), args) }
}
