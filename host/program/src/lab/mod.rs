//! The seed's experiments: what goes wrong and how often, what the compiler makes of a loop, what
//! a fence costs, what one launch with a barrier gains over many without, a sum in seventeen
//! steps and a scan in eleven; and the grid barriers under stress.

pub mod fences;
pub mod ladder;
pub mod mkl;
pub mod ptx;
pub mod spin;
pub mod stress;
pub mod xpx;
