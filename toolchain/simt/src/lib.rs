//! A CPU emulator of a CUDA grid: fibers, clusters, blocks, warps, barriers, checked memory.
//!
//! A kernel is an ordinary Rust closure. [`launch`] runs it once per thread of the grid, each
//! thread as a fiber on one OS thread. A [`Schedule`] drawn from a seed decides which thread runs
//! when: the same seed gives the same run. Where a GPU would hang, return garbage or fail with a
//! sticky error, `launch` returns a [`Fault`] that names the kernel, block, thread and source line.
//! With [`LaunchConfig::races`] this includes data races as defined by the PTX memory model, and
//! with [`LaunchConfig::weak_memory`] reads return values that this model allows.
//!
//! [`search`] explores every execution of a tiny launch, and [`replay`] records, shrinks and
//! describes a run.
//!
//! The crate has two interfaces. Kernel code calls the in-thread functions ([`position`],
//! [`access`], [`block_barrier`], [`warp_exchange`], …), which refer to the emulated thread that
//! calls them. The host owns a [`Memory`] and calls [`launch`]. The `README.md` of this crate
//! describes the model and its limits.
//!
//! ```
//! use simt::{Access, LaunchConfig, Memory, Space, launch};
//!
//! let mut memory = Memory::new(1 << 20);
//! let out = memory.alloc(256, 4).expect("256 bytes fit");
//! let config = LaunchConfig::new("iota", 1, 64);
//! launch(&mut memory, &config, &|| {
//!     let i = simt::position().linear_thread();
//!     let at = core::ptr::with_exposed_provenance_mut::<u32>(out as usize + 4 * i as usize);
//!     if simt::access(at.cast(), 4, Access::write(Space::Global)) {
//!         // SAFETY: `access` said that these four bytes are live, aligned and ours to write.
//!         unsafe { at.write(i) };
//!     }
//! })
//! .expect("no fault");
//! let mut last = [0; 4];
//! memory.read(out + 252, &mut last).expect("every word was written");
//! assert_eq!(u32::from_le_bytes(last), 63);
//! ```

mod access;
mod block;
mod bulk;
mod children;
mod cluster;
mod count;
mod deadlock;
mod dependent;
mod device_runtime;
mod dim;
mod early;
mod family;
mod fault;
mod favours;
mod fiber;
mod grid;
mod grids;
mod here;
mod last_access;
mod launch;
mod library;
mod looks;
mod machine;
mod memory;
mod named;
mod observed;
mod panics;
mod peers;
mod picker;
mod place;
mod quiet;
mod race;
mod ready;
pub mod replay;
mod rooms;
mod schedule;
mod scheduler;
pub mod search;
mod shared;
mod stack;
mod thread;
mod variables;
mod warp;
mod weaken;
mod world;

pub use access::{Access, AccessKind, Order, Scope, Space};
pub use bulk::{
    Arrive, Count, async_arrive, async_copy, async_wait, bulk_fence, bulk_fence_global, bulk_load,
    bulk_store, bulk_wait_read, bulk_wait_stored, mbarrier_at, mbarrier_fence, mbarrier_init,
    mbarrier_invalidate,
};
pub use children::{Child, Queue, Refusal};
pub use count::Counts;
pub use dependent::{dependency_wait, launch_dependents};
pub use device_runtime::{
    create_event, create_stream, launch_child, multiprocessors, record_event, wait_event,
};
pub use dim::{Dim3, Position, WARP_LANES};
pub use early::EarlyWait;
pub use fault::{
    Arrival, Deadlock, Fault, HeldBy, HeldGrid, Missing, Phase, Site, Target, Waiting, WaitingFor,
};
pub use grid::{After, Grid};
pub use grids::launch_grids;
pub use launch::{LaunchConfig, Stats, launch, launch_on_gpus};
pub use library::{
    Calling, caller, interpret_at, join_barrier, library_call, library_call_from, protocol_call,
};
pub use memory::{Label, Memory, MemoryError};
pub use named::{Meet, named_barrier};
pub use place::Place;
pub use race::{Flaw, Link, MissingOrder, Race, RacingAccess};
pub use schedule::{Lanes, Policy, Schedule};
pub use thread::{
    BarrierVotes, WarpValues, access, access_float, active_mask, block_barrier, block_vote, branch,
    clock, cluster_arrive, cluster_arrive_apart, cluster_shared, cluster_wait, cluster_wait_apart,
    dynamic_shared, fence, global_timer, in_kernel, nanosleep, position, spin, spin_for_phase,
    static_shared, trap, warp_barrier, warp_exchange,
};
pub use weaken::{Change, Kinship, OrderSite, Orders, Sites, Weaken};
