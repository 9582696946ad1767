//! Operands of instructions.

/// A register, as an index into the registers of its function, which are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u32);

/// A label, as an index into [`Body::labels`](crate::Body::labels).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// A variable, parameter or function, as an index into the table that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    /// Of [`Module::variables`](crate::Module::variables).
    Global(u32),
    /// Of [`Module::functions`](crate::Module::functions).
    Function(u32),
    /// Of [`Function::parameters`](crate::Function::parameters).
    Parameter(u32),
    /// Of [`Function::results`](crate::Function::results).
    Result(u32),
    /// Of [`Body::variables`](crate::Body::variables).
    Local(u32),
}

/// An operand, with its names resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// `%r1`
    Register(Register),
    /// `%v.x`, `%r1.h0`, `%r1.b3`: a part of a register.
    Part(Register, Part),
    /// `!%p1`
    Not(Register),
    /// `_`: a result that is not needed.
    Sink,
    /// `-1`, `0x10U`, `(1 << 4) | 3`, `WARP_SZ`: 64 bits in two's complement.
    Integer(i64),
    /// `0f3F800000`: the bits.
    Single(u32),
    /// `0d3FF0000000000000`, `1.0`: the bits.
    Double(u64),
    /// `%tid.x`, `%clock64`
    Special(Special),
    /// `name`, `name+4`: the address of a variable, or a function.
    Symbol(Symbol, i64),
    /// `[%rd1+4]`, `[name]`, `name[4]`
    Memory(Address),
    /// `[name, {%r1, %r2}]`: the address and the coordinates of a texture or tensor.
    Tensor(Box<[Operand]>),
    /// `{%r1, %r2}`
    Vector(Box<[Operand]>),
    /// `%r1|%p1`: two results.
    Pair(Box<[Operand; 2]>),
    /// `(param0, param1)`: the results or arguments of a call.
    List(Box<[Operand]>),
    /// The target of a branch.
    Label(Label),
    /// The targets of a `brx.idx`: an index into [`Body::targets`](crate::Body::targets).
    Targets(u32),
    /// The functions that a call may call: an index into [`Body::callees`](crate::Body::callees).
    Callees(u32),
    /// The prototype of a call: an index into [`Body::prototypes`](crate::Body::prototypes).
    Prototype(u32),
}

/// An address in memory: a base, and bytes to add to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The base.
    pub base: Base,
    /// Bytes to add to it.
    pub offset: i64,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The value of a register.
    Register(Register),
    /// The address of a variable or parameter.
    Symbol(Symbol),
    /// 0: the offset is the address.
    Zero,
}

/// A part of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An element of a vector: `.x` or `.r` is 0, `.w` or `.a` is 3.
    Element(u8),
    /// A byte of a word; `.b0` has the lowest bits.
    Byte(u8),
    /// Half of a word; `.h0` has the lower bits.
    Half(u8),
}

impl Part {
    /// The part with this name, without the dot.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "x" | "r" => Self::Element(0),
            "y" | "g" => Self::Element(1),
            "z" | "b" => Self::Element(2),
            "w" | "a" => Self::Element(3),
            "b0" => Self::Byte(0),
            "b1" => Self::Byte(1),
            "b2" => Self::Byte(2),
            "b3" => Self::Byte(3),
            "h0" => Self::Half(0),
            "h1" => Self::Half(1),
            _ => return None,
        })
    }
}

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Special {
    /// Its name, such as `%tid`.
    pub name: &'static str,
    /// The element of a vector: `x` is 0, `w` is 3.
    pub element: Option<u8>,
}

/// The special registers (PTX ISA, "Special Registers").
const SPECIAL: &str = "%tid %ntid %ctaid %nctaid %laneid %warpid %nwarpid %smid %nsmid %gridid \
    %clusterid %nclusterid %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank \
    %is_explicit_cluster %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt \
    %clock %clock_hi %clock64 %globaltimer %globaltimer_lo %globaltimer_hi \
    %total_smem_size %aggr_smem_size %dynamic_smem_size %current_graph_exec \
    %reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap \
    %reserved_smem_offset_0 %reserved_smem_offset_1 \
    %pm0 %pm1 %pm2 %pm3 %pm4 %pm5 %pm6 %pm7 \
    %pm0_64 %pm1_64 %pm2_64 %pm3_64 %pm4_64 %pm5_64 %pm6_64 %pm7_64 \
    %envreg0 %envreg1 %envreg2 %envreg3 %envreg4 %envreg5 %envreg6 %envreg7 \
    %envreg8 %envreg9 %envreg10 %envreg11 %envreg12 %envreg13 %envreg14 %envreg15 \
    %envreg16 %envreg17 %envreg18 %envreg19 %envreg20 %envreg21 %envreg22 %envreg23 \
    %envreg24 %envreg25 %envreg26 %envreg27 %envreg28 %envreg29 %envreg30 %envreg31";

impl Special {
    /// The special register with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = SPECIAL.split(' ').find(|special| *special == name)?;
        Some(Self { name, element: None })
    }
}
