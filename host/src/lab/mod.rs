//! The seed's experiments: each sets a trap, shows what falls into it, and how often.

pub mod xpx;
