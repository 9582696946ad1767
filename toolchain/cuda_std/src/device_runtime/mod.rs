//! Kernels that launch kernels: CUDA's device runtime (CUDA C++ Programming Guide, "CUDA Dynamic
//! Parallelism"; version 2, CUDA 12.0 and newer).
//!
//! ```
//! use cuda_std::device_runtime::{Block, Error, FireAndForget, Geometry, launch};
//! use cuda_std::prelude::*;
//!
//! /// One thread for each element.
//! #[kernel(launchable)]
//! unsafe fn fill(out: Global<u32>, value: u32) {
//!     out.write(thread::index(), value);
//! }
//!
//! /// Fills both by two grids, in any order.
//! #[device]
//! fn fill_both(a: Global<u32>, b: Global<u32>) -> Result<(), Error> {
//!     let block = Block::this();
//!     let shape = |of: Global<u32>| Geometry::new(1, of.len() as u32);
//!     // SAFETY: one thread for each element, and nothing else uses the two during the launch.
//!     unsafe {
//!         launch::<fill>(shape(a), &block.default_stream(), (a, 5))?;
//!         launch::<fill>(shape(b), &FireAndForget, (b, 7))
//!     }
//! }
//!
//! /// Sets `failed` if a launch was rejected.
//! #[kernel]
//! unsafe fn parent(a: Global<u32>, b: Global<u32>, failed: Global<u32>) {
//!     if thread::is_first_in_block() && fill_both(a, b).is_err() {
//!         failed.write(0, 1);
//!     }
//! }
//! ```
//!
//! # Which thread launches
//!
//! Each thread that calls [`launch`] launches a grid: launching is per thread, and synchronising is
//! per block. So the usual form is [`thread::sync_threads`](crate::thread::sync_threads), followed
//! by launches from one thread.
//!
//! A cooperative grid cannot launch (`cuLaunchCooperativeKernel`), and a cooperative kernel cannot
//! be launched by a kernel.
//!
//! # Order of grids
//!
//! | where | the grid waits for |
//! |---|---|
//! | [`Block::default_stream`] | the launches before it in this block's default stream |
//! | [`Block::stream`] | the launches before it in this stream, and [events](Stream::wait) |
//! | [`FireAndForget`] | nothing |
//! | [`TailLaunch`] | the launching grid, all that it has launched elsewhere, and earlier tail launches |
//!
//! Unordered grids run in any order. They may run at the same time, but this is not guaranteed, so
//! no grid may wait for another one in a loop. Launches by different threads into one stream are
//! unordered, unless a block barrier separates them. The default stream of a block does not wait
//! for other streams, nor they for it, because all other streams on the device are non-blocking.
//!
//! A grid has ended when all grids that it launched have ended, tail launches last. The host and
//! streams wait for all of them. A kernel cannot wait for a grid that it launched: there is no
//! `cudaDeviceSynchronize` on the device. Work that must happen afterwards goes into a tail launch.
//!
//! # Memory visible to a child
//!
//! A child sees what the launching thread wrote to device memory before the launch. It sees the
//! writes of other threads of the block if a block barrier separates their writes from the launch.
//! It may or may not see later writes. A parent cannot know what a child has written so far. A tail
//! launch sees all writes of the grid and of all its other children.
//!
//! # Arguments
//!
//! The arguments are numbers and views of device memory ([`KernelArg`](crate::launch::KernelArg)).
//! They must not point to shared or local memory: the parent's does not exist in the child.
//!
//! # Handles
//!
//! [`Stream`]s and [`Event`]s belong to the block that created them. They are neither `Copy` nor
//! `Send`, borrow their [`Block`], and cannot be stored in device memory, which holds
//! [`Scalar`](crate::memory::Scalar)s. Events only order streams: they have no timestamps, and
//! cannot be waited for or queried.
//!
//! # Limits
//!
//! Grids are at most 24 launches deep. A tail launch is as deep as the grid that launches it: 200
//! of them, each launched by the previous one, ran on an H200 (CUDA 13.0). At most 2048 grids can
//! be pending (`cudaLimitDevRuntimePendingLaunchCount`); a launch beyond that is
//! [`Error::LAUNCH_PENDING_COUNT_EXCEEDED`]. Arguments are at most 4 KiB. A block has at most 48
//! KiB of dynamic shared memory, because only the host can allow more.
//!
//! A kernel can query its own device's index and [attributes](Attribute). It cannot control any
//! other device.
//!
//! # In the emulator
//!
//! Children run sequentially, after all threads of the grid that launched them. The seed of the
//! schedule picks one of the orders that streams and events allow; seed 0 runs them in launch
//! order. If the results of two children depend on a missing order, enough seeds reveal it.
//! Launches beyond the limits are rejected as above.
//!
//! The emulator does not find
//!
//! * races between a parent and its child: the child sees all writes of the parent, including those
//!   after the launch and those of other threads without a barrier;
//! * races between children that may run at the same time.
//!
//! A grid that waits for another one in a loop is a deadlock here, although it may end on hardware.
//! A parent that makes more than 2048 launches is rejected here. On hardware it is rejected only if
//! that many are pending.

