//! Accesses to memory, atomics and fences.

use super::operation::Operation;
use super::words::Words;
use crate::variable::Type;

/// The state space of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Any of the others.
    Generic,
    /// `.const`
    Constant,
    /// `.global`
    Global,
    /// `.local`
    Local,
    /// `.param`
    Parameter,
    /// `.shared`, `.shared::cta`: of the own block.
    Shared,
    /// `.shared::cluster`: of any block of the cluster.
    SharedCluster,
}

pub(super) const SPACES: [(&str, AddressSpace); 9] = [
    ("const", AddressSpace::Constant),
    ("global", AddressSpace::Global),
    ("local", AddressSpace::Local),
    ("param", AddressSpace::Parameter),
    ("param::entry", AddressSpace::Parameter),
    ("param::func", AddressSpace::Parameter),
    ("shared", AddressSpace::Shared),
    ("shared::cta", AddressSpace::Shared),
    ("shared::cluster", AddressSpace::SharedCluster),
];

/// The order of an access or a fence (PTX ISA, "Memory Consistency Model").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// `.weak`, and the default of loads and stores.
    Weak,
    /// `.volatile`: relaxed at system scope, and not merged with others.
    Volatile,
    /// `.mmio`: relaxed at system scope, and done exactly once.
    Mmio,
    /// `.relaxed`, and the default of atomics.
    Relaxed,
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    AcquireRelease,
    /// `.sc`
    SequentiallyConsistent,
}

/// The threads among which an order holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// `.cta`
    Block,
    /// `.cluster`
    Cluster,
    /// `.gpu`
    Device,
    /// `.sys`
    System,
}

pub(super) const SCOPES: [(&str, Scope); 5] = [
    ("cta", Scope::Block),
    ("cluster", Scope::Cluster),
    ("gpu", Scope::Device),
    ("gl", Scope::Device),
    ("sys", Scope::System),
];

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The state space of the address.
    pub space: AddressSpace,
    /// Its order.
    pub order: Order,
    /// The scope of its order. `Block` for a weak one, which has none.
    pub scope: Scope,
    /// The type of an element.
    pub ty: Type,
    /// The number of elements: 1, 2, 4 or 8. Each is a separate access.
    pub vector: u32,
    /// `.nc`: through a cache that does not see later writes.
    pub non_coherent: bool,
}

/// The function of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// Sum.
    Add,
    /// Smaller one.
    Min,
    /// Larger one.
    Max,
    /// Old + 1, or 0 if the old value is at least the operand.
    Increment,
    /// Old - 1, or the operand if the old value is 0 or above the operand.
    Decrement,
    /// Bits.
    And,
    /// Bits.
    Or,
    /// Bits.
    Xor,
    /// The new value.
    Exchange,
    /// The new value, if the old one equals the operand before it.
    CompareAndSwap,
}

/// A fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fence {
    /// A fence of threads: `Acquire`, `Release`, `AcquireRelease` or `SequentiallyConsistent`.
    Thread(Order, Scope),
    /// `.proxy.async`: between accesses by threads and by bulk copies, in one space or all.
    AsyncProxy(AddressSpace),
    /// `.proxy.alias`: between accesses through different addresses of one place.
    Alias,
    /// `.mbarrier_init.release.cluster`: publishes the initialisation of an mbarrier.
    MbarrierInit,
}

const VECTORS: [(&str, u32); 3] = [("v2", 2), ("v4", 4), ("v8", 8)];

/// `ld` or `st`.
pub(super) fn access(words: &mut Words<'_>) -> Option<Access> {
    words.drop_hints();
    let order = words.choose(&[
        ("weak", Order::Weak),
        ("volatile", Order::Volatile),
        ("mmio", Order::Mmio),
        ("relaxed", Order::Relaxed),
        ("acquire", Order::Acquire),
        ("release", Order::Release),
    ]);
    // `.mmio.relaxed.sys` is one order.
    let mmio = words.take("mmio") || order == Some(Order::Mmio) && words.take("relaxed");
    let order = if mmio { Order::Mmio } else { order.unwrap_or(Order::Weak) };
    let scope = words.choose(&SCOPES);
    let scope = match order {
        Order::Weak if scope.is_some() => return None,
        Order::Weak => Scope::Block,
        Order::Volatile | Order::Mmio => scope.unwrap_or(Scope::System),
        _ => scope?,
    };
    Some(Access {
        space: words.choose(&SPACES).unwrap_or(AddressSpace::Generic),
        order,
        scope,
        ty: words.ty()?,
        vector: words.choose(&VECTORS).unwrap_or(1),
        non_coherent: words.take("nc"),
    })
}

/// `atom` or `red`.
pub(super) fn atomic(words: &mut Words<'_>) -> Option<(Access, Update)> {
    words.drop_hints();
    let order = words.choose(&[
        ("relaxed", Order::Relaxed),
        ("acquire", Order::Acquire),
        ("release", Order::Release),
        ("acq_rel", Order::AcquireRelease),
    ]);
    let scope = words.choose(&SCOPES).unwrap_or(Scope::Device);
    let space = words.choose(&SPACES).unwrap_or(AddressSpace::Generic);
    let update = words.choose(&[
        ("add", Update::Add),
        ("min", Update::Min),
        ("max", Update::Max),
        ("inc", Update::Increment),
        ("dec", Update::Decrement),
        ("and", Update::And),
        ("or", Update::Or),
        ("xor", Update::Xor),
        ("exch", Update::Exchange),
        ("cas", Update::CompareAndSwap),
    ])?;
    // Sums of halves keep subnormals, with or without the word.
    words.take("noftz");
    let ty = words.ty()?;
    let vector = words.choose(&VECTORS).unwrap_or(1);
    let order = order.unwrap_or(Order::Relaxed);
    Some((Access { space, order, scope, ty, vector, non_coherent: false }, update))
}

/// `fence` or `membar`.
pub(super) fn fence(opcode: &str, words: &mut Words<'_>) -> Option<Operation> {
    let fence = if words.take("proxy") {
        if words.take("async") {
            Fence::AsyncProxy(words.choose(&SPACES).unwrap_or(AddressSpace::Generic))
        } else if words.take("alias") {
            Fence::Alias
        } else {
            return None;
        }
    } else if words.take("mbarrier_init") {
        if !(words.take("release") && words.take("cluster")) {
            return None;
        }
        Fence::MbarrierInit
    } else {
        let order = words.choose(&[
            ("sc", Order::SequentiallyConsistent),
            ("acq_rel", Order::AcquireRelease),
            ("acquire", Order::Acquire),
            ("release", Order::Release),
        ]);
        let default =
            if opcode == "membar" { Order::SequentiallyConsistent } else { Order::AcquireRelease };
        Fence::Thread(order.unwrap_or(default), words.choose(&SCOPES)?)
    };
    Some(Operation::Fence(fence))
}
