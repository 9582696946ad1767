//! The in-thread functions, which kernel code calls.
//!
//! All of them record their caller's location (`#[track_caller]`), because faults name it. A
//! library between the kernel and these functions should be `#[track_caller]` too. All but
//! [`in_kernel`] panic outside an emulated thread. A thread that is being unwound after a fault may
//! still call them from destructors; they then return at once.

use crate::access::{Access, Order, Scope};
use crate::dim::{Position, Spot, WARP_LANES};
use crate::fault::{Fault, Phase};
use crate::fiber::{Call, Reply, Request};
use crate::here::{Here, active, with};
use crate::replay::Done;
use crate::weaken::{Change, Orders};
use crate::world::bump;

/// Result of a block barrier for each thread (`barrier.cta.red.popc`, `.and`, `.or`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BarrierVotes {
    /// Threads that passed a non-zero predicate.
    pub count: u32,
    /// Whether all threads passed a non-zero predicate.
    pub all: bool,
    /// Whether any thread passed a non-zero predicate.
    pub any: bool,
}

/// The values that the lanes of a warp exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpValues {
    /// The lanes that took part: the named ones that exist.
    pub mask: u32,
    /// The value of each lane that took part; 0 for the others.
    pub values: [u128; WARP_LANES as usize],
}

/// Whether the caller runs in an emulated thread. This function may be called anywhere.
pub fn in_kernel() -> bool {
    active()
}

/// The thread's indices and the launch's extents. Not a scheduling point.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn position() -> Position {
    with("position", |here, _| here.position)
}

/// Announces one access of `bytes` bytes, 1 to 16 and naturally aligned, at `address`.
///
/// A scheduling point, followed by the checks: the bytes are inside one live allocation of the
/// space that `access` names, the address is aligned, and a read finds only written bytes. A bad
/// access does not return: the thread unwinds and the launch returns the fault.
///
/// Returns `true` if the caller must perform the access through the pointer, immediately. No other
/// emulated thread runs before its next in-thread call, so the access is atomic. Returns `false`
/// only if the thread is being unwound and the access would be bad: do not touch the memory.
///
/// # Panics
/// Outside an emulated thread.
#[must_use]
#[track_caller]
pub fn access(address: *const u8, bytes: usize, access: Access) -> bool {
    with("access", |here, spot| here.access(address.addr(), bytes, access, spot))
}

/// Like [`access`], for a floating-point number, so stories show its value as one.
///
/// # Panics
/// Outside an emulated thread.
#[must_use]
#[track_caller]
pub fn access_float(address: *const u8, bytes: usize, access: Access) -> bool {
    with("access_float", |here, spot| {
        here.is_float.set(true);
        here.access(address.addr(), bytes, access, spot)
    })
}

/// A fence (`fence.acq_rel`, `fence.sc`, `membar`). A scheduling point. It affects values only if
/// memory is weak ([`LaunchConfig::weak_memory`](crate::LaunchConfig::weak_memory)); the race
/// detector uses it too.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn fence(scope: Scope, order: Order) {
    with("fence", |here, spot| {
        let (scope, order) = match here.meet(Orders::Fence(scope, order), spot) {
            Some(Change::Out) => return,
            Some(Change::Order(order)) => (scope, order),
            Some(Change::Scope(scope)) => (scope, order),
            None | Some(Change::Unordered) => (scope, order),
        };
        bump(&here.world.counters.fences);
        here.stop(Request::Step, spot);
        here.tell(Done::Fence(scope, order), spot);
        if let Some(races) = &here.world.races {
            let thread = here.world.thread_number(&here.position);
            races.fence(thread, scope, order, spot.place);
        }
    });
}

/// Marks `condition` as the condition of a branch, and returns it. In a launch with counting, this
/// is a scheduling point and records whether the lanes of a warp diverge
/// ([`Counts::diverged_branches`](crate::Counts::diverged_branches)). In other launches it does
/// nothing.
///
/// # Panics
/// Outside an emulated thread.
#[must_use]
#[track_caller]
pub fn branch(condition: bool) -> bool {
    with("branch", |here, spot| here.branch(condition, spot));
    condition
}

/// The barrier of the block (`bar.sync 0`). Waits for every thread of the block, like
/// [`block_vote`].
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn block_barrier() {
    with("block_barrier", |here, spot| {
        if here.meet(Orders::BlockBarrier, spot).is_none() {
            here.tell(Done::BlockBarrier, spot);
            here.stop(Request::Barrier { vote: false, orders: true, aligned: true }, spot);
        }
    });
}

