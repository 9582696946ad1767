//! Reports of races.

use crate::access::{Access, AccessKind, Order, Scope, Space};
use crate::fault::{Site, Target};
use crate::place::Place;
use core::fmt;

/// An access that races with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RacingAccess {
    /// The thread and its location.
    pub site: Site,
    /// The access.
    pub access: Access,
    /// Its width in bytes.
    pub bytes: usize,
}

/// Two accesses to the same bytes, at least one of them a write, that nothing orders and that are
/// not morally strong (PTX ISA, "Data-Races"). On hardware the value read is unpredictable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The bytes of the later access.
    pub target: Target,
    /// The access that came first in this run.
    pub earlier: RacingAccess,
    /// The access that came later.
    pub later: RacingAccess,
    /// The missing ordering.
    pub missing: MissingOrder,
}

/// Why two accesses race.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingOrder {
    /// Both are strong, but the scope of one does not include the other's thread.
    Scope(Scope),
    /// Both are strong, but overlap only in part.
    Overlap,
    /// A read saw a write, and would order the two if the write released and the read acquired.
    Link(Box<Link>),
    /// The blocks of both take part in this barrier, but do not cross it between the accesses.
    Crossing(&'static str),
    /// The later thread learned of the earlier access by this protocol, which does not order other
    /// memory.
    Protocol(&'static str),
    /// One of the two belongs to a bulk copy. The other neither precedes the copy nor waits for it.
    Copy,
    /// The earlier one is an ordinary access and the later one an access by a bulk copy, in this
    /// space, and no proxy fence is between them.
    Proxy(Space),
    /// The later one reads through the read-only path, from bytes that this launch writes.
    ReadOnly,
    /// They belong to different grids of one GPU, neither of which comes before the other.
    Grids {
        /// Whether one grid overlaps the other although it depends on it, and has not waited for it.
        overlaps: bool,
    },
    /// Nothing that could order them is known.
    Everything {
        /// Whether both are in one block.
        same_block: bool,
    },
}

/// A write and a read of it that fail to order accesses before the write and after the read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The write.
    pub write: RacingAccess,
    /// The read.
    pub read: RacingAccess,
    /// The flaw at the write; `None` if it releases far enough to include the reader.
    pub release: Option<Flaw>,
    /// The flaw at the read; `None` if it acquires far enough to include the writer.
    pub acquire: Option<Flaw>,
    /// A barrier that the blocks of both accesses take part in. Crossing it between them would
    /// order them too.
    pub barrier: Option<&'static str>,
}

/// The flaw at one end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The access is not ordered and has no fence (before it for a write, after it for a read).
    Absent,
    /// It is ordered, but its scope does not include the thread at the other end.
    Scope {
        /// The scope that is too narrow.
        scope: Scope,
        /// The fence with this scope; `None` if it is the scope of the access itself.
        fence: Option<Place>,
    },
}

/// The remedy for a copy of device memory that the launch has accessed.
pub(crate) const NEEDS_GLOBAL_FENCE: &str = "a bulk copy of device memory that this launch has accessed by ordinary loads or stores needs \
     `fence.proxy.async.global` in between. cuda_std does not offer it: copy in another launch, or keep using ordinary accesses";

impl fmt::Display for RacingAccess {
    /// `4-byte release store at device scope (kernel k, block (0, 0, 0), …)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { site, access, bytes } = self;
        let order = match (access.order, access.kind) {
            (Order::Weak, AccessKind::Atomic) => Order::Relaxed,
            (order, _) => order,
        };
        write!(f, "{bytes}-byte {order} {access}")?;
        if access.reach().is_some() {
            write!(f, " at {} scope", access.scope)?;
        }
        write!(f, " ({site})")
    }
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, earlier, later, missing } = self;
        write!(f, "data race: {later} and {earlier} touch {target}")?;
        if let Some((_, offset)) = target.region
            && offset % later.bytes as u64 == 0
        {
            write!(f, ", element {}", offset / later.bytes as u64)?;
        }
        match missing {
            MissingOrder::Everything { same_block: true } if !target.is_shared() => f.write_str(
                "; nothing orders them: put a barrier of the block or the warp between them, or one of the grid if other blocks access the same memory",
            ),
            _ => write!(f, "; {missing}"),
        }
    }
}

