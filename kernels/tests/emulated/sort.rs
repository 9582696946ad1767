//! The radix sort: each pass is stable, and all passes together sort.

use cuda_std::memory::{Global, Scalar};
use gridsync_kernels::grid::sort::{
    Floats, Integers, Order, Rows, THREADS, TILE, Word, scatter, shared_bytes,
};
use simt::{LaunchConfig, Memory, Schedule};

/// Numbers from a fixed sequence.
fn drawn(count: usize) -> impl Iterator<Item = u64> {
    (1..=count as u64).map(|i| {
        let x = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (x ^ x >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    })
}

fn view<T: Scalar>(memory: &mut Memory, len: usize) -> Global<T> {
    let bytes = len * size_of::<T>();
    let address = memory.alloc(bytes.max(16), 256).expect("it fits");
    memory.zero(address, bytes).expect("allocated just now");
    // SAFETY: allocated just now with this length, and never freed.
    unsafe { Global::from_address(address, len) }
}

/// Sorts `keys` by all digits, in a launch for each.
fn sort<O: Order>(order: O, keys: &[O::Word], seed: u64) -> Vec<O::Word>
where
    O::Word: bytemuck::Pod,
{
    let tiles = keys.len().div_ceil(TILE);
    let mut memory = Memory::new(4 << 20);
    let mut from = view::<O::Word>(&mut memory, keys.len());
    let mut to = view::<O::Word>(&mut memory, keys.len());
    memory.write(from.address(), bytemuck::cast_slice(keys)).expect("it has room");
    let starts = view::<u64>(&mut memory, 256);
    for digit in 0..O::Word::DIGITS {
        let mut counts = [0u64; 256];
        for &key in keys {
            counts[order.number(key).digit(digit) as usize] += 1;
        }
        let mut sum = 0;
        let before: Vec<u64> = counts.iter().map(|count| { sum += count; sum - count }).collect();
        memory.write(starts.address(), bytemuck::cast_slice(&before)).expect("it has room");
        let rows = Rows { words: view(&mut memory, 256 * tiles), ticket: view(&mut memory, 1) };
        let config = LaunchConfig {
            schedule: Schedule::from_seed(seed),
            races: true,
            weak_memory: true,
            dynamic_shared: shared_bytes(size_of::<O::Word>()) as usize,
            shared_per_block: 227 << 10,
            ..LaunchConfig::new("sort", tiles as u32, THREADS)
        };
        let run = simt::launch(&mut memory, &config, &|| {
            scatter(order, digit, from, to, starts, rows);
        });
        run.unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        (from, to) = (to, from);
    }
    let mut sorted = keys.to_vec();
    let bytes = bytemuck::cast_slice_mut(&mut sorted);
    memory.read(from.address(), bytes).expect("it was written");
    sorted
}

#[test]
fn integers_are_sorted_in_both_directions() {
    let keys: Vec<u16> = drawn(2 * TILE + 77).map(|x| x as u16).collect();
    for seed in 0..2 {
        let mut expected = keys.clone();
        expected.sort_unstable();
        assert!(sort(Integers::new(false, false), &keys, seed) == expected, "seed {seed}");
        expected.sort_unstable_by_key(|&key| std::cmp::Reverse(key as i16));
        assert!(sort(Integers::new(true, true), &keys, seed) == expected, "seed {seed}");
    }
}

#[test]
fn zeros_of_both_signs_and_nans_keep_their_order() {
    let special = [0.0f32, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40, -1.5];
    let keys: Vec<f32> = drawn(TILE + 5)
        .map(|x| if x % 3 == 0 { special[(x >> 8) as usize % 8] } else { f32::from_bits(x as u32) })
        .collect();
    let bits: Vec<u32> = keys.iter().map(|key| key.to_bits()).collect();
    let mut expected = keys;
    expected.sort_by(|a, b| a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())));
    let expected: Vec<u32> = expected.iter().map(|key| key.to_bits()).collect();
    assert!(sort(Floats::numpy(f32::INFINITY.to_bits(), false), &bits, 1) == expected);
}

#[test]
fn total_order_is_that_of_the_standard_library() {
    let bits: Vec<u32> = drawn(TILE - 1).map(|x| x as u32 ^ if x % 4 == 0 { 0x7f80_0000 } else { 0 }).collect();
    let mut expected: Vec<f32> = bits.iter().map(|&bits| f32::from_bits(bits)).collect();
    expected.sort_by(f32::total_cmp);
    let expected: Vec<u32> = expected.iter().map(|key| key.to_bits()).collect();
    assert!(sort(Floats::total(false), &bits, 1) == expected);
}
