//! The memory consistency model of PTX, on executions that are written down as events and
//! relations.
//!
//! The order of the modules is the order of the definitions: [`event`] has the events, program
//! order and moral strength, [`reads_from`] which write each read reads, [`phases`] which threads
//! meet at a barrier, [`causality`] what precedes what, and [`coherence`] the order of the writes
//! to one location, and the axioms.

mod causality;
mod coherence;
mod event;
mod judge;
mod phases;
mod reads_from;
mod relation;

pub use judge::{Judgement, Occurrence, judge};
