//! The radix sort: each pass is stable, and all passes together sort.

use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use gridsync_kernels::grid::sort::{
    Arrays, COUNT_THREADS, Floats, Integers, Large, Nothing, Order, Payload, Portions, Shape,
    Small, State, THREADS, Task, WORDS, carries_len, count, count_shared_bytes, counts_len, passes,
    scatter,
};
use simt::{LaunchConfig, Memory, Schedule};

/// Keys of a small tile.
const TILE: usize = shape(0, 0, true).tile();

const fn shape(word: usize, payload: usize, is_small: bool) -> Shape {
    Shape { word, payload, is_small, is_90: false }
}

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

/// A launch of a sort: as many blocks and threads, and bytes of dynamic shared memory.
fn config(seed: u64, blocks: usize, threads: u32, dynamic_shared: u32) -> LaunchConfig<'static> {
    LaunchConfig {
        schedule: Schedule::from_seed(seed),
        races: true,
        weak_memory: true,
        dynamic_shared: dynamic_shared as usize,
        shared_per_block: 48 << 10,
        ..LaunchConfig::new("sort", blocks as u32, threads)
    }
}

/// How a sort is tested.
#[derive(Clone, Copy)]
struct How {
    in_place: bool,
    /// The payloads are the indices, instead of those given.
    are_indices: bool,
    /// Tiles are small.
    is_small: bool,
    /// Tiles of a portion.
    tiles: u32,
    seed: u64,
}

impl How {
    fn seeded(seed: u64) -> Self {
        Self { in_place: false, are_indices: false, is_small: true, tiles: 1 << 16, seed }
    }
}

/// A sort, with its memory.
struct Sort {
    memory: Memory,
    state: State,
}

impl Sort {
    fn new(word: usize, portions: usize) -> Self {
        let mut memory = Memory::new(16 << 20);
        let state = State {
            counts: view(&mut memory, counts_len(word)),
            carries: view(&mut memory, carries_len(word, portions)),
            words: view(&mut memory, WORDS),
        };
        // What an earlier sort has left there.
        let garbage = vec![0xa5; 8 * carries_len(word, portions)];
        memory.write(state.carries.address(), &garbage).expect("it has room");
        Self { memory, state }
    }

    fn arrays<T: Scalar + Pod>(&mut self, held: &[T], in_place: bool) -> Arrays<T> {
        let input = view::<T>(&mut self.memory, held.len());
        self.memory.write(input.address(), bytemuck::cast_slice(held)).expect("it has room");
        let spare = view(&mut self.memory, held.len());
        let output = if in_place { input } else { view(&mut self.memory, held.len()) };
        Arrays { input, spare, output }
    }

    fn read<T: Scalar + Pod>(&self, from: Global<T>) -> Vec<T> {
        let mut found = vec![T::zeroed(); from.len()];
        let bytes = bytemuck::cast_slice_mut(&mut found);
        self.memory.read(from.address(), bytes).expect("it was written");
        found
    }

    fn run<O: Order, P: Payload<Word: Pod>>(
        &mut self,
        order: O,
        keys: &[O::Word],
        payloads: &[P::Word],
        how: How,
    ) -> (Vec<O::Word>, Vec<P::Word>)
    where
        O::Word: Pod,
    {
        let word = size_of::<O::Word>();
        let payload = if P::IS_HELD { size_of::<P::Word>() } else { 0 };
        let shape = shape(word, payload, how.is_small);
        let tiles = keys.len().div_ceil(shape.tile());
        let none = self.state.counts.part(0, 0);
        let portions = Portions {
            count: tiles.div_ceil(how.tiles as usize) as u32,
            tiles: how.tiles,
            len: u64::from(how.tiles) * shape.tile() as u64,
            flags: how.are_indices.into(),
            table: none,
            counted: none,
        };
        let task = Task {
            portions: portions.count,
            flags: u32::from(how.in_place) | u32::from(!how.in_place || how.are_indices) << 1,
            count: none,
        };
        let keys = self.arrays(keys, how.in_place);
        let payloads = self.arrays(payloads, how.in_place);
        let rows = view(&mut self.memory, 2 * 256 * tiles);
        let garbage = vec![0x5a; 4 * 256 * tiles];
        self.memory.write(rows.address(), &garbage).expect("it has room");
        let state = self.state;
        let counting = config(how.seed, 3, COUNT_THREADS, count_shared_bytes(word, false));
        let run = simt::launch(&mut self.memory, &counting, &|| {
            count(order, keys.input, state, rows, task);
        });
        run.unwrap_or_else(|fault| panic!("seed {}, count: {fault}", how.seed));
        let passes = if how.in_place { passes(word) } else { word };
        for pass in 0..passes as u32 {
            let config = config(how.seed, tiles, THREADS, shape.shared_bytes());
            let run = simt::launch(&mut self.memory, &config, &|| {
                if how.is_small {
                    scatter::<O, P, Small>(order, pass, keys, payloads, state, rows, portions);
                } else {
                    scatter::<O, P, Large>(order, pass, keys, payloads, state, rows, portions);
                }
            });
            run.unwrap_or_else(|fault| panic!("seed {}, pass {pass}: {fault}", how.seed));
        }
        (self.read(keys.output), self.read(payloads.output))
    }
}

