//! Parses PTX litmus tests, and determines the final states that the memory model allows.
//!
//! A litmus test is a small program with several threads and a question about its final states.
//! [`parse()`] reads one from text, and [`judge()`] enumerates its executions. [`shapes`] has the
//! classic tests. The `README.md` of this crate has the grammar.
//!
//! ```
//! use litmus::{judge, parse};
//!
//! let test = parse(
//!     "PTX MP
//!      { x=0; y=0; }
//!      P0@cta 0,gpu 0       | P1@cta 1,gpu 0       ;
//!      st.weak x, 1         | ld.acquire.gpu r0, y ;
//!      st.release.gpu y, 1  | ld.weak r1, x        ;
//!      exists (P1:r0 == 1 /\\ P1:r1 == 0)",
//! )?;
//! let judgement = judge(&test)?;
//! assert!(!judgement.holds, "the release publishes x");
//! assert_eq!(judgement.states, [[0, 0], [0, 1], [1, 1]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The model
//!
//! It is the chapter "Memory Consistency Model" of the PTX ISA, for the generic proxy and for words
//! that overlap completely or not at all, in the formalisation by D. Lustig, S. Sahasrabuddhe and
//! O. Giroux, *A Formal Analysis of the NVIDIA PTX Memory Consistency Model*, ASPLOS 2019. The
//! modules of the model follow the sections of the ISA: moral strength, release and acquire
//! patterns, observation order, Fence-SC order, synchronisation, causality order, coherence order,
//! and the axioms Coherence, Fence-SC, Atomicity, No-thin-air, Sequential consistency per location
//! and Causality.
//!
//! Where the text leaves a choice, this crate decides as follows:
//!
//! * Program order is part of base causality order, as in newer editions of the ISA.
//! * An atomic is a read and a write. Observation and causality begin at the write. Its read may
//!   come from a weak write that causally follows the write.
//! * Coherence order has the pairs of morally strong writes, the pairs in causality order, and
//!   their consequences. Writes in a data race are not ordered. The final value of a location is
//!   that of any write without a successor.
//! * Dependencies are data and control dependencies, and the write of an atomic depends on its
//!   read. All writes after a branch depend on it.
//! * A barrier synchronises the threads that meet at it. It is not a fence, so it is not part of a
//!   release or acquire pattern.
//! * The initial write of a location precedes all others in coherence order, and is not strong.
//!
//! # Which runs end
//!
//! [`Judgement::terminates`] is false if there is a fair run in which a thread spins or waits at a
//! barrier forever. Fair means that every thread makes progress while it can, and that a read that
//! is repeated does not miss a write forever, if the two are morally strong and the write comes
//! after the value read in coherence order. A weak read may miss it forever. A `fence.sc` of an
//! endless spin comes, at some iteration, after those of all threads that end.
//!
//! An iteration of a loop is *without effect* if it writes nothing, reaches no barrier and leaves
//! every register that is still needed unchanged. Reads and fences only ever forbid outcomes, so a
//! run without such an iteration has the same final states, and the iteration is left out. For
//! endless spins, two equal iterations represent all: the first acquires whatever can be acquired,
//! so the second is the same as all later ones.
//!
//! # Bounds
//!
//! Within its bounds the search is exhaustive. A test beyond them gets a [`TooLarge`], never a
//! wrong answer. A statement may be visited 16 times on a path that has no iteration without
//! effect; a thread may have 4096 such paths, an execution 128 events including the initial writes,
//! and a search 5 million steps, each of which chooses the source of a read or an order. So an
//! unbounded loop in which each iteration has an effect is refused, for example a lock that spins
//! with `exch`.
//!
//! # Barriers
//!
//! A barrier is identified by its CTA, its number and its count: another count is another barrier.
//! Each time that `count` threads have arrived, all of them continue. Without a count, the threads
//! of the CTA continue when each one whose code names the barrier waits at it or has ended. A
//! thread may end without reaching it, and then nothing is ordered between its end and the waiting
//! threads.

mod error;
mod instruction;
mod model;
mod parse;
mod program;
pub mod shapes;
mod test;

pub use error::{ParseError, TooLarge};
pub use instruction::{
    Access, Arithmetic, Comparison, FenceOrder, Instruction, Location, Operand, Order, Register,
    Scope, Space, Update,
};
pub use model::{Judgement, Occurrence, judge};
pub use parse::parse;
pub use test::{Formula, MemoryLocation, Quantifier, Question, Statement, Term, Test, Thread};
