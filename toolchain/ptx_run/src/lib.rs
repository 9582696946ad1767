//! Runs kernels of PTX in the emulator [`simt`]: with checked memory, data races, weak memory and any
//! schedule.
//!
//! A [`Program`] is a kernel of a module that [`ptx`] has parsed. [`Program::load`] puts the
//! variables of the module into memory, and [`Kernel::launch`] runs a grid. Each thread of the grid
//! interprets the instructions, and each access, atomic, fence, barrier and exchange between lanes
//! is the emulator's. So faults are those of [`simt::Fault`], and name the lines of the source
//! (`.loc`) or of the PTX.
//!
//! ```
//! use ptx_run::Program;
//! use simt::{LaunchConfig, Memory};
//!
//! let ptx = "
//! .version 8.0
//! .target sm_80
//! .address_size 64
//! .visible .entry iota(.param .u64 out)
//! {
//!     .reg .b32 %r<2>;
//!     .reg .b64 %rd<4>;
//!     ld.param.u64 %rd1, [out];
//!     mov.u32 %r1, %tid.x;
//!     mul.wide.u32 %rd2, %r1, 4;
//!     add.s64 %rd3, %rd1, %rd2;
//!     st.global.u32 [%rd3], %r1;
//!     ret;
//! }";
//! let module = ptx::parse(ptx)?;
//! let mut memory = Memory::new(1 << 20);
//! let out = memory.alloc(256, 4)?;
//! let kernel = Program::new(&module, "iota")?.load(&mut memory)?;
//! let config = LaunchConfig { races: true, ..LaunchConfig::new("iota", 1, 64) };
//! kernel.launch(&mut memory, &config, &out.to_le_bytes())?;
//! let mut last = [0; 4];
//! memory.read(out + 252, &mut last)?;
//! assert_eq!(u32::from_le_bytes(last), 63);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The `README.md` of this crate lists the instructions that are supported. A thread that reaches
//! another one ends the launch with a fault that names it.

mod arithmetic;
mod code;
mod error;
mod excuse;
mod layout;
mod program;
mod resolve;
mod special;
mod synchronise;
mod thread;
mod uses;

pub use error::Error;
pub use excuse::Excuse;
pub use program::{Kernel, Program};
