use super::*;
use cuda_std::{bf16, f16};
use std::cmp::Ordering;

/// Around a warp, and around what one block sorts.
const LENS: [usize; 9] = [0, 1, 2, 31, 32, 33, 4095, 4096, 4097];

/// The elements with the lowest of these bits.
fn of_bits<K: Key>(bits: impl Iterator<Item = u64>) -> Vec<K> {
    let element = |bits: u64| bytemuck::pod_read_unaligned(&bits.to_le_bytes()[..size_of::<K>()]);
    bits.map(element).collect()
}

/// Numbers without an order.
fn random(len: usize) -> impl Iterator<Item = u64> {
    (1..=len as u64).map(|i| {
        let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (x ^ x >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    })
}

/// The values of `input`, found by a stable sort with `compare`.
fn expected<K: Key>(input: &[K], compare: impl Fn(&K, &K) -> Ordering) -> ValueCounts<K> {
    let by = |a: &usize, b: &usize| compare(&input[*a], &input[*b]);
    let mut order: Vec<usize> = (0..input.len()).collect();
    order.sort_by(by);
    let mut found = ValueCounts::default();
    for equal in order.chunk_by(|a, b| by(a, b).is_eq()) {
        found.elements.push(input[equal[0]]);
        found.counts.push(equal.len() as u64);
        found.indices.push(equal[0] as u64);
    }
    found
}

/// Elements may be NaN, so their bytes are compared.
#[track_caller]
fn are_same<K: Key>(found: &ValueCounts<K>, expected: &ValueCounts<K>, context: &str) {
    let bytes = |counts: &ValueCounts<K>| bytemuck::cast_slice::<K, u8>(&counts.elements).to_vec();
    assert_eq!(bytes(found), bytes(expected), "elements {context}");
    assert_eq!(found.counts, expected.counts, "counts {context}");
    assert_eq!(found.indices, expected.indices, "indices {context}");
}

/// Compares all lengths with a stable sort by `by`: different elements, a few values, and one.
fn is_right<K: Key>(name: &str, by: fn(Order, &K, &K) -> Ordering) {
    let device = Device::emulator();
    // It grows and is used again.
    let mut counter = ValueCounter::<K>::new(&device, 0).expect("memory");
    // Zeros, NaNs and infinities of all floats among them.
    let few = [0, 1 << 63 | 1 << 31 | 1 << 15, 0x7ff0_0000_7f80_7c00, !0, 0x7fff, 1];
    for (number, len) in LENS.into_iter().enumerate() {
        let inputs: [Vec<K>; 3] = [
            of_bits(random(len)),
            of_bits(random(len).map(|x| few[x as usize % few.len()])),
            of_bits((0..len).map(|_| 0x4049_0fdb_4049_0fdb)),
        ];
        for (kind, input) in inputs.into_iter().enumerate() {
            for order in Order::ALL {
                let context = format!("of {len} {name}, input {kind}, {order:?}");
                let right = expected(&input, |a, b| {
                    let ascending = by(order, a, b);
                    if order.is_descending { ascending.reverse() } else { ascending }
                });
                are_same(&value_counts_on_cpu(order, &input), &right, &context);
                // In the emulator they take turns.
                let is_kind = len < 1000 || kind == number % 3;
                if is_kind && order == Order::ALL[(number + kind) % 4] {
                    let input = device.upload(&input).expect("memory");
                    let found = counter.count(order, &input).expect("it should run");
                    are_same(&found, &right, &context);
                }
            }
        }
    }
}

#[test]
fn distinct_integers_are_those_of_a_stable_sort() {
    macro_rules! each {
        ($($ty:ident)*) => { $(is_right::<$ty>(stringify!($ty), |_, a, b| a.cmp(b));)* };
    }
    each! { i8 u8 i16 u16 i32 u32 i64 u64 }
}

#[test]
fn distinct_floats_are_those_of_a_stable_sort() {
    macro_rules! each {
        ($($ty:ident)*) => {$(
            is_right::<$ty>(stringify!($ty), |order, a, b| {
                if order.is_total {
                    a.total_cmp(b)
                } else {
                    a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
                }
            });
        )*};
    }
    each! { f16 bf16 f32 f64 }
}

#[test]
fn zeros_are_one_value_and_nans_are_the_last_one() {
    let other_nan = f32::from_bits(0x7fc0_0001);
    let input = [f32::NAN, 1.0, -0.0, 0.0, other_nan, f32::INFINITY, -f32::NAN, 1.0, 0.0];
    let device = Device::emulator();
    let on_device = device.upload(&input).expect("memory");
    let everywhere = |order: Order, indices: &[u64], counts: &[u64]| {
        let found = value_counts(order, &on_device).expect("it should run");
        assert_eq!((&found.indices[..], &found.counts[..]), (indices, counts), "{order:?}");
        are_same(&value_counts_on_cpu(order, &input), &found, "on the CPU");
        let bits = |x: f32| x.to_bits();
        let elements = indices.iter().map(|&index| bits(input[index as usize]));
        assert!(found.elements.into_iter().map(bits).eq(elements), "{order:?}");
    };
    everywhere(Order::ASCENDING, &[2, 1, 5, 0], &[3, 2, 1, 3]);
    everywhere(Order::DESCENDING, &[0, 5, 1, 2], &[3, 1, 2, 3]);
    everywhere(Order::ASCENDING.total(), &[6, 2, 3, 1, 5, 0, 4], &[1, 1, 2, 2, 1, 1, 1]);
    everywhere(Order::DESCENDING.total(), &[4, 0, 5, 1, 3, 2, 6], &[1, 1, 1, 2, 2, 1, 1]);
}

#[test]
fn an_array_of_several_chunks_has_its_values_on_the_cpu() {
    let len = 3 * crate::parallel::CHUNK + 5;
    let numbers: Vec<u32> = (0..len as u32).map(|i| i / 2).rev().collect();
    let found = value_counts_on_cpu(Order::ASCENDING, &numbers);
    assert!(found.elements.iter().copied().eq(0..=(len as u32 - 1) / 2));
    assert!(found.counts.iter().rev().skip(1).all(|&count| count == 2));
    assert_eq!(
        (found.len(), found.counts[found.len() - 1], found.indices[0]),
        (len / 2 + 1, 1, len as u64 - 2)
    );
    let one = value_counts_on_cpu(Order::DESCENDING, &vec![7i16; len]);
    assert_eq!((one.elements, one.counts, one.indices), (vec![7], vec![len as u64], vec![0]));
}

#[test]
fn an_array_of_another_device_is_refused() {
    let [here, there] = [Device::emulator(), Device::emulator()];
    let input = there.upload(&[1u32, 2]).expect("memory");
    let mut counter = ValueCounter::new(&here, 2).expect("memory");
    let refused = counter.count(Order::ASCENDING, &input);
    assert!(matches!(refused, Err(DeviceError::OtherDevice { .. })), "{refused:?}");
}
