use super::{Key, Order};
use super::{argsort, sort};
use cuda_std::{bf16, f16};
use gridsync_kernels::grid::sort::Order as _;

const ORDERS: [Order; 4] =
    [Order::ASCENDING, Order::DESCENDING, Order::ASCENDING.total(), Order::DESCENDING.total()];

/// A few cells, some more, and around what is sorted as cells and what one core sorts.
const LENS: [usize; 9] = [0, 1, 2, 32, 33, 1000, 65_536, 65_537, 140_003];

/// Bits of keys, of which the lowest of each type are used.
type Input = (&'static str, fn(u64, u64) -> u64);

/// Each as a function of the index and of a random number.
const INPUTS: [Input; 10] = [
    ("random", |_, random| random),
    ("equal", |_, _| 0x4049_0fdb_4049_0fdb),
    ("of few values", |_, random| [0, 1 << 15, 1 << 31, 1 << 63, !0, 0x7fff][random as usize % 6]),
    ("sorted", |index, _| index),
    ("reversed", |index, _| !index),
    ("different in the top byte", |_, random| {
        let byte = random & 0xff;
        byte << 56 | byte << 24 | byte << 8
    }),
    ("different in the lowest byte", |_, random| 0x3f80_0000_3f80_0000 | random & 0xff),
    ("of one that is far away", |index, random| if index == 7 { !0 } else { random & 0xfff }),
    // Runs of the same highest bits, which differ in the lowest ones.
    ("in runs", |_, random| (random >> 60) << 40 | random & 0x3ff),
    ("around zero and infinity", |_, random| {
        let sign = (random & 1) << 63 | (random & 1) << 31 | (random & 1) << 15;
        let special = [0, 0x7ff0_0000_7f80_7c00, 0x7ff8_0000_7fc0_7fc0 | random >> 62, 1];
        sign | special[random as usize >> 1 & 3]
    }),
];

/// Keys with their bits, by which they are compared.
trait Bits: Key {
    fn of(bits: u64) -> Self;
}

macro_rules! bits {
    ($($ty:ty: $word:ty;)*) => {$(
        impl Bits for $ty {
            fn of(bits: u64) -> Self {
                bytemuck::cast(bits as $word)
            }
        }
    )*};
}
bits! {
    u8: u8;
    i8: u8;
    u16: u16;
    i16: u16;
    f16: u16;
    bf16: u16;
    u32: u32;
    i32: u32;
    f32: u32;
    u64: u64;
    i64: u64;
    f64: u64;
}

fn input<K: Bits>(bits: fn(u64, u64) -> u64, len: usize) -> Vec<K> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let key = |index| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        K::of(bits(index, state.wrapping_mul(0x2545_f491_4f6c_dd1d)))
    };
    (0..len as u64).map(key).collect()
}

/// Sorts each input as the standard library does.
fn is_as_std<K: Bits>() {
    for (number, len) in LENS.into_iter().enumerate() {
        for (at, input) in INPUTS.into_iter().enumerate() {
            // Each order with each input, but not with each length.
            sorts::<K>(ORDERS[(number + at) % 4], input, len);
        }
    }
}

/// Sorts as the standard library does: keys with their bits, and indices.
fn sorts<K: Bits>(order: Order, (name, bits): Input, len: usize) {
    let keys = input::<K>(bits, len);
    let by = K::order(order);
    let mut expected: Vec<u32> = (0..len as u32).collect();
    expected.sort_by_key(|&index| by.number(bytemuck::cast(keys[index as usize])));
    let context = format!("{len} keys, {name}, {order:?}");
    assert!(argsort::<K, u32>(order, &keys) == expected, "{context}: indices");
    let wide = argsort::<K, u64>(order, &keys).into_iter();
    assert!(wide.eq(expected.iter().map(|&index| index.into())), "{context}: wide indices");
    let sorted: Vec<K> = expected.iter().map(|&index| keys[index as usize]).collect();
    let bytes = bytemuck::cast_slice::<K, u8>;
    assert!(bytes(&sort(order, &keys)) == bytes(&sorted), "{context}: keys");
}

#[test]
fn a_bucket_for_all_cores_is_sorted_as_by_std() {
    let far_away = INPUTS[7];
    sorts::<f32>(Order::DESCENDING, far_away, (1 << 20) + 100);
}

#[test]
fn keys_of_1_byte_are_sorted_as_by_std() {
    is_as_std::<u8>();
    is_as_std::<i8>();
}

#[test]
fn keys_of_2_bytes_are_sorted_as_by_std() {
    is_as_std::<u16>();
    is_as_std::<i16>();
    is_as_std::<f16>();
    is_as_std::<bf16>();
}

#[test]
fn keys_of_4_bytes_are_sorted_as_by_std() {
    is_as_std::<u32>();
    is_as_std::<i32>();
    is_as_std::<f32>();
}

#[test]
fn keys_of_8_bytes_are_sorted_as_by_std() {
    is_as_std::<u64>();
    is_as_std::<i64>();
    is_as_std::<f64>();
}
