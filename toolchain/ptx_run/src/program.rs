//! Kernels that can be launched.

use std::borrow::Cow;
use std::sync::Arc;

use ptx::{Body, Constant, Initial, InitialValue, Module, Space, Symbol, Type, Variable};
use simt::{Dim3, LaunchConfig, Memory, Stats};

use crate::code::{self, Code, Op};
use crate::error::Error;
use crate::layout::Window;
use crate::resolve::{Resolver, is_callable};
use crate::thread::{Thread, function_address};
use crate::uses::Uses;

/// A kernel of a module, resolved, with those that it can launch. It does not refer to the module.
#[derive(Debug)]
pub struct Program {
    /// The kernel first.
    entries: Vec<Entry>,
    /// The variables of the module.
    variables: Vec<Variable>,
}

/// A kernel, and the functions that it can call.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its index in the module.
    index: usize,
    /// The functions and the kernel, by their index in the module.
    functions: Vec<Option<Code>>,
    pub(crate) window: Window,
    required: Option<[u32; 3]>,
    largest: Option<[u32; 3]>,
}

impl Program {
    /// Resolves a kernel, the functions of its module, and the kernels that it can launch.
    ///
    /// Faults name the lines of the source if the module has them (`.loc`), and otherwise lines of
    /// the PTX, as those of the file `entry.ptx`.
    ///
    /// # Errors
    /// [`Error::NoKernel`], and [`Error::AddressSize`]. An instruction that is not supported is a
    /// fault when a thread reaches it.
    pub fn new(module: &Module, entry: &str) -> Result<Self, Error> {
        Self::in_file(module, entry, &format!("{entry}.ptx"))
    }

    /// As [`new`](Self::new), with the name that messages use for the file of the PTX.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn in_file(module: &Module, entry: &str, file: &str) -> Result<Self, Error> {
        if module.address_size != 64 {
            return Err(Error::AddressSize { bits: module.address_size });
        }
        let found = module.functions.iter().position(|it| &*it.name == entry && is_kernel(it));
        let found = found.ok_or_else(|| Error::NoKernel {
            name: entry.to_owned(),
            kernels: module.kernels().map(|kernel| kernel.name.to_string()).collect(),
        })?;
        let (mut entries, mut open) = (Vec::<Entry>::new(), vec![found]);
        while let Some(kernel) = open.pop() {
            if entries.iter().all(|known| known.index != kernel) {
                let uses = Uses::of(module, kernel);
                entries.push(Entry::new(module, kernel, &uses, file));
                open.extend(uses.kernels.iter().filter(|&&it| is_kernel(&module.functions[it])));
            }
        }
        Ok(Self { entries, variables: module.variables.clone() })
    }

    /// Bytes of the parameters, with their alignment.
    pub fn argument_bytes(&self) -> usize {
        self.code().parameters.last().map_or(0, |(offset, bytes)| offset + bytes)
    }

    /// Where each parameter is among the bytes of the arguments: its offset and size.
    pub fn parameters(&self) -> &[(usize, usize)] {
        &self.code().parameters
    }

    /// The instructions that are not supported, of the kernel, of the functions that it can call, and
    /// of the kernels that it can launch: their texts and lines. A thread that reaches one ends the
    /// launch with a fault.
    pub fn unsupported(&self) -> impl Iterator<Item = &str> {
        self.shown(|op| matches!(op, Op::Unsupported(_)))
    }

    /// The instructions whose results differ between GPUs, within bounds that PTX documents
    /// (`.approx`, matrix products), of the same kernels and functions: their texts and lines. If
    /// there are any, results may differ from those of a GPU in the last bits.
    pub fn inexact(&self) -> impl Iterator<Item = &str> {
        self.shown(Op::is_inexact)
    }

    fn shown(&self, select: impl Fn(&Op) -> bool) -> impl Iterator<Item = &str> {
        let functions = self.entries.iter().flat_map(|entry| entry.functions.iter().flatten());
        let instructions = functions.flat_map(|code| &code.instructions);
        let selected = instructions.filter(move |instruction| select(&instruction.op));
        selected.map(|instruction| &*instruction.shown)
    }

    /// Allocates the variables of the module in `memory` and initialises them, as loading the
    /// module does. They stay allocated.
    ///
    /// # Errors
    /// [`Error::Memory`] if they do not fit.
    pub fn load(self, memory: &mut Memory) -> Result<Kernel, Error> {
        Kernel::load(Arc::new(self), memory)
    }

    /// Whether a function reads the address of the grid's workspace.
    fn uses_workspace(&self) -> bool {
        let functions = self.entries.iter().flat_map(|entry| entry.functions.iter().flatten());
        let mut constants = functions.flat_map(|code| &code.constants);
        constants.any(|constant| matches!(constant, code::Constant::Workspace { .. }))
    }

    fn code(&self) -> &Code {
        self.entries[0].code()
    }
}

