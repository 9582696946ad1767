//! Parses modules of PTX, as compilers for NVIDIA GPUs write them.
//!
//! [`parse`] reads the text of a module, of any compiler. All names are resolved: a register is an
//! index into the registers of its function, a variable an index into the table that has it, and a
//! label the index of an instruction. So an interpreter can use arrays.
//!
//! ```
//! let ptx = "
//! .version 8.0
//! .target sm_90
//! .address_size 64
//! .visible .entry twice(.param .u64 array)
//! {
//!     .reg .b32 %r<3>;
//!     .reg .b64 %rd<2>;
//!     ld.param.u64 %rd1, [array];
//!     ld.global.acquire.gpu.u32 %r1, [%rd1+8];
//!     add.u32 %r2, %r1, %r1;
//!     st.global.u32 [%rd1], %r2;
//!     ret;
//! }";
//! let module = ptx::parse(ptx)?;
//! let kernel = module.function("twice").expect("it is in the module");
//! let body = kernel.body.as_ref().expect("it is not only declared");
//! assert_eq!(body.registers.count(), 5);
//! let load = &body.instructions[1];
//! assert_eq!(load.mnemonic.opcode(), "ld");
//! assert!(load.mnemonic.has("acquire"));
//! assert_eq!(load.line, 10);
//! # Ok::<(), ptx::ParseError>(())
//! ```
//!
//! # What is not checked
//!
//! The parser knows how operands are written, not which instructions exist. An instruction with an
//! unknown opcode, modifiers in an unknown combination or operands of the wrong type is kept as it
//! is. So a module with such an instruction can run until a thread reaches it. [`refused`] names
//! the groups of instructions that an interpreter of threads is not expected to run.
//!
//! [`decode`](mod@decode) says what an instruction does, as far as it is known.
//!
//! # What is not kept
//!
//! Comments, the braces of blocks, the places of pragmas in a body, labels that no instruction
//! mentions, and sections of debug information, except for the names of inlined functions.

mod cursor;
pub mod decode;
mod error;
mod function;
mod instruction;
mod module;
mod number;
mod operand;
mod parse;
mod token;
mod variable;

pub use error::ParseError;
pub use function::{Body, Directives, Family, Function, Location, Prototype, Registers, Target};
pub use instruction::{Guard, Instruction, Mnemonic, refused};
pub use module::Module;
pub use number::Constant;
pub use operand::{Address, Base, Label, Operand, Part, Register, Special, Symbol};
pub use parse::parse;
pub use variable::{Initial, InitialValue, Linkage, Parameter, Pointer, Space, Type, Variable};
