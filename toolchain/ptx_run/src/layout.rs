//! Where variables are: the frame of a function, and the shared memory of a block.

use ptx::{Body, Function, Module, Parameter, Space, Symbol, Variable};

use crate::uses::{Uses, key};

/// Alignment of frames and of dynamic shared memory.
pub(crate) const FRAME_ALIGN: usize = 16;

/// Places variables after each other.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) end: usize,
}

impl Layout {
    fn add(&mut self, variable: &Variable) -> (usize, usize) {
        let size = variable.size.unwrap_or(0) as usize;
        let offset = self.end.next_multiple_of(variable.align.max(1) as usize);
        self.end = offset + size;
        (offset, size)
    }

    fn all(&mut self, parameters: &[Parameter]) -> Box<[(usize, usize)]> {
        parameters.iter().map(|parameter| self.add(&parameter.variable)).collect()
    }
}

/// The frame of a function.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) parameters: Box<[(usize, usize)]>,
    pub(crate) results: Box<[(usize, usize)]>,
    /// The offsets of its local variables and parameters of calls; others are `None`.
    pub(crate) variables: Box<[Option<usize>]>,
    pub(crate) bytes: usize,
}

impl Frame {
    pub(crate) fn of(function: &Function, body: &Body) -> Self {
        let mut layout = Layout::default();
        let parameters = layout.all(&function.parameters);
        let results = layout.all(&function.results);
        let is_private = |it: &Variable| matches!(it.space, Space::Local | Space::Parameter);
        let variables = body.variables.iter();
        let variables = variables.map(|it| is_private(it).then(|| layout.add(it).0)).collect();
        Self { parameters, results, variables, bytes: layout.end.next_multiple_of(FRAME_ALIGN) }
    }
}

/// A variable in the shared memory of a block.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) name: &'static str,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
    pub(crate) align: usize,
}

/// The shared memory of a block: a window of addresses that begins at 0.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// In ascending order. Between them are gaps, so that no access reaches the next variable.
    pub(crate) variables: Vec<Shared>,
    /// Where the memory of the launch begins.
    pub(crate) dynamic: usize,
    symbols: Vec<((Option<usize>, Symbol), usize)>,
    /// Where the memory begins that is reserved for the system, which cooperative groups use.
    reserved: Option<usize>,
}

/// Bytes of the memory that is reserved for the system (CUDA C++ Programming Guide, "Compute
/// Capabilities": one KiB of each block).
const RESERVED_BYTES: usize = 1 << 10;

/// Bytes between two shared variables.
pub(crate) const GAP: usize = 64;

impl Window {
    /// The shared variables that are used.
    pub(crate) fn of(module: &Module, uses: &Uses) -> Self {
        let outer = module.variables.iter().enumerate();
        let outer = outer.map(|(at, it)| (0, Symbol::Global(at as u32), it));
        let inner = module.functions.iter().enumerate().flat_map(|(function, it)| {
            let variables = it.body.iter().flat_map(|body| body.variables.iter().enumerate());
            variables.map(move |(at, it)| (function, Symbol::Local(at as u32), it))
        });
        let used = |&(function, symbol, it): &(usize, Symbol, &Variable)| {
            it.space == Space::Shared && uses.has(function, symbol)
        };
        let mut window = Self::default();
        let mut layout = Layout::default();
        let mut dynamic = Vec::new();
        for (function, symbol, variable) in outer.chain(inner).filter(used) {
            let key = key(function, symbol);
            if variable.size.is_none_or(|size| size == 0) {
                dynamic.push(key);
                continue;
            }
            let (offset, bytes) = layout.add(variable);
            layout.end += GAP;
            let align = variable.align as usize;
            window.variables.push(Shared { name: kept(&variable.name), offset, bytes, align });
            window.symbols.push((key, offset));
        }
        if uses.reserved {
            let (offset, align) = (layout.end.next_multiple_of(FRAME_ALIGN), FRAME_ALIGN);
            layout.end = offset + RESERVED_BYTES + GAP;
            let name = "reserved_smem";
            window.variables.push(Shared { name, offset, bytes: RESERVED_BYTES, align });
            window.reserved = Some(offset);
        }
        window.dynamic = layout.end.next_multiple_of(FRAME_ALIGN);
        window.symbols.extend(dynamic.into_iter().map(|key| (key, window.dynamic)));
        window
    }

    /// The bytes of the variables, without what is reserved for the system.
    pub(crate) fn bytes(&self) -> usize {
        let all: usize = self.variables.iter().map(|variable| variable.bytes).sum();
        all - self.reserved.map_or(0, |_| RESERVED_BYTES)
    }

    /// The value of the special register for reserved memory with this ending of its name.
    pub(crate) fn reserved(&self, ending: &str) -> Option<usize> {
        match ending {
            "begin" | "0" | "1" => self.reserved,
            "end" => Some(self.reserved? + RESERVED_BYTES),
            "cap" => Some(RESERVED_BYTES),
            _ => None,
        }
    }

    /// The address of a variable of the module, or of this function.
    pub(crate) fn address(&self, function: usize, symbol: Symbol) -> Option<usize> {
        let key = key(function, symbol);
        let found = self.symbols.iter().find(|(known, _)| *known == key);
        found.map(|&(_, address)| address)
    }
}

/// A name that lives as long as the process. Messages of the emulator use it, after the program has
/// been dropped. Each name is kept once.
pub(crate) fn kept(name: &str) -> &'static str {
    use std::collections::HashSet;
    use std::sync::{LazyLock, Mutex, PoisonError};
    static NAMES: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.get(name).copied().unwrap_or_else(|| {
        let kept: &'static str = Box::leak(name.into());
        names.insert(kept);
        kept
    })
}
