//! Selects the cases to run: all small ones, and as many others as the time allows.

use super::cases::{INTERLEAVED, Kernel};

/// The largest size, in elements or threads, for which all cases up to it fit into `budget_us` µs
/// of CPU time. Short inputs always run and are not counted.
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

#[cfg(test)]
mod tests {
    use super::super::cases::{Case, Emulated};
    use super::*;

    #[test]
    fn largest_size_fits_the_time_budget() {
        let case = |size: usize, us| {
            let name = (String::new(), size, 0);
            Case::of(name, us, Emulated::Fast, |_| Ok(()))
        };
        let kernel = |cases| Kernel { name: String::new(), cases };
        let kernels = [
            kernel(vec![case(10, 1e9), case(1000, 10.0), case(4000, 40.0)]),
            kernel(vec![case(1000, 10.0), case(2000, 20.0)]),
        ];
        for (budget_us, size) in [
            (0.0, INTERLEAVED),
            (19.0, INTERLEAVED),
            (20.0, 1000),
            (40.0, 2000),
            (79.0, 2000),
            (80.0, 4000),
        ] {
            assert_eq!(largest(&kernels, budget_us), size, "{budget_us} µs");
        }
    }
}
