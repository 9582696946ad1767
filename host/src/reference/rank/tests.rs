use super::{FEW, Key, Order, QuantileMethod, kth, kths, top_k, top_k_by_index};
use crate::reference::{argsort, sort};

const QS: [f64; 7] = [0.0, 0.1, 0.25, 1.0 / 3.0, 0.6180339887498949, 0.75, 0.95];

/// NumPy 2.4.6: each method, in order, of [10.0, -2.0, 7.25].
const OF_THREE: [[f64; 7]; 9] = [
    [-2.0, -2.0, -2.0, -2.0, 7.25, 10.0, 10.0],
    [-2.0, -2.0, -2.0, 2.625, 7.25, 10.0, 10.0],
    [-2.0, -2.0, -2.0, -2.0, 7.25, 7.25, 10.0],
    [-2.0, -2.0, -2.0, -2.0, 5.900443187809584, 7.9375, 9.587499999999999],
    [-2.0, -2.0, 0.3125, 2.625, 8.223780407186633, 9.3125, 10.0],
    [-2.0, -2.0, -2.0, 1.0833333333333326, 8.548373876248844, 10.0, 10.0],
    [-2.0, -0.1499999999999999, 2.625, 4.166666666666666, 7.899186938124422, 8.625, 9.725],
    [
        -2.0,
        -2.0,
        -0.4583333333333326,
        2.1111111111111107,
        8.331978230207369,
        9.541666666666668,
        10.0,
    ],
    [-2.0, -2.0, -0.265625, 2.239583333333333, 8.304928774452186, 9.484375, 10.0],
];

/// NumPy 2.4.6: each method, in order, of [0.1, 0.7, -3.3, 12.0, 5.5, 5.5, 8.125, -0.6, 2.2, 9.9].
const OF_TEN: [[f64; 7]; 9] = [
    [-3.3, -3.3, 0.1, 0.7, 5.5, 8.125, 12.0],
    [-3.3, -1.9499999999999997, 0.1, 0.7, 5.5, 8.125, 12.0],
    [-3.3, -3.3, -0.6, 0.1, 5.5, 8.125, 12.0],
    [-3.3, -3.3, -0.24999999999999997, 0.2999999999999998, 5.5, 6.8125, 10.95],
    [-3.3, -1.9499999999999997, 0.1, 0.5999999999999998, 5.5, 8.125, 12.0],
    [-3.3, -3.0299999999999994, -0.07499999999999998, 0.4999999999999999, 5.5, 8.56875, 12.0],
    [-3.3, -0.8699999999999999, 0.25, 0.7, 5.5, 7.46875, 11.054999999999998],
    [
        -3.3,
        -2.3099999999999996,
        0.041666666666666574,
        0.5666666666666665,
        5.5,
        8.272916666666667,
        12.0,
    ],
    [-3.3, -2.22, 0.05625000000000001, 0.5749999999999998, 5.5, 8.2359375, 12.0],
];

/// Each quantile of a sorted array, by all methods.
fn quantiles_are(sorted: &[f64], expected: [[f64; 7]; 9]) {
    for (method, expected) in QuantileMethod::ALL.into_iter().zip(expected) {
        for (q, expected) in QS.into_iter().zip(expected) {
            let at = method.of(q, sorted.len());
            let found = at.value(at.ranks.map(|rank| sorted[rank]));
            assert_eq!(found.to_bits(), expected.to_bits(), "{}, {q}", method.name());
        }
    }
}

#[test]
fn quantiles_have_the_bits_of_numpy() {
    let three = [10.0, -2.0, 7.25];
    quantiles_are(&sort(Order::ASCENDING, &three), OF_THREE);
    let ten = [0.1, 0.7, -3.3, 12.0, 5.5, 5.5, 8.125, -0.6, 2.2, 9.9];
    quantiles_are(&sort(Order::ASCENDING, &ten), OF_TEN);
}

#[test]
fn quantiles_of_one_element_are_that_element() {
    for method in QuantileMethod::ALL {
        for q in QS {
            let at = method.of(q, 1);
            assert_eq!((at.ranks, at.value([3.5; 2])), ([0; 2], 3.5), "{}, {q}", method.name());
        }
    }
}

#[test]
fn quantiles_between_equal_infinities_are_infinite() {
    let at = QuantileMethod::Linear.of(0.3, 2);
    assert_eq!(at.value([f64::INFINITY; 2]), f64::INFINITY);
    assert_eq!(at.value([-0.0; 2]).to_bits(), 0);
}

/// Lengths of one chunk, of more elements than are looked through directly, and of several chunks.
const LENS: [usize; 6] = [1, 2, 33, FEW, FEW + 1, 200_003];

/// Compares ranks around each edge with the sort.
fn is_as_the_sort<K: Key + PartialEq>(key: impl Fn(u64) -> K) {
    for (number, len) in LENS.into_iter().enumerate() {
        let keys: Vec<K> = (0..len as u64)
            .map(|i| {
                let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                key((x ^ x >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9))
            })
            .collect();
        let order = Order::ALL[number % 4];
        let sorted = argsort::<K, u64>(order, &keys);
        let ranks = [0, 1, len / 3, len / 2, len - 2.min(len), len - 1].map(|k| k.min(len - 1));
        for rank in ranks {
            let context = format!("rank {rank} of {len}, {order:?}");
            assert_eq!(kth(order, &keys, rank) as u64, sorted[rank], "{context}");
            assert!(top_k(order, &keys, rank) == sorted[..rank], "{context}");
            let mut by_index = sorted[..=rank].to_vec();
            by_index.sort_unstable();
            assert!(top_k_by_index(order, &keys, rank + 1) == by_index, "{context}");
        }
        let many = [ranks, ranks].concat();
        let found = kths(order, &keys, &many);
        assert!(many.iter().zip(found).all(|(&rank, index)| sorted[rank] == index as u64), "{len}");
    }
}

#[test]
fn elements_at_ranks_are_those_of_the_sort() {
    is_as_the_sort(|x| x as u32);
    is_as_the_sort(|x| x as i64);
    is_as_the_sort(|x| f32::from_bits(x as u32));
    is_as_the_sort(f64::from_bits);
    is_as_the_sort(|x| x as u16);
}

#[test]
fn of_equal_elements_the_first_index_comes_first() {
    is_as_the_sort(|_| 7u32);
    is_as_the_sort(|x| [0.0f32, -0.0, f32::NAN, -f32::NAN][x as usize % 4]);
    is_as_the_sort(|x| (x % 3) as i16);
}