impl fmt::Display for MissingOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scope(scope) => write!(
                f,
                "{} scope does not reach the other thread: widen it",
                scope
            ),
            Self::Overlap => {
                f.write_str("they overlap only in part: strong accesses must have the same width")
            }
            Self::Link(link) => write!(f, "{link}"),
            Self::Crossing(barrier) => missing_crossing(f, barrier),
            Self::Protocol(name) => write!(
                f,
                "nothing orders them: {name}, through which the later thread learned of the earlier one, orders no other memory: cross a barrier of the grid between them, or release and \
                 acquire at device scope"
            ),
            Self::Copy => f.write_str(
                "nothing orders them: an asynchronous copy runs concurrently with its thread, from its request to the wait for its end, and the other access must come before the request or after the wait",
            ),
            Self::Proxy(Space::Shared) => f.write_str(
                "no proxy fence is between the ordinary access and the bulk copy: call `fence_shared` \
                 (`fence.proxy.async.shared::cta` in PTX) after the ordinary access, in its thread or in one that comes after it, and before the \
                 barrier that the copy's thread waits at",
            ),
            Self::Proxy(_) => f.write_str(NEEDS_GLOBAL_FENCE),
            Self::ReadOnly => f.write_str(
                "a read through the read-only path of what this launch wrote: read it with another \
                 `CacheHint`",
            ),
            Self::Grids { overlaps: true } => f.write_str(
                "nothing orders them: the later kernel overlaps the earlier one and must wait for it before it touches the same memory: call `wait_for_previous` before the access",
            ),
            Self::Grids { overlaps: false } => f.write_str(
                "nothing orders them: the two kernels run at the same time: launch them into one stream, or let the stream of one wait for an event of the other",
            ),
            Self::Everything { same_block: true } => f.write_str(
                "nothing orders them: put a barrier of the block or the warp between them",
            ),
            Self::Everything { same_block: false } => f.write_str(
                "nothing orders them: put a barrier of the grid between them, or let one release at device scope, and the other acquire what it wrote",
            ),
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { write, read, release, acquire, barrier } = self;
        if let Some(barrier) = barrier {
            missing_crossing(f, barrier)?;
            f.write_str("; or else: ")?;
        }
        write!(f, "the {read} sees the {write}, but ")?;
        match release {
            None => {}
            Some(Flaw::Absent) => f.write_str(
                "the write is not released: make it release, or put a fence right before it",
            )?,
            Some(Flaw::Scope { scope, fence: None }) => too_narrow(f, "the write", *scope)?,
            Some(Flaw::Scope { scope, fence: Some(place) }) => {
                too_narrow(f, format_args!("the fence before the write, at {place},"), *scope)?;
            }
        }
        if release.is_some() && acquire.is_some() {
            f.write_str("; and ")?;
        }
        match acquire {
            None => Ok(()),
            Some(Flaw::Absent) => f.write_str(
                "the read does not acquire: make it acquire, or put a fence right after it",
            ),
            Some(Flaw::Scope { scope, fence: None }) => too_narrow(f, "the read", *scope),
            Some(Flaw::Scope { scope, fence: Some(place) }) => {
                too_narrow(f, format_args!("the fence after the read, at {place},"), *scope)
            }
        }
    }
}

fn missing_crossing(f: &mut fmt::Formatter<'_>, barrier: &str) -> fmt::Result {
    write!(f, "nothing orders them: cross {barrier} between them")
}

fn too_narrow(f: &mut fmt::Formatter<'_>, what: impl fmt::Display, scope: Scope) -> fmt::Result {
    write!(f, "{what} has {scope} scope, which does not reach the other thread: widen it")
}