impl Entry {
    fn new(module: &Module, kernel: usize, uses: &Uses, file: &str) -> Self {
        let window = Window::of(module, uses);
        let mut resolver = Resolver::new(module, &window, &module.functions[kernel], file);
        let mut resolve = |index: usize, body: &Body| {
            let function = &module.functions[index];
            let calls = || !function.is_kernel && is_callable(function);
            let runs = index == kernel || uses.functions.contains(&index) && calls();
            runs.then(|| resolver.code(index, function, body))
        };
        let functions = module.functions.iter().enumerate();
        let functions =
            functions.map(|(index, it)| it.body.as_ref().and_then(|body| resolve(index, body)));
        let functions = functions.collect();
        let directives = &module.functions[kernel].directives;
        let (required, largest) = (directives.required_threads, directives.max_threads);
        Self { index: kernel, functions, window, required, largest }
    }

    /// The code of the kernel.
    pub(crate) fn code(&self) -> &Code {
        self.functions[self.index].as_ref().expect("the kernel has a body")
    }

    /// The function with this index in the module, if it can be called.
    pub(crate) fn function(&self, index: u64) -> Option<&Code> {
        let function = self.functions.get(usize::try_from(index).ok()?)?.as_ref();
        function.filter(|_| index != self.index as u64)
    }

    /// The blocks that the kernel needs, if this is not one.
    pub(crate) fn needs(&self, block: Dim3) -> Option<String> {
        match (self.required, self.largest) {
            (Some([x, y, z]), _) => {
                let required = Dim3::new(x, y, z);
                (block != required).then(|| format!("exactly {required}"))
            }
            (None, Some(largest)) => {
                let most: u64 = largest.iter().map(|&extent| u64::from(extent)).product();
                (block.count() > most).then(|| format!("at most {most}"))
            }
            (None, None) => None,
        }
    }
}

fn is_kernel(function: &ptx::Function) -> bool {
    function.is_kernel && function.body.is_some()
}

/// A kernel whose variables are in memory. Clones share them.
#[derive(Clone, Debug)]
pub struct Kernel {
    loaded: Arc<Loaded>,
}

/// A program, and where its variables are.
#[derive(Debug)]
pub(crate) struct Loaded {
    program: Arc<Program>,
    /// The addresses of the variables of the module, 0 for those not in global memory.
    addresses: Vec<u64>,
    /// The address of the grid's workspace, if it is used.
    workspace: u64,
}

/// Bytes of the workspace of a cooperative grid: its size, and the word of its barrier.
const WORKSPACE: usize = 8;

impl Kernel {
    /// As [`Program::load`], for a program that is loaded into several memories.
    ///
    /// # Errors
    /// [`Error::Memory`] if the variables do not fit.
    pub fn load(program: Arc<Program>, memory: &mut Memory) -> Result<Self, Error> {
        let mut addresses = Vec::new();
        for variable in &program.variables {
            let bytes = variable.size.unwrap_or(0) as usize;
            let is_memory = matches!(variable.space, Space::Global | Space::Constant);
            addresses.push(if is_memory && bytes > 0 {
                memory.alloc(bytes, variable.align as usize)?
            } else {
                0
            });
        }
        let kernel = Self::at(program, addresses, memory)?;
        let loaded = &kernel.loaded;
        for (variable, &address) in loaded.program.variables.iter().zip(&loaded.addresses) {
            if address != 0 {
                memory.write(address, &loaded.initial(variable))?;
            }
        }
        Ok(kernel)
    }

    /// Another kernel of the same module in the same memory, which shares its variables.
    ///
    /// # Errors
    /// [`Error::Memory`] if the kernel needs more memory, and there is none.
    ///
    /// # Panics
    /// If the module has other variables.
    pub fn beside(&self, program: Arc<Program>, memory: &mut Memory) -> Result<Self, Error> {
        let Loaded { program: own, addresses, .. } = &*self.loaded;
        assert_eq!(own.variables, program.variables, "both are kernels of one module");
        Self::at(program, addresses.clone(), memory)
    }

    /// The kernel, with its workspace, whose variables are at these addresses.
    fn at(program: Arc<Program>, addresses: Vec<u64>, memory: &mut Memory) -> Result<Self, Error> {
        let mut workspace = 0;
        if program.uses_workspace() {
            workspace = memory.alloc(WORKSPACE, WORKSPACE)?;
            memory.zero(workspace, WORKSPACE)?;
        }
        Ok(Self { loaded: Arc::new(Loaded { program, addresses, workspace }) })
    }

