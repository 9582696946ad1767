//! Kernels that can be launched.

use ptx::{Body, Constant, Initial, InitialValue, Module, Space, Symbol, Type, Variable};
use simt::{Dim3, LaunchConfig, Memory, Stats};

use crate::code::{Code, Op};
use crate::error::Error;
use crate::layout::Window;
use crate::resolve::{Resolver, is_callable};
use crate::thread::{Thread, function_address};
use crate::uses::Uses;

/// A kernel of a module, resolved. It does not refer to the module.
#[derive(Debug)]
pub struct Program {
    entry: usize,
    /// The functions that can be called and the kernel, by their index in the module.
    functions: Vec<Option<Code>>,
    window: Window,
    /// The variables of the module.
    variables: Vec<Variable>,
    required: Option<[u32; 3]>,
    largest: Option<[u32; 3]>,
}

impl Program {
    /// Resolves a kernel and the functions of its module.
    ///
    /// Faults name the lines of the source if the module has them (`.loc`), and otherwise lines of
    /// the PTX, as those of the file `entry.ptx`.
    ///
    /// # Errors
    /// [`Error::NoKernel`], and [`Error::AddressSize`]. An instruction that is not supported is a
    /// fault when a thread reaches it.
    pub fn new(module: &Module, entry: &str) -> Result<Self, Error> {
        if module.address_size != 64 {
            return Err(Error::AddressSize { bits: module.address_size });
        }
        let found = module.functions.iter().position(|it| &*it.name == entry && is_kernel(it));
        let found = found.ok_or_else(|| Error::NoKernel {
            name: entry.to_owned(),
            kernels: module.kernels().map(|kernel| kernel.name.to_string()).collect(),
        })?;
        let uses = Uses::of(module, found);
        let window = Window::of(module, &uses);
        let mut resolver = Resolver::new(module, &window, &module.functions[found]);
        let mut resolve = |index: usize, body: &Body| {
            let function = &module.functions[index];
            let calls = || !function.is_kernel && is_callable(function);
            let runs = index == found || uses.functions.contains(&index) && calls();
            runs.then(|| resolver.code(index, function, body))
        };
        let functions = module.functions.iter().enumerate();
        let functions =
            functions.map(|(index, it)| it.body.as_ref().and_then(|body| resolve(index, body)));
        let directives = &module.functions[found].directives;
        Ok(Self {
            entry: found,
            functions: functions.collect(),
            window,
            variables: module.variables.clone(),
            required: directives.required_threads,
            largest: directives.max_threads,
        })
    }

    /// Bytes of the parameters, with their alignment.
    pub fn argument_bytes(&self) -> usize {
        self.code().parameters.last().map_or(0, |(offset, bytes)| offset + bytes)
    }

    /// Where each parameter is among the bytes of the arguments: its offset and size.
    pub fn parameters(&self) -> &[(usize, usize)] {
        &self.code().parameters
    }

    /// The instructions that are not supported, of the kernel and of the functions that it can call:
    /// their texts and lines. A thread that reaches one ends the launch with a fault.
    pub fn unsupported(&self) -> impl Iterator<Item = &str> {
        self.shown(|op| matches!(op, Op::Unsupported(_)))
    }

    /// The instructions whose results differ between GPUs, within bounds that PTX documents
    /// (`.approx`, matrix products), of the kernel and of the functions that it can call: their texts
    /// and lines. If there are any, results may differ from those of a GPU in the last bits.
    pub fn inexact(&self) -> impl Iterator<Item = &str> {
        self.shown(Op::is_inexact)
    }

    fn shown(&self, select: impl Fn(&Op) -> bool) -> impl Iterator<Item = &str> {
        let instructions = self.functions.iter().flatten().flat_map(|code| &code.instructions);
        let selected = instructions.filter(move |instruction| select(&instruction.op));
        selected.map(|instruction| &*instruction.shown)
    }

    /// Allocates the variables of the module in `memory` and initialises them, as loading the
    /// module does. They stay allocated.
    ///
    /// # Errors
    /// [`Error::Memory`] if they do not fit.
    pub fn load(self, memory: &mut Memory) -> Result<Kernel, Error> {
        let mut addresses = Vec::new();
        for variable in &self.variables {
            let bytes = variable.size.unwrap_or(0) as usize;
            let is_memory = matches!(variable.space, Space::Global | Space::Constant);
            addresses.push(if is_memory && bytes > 0 {
                memory.alloc(bytes, variable.align as usize)?
            } else {
                0
            });
        }
        let kernel = Kernel { program: self, addresses };
        for (variable, &address) in kernel.program.variables.iter().zip(&kernel.addresses) {
            if address != 0 {
                memory.write(address, &kernel.initial(variable))?;
            }
        }
        Ok(kernel)
    }

    fn code(&self) -> &Code {
        self.functions[self.entry].as_ref().expect("the kernel has a body")
    }
}

fn is_kernel(function: &ptx::Function) -> bool {
    function.is_kernel && function.body.is_some()
}

/// A kernel whose variables are in memory.
#[derive(Debug)]
pub struct Kernel {
    program: Program,
    /// The addresses of the variables of the module, 0 for those not in global memory.
    addresses: Vec<u64>,
}

impl Kernel {
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
        self.check(config.block)?;
        let body = self.body(arguments)?;
        Ok(simt::launch(memory, config, &body)?)
    }

    /// What each thread of a launch runs, for [`simt::launch`], [`simt::launch_on_gpus`] and the
    /// searches of [`simt`].
    ///
    /// # Errors
    /// [`Error::Arguments`].
    pub fn body<'a>(&'a self, arguments: &'a [u8]) -> Result<impl Fn() + 'a, Error> {
        let expected = self.program.argument_bytes();
        if arguments.len() != expected {
            let kernel = self.entry().name.to_string();
            return Err(Error::Arguments { kernel, found: arguments.len(), expected });
        }
        Ok(move || Thread::run(self, arguments))
    }

    /// The address of a variable of the module in global or constant memory.
    pub fn address(&self, name: &str) -> Option<u64> {
        let at = self.program.variables.iter().position(|variable| &*variable.name == name)?;
        Some(self.addresses[at]).filter(|&address| address != 0)
    }

    fn check(&self, block: Dim3) -> Result<(), Error> {
        let refused = |needs: String| {
            let kernel = self.entry().name.to_string();
            Err(Error::Block { kernel, block, needs })
        };
        match (self.program.required, self.program.largest) {
            (Some([x, y, z]), _) if block != Dim3::new(x, y, z) => {
                refused(format!("exactly {}", Dim3::new(x, y, z)))
            }
            (_, Some(largest)) => {
                let most: u64 = largest.iter().map(|&extent| u64::from(extent)).product();
                if block.count() > most { refused(format!("at most {most}")) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

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

    pub(crate) fn entry(&self) -> &Code {
        self.program.code()
    }

    pub(crate) fn window(&self) -> &Window {
        &self.program.window
    }

    /// The address of the variable with this index.
    pub(crate) fn variable(&self, index: u32) -> u64 {
        self.addresses[index as usize]
    }

    /// The function with this index in the module, if it can be called.
    pub(crate) fn function(&self, index: u64) -> Option<&Code> {
        let function = self.program.functions.get(usize::try_from(index).ok()?)?.as_ref();
        function.filter(|_| index != self.program.entry as u64)
    }
}
