//! The functions that a kernel can reach, and the variables that they mention.

use std::collections::{BTreeSet, HashSet};

use ptx::{Address, Base, InitialValue, Module, Operand, Symbol};

/// What a kernel uses of its module.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// The indices of the functions, with that of the kernel.
    pub(crate) functions: BTreeSet<usize>,
    /// The indices of the kernels that it can launch.
    pub(crate) kernels: BTreeSet<usize>,
    /// Whether it uses the shared memory that is reserved for the system.
    pub(crate) reserved: bool,
    /// The variables. Those of a function have its index.
    symbols: HashSet<(Option<usize>, Symbol)>,
}

impl Uses {
    pub(crate) fn of(module: &Module, entry: usize) -> Self {
        let mut uses = Self::default();
        // Functions in tables may be called from anywhere.
        let initial = module.variables.iter().flat_map(|variable| &variable.initial);
        let mut open: Vec<usize> = initial
            .filter_map(|initial| match initial.value {
                InitialValue::Address { symbol: Symbol::Function(index), .. } => {
                    Some(index as usize)
                }
                _ => None,
            })
            .collect();
        open.push(entry);
        let mut is_first = true;
        while let Some(function) = open.pop() {
            if module.functions[function].is_kernel && !std::mem::take(&mut is_first) {
                uses.kernels.insert(function);
                continue;
            }
            if !uses.functions.insert(function) {
                continue;
            }
            let body = module.functions[function].body.iter();
            let operands =
                body.flat_map(|body| &body.instructions).flat_map(|it| it.operands.iter());
            for operand in operands {
                uses.reserved |= is_reserved(operand);
                for_each_symbol(operand, &mut |symbol| match symbol {
                    Symbol::Function(index) => open.push(index as usize),
                    symbol => _ = uses.symbols.insert(key(function, symbol)),
                });
            }
        }
        uses
    }

    /// Whether a variable of the module, or of the function with this index, is used.
    pub(crate) fn has(&self, function: usize, symbol: Symbol) -> bool {
        self.symbols.contains(&key(function, symbol))
    }
}

/// A variable, with the function that has it.
pub(crate) fn key(function: usize, symbol: Symbol) -> (Option<usize>, Symbol) {
    (matches!(symbol, Symbol::Local(_)).then_some(function), symbol)
}

fn is_reserved(operand: &Operand) -> bool {
    matches!(operand, Operand::Special(register) if register.name.starts_with(RESERVED))
}

/// The names of the special registers with addresses of that memory begin with this.
pub(crate) const RESERVED: &str = "%reserved_smem_offset_";

fn for_each_symbol(operand: &Operand, found: &mut impl FnMut(Symbol)) {
    match operand {
        Operand::Symbol(symbol, _)
        | Operand::Memory(Address { base: Base::Symbol(symbol), .. }) => found(*symbol),
        Operand::Vector(all) | Operand::List(all) | Operand::Tensor(all) => {
            all.iter().for_each(|operand| for_each_symbol(operand, found));
        }
        Operand::Pair(both) => both.iter().for_each(|operand| for_each_symbol(operand, found)),
        _ => {}
    }
}
