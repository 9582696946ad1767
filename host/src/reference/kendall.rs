//! Kendall's rank correlation.

use crate::parallel;
use gridsync_kernels::grid::kendall::Ordered;

/// The rank correlation of two arrays of one length: Kendall's τ_b, and the pair counts behind it.
///
/// A pair of indices is concordant if both arrays order it alike, discordant if they order it in
/// opposite ways, and a tie if it is equal in either. Every pair is counted: concordant +
/// discordant + ties_x + ties_y − ties_both = n(n − 1)/2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kendall {
    /// Pairs in the same order in x and y.
    pub concordant: u64,
    /// Pairs in the opposite order.
    pub discordant: u64,
    /// Pairs equal in x, including those equal in both.
    pub ties_x: u64,
    /// Pairs equal in y, including those equal in both.
    pub ties_y: u64,
    /// Pairs equal in x and in y.
    pub ties_both: u64,
    /// τ_b, from −1 to 1: (concordant − discordant) / √(n₀ − ties_x) / √(n₀ − ties_y), where n₀ is
    /// the number of all pairs. NaN if x or y is constant, or has fewer than two elements.
    pub tau: f64,
}

impl Kendall {
    /// Computes the rest from the counts for arrays of `len` elements, fewer than 2^32.
    #[must_use]
    pub fn of(len: u64, discordant: u64, ties_x: u64, ties_y: u64, ties_both: u64) -> Self {
        let pairs = len * len.saturating_sub(1) / 2;
        let concordant = pairs + ties_both - ties_x - ties_y - discordant;
        // Both are below 2^63. The order of the operations and the clamp are those of SciPy
        // (`scipy.stats.kendalltau`), so that the values are the same.
        let difference = concordant as i64 - discordant as i64;
        let untied = |ties: u64| ((pairs - ties) as f64).sqrt();
        let tau = if pairs == ties_x || pairs == ties_y {
            f64::NAN
        } else {
            difference as f64 / untied(ties_x) / untied(ties_y)
        };
        Self { concordant, discordant, ties_x, ties_y, ties_both, tau: tau.clamp(-1.0, 1.0) }
    }

    /// Whether all counts are the same, and τ is bit-identical.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        let counts = |of: &Self| [of.concordant, of.discordant, of.ties_x, of.ties_y, of.ties_both];
        counts(self) == counts(other) && self.tau.to_bits() == other.tau.to_bits()
    }
}

/// The correlation of `x` and `y`, which have one length and contain no NaN: by sorting, on all
/// cores (Knight: "A Computer Method for Calculating Kendall's Tau with Ungrouped Data", 1966).
#[must_use]
pub fn kendall<T: Ordered<Bits: Send>>(x: &[T], y: &[T]) -> Kendall {
    let places = x.iter().zip(y);
    let mut places: Vec<_> = places.map(|(x, y)| (x.ordered(), y.ordered())).collect();
    parallel::sort(&mut places);
    let ties_x = ties(&places, |a, b| a.0 == b.0);
    let ties_both = ties(&places, |a, b| a == b);
    let mut ranks: Vec<_> = places.into_iter().map(|(_, y)| y).collect();
    let discordant = sort_and_count(&mut ranks);
    let ties_y = ties(&ranks, |a, b| a == b);
    Kendall::of(x.len() as u64, discordant, ties_x, ties_y, ties_both)
}

/// The pairs of equal elements, which are adjacent.
fn ties<T>(sorted: &[T], same: impl Fn(&T, &T) -> bool) -> u64 {
    let runs = sorted.chunk_by(same).map(|run| run.len() as u64);
    runs.map(|len| len * (len - 1) / 2).sum()
}

/// The fewest elements for which a separate task pays off.
const SPLIT: usize = 4096;

