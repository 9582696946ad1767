//! Sites: the places in a kernel that order memory or wait, and weaker forms of them.
//!
//! A launch can record all sites that its threads reach, and can run with one of them weaker than
//! written. If the kernel still passes all its checks, it does not need that ordering, or its
//! checks do not detect that it does.

use core::fmt;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::access::{Access, AccessKind, Order, Scope, Space};
use crate::place::Place;

/// A place in a kernel's source that orders memory or waits, and its operation. A generic function
/// may have several operations at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OrderSite {
    /// The location of the call. Within a library, the line of the library.
    pub place: Place,
    /// The operation.
    pub does: Orders,
    /// The launch's clusters and GPUs.
    pub kinship: Kinship,
}

/// The operation at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Orders {
    /// A strong access.
    Access(Access),
    /// A fence.
    Fence(Scope, Order),
    /// The barrier of the block.
    BlockBarrier,
    /// The barrier of the block that also counts predicates.
    BlockVote,
    /// The barrier of lanes of a warp.
    WarpBarrier,
    /// An arrival at the cluster's barrier that releases.
    ClusterArrival,
    /// A fence between ordinary accesses and bulk copies.
    ProxyFence,
    /// A fence between initialising a barrier in shared memory and copies that report to it.
    BarrierFence,
    /// A wait for a bulk store to finish reading or writing.
    CopyWait,
    /// A wait for the end of the grids that the thread's grid overlaps.
    DependencyWait,
    /// A loop that waits for another thread's write.
    Wait,
}

/// How a site is weaker than written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It has this order.
    Order(Order),
    /// It has this scope.
    Scope(Scope),
    /// It is removed. A wait polls once and continues.
    Out,
    /// It gives its results, but does not order anything.
    Unordered,
}

/// One site, weaker than written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Weaken {
    /// The site.
    pub site: OrderSite,
    /// The change to it.
    pub change: Change,
}

/// The sites that launches have reached.
#[derive(Debug, Default)]
pub struct Sites(Mutex<HashSet<OrderSite>>);

impl Sites {
    /// All sites, in source order.
    #[must_use]
    pub fn sorted(&self) -> Vec<OrderSite> {
        let mut sites: Vec<OrderSite> = self.lock().iter().copied().collect();
        sites.sort_by_cached_key(OrderSite::key);
        sites
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<OrderSite>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Groups that the threads of a launch share besides their grids, which determine how far a scope
/// can be narrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kinship {
    /// Whether the launch had clusters. If so, device scope is a step wider than cluster scope.
    pub in_clusters: bool,
    /// Whether it ran on several GPUs. If so, system scope is a step wider than device scope.
    pub on_gpus: bool,
}

#[derive(Debug)]
pub(crate) struct Referee<'a> {
    notes: Option<&'a Sites>,
    weaken: Option<Weaken>,
    kinship: Kinship,
}

impl<'a> Referee<'a> {
    /// A referee, if sites are recorded or one is weakened.
    pub(crate) fn new(
        notes: Option<&'a Sites>,
        weaken: Option<Weaken>,
        kinship: Kinship,
    ) -> Option<Self> {
        (notes.is_some() || weaken.is_some()).then_some(Self { notes, weaken, kinship })
    }

    /// A thread has reached a site. Returns the change to it, if any.
    pub(crate) fn meet(&self, place: Place, does: Orders) -> Option<Change> {
        let site = OrderSite { place, does, kinship: self.kinship };
        if let Some(sites) = self.notes {
            sites.lock().insert(site);
        }
        self.weaken.filter(|weaken| weaken.site == site).map(|weaken| weaken.change)
    }

    /// The access to perform instead of this one.
    pub(crate) fn access(&self, access: Access, place: Place) -> Access {
        if access.order == Order::Weak {
            return access;
        }
        match self.meet(place, Orders::Access(access)) {
            Some(Change::Order(order)) => Access { order, ..access },
            Some(Change::Scope(scope)) => Access { scope, ..access },
            _ => access,
        }
    }
}

impl OrderSite {
    /// Sort key for the order of the source.
    #[must_use]
    pub fn key(&self) -> (Place, String, Kinship) {
        (self.place, self.does.to_string(), self.kinship)
    }

    /// All ways to weaken this site by one step. On one GPU, system scope counts as device scope.
    #[must_use]
    pub fn weaker(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut narrow = |scope: Scope| match scope {
            Scope::System if self.kinship.on_gpus => {
                changes.push(Change::Scope(Scope::Device));
            }
            Scope::System | Scope::Device if self.kinship.in_clusters => {
                changes.push(Change::Scope(Scope::Cluster));
            }
            Scope::System | Scope::Device | Scope::Cluster => {
                changes.push(Change::Scope(Scope::Block));
            }
            Scope::Block => {}
        };
        match self.does {
            Orders::Access(access) => {
                if access.space == Space::Global && access.order != Order::Volatile {
                    narrow(access.scope);
                }
                changes.extend(weaker_orders(access).iter().map(|&order| Change::Order(order)));
            }
            Orders::Fence(scope, order) => {
                narrow(scope);
                if order == Order::SeqCst {
                    changes.push(Change::Order(Order::AcqRel));
                }
                changes.push(Change::Out);
            }
            Orders::BlockVote => changes.push(Change::Unordered),
            Orders::ClusterArrival => changes.push(Change::Order(Order::Relaxed)),
            Orders::BlockBarrier
            | Orders::WarpBarrier
            | Orders::ProxyFence
            | Orders::BarrierFence
            | Orders::CopyWait
            | Orders::DependencyWait
            | Orders::Wait => changes.push(Change::Out),
        }
        changes
    }
}

/// The next weaker orders of an access.
fn weaker_orders(access: Access) -> &'static [Order] {
    use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst, Volatile, Weak};
    match (access.order, access.kind) {
        (Weak, _) | (Relaxed | Volatile, AccessKind::Atomic) => &[],
        (Relaxed | Volatile, _) => &[Weak],
        (Acquire | Release, _) => &[Relaxed],
        (AcqRel, _) => &[Acquire, Release],
        (SeqCst, AccessKind::Atomic) => &[AcqRel],
        (SeqCst, AccessKind::Read) => &[Acquire],
        (SeqCst, AccessKind::Write) => &[Release],
    }
}

impl fmt::Display for Orders {
    /// `acquire load, device scope`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Access(access) if access.order == Order::Volatile => {
                write!(f, "volatile {access}")
            }
            Self::Access(access) => {
                write!(f, "{} {access}, {} scope", access.order, access.scope)
            }
            Self::Fence(scope, order) => {
                write!(f, "{} fence, {} scope", order, scope)
            }
            Self::BlockBarrier => f.write_str("block barrier"),
            Self::BlockVote => f.write_str("block barrier with a vote"),
            Self::WarpBarrier => f.write_str("warp barrier"),
            Self::ClusterArrival => f.write_str("cluster arrival"),
            Self::ProxyFence => f.write_str("proxy fence"),
            Self::BarrierFence => f.write_str("fence of a shared barrier"),
            Self::CopyWait => f.write_str("wait for a copy"),
            Self::DependencyWait => f.write_str("wait for the previous grid"),
            Self::Wait => f.write_str("wait"),
        }
    }
}

impl fmt::Display for Change {
    /// `relaxed`, `block scope`, `out`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(order) => write!(f, "{order}"),
            Self::Scope(scope) => write!(f, "{} scope", scope),
            Self::Out => f.write_str("out"),
            Self::Unordered => f.write_str("unordered"),
        }
    }
}
