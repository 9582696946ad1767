//! Functions in the form that threads run: operands are register numbers and constants, labels are
//! indices, and each instruction says what to do.

use ptx::decode::{Access, BarrierAction, Convert, Shuffle, Vote};
use ptx::{Registers, Type};
use simt::{Place, Position};

use crate::arithmetic::carry::Carry;
use crate::arithmetic::compare::{Combine, Compare};
use crate::arithmetic::general::General;
use crate::arithmetic::{Compute, Join};
use crate::synchronise::Synchronise;

/// The number of a register in its function. After its own registers a function has one that is only
/// written, the sink, and then its constants.
pub(crate) type Slot = u32;

/// A value that does not change during a call of a function. It is in a register, so that all
/// operands are read in the same way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Constant {
    /// Already as wide as its type.
    Value(u64),
    /// The address of a variable of the module: its index among all, and an offset.
    Variable(u32, i64),
    /// The address of a parameter or local variable: the offset in the frame of its function.
    Frame(i64),
    Special(fn(&Position) -> u64),
    /// The bytes of the block's shared memory, of which so many are static.
    SharedSize(u64),
    /// The upper or lower half of the address of the grid's workspace.
    Workspace {
        upper: bool,
    },
}

/// A predicate that is read, possibly negated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Predicate {
    pub(crate) slot: Slot,
    pub(crate) negated: bool,
}

/// The base of an address, and bytes to add.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Slot,
    pub(crate) offset: i64,
}

/// One instruction.
#[derive(Debug)]
pub(crate) struct Instruction {
    pub(crate) op: Op,
    /// Executed if this register has this value.
    pub(crate) guard: Option<(Slot, bool)>,
    /// Its line in the file of the kernel, unless it is in a function of another file.
    pub(crate) own: Option<Place>,
    /// Its line in the function that it belongs to, also if that was inlined.
    pub(crate) inside: Place,
    /// Its text and its line in the PTX, for messages.
    pub(crate) shown: Box<str>,
}

/// What an instruction does. Vectors are boxed, so that an instruction stays small.
#[derive(Debug)]
pub(crate) enum Op {
    Compute(Compute, Slot, [Slot; 4]),
    Carry(Carry, Slot, [Slot; 3]),
    /// A copy of the lowest bits.
    Move(Slot, Slot, u32),
    /// The value of a clock.
    Clock(Slot, fn() -> u64),
    /// Parts of these bits each, the first lowest, as one register.
    Pack(Slot, Box<[Slot]>, u32),
    /// The reverse.
    Unpack(Box<[Slot]>, Slot, u32),
    /// The first source if the predicate is true, otherwise the second.
    Select(Slot, [Slot; 2], Predicate),
    Compare(Box<Comparing>),
    /// An integer of these bits, signed or not, made one of `to` bits.
    Extend {
        to: Slot,
        from: Slot,
        bits: u32,
        signed: bool,
        to_bits: u32,
    },
    Convert(Box<Converting>),
    Load(Box<Loading>),
    Store(Box<Storing>),
    Update(Box<Updating>),
    Fence(simt::Scope, simt::Order),
    Barrier(Box<Meeting>),
    WarpBarrier(Slot),
    Shuffle(Box<Shuffling>),
    Vote(Vote, Slot, Predicate, Slot),
    Match(Slot, [Slot; 2]),
    Redux(Join, Slot, [Slot; 2]),
    ActiveMask(Slot),
    /// From a generic address to one in the space, or the reverse.
    ConvertAddress {
        to: Slot,
        from: Slot,
        space: Window,
        to_space: bool,
    },
    IsInSpace(Slot, Slot, Window),
    Branch(usize),
    BranchIndexed(Slot, Box<[usize]>),
    Call(Box<Calling>),
    Return,
    Exit,
    Trap,
    Sleep(Slot),
    Synchronise(Box<Synchronise>),
    Nothing,
    /// A computation of floats in any format, with modifiers.
    Float(Box<Floating>),
    /// The mask of the lanes with an equal value if all are equal, and whether they are: two results,
    /// value and mask.
    MatchAll([Slot; 2], [Slot; 2]),
    MatrixProduct(Box<Multiplying>),
    MatrixMove(Box<MovingMatrices>),
    /// An instruction that cannot be run, and the group of instructions that it belongs to.
    Unsupported(Option<&'static str>),
}

impl Op {
    /// Whether GPUs may return other results, within documented bounds.
    pub(crate) fn is_inexact(&self) -> bool {
        match self {
            Self::Float(it) => it.general.is_inexact(),
            Self::MatrixProduct(_) => true,
            _ => false,
        }
    }
}

/// A part of the generic addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    Global,
    /// The shared memory of the own block.
    Shared,
    /// That of all blocks of the cluster.
    Cluster,
    Local,
    Parameter,
}