/// Sorts `keys` in new memory.
fn sort<O: Order>(order: O, keys: &[O::Word], seed: u64) -> Vec<O::Word>
where
    O::Word: Pod,
{
    let how = How::seeded(seed);
    Sort::new(size_of::<O::Word>(), 1).run::<O, Nothing>(order, keys, &[], how).0
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
    let special =
        [0.0f32, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40, -1.5];
    let keys: Vec<f32> = drawn(TILE + 5)
        .map(|x| if x % 3 == 0 { special[(x >> 8) as usize % 8] } else { f32::from_bits(x as u32) })
        .collect();
    let bits: Vec<u32> = keys.iter().map(|key| key.to_bits()).collect();
    let mut expected = keys;
    expected.sort_by(|a, b| a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())));
    let expected: Vec<u32> = expected.iter().map(|key| key.to_bits()).collect();
    assert!(sort(Floats::numpy(f32::INFINITY.to_bits(), false), &bits, 1) == expected);
    let mut expected: Vec<f32> = bits.iter().map(|&bits| f32::from_bits(bits)).collect();
    expected.sort_by(|a, b| b.partial_cmp(a).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan())));
    let expected: Vec<u32> = expected.iter().map(|key| key.to_bits()).collect();
    assert!(sort(Floats::numpy(f32::INFINITY.to_bits(), true), &bits, 2) == expected);
}

#[test]
fn total_order_is_that_of_the_standard_library() {
    let bits: Vec<u32> =
        drawn(TILE - 1).map(|x| x as u32 ^ if x % 4 == 0 { 0x7f80_0000 } else { 0 }).collect();
    let mut expected: Vec<f32> = bits.iter().map(|&bits| f32::from_bits(bits)).collect();
    expected.sort_by(f32::total_cmp);
    let expected: Vec<u32> = expected.iter().map(|key| key.to_bits()).collect();
    assert!(sort(Floats::total(false), &bits, 1) == expected);
    let reversed: Vec<u32> = expected.into_iter().rev().collect();
    assert!(sort(Floats::total(true), &bits, 2) == reversed);
}

#[test]
fn payloads_move_with_their_keys_and_portions_continue() {
    let order = Integers::<u16>::new(false, false);
    let keys: Vec<u16> = drawn(3 * TILE + 1).map(|x| x as u16 % 1000).collect();
    let payloads: Vec<u32> = drawn(keys.len()).map(|x| (x >> 7) as u32).collect();
    let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
    indices.sort_by_key(|&i| keys[i as usize]);
    let moved: Vec<u32> = indices.iter().map(|&i| payloads[i as usize]).collect();
    let mut sort = Sort::new(2, 4);
    for (tiles, in_place, is_small) in
        [(1, false, true), (1, false, false), (2, true, true), (4, false, true)]
    {
        let how = How { in_place, is_small, tiles, ..How::seeded(tiles.into()) };
        let (sorted, found) = sort.run::<_, u32>(order, &keys, &payloads, how);
        assert!(sorted.is_sorted(), "portions of {tiles} tiles");
        assert!(found == moved, "portions of {tiles} tiles");
        let how = How { are_indices: true, ..how };
        let (_, found) = sort.run::<_, u32>(order, &keys, &payloads, how);
        assert!(found == indices, "indices, portions of {tiles} tiles");
    }
}

