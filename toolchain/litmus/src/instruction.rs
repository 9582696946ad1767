//! The instructions of a litmus test, as data.

/// A register of one thread, by its number: `r3` is `Register(3)`. It holds 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub u32);

/// A memory location of the test, as an index into [`Test::locations`](crate::Test::locations). It
/// holds 32 bits and does not overlap with other locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location(pub usize);

/// Source of an instruction's value, other than memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A literal.
    Constant(i32),
    /// A register of the thread.
    Register(Register),
}

/// The threads with which a strong operation or a fence can establish order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `.cta`: the threads of the same cooperative thread array.
    Cta,
    /// `.gpu`: the threads of the same device.
    Gpu,
    /// `.sys`: all threads.
    Sys,
}

/// The semantics of a memory operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// `.weak`, or no qualifier: the operation is not strong.
    Weak,
    /// `.volatile`: the model treats it as `.relaxed.sys`.
    Volatile,
    /// `.relaxed`: strong, but does not synchronise on its own.
    Relaxed,
    /// `.acquire`: strong, and an acquire pattern.
    Acquire,
    /// `.release`: strong, and a release pattern.
    Release,
    /// `.acq_rel`: an atomic that is both.
    AcquireRelease,
}

/// The state space of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// No qualifier: generic addressing.
    Generic,
    /// `.global`.
    Global,
    /// `.shared`: the location is accessible only to the threads of one CTA.
    Shared,
}

/// The qualifiers of a memory operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its semantics.
    pub order: Order,
    /// Its scope. `None` exactly if the order is weak or volatile.
    pub scope: Option<Scope>,
    /// Its state space.
    pub space: Space,
}

impl Access {
    /// The scope of a strong operation, and `None` for a weak one. A volatile operation has system
    /// scope.
    pub fn strong(&self) -> Option<Scope> {
        match self.order {
            Order::Weak => None,
            Order::Volatile => Some(Scope::Sys),
            _ => self.scope,
        }
    }

    /// Whether a read of this kind is an acquire operation.
    pub fn acquires(&self) -> bool {
        matches!(self.order, Order::Acquire | Order::AcquireRelease)
    }

    /// Whether a write of this kind is a release operation.
    pub fn releases(&self) -> bool {
        matches!(self.order, Order::Release | Order::AcquireRelease)
    }
}

/// The semantics of a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FenceOrder {
    /// `fence.acquire`: part of acquire patterns.
    Acquire,
    /// `fence.release`: part of release patterns.
    Release,
    /// `fence.acq_rel`: part of both.
    AcquireRelease,
    /// `fence.sc`: both, and ordered with every morally strong `fence.sc`.
    Sc,
}

/// A function of two words. Results wrap at 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arithmetic {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product, low half.
    Mul,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Smaller of two signed words.
    Min,
    /// Larger of two signed words.
    Max,
    /// `atom.inc`: 0 if the first word is not below the second, unsigned, else the first plus 1.
    Inc,
    /// `atom.dec`: the second word if the first is 0 or above it, unsigned, else the first minus 1.
    Dec,
    /// The second word. As an atomic this is `exch`.
    Second,
}

impl Arithmetic {
    /// The value of the function.
    pub fn apply(self, a: i32, b: i32) -> i32 {
        let (left, right) = (a.cast_unsigned(), b.cast_unsigned());
        match self {
            Self::Add => a.wrapping_add(b),
            Self::Sub => a.wrapping_sub(b),
            Self::Mul => a.wrapping_mul(b),
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Inc if left >= right => 0,
            Self::Inc => a.wrapping_add(1),
            Self::Dec if left == 0 || left > right => b,
            Self::Dec => a.wrapping_sub(1),
            Self::Second => b,
        }
    }
}

/// A comparison of two signed words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Comparison {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
}

impl Comparison {
    /// Whether the comparison holds.
    pub fn holds(self, a: i32, b: i32) -> bool {
        match self {
            Self::Equal => a == b,
            Self::NotEqual => a != b,
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterOrEqual => a >= b,
        }
    }

    /// The comparison that holds exactly if this one does not.
    pub fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }
}

/// How an atomic updates the word that it read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// It writes a function of the old word and the operand.
    Apply(Arithmetic, Operand),
    /// `cas`: it writes the second operand if the old word equals the first, and otherwise only
    /// reads.
    CompareAndSwap(Operand, Operand),
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// `ld`.
    Load {
        /// The register that receives the word.
        to: Register,
        /// The location that is read.
        from: Location,
        /// Qualifiers of the read.
        access: Access,
    },
    /// `st`.
    Store {
        /// The location that is written.
        at: Location,
        /// The word.
        value: Operand,
        /// Qualifiers of the write.
        access: Access,
    },
    /// `atom`, or `red` if no register receives the old word.
    Atomic {
        /// The register that receives the old word.
        to: Option<Register>,
        /// The location.
        at: Location,
        /// The update.
        update: Update,
        /// Qualifiers of the operation.
        access: Access,
    },
    /// `fence`, or `membar`, which is a `fence.sc`.
    Fence {
        /// Its semantics.
        order: FenceOrder,
        /// Its scope.
        scope: Scope,
    },
    /// `barrier.cta.sync` and `barrier.cta.arrive`.
    Barrier {
        /// Whether the thread waits.
        wait: bool,
        /// The number of the barrier within the CTA.
        id: Operand,
        /// Number of threads that must arrive. Without it, all threads of the CTA in the test whose
        /// code names the barrier.
        count: Option<Operand>,
    },
    /// Arithmetic on registers. A move has [`Arithmetic::Second`].
    Compute {
        /// The register that receives the value.
        to: Register,
        /// The function.
        function: Arithmetic,
        /// Its first argument.
        left: Operand,
        /// Its second argument.
        right: Operand,
    },
    /// A jump to a statement of the thread, by its index. The number of statements is the end.
    Branch {
        /// Condition of the jump. `None` means always.
        when: Option<(Comparison, Operand, Operand)>,
        /// The target statement.
        target: usize,
    },
}
