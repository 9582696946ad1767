//! Rung 4: an atomic addition for each element.
//!
//! Changed: as many threads as elements, no partial sums. Why: it is the shortest program. Effect:
//! the loads use the whole machine, but the L2 does all n additions to one word, one by one. It
//! does them in the order of arrival, so a floating-point sum differs from run to run.
//!
//! Launched: a thread for each element, after the sum has been set to 0.

use super::Summand;
use cuda_std::memory::Atomic;
use cuda_std::prelude::*;

/// Adds `input` to `sum[0]`, one element per thread. Called by at least one thread per element.
#[device]
pub fn atomics<T: Summand + Atomic>(input: Global<T>, sum: Global<T>) {
    let me = thread::index();
    if me < input.len() {
        sum.add(0, input.read(me), Ordering::Relaxed, Scope::Device);
    }
}
