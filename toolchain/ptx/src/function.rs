//! Functions and kernels.

use crate::instruction::Instruction;
use crate::operand::{Label, Register, Symbol};
use crate::variable::{Linkage, Parameter, Type, Variable};

/// A function or a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: Box<str>,
    /// Whether it is a kernel (`.entry`).
    pub is_kernel: bool,
    /// Who sees it.
    pub linkage: Linkage,
    /// The results.
    pub results: Vec<Parameter>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Its directives.
    pub directives: Directives,
    /// Its line in the text of the module.
    pub line: u32,
    /// Its code. `None` if it is only declared.
    pub body: Option<Body>,
}

/// The directives of a function, `None`, false or empty if absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// `.maxntid`: the largest block. Absent numbers are 1.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: the only size of a block.
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`
    pub min_blocks_per_sm: Option<u32>,
    /// `.maxnctapersm`
    pub max_blocks_per_sm: Option<u32>,
    /// `.maxnreg`
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`: the only size of a cluster.
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`: the largest number of blocks in a cluster.
    pub max_cluster: Option<u32>,
    /// `.explicitcluster`: the launch must state the size of the cluster.
    pub explicit_cluster: bool,
    /// `.blocksareclusters`: the launch states the grid in clusters.
    pub blocks_are_clusters: bool,
    /// `.noreturn`
    pub no_return: bool,
    /// `.pragma`: the strings, also of the body.
    pub pragmas: Vec<Box<str>>,
}

/// The code of a function. Blocks in braces are dissolved: names are resolved to indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The registers.
    pub registers: Registers,
    /// The variables declared in the body: local and shared memory, and parameters of calls.
    pub variables: Vec<Variable>,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// The labels that instructions refer to.
    pub labels: Vec<Target>,
    /// The tables of `.branchtargets`.
    pub targets: Vec<Vec<Label>>,
    /// The tables of `.calltargets`.
    pub callees: Vec<Vec<Symbol>>,
    /// The prototypes of `.callprototype`.
    pub prototypes: Vec<Prototype>,
    /// The lines in the source.
    pub locations: Vec<Location>,
}

/// The place of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub name: Box<str>,
    /// The index of the instruction after it; the number of instructions at the end of the body.
    pub at: usize,
}

/// The type of a function that is called through its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prototype {
    /// The results.
    pub results: Vec<Parameter>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// `.noreturn`
    pub no_return: bool,
}

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The number of the file among [`Module::files`](crate::Module::files).
    pub file: u32,
    /// The line, starting at 1. 0 means that no line is known.
    pub line: u32,
    /// The column, starting at 1. 0 means that none is known.
    pub column: u32,
    /// The place to which it was inlined: a smaller index into the same table.
    pub inlined_at: Option<u32>,
    /// Where the name of its function begins in the strings of the module.
    pub(crate) name: Option<u32>,
}

/// Registers that are declared together, such as `.reg .b32 %r<10>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// The name of a single register, or what the names of all begin with.
    pub name: Box<str>,
    /// The first register.
    pub first: Register,
    /// Their number, `None` for a single register.
    pub count: Option<u32>,
    /// The type of each.
    pub ty: Type,
    /// The elements of a vector, 1 without one.
    pub vector: u32,
}

/// The registers of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    families: Vec<Family>,
    count: u32,
}

impl Registers {
    /// Adds a register, or `count` of them. The caller keeps their sum within 32 bits.
    pub(crate) fn add(
        &mut self,
        name: &str,
        count: Option<u32>,
        ty: Type,
        vector: u32,
    ) -> Register {
        let first = Register(self.count);
        self.families.push(Family { name: name.into(), first, count, ty, vector });
        self.count += count.unwrap_or(1);
        first
    }

    /// The declarations, in the order of their registers.
    #[must_use]
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// Number of registers.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The declaration of a register.
    ///
    /// # Panics
    /// If it is not a register of this function.
    #[must_use]
    pub fn family(&self, register: Register) -> &Family {
        assert!(register.0 < self.count, "register {} of {}", register.0, self.count);
        let after = self.families.partition_point(|family| family.first <= register);
        // Families of no registers share their first register with the next one.
        &self.families[after - 1]
    }

    /// The type of a register.
    ///
    /// # Panics
    /// If it is not a register of this function.
    #[must_use]
    pub fn ty(&self, register: Register) -> Type {
        self.family(register).ty
    }

    /// The name of a register.
    ///
    /// # Panics
    /// If it is not a register of this function.
    #[must_use]
    pub fn name(&self, register: Register) -> String {
        let family = self.family(register);
        match family.count {
            None => family.name.to_string(),
            Some(_) => format!("{}{}", family.name, register.0 - family.first.0),
        }
    }
}