mod block;
mod device;
mod error;

pub use block::{Block, Event, Stream};
pub use device::{Attribute, attribute, device};
pub use error::Error;

use crate::Dim3;
use crate::backend::device_runtime as backend;
use crate::launch::Launchable;
use cuda_std_macros::instruction;

/// The shape of a grid that a kernel launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// Number of blocks.
    pub grid: Dim3,
    /// Threads per block.
    pub block: Dim3,
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared: u32,
}

impl Geometry {
    /// `grid` blocks of `block` threads, without dynamic shared memory.
    #[inline(always)]
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self { grid: grid.into(), block: block.into(), dynamic_shared: 0 }
    }

    /// This shape with `bytes` of dynamic shared memory per block.
    #[inline(always)]
    #[must_use]
    pub const fn with_dynamic_shared(mut self, bytes: u32) -> Self {
        self.dynamic_shared = bytes;
        self
    }
}

/// A queue for launches: a [`Stream`], [`FireAndForget`] or [`TailLaunch`].
pub trait Queue: sealed::Queue {}

/// Launches that wait for nothing (`cudaStreamFireAndForget`), each as if in a separate stream.
/// Events cannot be recorded here.
#[derive(Clone, Copy, Debug)]
pub struct FireAndForget;

/// Launches that run when the launching grid, and everything that it has launched elsewhere, have
/// ended (`cudaStreamTailLaunch`).
///
/// The tail launches of a grid run in launch order, and each waits for everything that the previous
/// one has launched. Events cannot be recorded here.
#[derive(Clone, Copy, Debug)]
pub struct TailLaunch;

pub(crate) mod sealed {
    /// The hidden part of [`Queue`](super::Queue).
    pub trait Queue {
        /// The queue in the form that the backend uses.
        fn place(&self) -> Place;
    }

    /// A queue, for the backend.
    #[derive(Clone, Copy, Debug)]
    pub enum Place {
        /// The default stream of the block.
        Block,
        /// A created stream, by its handle.
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

/// Launches a grid of `K` from a kernel. Each thread that calls this launches one grid and does not
/// wait for it.
///
/// The child sees what the calling thread wrote before. [The module](self) documents what it sees
/// of other threads.
///
/// # Errors
/// If the launch is rejected; nothing is launched then. [`Error::INVALID_CONFIGURATION`] for zero
/// blocks or threads, or more than a grid may have; [`Error::LAUNCH_PENDING_COUNT_EXCEEDED`] if too
/// many grids are pending; [`Error::LAUNCH_MAX_DEPTH_EXCEEDED`]. If a child faults later, the whole
/// launch faults, as on the host.
///
/// # Panics
/// In the emulator, outside a kernel. In a cooperative grid the emulator's launch ends in a fault.
///
/// # Safety
///
/// The grid that calls this is not cooperative. The kernel's own contract holds for `args` and
/// `geometry`. The memory that `args` view stays alive until the host's launch has ended, and
/// accesses that are not ordered before or after the child do not conflict with the child's.
#[instruction]
pub unsafe fn launch<K: Launchable>(
    geometry: Geometry,
    queue: &impl Queue,
    args: K::Args,
) -> Result<(), Error> {
    // SAFETY: the caller's promise.
    unsafe { backend::launch::<K>(geometry, queue.place(), args) }
}
