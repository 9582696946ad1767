//! Rung 4: an atomic addition for each element.
//!
//! Changed: as many threads as elements, and no partial sums. Why: it is the shortest program. Effect:
//! the loads use the whole machine, but all n additions meet at one word of the L2, which takes them one
//! by one. They happen in the order of arrival, so a floating-point sum differs from run to run.
//!
//! Launched: a thread for each element, after the sum has been set to 0.

use super::Summand;
use cuda_std::memory::Atomic;
use cuda_std::prelude::*;

/// Adds `input` to `sum[0]`, one element a thread. Called by as many threads as elements, or more.
#[device]
pub fn atomics<T: Summand + Atomic>(input: Global<T>, sum: Global<T>) {
    let me = thread::index();
    if me < input.len() {
        sum.add(0, input.read(me), Ordering::Relaxed, Scope::Device);
    }
}