#[test]
fn a_digit_that_all_keys_share_costs_no_pass() {
    let mut sort = Sort::new(4, 1);
    for (mask, shift) in [(0xff, 8), (0xffff, 16), (0, 0), (0xff_ffff, 8)] {
        let keys: Vec<u32> = drawn(5000)
            .map(|x| 0x0102_0304 & !(mask << shift) | (x as u32 & mask) << shift)
            .collect();
        for in_place in [false, true] {
            let how = How { in_place, ..How::seeded(3) };
            let order = Integers::new(false, true);
            let (found, _) = sort.run::<_, Nothing>(order, &keys, &[], how);
            let mut expected = keys.clone();
            expected.sort_by_key(|&key| std::cmp::Reverse(key));
            assert!(found == expected, "mask {mask:x}, in place: {in_place}");
        }
    }
}

#[test]
fn keys_and_payloads_of_eight_bytes_are_sorted() {
    let order = Integers::<u64>::new(true, false);
    for is_small in [true, false] {
        let keys: Vec<u64> = drawn(shape(8, 8, is_small).tile() + 3).collect();
        let how = How { are_indices: true, is_small, ..How::seeded(9) };
        let (found, indices) = Sort::new(8, 1).run::<_, u64>(order, &keys, &keys, how);
        let mut expected = keys.clone();
        expected.sort_by_key(|&key| key as i64);
        assert!(found == expected);
        let of_indices: Vec<u64> = indices.iter().map(|&index| keys[index as usize]).collect();
        assert!(of_indices == expected);
    }
}

#[test]
fn short_arrays_are_sorted_in_every_order() {
    let mut sort = Sort::new(2, 1);
    for len in [1, 2, 31, 32, 33, 255, 256, 257] {
        let keys: Vec<u16> = drawn(len).map(|x| x as u16).collect();
        for (is_signed, is_descending) in [(false, false), (true, false), (true, true)] {
            let order = Integers::new(is_signed, is_descending);
            let (found, _) = sort.run::<_, Nothing>(order, &keys, &[], How::seeded(len as u64));
            let mut expected = keys.clone();
            expected.sort_by_key(|&key| order.number(key));
            assert!(found == expected, "{len} keys");
        }
    }
}

#[test]
fn keys_of_one_byte_are_sorted_by_one_pass_and_in_place_by_two() {
    let mut sort = Sort::new(1, 4);
    let orders = [(false, false), (false, true), (true, false), (true, true)];
    for (len, (is_signed, is_descending)) in [1, 4095, 4097, 2 * TILE + 1].into_iter().zip(orders) {
        let order = Integers::<u8>::new(is_signed, is_descending);
        let keys: Vec<u8> = drawn(len).map(|x| x as u8).collect();
        let payloads: Vec<u32> = drawn(len).map(|x| (x >> 7) as u32).collect();
        let mut indices: Vec<u32> = (0..len as u32).collect();
        indices.sort_by_key(|&i| order.number(keys[i as usize]));
        let sorted: Vec<u8> = indices.iter().map(|&i| keys[i as usize]).collect();
        let moved: Vec<u32> = indices.iter().map(|&i| payloads[i as usize]).collect();
        for (in_place, is_small) in [(false, true), (true, true), (true, false)] {
            let how = How { in_place, is_small, tiles: 1, ..How::seeded(len as u64) };
            let (found, of_keys) = sort.run::<_, u32>(order, &keys, &payloads, how);
            let context = format!("{len} keys, {order:?}, in place: {in_place}");
            assert!(found == sorted && of_keys == moved, "{context}, with payloads");
            if is_small {
                let (found, _) = sort.run::<_, Nothing>(order, &keys, &[], how);
                assert!(found == sorted, "{context}");
            }
        }
        let how = How { are_indices: true, ..How::seeded(len as u64) };
        let (_, found) = sort.run::<_, u64>(order, &keys, &vec![0; len], how);
        assert!(found.into_iter().eq(indices.into_iter().map(u64::from)), "{len} indices");
    }
}

#[test]
fn equal_keys_of_one_byte_keep_the_order_of_their_payloads() {
    let (keys, payloads) = (vec![0x80u8; 5000], (0..5000).collect::<Vec<u32>>());
    for in_place in [false, true] {
        let mut sort = Sort::new(1, 1);
        let how = How { in_place, ..How::seeded(4) };
        let order = Integers::new(true, false);
        let (found, moved) = sort.run::<_, u32>(order, &keys, &payloads, how);
        assert!(found == keys && moved == payloads, "in place: {in_place}");
    }
}