/// Sorts, and counts the pairs whose first element was greater.
fn sort_and_count<T: Copy + Ord + Send>(values: &mut [T]) -> u64 {
    if values.len() < 2 {
        return 0;
    }
    let (left, right) = values.split_at_mut(values.len() / 2);
    let (of_left, of_right) = match left.len() {
        ..SPLIT => (sort_and_count(left), sort_and_count(right)),
        _ => parallel::join(|| sort_and_count(left), || sort_and_count(right)),
    };
    let mut between = 0;
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut a, mut b) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(&&first), Some(&&second)) = (a.peek(), b.peek()) {
        if second < first {
            between += a.len() as u64;
            merged.extend(b.next());
        } else {
            merged.extend(a.next());
        }
    }
    merged.extend(a.chain(b));
    values.copy_from_slice(&merged);
    of_left + of_right + between
}

/// The same by comparing every element with every other: n(n − 1)/2 steps.
#[must_use]
pub fn kendall_by_pairs<T: PartialOrd>(x: &[T], y: &[T]) -> Kendall {
    let (mut discordant, mut ties_x, mut ties_y, mut ties_both) = (0, 0, 0, 0);
    for i in 0..x.len() {
        for j in 0..i {
            let (same_x, same_y) = (x[i] == x[j], y[i] == y[j]);
            ties_x += u64::from(same_x);
            ties_y += u64::from(same_y);
            ties_both += u64::from(same_x && same_y);
            let opposite = (x[i] < x[j] && y[i] > y[j]) || (x[i] > x[j] && y[i] < y[j]);
            discordant += u64::from(opposite);
        }
    }
    Kendall::of(x.len() as u64, discordant, ties_x, ties_y, ties_both)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes it with both methods.
    fn both<T: Ordered<Bits: Send>>(x: &[T], y: &[T]) -> Kendall {
        let (one, other) = (kendall(x, y), kendall_by_pairs(x, y));
        assert!(one.same(&other), "{one:?}, {other:?}");
        one
    }

    #[test]
    fn agrees_with_the_example_in_scipys_documentation() {
        let kendall = both(&[12, 2, 1, 12, 2], &[1, 4, 7, 1, 0]);
        // The digits in the documentation come from an older formula, one rounding away.
        assert!((kendall.tau + 0.471_404_520_791_031_73).abs() <= 2.0 * f64::EPSILON);
        assert_eq!(kendall.tau, -4.0 / 8f64.sqrt() / 9f64.sqrt());
        let counts = [kendall.concordant, kendall.discordant, kendall.ties_x];
        assert_eq!(counts, [2, 6, 2]);
        assert_eq!((kendall.ties_y, kendall.ties_both), (1, 1));
    }

    #[test]
    fn constant_and_short_arrays_give_nan() {
        assert!(both::<f64>(&[], &[]).tau.is_nan());
        assert!(both(&[1.0], &[2.0]).tau.is_nan());
        assert!(both(&[3, 3, 3], &[1, 2, 3]).tau.is_nan());
        assert!(both(&[1, 2, 3], &[3, 3, 3]).tau.is_nan());
    }

    #[test]
    fn elements_are_ordered_as_numbers() {
        let floats = [f64::NEG_INFINITY, -2.5, -1e-310, 0.0, 1e-310, 7.0, f64::INFINITY];
        let alike = both(&floats, &[-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!((alike.concordant, alike.discordant), (21, 0));
        let opposite = both(&[i64::MIN, -1, 0, 1, i64::MAX], &[5, 4, 3, 2, 1]);
        assert_eq!((opposite.concordant, opposite.discordant), (0, 10));
        let zeros = both(&[-0.0f32, 0.0, 1.0], &[1.0, 2.0, 3.0]);
        assert_eq!(zeros.ties_x, 1, "−0 equals +0");
    }

    #[test]
    fn counts_of_the_longest_arrays_fit() {
        let len = u64::from(u32::MAX);
        let pairs = len * (len - 1) / 2;
        let opposite = Kendall::of(len, pairs, 0, 0, 0);
        assert!((opposite.tau + 1.0).abs() <= f64::EPSILON, "{opposite:?}");
        assert_eq!(Kendall::of(len, 0, 0, 0, 0).concordant, pairs);
    }
}
