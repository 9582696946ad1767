//! Checks the first elements of an order.

use crate::cli::comparisons::{Standard, compare, wrong_index};
use bytemuck::bytes_of;
use gridsync::primitives::rank::Arranged;
use gridsync::primitives::sort::Order;

/// The error in the first elements of `input` and their indices, if there is one.
///
/// Results whose order is right are different elements. If no other element comes before the last of
/// them, they are the first ones.
pub(super) fn wrong<T: Standard>(
    order: Order,
    arranged: Arranged,
    input: &[T],
    (elements, indices): (&[T], &[u64]),
) -> Option<String> {
    let wrong_at = match arranged {
        Arranged::ByRank => wrong_index(order, input, indices),
        Arranged::ByIndex => not_after(input.len() as u64, indices),
    };
    let other = || {
        let mut pairs = elements.iter().zip(indices);
        pairs.position(|(element, &at)| bytes_of(element) != bytes_of(&input[at as usize]))
    };
    if let Some(at) = wrong_at.or_else(other) {
        return Some(format!("the result at {at} is wrong, and nothing was written"));
    }
    let by_rank = |a: u64, b: u64| {
        let [x, y] = [a, b].map(|index| &input[index as usize]);
        compare(order, x, y).then(a.cmp(&b))
    };
    let last = indices.iter().copied().max_by(|&a, &b| by_rank(a, b))?;
    let first = (0..input.len() as u64).filter(|&index| by_rank(index, last).is_le());
    let missing = first.count() - indices.len();
    (missing > 0).then(|| {
        format!("elements before the last result are missing, {missing} of them, and nothing was written")
    })
}

/// The first place whose index is not below `len`, or not greater than the one before.
fn not_after(len: u64, indices: &[u64]) -> Option<usize> {
    let mut next = 0;
    indices.iter().position(|&index| {
        let is_right = (next..len).contains(&index);
        next = index.saturating_add(1);
        !is_right
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUT: [f32; 6] = [2.0, 5.0, 5.0, f32::NAN, 1.0, 5.0];

    /// The error in these indices and their elements.
    fn found<const K: usize>(arranged: Arranged, indices: [u64; K]) -> Option<String> {
        let elements = indices.map(|index| INPUT.get(index as usize).copied().unwrap_or(0.0));
        wrong(Order::DESCENDING, arranged, &INPUT, (&elements, &indices))
    }

    #[test]
    fn any_other_selection_is_found() {
        use Arranged::{ByIndex, ByRank};
        assert_eq!(found(ByRank, [3, 1, 2]), None);
        assert_eq!(found(ByIndex, [1, 2, 3]), None);
        assert_eq!(found(ByIndex, []), None);
        assert_eq!(found(ByRank, [3, 1, 2, 5, 0, 4]), None);
        for (arranged, indices) in [
            (ByRank, [1, 2, 3]),
            (ByRank, [3, 2, 1]),
            (ByRank, [3, 1, 1]),
            (ByRank, [3, 1, 6]),
            (ByIndex, [2, 1, 3]),
            (ByIndex, [1, 3, 3]),
            (ByIndex, [1, 3, 6]),
        ] {
            let error = found(arranged, indices).expect("it is wrong");
            assert!(error.starts_with("the result at "), "{indices:?}: {error}");
        }
        for (arranged, indices) in [(ByRank, [3, 1, 5]), (ByIndex, [1, 3, 5])] {
            let error = found(arranged, indices).expect("element 2 comes before element 5");
            assert!(error.contains("missing, 1 of them"), "{indices:?}: {error}");
        }
    }

    #[test]
    fn any_other_element_is_found() {
        let elements = [f32::NAN, 5.0, -5.0];
        let order = Order::DESCENDING;
        let error = wrong(order, Arranged::ByRank, &INPUT, (&elements, &[3, 1, 2]));
        assert_eq!(error.as_deref(), Some("the result at 2 is wrong, and nothing was written"));
    }
}
