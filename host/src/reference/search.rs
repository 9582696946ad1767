//! Searches for many values in a sorted array.

use super::sort::{Key, Order};
use crate::parallel;
use gridsync_kernels::grid::sort::Order as _;

/// Values that a core searches for before it fetches more.
const CHUNK: usize = 1 << 12;

/// The index that a search returns among keys that are equal to the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first: the value would be inserted before them.
    #[default]
    Left,
    /// The one after the last: the value would be inserted after them.
    Right,
}

/// For each of `values` the number of elements of `sorted` that come before it, where equal ones
/// count on the right [`Side`] only. `sorted` is in the `order`; otherwise the results are
/// unspecified.
pub fn search<K: Key>(order: Order, side: Side, sorted: &[K], values: &[K]) -> Vec<u64> {
    let order = K::order(order);
    let number = |key: K| order.number(bytemuck::cast::<K, K::Word>(key));
    let index = |value: K| {
        let value = number(value);
        match side {
            Side::Left => sorted.partition_point(|&key| number(key) < value),
            Side::Right => sorted.partition_point(|&key| number(key) <= value),
        }
    };
    let mut indices = vec![0; values.len()];
    let chunks = values.chunks(CHUNK).zip(indices.chunks_mut(CHUNK));
    parallel::for_each(chunks, &|_, (values, indices): (&[K], &mut [u64])| {
        indices.iter_mut().zip(values).for_each(|(to, &value)| *to = index(value) as u64);
    });
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_that_of_a_linear_search() {
        let sorted: Vec<i32> = (0..9999).map(|i| i * i / 4000 - 3000).collect();
        let values: Vec<i32> = (0..9001).map(|i| i * 4 - 5000).collect();
        let of = |side| search(Order::ASCENDING, side, &sorted, &values);
        for (&value, (left, right)) in
            values.iter().zip(of(Side::Left).into_iter().zip(of(Side::Right)))
        {
            assert_eq!(left, sorted.iter().filter(|&&key| key < value).count() as u64);
            assert_eq!(right, sorted.iter().filter(|&&key| key <= value).count() as u64);
        }
    }

    #[test]
    fn zeros_are_equal_and_nan_is_last_as_in_numpy() {
        let sorted = [-1.0, 0.0, -0.0, 7.0, f64::INFINITY, -f64::NAN, f64::NAN];
        let values = [-0.0, 0.0, f64::NAN, -f64::NAN, f64::INFINITY, -9.0];
        let of = |order, side| search(order, side, &sorted, &values);
        assert_eq!(of(Order::ASCENDING, Side::Left), [1, 1, 5, 5, 4, 0]);
        assert_eq!(of(Order::ASCENDING, Side::Right), [3, 3, 7, 7, 5, 0]);
        let reversed: Vec<f64> = sorted.into_iter().rev().collect();
        let left = search(Order::DESCENDING, Side::Left, &reversed, &values);
        assert_eq!(left, [4, 4, 0, 0, 2, 7]);
    }

    #[test]
    fn every_index_in_an_empty_array_is_zero() {
        assert_eq!(search(Order::ASCENDING, Side::Right, &[], &[1u8, 2]), [0, 0]);
        assert_eq!(search::<u8>(Order::ASCENDING, Side::Left, &[1], &[]), []);
    }
}
