//! The meaning of instructions.

use super::arithmetic::Arithmetic;
use super::compare::{Comparison, Convert};
use super::memory::{Access, AddressSpace, Fence, Order, Scope, Update};
use crate::variable::Type;

/// What an instruction does. Its operands are in the order of the PTX ISA. The policy of a cache may
/// follow those of an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `ld`, `ldu`: destination, address.
    Load(Access),
    /// `st`: address, value.
    Store(Access),
    /// `atom`: destination, address, value. For a comparison also the new value.
    Atomic(Access, Update),
    /// `red`: address, value.
    Reduction(Access, Update),
    /// `fence`, `membar`
    Fence(Fence),
    /// `bar`, `barrier`: the barrier, and possibly a number of threads.
    Barrier {
        /// The action of the thread.
        action: BarrierAction,
        /// Whether all threads of a warp execute it together.
        aligned: bool,
    },
    /// `bar.warp.sync`: a mask.
    WarpBarrier,
    /// `barrier.cluster`
    ClusterBarrier {
        /// Whether the thread waits, instead of arriving.
        waits: bool,
        /// `Release` or `Relaxed` for an arrival, `Acquire` for a wait.
        order: Order,
        /// Whether all threads of a warp execute it together.
        aligned: bool,
    },
    /// `mbarrier`
    Mbarrier {
        /// The action on the object.
        action: MbarrierAction,
        /// Where the object is.
        space: AddressSpace,
        /// The order of an arrival or a test.
        order: Order,
        /// The scope of that order, if it is stated. PTX says that the default is `Block`.
        scope: Option<Scope>,
    },
    /// `shfl`: destination, source, lane, clamp and mask; with `sync` a mask of lanes.
    Shuffle(Shuffle),
    /// `vote`: destination, predicate; with `sync` a mask of lanes.
    Vote(Vote),
    /// `match.sync`: destination, value, mask.
    Match {
        /// Whether all lanes must agree.
        all: bool,
        /// The bytes of the values, 4 or 8.
        bytes: u32,
    },
    /// `redux.sync`: destination, source, mask.
    Redux(Arithmetic),
    /// `activemask`: destination.
    ActiveMask,
    /// `elect.sync`: destination and predicate, mask.
    Elect,
    /// `cp.async`: to shared memory, from global memory, bytes; and possibly the bytes to read, or a
    /// predicate whether to read none.
    AsyncCopy,
    /// `cp.async.mbarrier.arrive`: address.
    AsyncArrive {
        /// Where the object is.
        space: AddressSpace,
        /// The phase waits for one more arrival.
        increments: bool,
    },
    /// `cp.async.bulk`: to, from, bytes; then the mbarrier if it is completed by one.
    BulkCopy {
        /// Where to.
        to: AddressSpace,
        /// Where from.
        from: AddressSpace,
        /// Whether an mbarrier is informed, instead of a group.
        mbarrier: bool,
    },
    /// `commit_group` of copies.
    CommitGroup {
        /// Of bulk copies.
        bulk: bool,
    },
    /// `wait_group` or `wait_all` of copies: the number of groups that may be pending, or nothing.
    WaitGroup {
        /// Of bulk copies.
        bulk: bool,
        /// Until their sources have been read, not until they are complete.
        read: bool,
    },
    /// `mov`: destination, source. One of them may be a vector of parts.
    Move(Type),
    /// `selp`: destination, two sources, predicate.
    Select(Type),
    /// `setp`, `set`: destinations, two sources, and possibly a predicate.
    Compare(Comparison),
    /// `cvt`: destination, source. Two sources for a packed type.
    Convert(Convert),
    /// `cvt.pack`: destination, two sources that are bounded to this size and joined, and possibly a
    /// third one that is shifted up to make room for them.
    Pack {
        /// The bits of both: 16, 8, 4 or 2.
        bits: u32,
        /// Whether they are signed.
        signed: bool,
    },
    /// `mma`: destination, a, b and c, as vectors of registers: `a b + c`, with 16 rows, 8 columns and
    /// f32 in the result.
    MatrixProduct {
        /// The type of the elements of a and b.
        ty: Type,
        /// The columns of a and rows of b.
        depth: u32,
    },
    /// `ldmatrix`: registers, address of a row. `stmatrix`: the reverse.
    MatrixAccess {
        /// Whether it loads.
        loads: bool,
        /// The number of matrices: 1, 2 or 4.
        count: u32,
        /// Whether rows become columns.
        transposes: bool,
        /// Where the rows are.
        space: AddressSpace,
    },
    /// A computation: destination, sources.
    Compute(Arithmetic),
    /// `cvta`: destination, address.
    ConvertAddress {
        /// The space.
        space: AddressSpace,
        /// From a generic address to one in the space, instead of the reverse.
        to: bool,
    },
    /// `isspacep`: predicate, address.
    IsInSpace(AddressSpace),
    /// `mapa`: destination, address in shared memory, block of the cluster.
    MapShared {
        /// Whether the addresses are in shared memory, instead of generic.
        shared: bool,
    },
    /// `bra`: label.
    Branch,
    /// `brx.idx`: index, labels.
    BranchIndexed,
    /// `call`: results, function, arguments, and what may be called.
    Call,
    /// `ret`
    Return,
    /// `exit`
    Exit,
    /// `trap`
    Trap,
    /// `nanosleep`: nanoseconds.
    Sleep,
    /// `griddepcontrol`
    GridDependency {
        /// Waits for the grids before, instead of letting the next one start.
        waits: bool,
    },
    /// Without effect on values: `prefetch`, `setmaxnreg`, `pmevent`.
    Hint,
    /// An instruction of a group that [`refused`](crate::refused) names.
    Refused(&'static str),
    /// An instruction that is not decoded: its mnemonic.
    Unknown(Box<str>),
}

/// The action of a thread at a barrier of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierAction {
    /// It arrives and waits.
    Sync,
    /// It arrives.
    Arrive,
    /// It waits, and gets whether all threads had a true predicate. Destination first.
    And,
    /// The same: whether any had.
    Or,
    /// The same: how many had.
    Count,
}

/// The action on an mbarrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierAction {
    /// Address, number of arrivals.
    Init,
    /// Address.
    Invalidate,
    /// Address, bytes.
    ExpectBytes,
    /// Address, bytes.
    CompleteBytes,
    /// Destination, address, and possibly a number of arrivals, or of bytes to expect.
    Arrive {
        /// Arrives for all later phases too.
        drops: bool,
        /// Expects bytes before it arrives.
        expects_bytes: bool,
        /// May complete the phase. Without it, a number of arrivals follows.
        completes: bool,
    },
    /// Destination, address, phase.
    Test {
        /// May wait for a while.
        waits: bool,
        /// The phase is given by its parity, instead of a state.
        parity: bool,
    },
    /// Destination, state: the arrivals that the phase of a state waits for.
    PendingCount,
}

/// From which lane a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// A lower one.
    Up,
    /// A higher one.
    Down,
    /// The lane whose number differs in the given bits.
    Butterfly,
    /// The given one.
    Index,
}

/// The result of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// Whether all predicates are true.
    All,
    /// Whether any is true.
    Any,
    /// Whether all are equal.
    Uniform,
    /// The mask of lanes with a true one.
    Ballot,
}
