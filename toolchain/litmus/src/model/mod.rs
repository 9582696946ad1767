//! The memory consistency model of PTX, on executions represented as events and relations.
//!
//! The modules follow the order of the definitions: [`event`] has the events, program order and
//! moral strength, [`reads_from`] the source of each read, [`phases`] the threads that meet at a
//! barrier, [`causality`] causality order, and [`coherence`] the order of the writes to one
//! location, and the axioms.

mod causality;
mod coherence;
mod event;
mod judge;
mod phases;
mod reads_from;
mod relation;

pub use judge::{Judgement, Occurrence, judge};
