//! Checks sorts and selections by rank by the comparisons of the standard library.

use super::computed::Check;
use super::job::Verdict;
use bytemuck::{Pod, bytes_of};
use cuda_std::{bf16, f16};
use gridsync::memory::{self, NoRoom};
use gridsync::primitives::sort::Order;
use std::cmp::Ordering;

/// Elements that the standard library compares.
pub(super) trait Standard: Pod + PartialOrd {
    /// The comparison by the total order.
    fn total(&self, other: &Self) -> Ordering;
}

macro_rules! standard {
    ($($ty:ident by $total:ident;)*) => {$(
        impl Standard for $ty {
            fn total(&self, other: &Self) -> Ordering {
                <$ty>::$total(self, other)
            }
        }
    )*};
}
standard! {
    f16 by total_cmp;
    bf16 by total_cmp;
    f32 by total_cmp;
    f64 by total_cmp;
    i8 by cmp;
    u8 by cmp;
    i16 by cmp;
    u16 by cmp;
    i32 by cmp;
    u32 by cmp;
    i64 by cmp;
    u64 by cmp;
}

/// Compares two elements by `order`.
pub(super) fn compare<T: Standard>(order: Order, a: &T, b: &T) -> Ordering {
    let is_nan = |x: &T| x.partial_cmp(x).is_none();
    let ascending = if order.is_total {
        a.total(b)
    } else {
        a.partial_cmp(b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
    };
    if order.is_descending { ascending.reverse() } else { ascending }
}

/// The elements of `input` in the order, by a stable sort on one core.
pub(super) fn sorted<T: Standard>(order: Order, input: &[T]) -> Result<Vec<T>, NoRoom> {
    // The standard library needs room for half the elements.
    memory::probe(size_of_val(input) / 2 * 3)?;
    let mut sorted = input.to_vec();
    sorted.sort_by(|a, b| compare(order, a, b));
    Ok(sorted)
}

/// The index of the first element of `found` whose bits are not those of a stable sort of `input`.
pub(super) fn wrong_element<T: Standard>(
    order: Order,
    input: &[T],
    found: &[T],
) -> Result<Option<usize>, NoRoom> {
    let expected = sorted(order, input)?;
    let mut pairs = expected.iter().zip(found);
    Ok(pairs.position(|(expected, found)| bytes_of(expected) != bytes_of(found)))
}

/// The first place in `indices`, which are as many as the elements, with an index that is not of an
/// element or does not belong after the one before it. If there is none, each index is there once,
/// because no two of them are equal.
pub(super) fn wrong_index<T: Standard>(
    order: Order,
    input: &[T],
    indices: &[u64],
) -> Option<usize> {
    let element = |index: u64| input.get(usize::try_from(index).ok()?);
    let mut last = None;
    indices.iter().position(|&index| {
        let Some(element) = element(index) else { return true };
        let before = last.replace((element, index));
        let is_after = |(before, its_index): (&T, u64)| {
            compare(order, before, element).then(its_index.cmp(&index)).is_lt()
        };
        !before.is_none_or(is_after)
    })
}

/// Appends `elements` to those that are held for a check, if there is one.
pub(super) fn hold<T: Pod>(
    is_checked: bool,
    held: &mut Vec<T>,
    elements: &[T],
) -> anyhow::Result<()> {
    if is_checked {
        memory::reserve(held, elements.len())?;
        held.extend_from_slice(elements);
    }
    Ok(())
}

/// The verdict, given the error if there is one.
pub(super) fn verdict(wrong: Option<String>) -> Verdict {
    let text = if wrong.is_none() { "right" } else { "WRONG" };
    Verdict {
        json: Check::Whole { ok: wrong.is_none() },
        line: format!("checked by comparisons on the CPU: {text}"),
        wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_other_element_is_found() {
        let input = [2.0f32, 0.0, f32::NAN, -0.0, 1.0];
        let sorted = [0.0, -0.0, 1.0, 2.0, f32::NAN];
        let wrong = |order, sorted: [f32; 5]| wrong_element(order, &input, &sorted).unwrap();
        assert_eq!(wrong(Order::ASCENDING, sorted), None);
        for at in 0..4 {
            let mut swapped = sorted;
            swapped.swap(at, at + 1);
            assert_eq!(wrong(Order::ASCENDING, swapped), Some(at), "{swapped:?}");
        }
        let [zero, minus_zero, one, two, nan] = sorted;
        assert_eq!(wrong(Order::DESCENDING, [nan, two, one, zero, minus_zero]), None);
        assert_eq!(wrong(Order::ASCENDING.total(), [minus_zero, zero, one, two, nan]), None);
        assert_eq!(wrong(Order::ASCENDING, [zero, zero, one, two, nan]), Some(1));
    }

    #[test]
    fn any_other_index_is_found() {
        let wrong = |order, indices: [u64; 4]| wrong_index(order, &[7, 5, 7, 5], &indices);
        assert_eq!(wrong(Order::ASCENDING, [1, 3, 0, 2]), None);
        assert_eq!(wrong(Order::DESCENDING, [0, 2, 1, 3]), None);
        assert_eq!(wrong(Order::ASCENDING, [1, 3, 2, 0]), Some(3), "not by index");
        assert_eq!(wrong(Order::ASCENDING, [1, 0, 3, 2]), Some(2), "not in order");
        assert_eq!(wrong(Order::ASCENDING, [1, 1, 0, 2]), Some(1), "twice");
        assert_eq!(wrong(Order::ASCENDING, [1, 3, 0, 4]), Some(3), "not of an element");
        assert_eq!(wrong(Order::ASCENDING, [u64::MAX, 3, 0, 2]), Some(0), "not of an element");
    }
}