#[derive(Debug)]
pub(crate) struct Floating {
    pub(crate) general: General,
    pub(crate) to: Slot,
    pub(crate) sources: [Slot; 3],
}

#[derive(Debug)]
pub(crate) struct Comparing {
    pub(crate) compare: Compare,
    pub(crate) combine: Option<(Combine, Predicate)>,
    pub(crate) to: Slot,
    /// Gets the other result.
    pub(crate) other: Slot,
    pub(crate) others: Others,
    pub(crate) sources: [Slot; 2],
    /// The bits of a true result.
    pub(crate) truth: u64,
}

/// The other result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// The result of the opposite comparison.
    Opposite,
    /// The result for the upper halves of the registers.
    Upper,
    /// The same, as the upper half of the first result.
    UpperJoined,
}

#[derive(Debug)]
pub(crate) struct Converting {
    pub(crate) convert: Convert,
    pub(crate) to: Slot,
    /// The bits of the destination if it is wider than the type, and the type is signed.
    pub(crate) extend_to: Option<u32>,
    /// The second one is the lower half of a pair.
    pub(crate) sources: [Slot; 2],
}

#[derive(Debug)]
pub(crate) struct Loading {
    pub(crate) access: Access,
    pub(crate) address: Address,
    pub(crate) to: Box<[Slot]>,
    /// The bits of the destination if the type is signed.
    pub(crate) extend_to: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Storing {
    pub(crate) access: Access,
    pub(crate) address: Address,
    pub(crate) values: Box<[Slot]>,
}

/// `atom` or `red`.
#[derive(Debug)]
pub(crate) struct Updating {
    pub(crate) access: Access,
    pub(crate) address: Address,
    /// Get the old values. More than one is a vector, of which each element is an atomic.
    pub(crate) to: Box<[Slot]>,
    /// The new value from the old one and the operand. `None` compares with the first operand and
    /// swaps with the second.
    pub(crate) function: Option<Join>,
    /// The operands of each element.
    pub(crate) sources: Box<[[Slot; 2]]>,
}

/// `mma`
#[derive(Debug)]
pub(crate) struct Multiplying {
    /// The type of the elements of `a` and `b`.
    pub(crate) ty: Type,
    pub(crate) depth: u32,
    pub(crate) to: [Slot; 4],
    pub(crate) a: Box<[Slot]>,
    pub(crate) b: Box<[Slot]>,
    pub(crate) c: [Slot; 4],
}

/// `ldmatrix` or `stmatrix`
#[derive(Debug)]
pub(crate) struct MovingMatrices {
    pub(crate) loads: bool,
    /// The access to the bytes of a register that are in one row.
    pub(crate) access: Access,
    pub(crate) address: Address,
    /// The register of each matrix.
    pub(crate) slots: Box<[Slot]>,
}

#[derive(Debug)]
pub(crate) struct Meeting {
    pub(crate) action: BarrierAction,
    /// Whether all lanes of a warp execute the same instruction.
    pub(crate) aligned: bool,
    pub(crate) to: Slot,
    pub(crate) predicate: Predicate,
    pub(crate) barrier: Slot,
    /// The number of threads, if it is stated.
    pub(crate) threads: Option<Slot>,
}

#[derive(Debug)]
pub(crate) struct Shuffling {
    pub(crate) mode: Shuffle,
    pub(crate) to: Slot,
    pub(crate) found: Slot,
    /// Value, lane, clamp and mask of segments, mask of lanes.
    pub(crate) sources: [Slot; 4],
}

#[derive(Debug)]
pub(crate) struct Calling {
    pub(crate) callee: Slot,
    pub(crate) arguments: Box<[Given]>,
    pub(crate) results: Box<[Received]>,
}

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given {
    Value(Slot),
    /// A variable at this offset of the frame.
    Bytes(usize),
}

/// Where a result of a call goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Received {
    Register(Slot),
    /// A variable at this offset of the frame.
    Bytes(usize),
}

/// A function.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) name: Box<str>,
    pub(crate) instructions: Box<[Instruction]>,
    pub(crate) registers: Registers,
    pub(crate) constants: Box<[Constant]>,
    /// Bytes of its parameters, results and local variables.
    pub(crate) frame: usize,
    /// Where its parameters and results are in the frame: offset and bytes.
    pub(crate) parameters: Box<[(usize, usize)]>,
    pub(crate) results: Box<[(usize, usize)]>,
}

impl Code {
    /// The first constant: the register after the sink.
    pub(crate) fn first_constant(&self) -> usize {
        self.registers.count() as usize + 1
    }

    /// All registers.
    pub(crate) fn slots(&self) -> usize {
        self.first_constant() + self.constants.len()
    }
}
