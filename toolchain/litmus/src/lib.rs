//! PTX litmus tests: read them, and say which final states the memory model allows.
//!
//! A litmus test is a small program with several threads and a question about its final states.
//! [`parse()`] reads one from text, and [`judge()`] enumerates its executions. [`shapes`] has the
//! classic tests. The `README.md` of this crate has the grammar of the text.
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
//! It is the chapter "Memory Consistency Model" of the PTX ISA, for the generic proxy and for
//! words that overlap completely or not at all. Its formal reading is that of D. Lustig, S.
//! Sahasrabuddhe and O. Giroux, *A Formal Analysis of the NVIDIA PTX Memory Consistency Model*,
//! ASPLOS 2019. The modules of the model follow the sections of the ISA: moral strength, release
//! and acquire patterns, observation order, Fence-SC order, synchronisation, causality order,
//! coherence order, and the axioms Coherence, Fence-SC, Atomicity, No-thin-air, Sequential
//! consistency per location and Causality.
//!
//! Where the text leaves a choice, this is taken:
//!
//! * Program order is part of base causality order, as in newer editions of the ISA.
//! * An atomic is a read and a write. Observation and causality begin at the write. Its read may
//!   come from a weak write that causally follows the write.
//! * Coherence order has the pairs of morally strong writes, the pairs in causality order, and what
//!   follows from them. Writes in a data race have no order. The final value of a location is that
//!   of any write without a successor.
//! * Dependencies are those of data and of control, and the write of an atomic depends on its read.
//!   A branch reaches all later writes of its thread.
//! * A barrier synchronises the threads that meet at it. It is no fence, and so no part of a release
//!   or acquire pattern.
//! * The initial write of a location precedes all others in coherence order, and is not strong.
//!
//! # Which runs end
//!
//! [`Judgement::terminates`] is false if there is a fair run in which a thread spins or waits at a
//! barrier for ever. Fair means that every thread goes on while it can, and that a read which
//! happens again and again does not miss a write for ever, if the two are morally strong and the
//! write comes after what is read in coherence order. A weak read may miss it for ever. A `fence.sc`
//! of an endless spin comes, at some round, after those of all threads that end.
//!
//! A round of a loop is *without effect* if it writes nothing, reaches no barrier and leaves every
//! register that is still needed as it was. Reads and fences only ever forbid, so a run without
//! such a round has the same final states, and it is left out. For endless spins two equal rounds
//! stand for all: the first acquires whatever there is to acquire, so that the second is as all
//! later ones.
//!
//! # Bounds
//!
//! Within its bounds the search is exhaustive. A test beyond them gets a [`TooLarge`], never a
//! wrong answer. A statement may be visited 16 times on a way through the code that has no round
//! without effect; a thread may have 4096 such ways, an execution 128 events with the initial
//! writes, and a search 5 million steps, each a choice of what a read reads or of an order. So a
//! loop without a bound in which each round has an effect is refused, a lock that spins by `exch`
//! for example.
//!
//! # Barriers
//!
//! A barrier is told by its CTA, its number and its count: another count is another barrier. Each
//! time that `count` threads have arrived, all of them go on. Without a count, the threads of the
//! CTA go on when each one whose code names the barrier waits at it or has ended. A thread may end
//! without reaching it, and nothing is then ordered between the end and those who wait.

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