    /// Where each parameter is among the bytes of the arguments: its offset and size.
    pub fn parameters(&self) -> &[(usize, usize)] {
        self.loaded.program.parameters()
    }

    /// Bytes of the parameters, with their alignment.
    pub fn argument_bytes(&self) -> usize {
        self.loaded.program.argument_bytes()
    }

    /// Runs a grid in `memory`, which must be the one that the kernel was loaded into. `arguments`
    /// are the bytes of all parameters in their order, aligned as in the PTX.
    ///
    /// # Errors
    /// [`Error::Arguments`] and [`Error::Block`] before the launch, and [`Error::Fault`].
    pub fn launch(
        &self,
        memory: &mut Memory,
        config: &LaunchConfig<'_>,
        arguments: &[u8],
    ) -> Result<Stats, Error> {
        self.expect_block(config.block)?;
        let body = self.body(arguments)?;
        Ok(simt::launch(memory, config, &body)?)
    }

    /// What each thread of a launch runs, for [`simt::launch`], [`simt::launch_on_gpus`] and the
    /// searches of [`simt`].
    ///
    /// # Errors
    /// [`Error::Arguments`].
    pub fn body<'a>(
        &'a self,
        arguments: impl Into<Cow<'a, [u8]>>,
    ) -> Result<impl Fn() + 'a, Error> {
        let arguments = arguments.into();
        let expected = self.loaded.program.argument_bytes();
        if arguments.len() != expected {
            let kernel = self.entry().code().name.to_string();
            return Err(Error::Arguments { kernel, found: arguments.len(), expected });
        }
        Ok(move || {
            Thread::run(&self.loaded, self.entry(), |memory| memory.write_all(0, &arguments));
        })
    }

    /// The address of a variable of the module in global or constant memory.
    pub fn address(&self, name: &str) -> Option<u64> {
        let Loaded { program, addresses, .. } = &*self.loaded;
        let at = program.variables.iter().position(|variable| &*variable.name == name)?;
        Some(addresses[at]).filter(|&address| address != 0)
    }

    /// Refuses blocks of another size than the kernel requires.
    ///
    /// # Errors
    /// [`Error::Block`].
    pub fn expect_block(&self, block: Dim3) -> Result<(), Error> {
        let refused = |needs| {
            let kernel = self.entry().code().name.to_string();
            Err(Error::Block { kernel, block, needs })
        };
        self.entry().needs(block).map_or(Ok(()), refused)
    }

    fn entry(&self) -> &Entry {
        &self.loaded.program.entries[0]
    }
}

impl Loaded {
    /// The initial bytes of a variable.
    fn initial(&self, variable: &Variable) -> Vec<u8> {
        let mut bytes = vec![0; variable.size.unwrap_or(0) as usize];
        let size = variable.ty.bytes() as usize;
        for Initial { element, value } in &variable.initial {
            let value = self.value(*value, variable.ty).to_le_bytes();
            let at = *element as usize * size;
            let end = (at + size.min(8)).min(bytes.len());
            bytes[at..end].copy_from_slice(&value[..end - at]);
        }
        bytes
    }

    fn value(&self, value: InitialValue, ty: Type) -> u64 {
        match value {
            InitialValue::Constant(Constant::Integer(value)) => value.cast_unsigned(),
            InitialValue::Constant(Constant::Single(bits)) => bits.into(),
            InitialValue::Constant(Constant::Double(bits)) if ty == Type::F32 => {
                (f64::from_bits(bits) as f32).to_bits().into()
            }
            InitialValue::Constant(Constant::Double(bits)) => bits,
            InitialValue::Address { symbol, offset, mask, .. } => {
                let address = match symbol {
                    Symbol::Global(index) => self.addresses[index as usize],
                    Symbol::Function(index) => function_address(index),
                    _ => 0,
                };
                let address = address.wrapping_add_signed(offset);
                match mask {
                    Some(mask) => (address & mask) >> mask.trailing_zeros().min(63),
                    None => address,
                }
            }
        }
    }

    /// The address of the variable with this index.
    pub(crate) fn variable(&self, index: u32) -> u64 {
        self.addresses[index as usize]
    }

    /// The address of the grid's workspace, or 0.
    pub(crate) fn workspace(&self) -> u64 {
        self.workspace
    }

    /// The kernel with this index in the module, if it can be launched: its number here.
    pub(crate) fn launchable(&self, index: u64) -> Option<usize> {
        self.program.entries.iter().position(|entry| entry.index as u64 == index)
    }

    /// The kernel with this number.
    pub(crate) fn entry(&self, number: usize) -> &Entry {
        &self.program.entries[number]
    }
}
