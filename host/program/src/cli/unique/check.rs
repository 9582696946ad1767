//! Checks the distinct values of an array by a loop over its elements.

use crate::cli::comparisons::{Standard, compare};
use bytemuck::bytes_of;
use gridsync::memory::{self, NoRoom};
use gridsync::primitives::sort::Order;
use gridsync::primitives::value_counts::ValueCounts;

/// The error in the distinct values of `input`, if there is one.
///
/// Values that ascend are distinct. The value of each element is found by bisection, and counted.
pub(super) fn wrong<T: Standard>(
    order: Order,
    input: &[T],
    found: &ValueCounts<T>,
) -> Result<Option<String>, NoRoom> {
    let ValueCounts { elements, counts, indices } = found;
    let is_before = |pair: &[T]| compare(order, &pair[0], &pair[1]).is_lt();
    if let Some(at) = elements.windows(2).position(|pair| !is_before(pair)) {
        return Ok(Some(format!(
            "value {} does not come after the one before, and {NOTHING}",
            at + 1
        )));
    }
    let mut counted: Vec<u64> = memory::zeroed(elements.len())?;
    let mut firsts: Vec<u64> = memory::zeroed(elements.len())?;
    for (index, element) in input.iter().enumerate() {
        let Ok(at) = elements.binary_search_by(|value| compare(order, value, element)) else {
            return Ok(Some(format!("the value of element {index} is missing, and {NOTHING}")));
        };
        if counted[at] == 0 {
            firsts[at] = index as u64;
        }
        counted[at] += 1;
    }
    let is_right = |at: usize| {
        counted[at] > 0
            && counts[at] == counted[at]
            && indices[at] == firsts[at]
            && bytes_of(&elements[at]) == bytes_of(&input[firsts[at] as usize])
    };
    let wrong = (0..elements.len()).find(|&at| !is_right(at));
    Ok(wrong.map(|at| {
        let (count, index, right) = (counts[at], indices[at], counted[at]);
        format!(
            "value {at} is wrong: {count} elements, the first at {index}; there are {right}, the first at {}, and {NOTHING}",
            firsts[at]
        )
    }))
}

/// The end of each error.
const NOTHING: &str = "nothing was written";

#[cfg(test)]
mod tests {
    use super::*;

    const INPUT: [f32; 6] = [2.0, -0.0, 0.0, f32::NAN, 2.0, 0.0];

    /// The error in these values.
    fn found<const N: usize>(
        elements: [f32; N],
        counts: [u64; N],
        indices: [u64; N],
    ) -> Option<String> {
        let found = ValueCounts {
            elements: elements.to_vec(),
            counts: counts.to_vec(),
            indices: indices.to_vec(),
        };
        wrong(Order::ASCENDING, &INPUT, &found).expect("they are few")
    }

    #[test]
    fn any_other_result_is_found() {
        let nan = f32::NAN;
        assert_eq!(found([-0.0, 2.0, nan], [3, 2, 1], [1, 0, 3]), None);
        for (error, part) in [
            (found([2.0, -0.0, nan], [2, 3, 1], [0, 1, 3]), "value 1 does not come after"),
            (found([-0.0, 0.0, 2.0, nan], [1, 2, 2, 1], [1, 2, 0, 3]), "value 1 does not come"),
            (found([-0.0, 2.0], [3, 2], [1, 0]), "the value of element 3 is missing"),
            (found([0.0, 2.0, nan], [3, 2, 1], [1, 0, 3]), "value 0 is wrong"),
            (found([-0.0, 2.0, nan], [3, 1, 1], [1, 0, 3]), "value 1 is wrong: 1 elements"),
            (found([-0.0, 2.0, nan], [3, 2, 1], [1, 4, 3]), "the first at 4; there are 2"),
            (found([-0.0, 1.0, 2.0, nan], [3, 0, 2, 1], [1, 0, 0, 3]), "value 1 is wrong"),
        ] {
            let error = error.unwrap_or_else(|| panic!("no error with {part:?}"));
            assert!(error.contains(part) && error.ends_with(NOTHING), "{error}");
        }
    }

    #[test]
    fn values_of_the_total_order_have_their_bits() {
        let total = |elements: [f32; 2], counts, indices| {
            let [counts, indices]: [[u64; 2]; 2] = [counts, indices];
            let found = ValueCounts {
                elements: elements.to_vec(),
                counts: counts.to_vec(),
                indices: indices.to_vec(),
            };
            wrong(Order::DESCENDING.total(), &INPUT[1..3], &found).expect("they are few")
        };
        assert_eq!(total([0.0, -0.0], [1, 1], [1, 0]), None);
        assert!(total([-0.0, 0.0], [1, 1], [0, 1]).is_some());
    }
}
