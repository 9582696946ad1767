//! Rung 1: one thread adds up everything.
//!
//! All other rungs are compared with this one. It does n dependent additions, on a machine that
//! could do thousands at once.
//!
//! Launched: one block of one thread.

use super::Summand;
use cuda_std::prelude::*;

/// Sums `input` into `sum[0]`. Called by any number of threads; only the first of the grid works.
#[device]
pub fn serial<T: Summand>(input: Global<T>, sum: Global<T>) {
    if !thread::first() {
        return;
    }
    let mut total = T::ZERO;
    for i in 0..input.len() {
        total = total.add(input.read(i));
    }
    sum.write(0, total);
}
