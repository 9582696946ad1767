//! Histograms.

use crate::parallel;

/// The number of elements from each edge to the next, and in the last bin up to the last edge
/// itself. Elements are given as numbers; NaN is in no bin.
///
/// # Panics
/// If there are fewer than two edges.
pub fn histogram(edges: &[f64], numbers: &[f64]) -> Vec<u64> {
    let [.., last] = edges else { panic!("a histogram has at least two edges") };
    let bins = edges.len() - 1;
    assert!(bins > 0, "a histogram has at least two edges");
    let chunks = parallel::map_chunks(numbers.len(), parallel::CHUNK, &|chunk| {
        let mut counts = vec![0; bins];
        for &x in numbers[chunk].iter().filter(|&x| edges[0] <= *x && x <= last) {
            counts[edges.partition_point(|edge| *edge <= x).min(bins) - 1] += 1;
        }
        counts
    });
    let mut counts = vec![0; bins];
    for chunk in chunks {
        counts.iter_mut().zip(chunk).for_each(|(count, more): (&mut u64, u64)| *count += more);
    }
    counts
}