/// The counting barrier of the block (`bar.red 0`). Waits for every thread of the block and counts
/// those with a non-zero `pred`.
///
/// Stricter than hardware, to find errors: if a thread of the block has exited, or can never
/// arrive, that is [`Fault::BarrierSkipped`]. Warps may arrive from different source locations.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn block_vote(pred: u32) -> BarrierVotes {
    with("block_vote", |here, spot| {
        here.tell(Done::BlockBarrier, spot);
        let orders = here.meet(Orders::BlockVote, spot).is_none();
        match here.stop(Request::Barrier { vote: pred != 0, orders, aligned: true }, spot) {
            Some(Reply::Votes(votes)) => votes,
            None => BarrierVotes::default(),
            Some(other) => unreachable!("a barrier is answered with votes, not {other:?}"),
        }
    })
}

/// Arrives at the barrier of the cluster (`barrier.cluster.arrive`) without waiting;
/// [`cluster_wait`] waits for the others. With [`Order::Relaxed`] the arrival passes on only what
/// an earlier fence of the thread released. Any other order means release, the default.
///
/// A launch without clusters has clusters of one block. Arriving again without having waited is
/// [`Fault::ClusterArrivedTwice`]. The barrier does not wait for threads that have exited (PTX ISA,
/// `barrier.cluster`).
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn cluster_arrive(order: Order) {
    arrive_in_cluster(order, true);
}

/// Like [`cluster_arrive`], but lanes of a warp may arrive by different calls.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn cluster_arrive_apart(order: Order) {
    arrive_in_cluster(order, false);
}

#[track_caller]
fn arrive_in_cluster(order: Order, aligned: bool) {
    let order = match order {
        Order::Relaxed => Order::Relaxed,
        _ => Order::Release,
    };
    with("cluster_arrive", |here, spot| {
        let is_weaker =
            order == Order::Release && here.meet(Orders::ClusterArrival, spot).is_some();
        let order = if is_weaker { Order::Relaxed } else { order };
        here.tell(Done::ClusterArrival, spot);
        here.stop(Request::ClusterArrive { order, aligned }, spot);
    });
}

/// Waits (`barrier.cluster.wait`) until every thread of the cluster has made the arrival that the
/// caller made last, or has exited. Waiting without having arrived is [`Fault::ClusterNotArrived`].
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn cluster_wait() {
    wait_in_cluster(true);
}

/// Like [`cluster_wait`], but lanes of a warp may wait by different calls.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn cluster_wait_apart() {
    wait_in_cluster(false);
}

#[track_caller]
fn wait_in_cluster(aligned: bool) {
    with("cluster_wait", |here, spot| {
        here.tell(Done::ClusterWait, spot);
        here.stop(Request::ClusterWait { aligned }, spot);
    });
}

/// The barrier of the lanes in `mask` (`bar.warp.sync`). Like [`warp_exchange`], but it also orders
/// memory: everything before the barrier in any lane happens before everything after it in all
/// lanes.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn warp_barrier(mask: u32) {
    let call = Call { kind: "bar.warp.sync", mask, value: 0, orders: true };
    with("warp_barrier", |here, spot| {
        if here.meet(Orders::WarpBarrier, spot).is_none() {
            here.stop(Request::Collective(call), spot);
        }
    });
}

/// The primitive behind shuffles, votes and matches (`shfl.sync`, `vote.sync`, …). Waits until
/// every lane in `mask` has called with the same `kind` and `mask`, then gives each lane the values
/// of all. It does not order memory accesses; [`warp_barrier`] does.
///
/// The mask may name lanes beyond the end of the block, in a partial last warp; they are left out.
/// Faults: [`Fault::NotInMask`], [`Fault::LaneExited`], [`Fault::WarpMismatch`].
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn warp_exchange(mask: u32, kind: &'static str, value: u128) -> WarpValues {
    with("warp_exchange", |here, spot| {
        let lane = here.position.lane();
        let request = Request::Collective(Call { kind, mask, value, orders: false });
        match here.stop(request, spot) {
            Some(Reply::Values(values)) => WarpValues::clone(&values),
            None => WarpValues::alone(lane, value),
            Some(other) => unreachable!("a collective is answered with values, not {other:?}"),
        }
    })
}

impl WarpValues {
    /// No lane took part.
    pub(crate) fn none() -> Self {
        Self { mask: 0, values: [0; WARP_LANES as usize] }
    }

    fn alone(lane: u32, value: u128) -> Self {
        let mut alone = Self::none();
        alone.add(lane, value);
        alone
    }

    pub(crate) fn add(&mut self, lane: u32, value: u128) {
        self.mask |= 1 << lane;
        self.values[lane as usize] = value;
    }
}

