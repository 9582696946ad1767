//! Which cases are run: all small ones, and of the others as many as a time is enough for.

use super::cases::{INTERLEAVED, Kernel};

/// The largest cases that fit into so many µs of CPU time: those of any kernel of at most so many elements or threads;
/// none if the time is not limited.
///
/// Small cases, and what looks for data races in them, are run in any case and not counted.
pub(super) fn largest(kernels: &[Kernel], budget_us: f64) -> usize {
    let mut cases: Vec<(usize, f64)> = kernels
        .iter()
        .flat_map(|kernel| &kernel.cases)
        .filter(|case| case.size > INTERLEAVED)
        .map(|case| (case.size, case.us))
        .collect();
    cases.sort_by_key(|(size, _)| *size);
    let (mut largest, mut spent) = (INTERLEAVED, 0.0);
    for of_one_size in cases.chunk_by(|(a, _), (b, _)| a == b) {
        spent += of_one_size.iter().map(|(_, us)| us).sum::<f64>();
        if spent > budget_us {
            break;
        }
        largest = of_one_size[0].0;
    }
    largest
}
