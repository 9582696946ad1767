//! Why a kernel cannot be run.

use simt::{Fault, MemoryError};

/// Why a kernel cannot be prepared or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The module has no kernel of this name with a body.
    #[error("the module has no kernel `{name}`: it has {}", list(.kernels))]
    NoKernel {
        /// The name.
        name: String,
        /// The kernels of the module.
        kernels: Vec<String>,
    },
    /// The addresses of the module do not have 64 bits.
    #[error("addresses have {bits} bits, but only modules with `.address_size 64` can run")]
    AddressSize {
        /// Their bits.
        bits: u32,
    },
    /// A block of another size than the kernel requires (`.reqntid`), or larger than its limit
    /// (`.maxntid`).
    #[error("kernel {kernel}: a block of {block} threads, but the kernel needs {needs}")]
    Block {
        /// The kernel.
        kernel: String,
        /// The extents of the block.
        block: simt::Dim3,
        /// What it needs.
        needs: String,
    },
    /// The arguments have another size than the parameters.
    #[error("kernel {kernel}: {found} bytes of arguments, but the parameters need {expected}")]
    Arguments {
        /// The kernel.
        kernel: String,
        /// Bytes of the arguments.
        found: usize,
        /// Bytes of the parameters, with their alignment.
        expected: usize,
    },
    /// The variables of the module do not fit into memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The launch was refused, or has failed.
    #[error("{0}")]
    Fault(Box<Fault>),
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