/// The lanes of the warp that are at this same call when the warp's step ends (`activemask`). This
/// is convergence under lockstep: only a hint, on hardware and here.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn active_mask() -> u32 {
    with("active_mask", |here, spot| match here.stop(Request::ActiveMask, spot) {
        Some(Reply::Mask(mask)) => mask,
        None => 1 << here.position.lane(),
        Some(other) => unreachable!("active_mask is answered with a mask, not {other:?}"),
    })
}

/// The block's static shared variable `name`: `bytes` bytes aligned to `align`, unwritten when the
/// block starts. The same name is the same storage. Not a scheduling point.
///
/// Faults: [`Fault::SharedLimit`], [`Fault::SharedConflict`].
///
/// # Panics
/// Outside an emulated thread, and if `align` is not a power of two.
#[track_caller]
pub fn static_shared(name: &'static str, bytes: usize, align: usize) -> *mut u8 {
    assert!(align.is_power_of_two(), "alignment {align} of {name} is not a power of two");
    with("static_shared", |here, spot| here.variable(name, bytes, align, spot))
}

/// The block's dynamic shared memory and its size in bytes, as set by the launch. It is 16-byte
/// aligned, but never 32-byte aligned, to expose a kernel that needs more. With 0 bytes the pointer
/// dangles. Not a scheduling point.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn dynamic_shared() -> (*mut u8, usize) {
    with("dynamic_shared", |here, _| here.shared.borrow().dynamic())
}

/// The address, in block `rank` of the cluster, of the variable or part of one that occupies
/// `bytes` bytes from `address` in the caller's own shared memory (`mapa.shared::cluster`). The
/// address is for accesses to [`Space::Cluster`](crate::Space::Cluster). Not a scheduling point.
///
/// The block need not have started yet, but an access before it has started, or after it has ended,
/// is [`Fault::ClusterBlockAbsent`]. It is [`Fault::Trap`] if the cluster has no such block, or if
/// the bytes are not in one variable.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn cluster_shared(address: *const u8, bytes: usize, rank: u32) -> *mut u8 {
    with("cluster_shared", |here, spot| here.peer_address((address.addr(), bytes), rank, spot))
}

/// One iteration of a loop that waits for another thread's write: yields to the other warps.
///
/// When every live thread of the launch only spins or waits, and memory no longer changes, the
/// launch ends with [`Fault::Deadlock`].
///
/// Returns whether to keep waiting: always `true`, unless the launch weakens this wait
/// ([`LaunchConfig::weaken`](crate::LaunchConfig::weaken)).
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn spin() -> bool {
    with("spin", |here, spot| {
        if here.meet(Orders::Wait, spot).is_some() {
            return false;
        }
        here.spin(spot);
        true
    })
}

/// Like [`spin`], for a wait for the end of a phase of a barrier in shared memory. A deadlock
/// report then shows the phase.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn spin_for_phase(phase: Phase) -> bool {
    with("spin_for_phase", |here, spot| {
        if here.meet(Orders::Wait, spot).is_some() {
            return false;
        }
        here.phase.set(Some(phase));
        here.spin(spot);
        here.phase.set(None);
        true
    })
}

impl Here<'_> {
    fn spin(&self, spot: Spot) {
        bump(&self.world.counters.spins);
        self.looks.hand_over();
        self.begin_wait(spot);
        self.tell(Done::Spin, spot);
        self.stop(Request::Spin, spot);
    }
}

/// `nanosleep.u32`: yields to the other warps. [`clock`] advances to `ns` cycles after the warp's
/// last step before the sleep, so sleeps of many warps overlap. PTX allows a sleep of 0 to twice
/// `ns`.
///
/// Unlike [`spin`], it does not declare that the thread waits for a write. A loop that polls and
/// sleeps needs a `spin` too; without it, a deadlock shows only as [`Fault::StepLimit`].
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn nanosleep(ns: u32) {
    with("nanosleep", |here, spot| {
        here.stop(Request::Sleep(ns), spot);
    });
}

/// `%clock64`: advances by one cycle for each warp step of the launch and for each call of this
/// function, and by the length of a [`nanosleep`]. When all threads only spin, it leaps, further
/// each time, so that a timeout expires.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn clock() -> u64 {
    with("clock", |here, _| {
        bump(&here.world.clock);
        here.world.guide.as_ref().map_or_else(|| here.world.clock.get(), |guide| guide.clock())
    })
}

/// `%globaltimer`, in nanoseconds: [`clock`] at 1 GHz.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn global_timer() -> u64 {
    clock()
}

/// `trap`: ends the launch with [`Fault::Trap`].
///
/// # Panics
/// Outside an emulated thread. In a destructor during unwinding it aborts the process, like any
/// panic there.
#[track_caller]
pub fn trap(message: &str) -> ! {
    with("trap", |here, spot| {
        here.fail(Fault::Trap { site: here.site(spot), message: message.to_owned() })
    })
}
