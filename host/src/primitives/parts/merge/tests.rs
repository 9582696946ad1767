use super::*;
use crate::device::Device;
use crate::primitives::parts::sort_in_parts;
use crate::primitives::sort::{argsort_on_cpu, sort_on_cpu};
use bytemuck::cast_slice;

/// Keys with many equal ones, both zeros and several NaNs.
fn drawn(len: usize) -> Vec<f32> {
    let values = [0.0, -0.0, 1.5, -2.5, f32::INFINITY, f32::NEG_INFINITY];
    let key = |at: usize| {
        let drawn = (at as u32 + 1).wrapping_mul(0x9E37_79B1) >> 7;
        match drawn % 9 {
            less @ 0..6 => values[less as usize],
            6 => f32::from_bits(0x7FC0_0000 | drawn & 0xFF),
            7 => f32::from_bits(0xFFC0_0000 | drawn & 0xFF),
            _ => drawn as f32,
        }
    };
    (0..len).map(key).collect()
}

/// Sorters on the CPU and on the emulator.
fn sorters<K: Key>(order: Order) -> [PartSorter<K>; 2] {
    let device = Device::emulator();
    [PartSorter::on_cpu(order), PartSorter::new(order, &device).expect("an emulator")]
}

#[test]
fn a_sort_in_parts_has_the_bits_of_one_sort() {
    for order in Order::ALL {
        for (len, part) in [(0, 5), (1, 1), (10, 1), (100, 10), (100, 33), (100, 100), (257, 300)] {
            let input = drawn(len);
            let expected = sort_on_cpu(order, &input);
            for sorter in sorters(order) {
                let sorted = sort_in_parts(sorter, &input, part, |_| ()).expect("it has room");
                let same = cast_slice::<_, u32>(&sorted) == cast_slice::<_, u32>(&expected);
                assert!(same, "{len} in parts of {part}, {order:?}");
            }
        }
    }
}

#[test]
fn indices_move_with_their_keys_through_a_merge() {
    let input = drawn(230);
    for order in Order::ALL {
        let expected: Vec<u64> = argsort_on_cpu(order, &input);
        for mut sorter in sorters(order) {
            let mut runs = runs(&mut sorter, &input, 50);
            let mut merge = Merge::new(&runs.lens(), 50);
            let mut found = Vec::new();
            while let Some((_, indices)) = merge.next(&mut sorter, &mut runs).expect("in memory") {
                found.extend_from_slice(indices);
            }
            assert_eq!(found, expected, "{order:?}");
        }
    }
}

/// Sorted runs of `part` elements and less, with indices.
fn runs(sorter: &mut PartSorter<f32>, input: &[f32], part: usize) -> Held<f32> {
    let mut runs = Held::default();
    for (at, chunk) in input.chunks(part).enumerate() {
        let mut keys = chunk.to_vec();
        let mut indices: Vec<u64> = (0..).skip(at * part).take(keys.len()).collect();
        sorter.sort_pairs(&mut keys, &mut indices).expect("it has room");
        runs.push(keys, indices);
    }
    runs
}

#[test]
fn a_merge_holds_about_a_part() {
    let input: Vec<u32> = (0..1000).rev().collect();
    let mut runs = Held::default();
    let mut sorter = PartSorter::on_cpu(Order::ASCENDING);
    for chunk in input.chunks(100) {
        let mut keys = chunk.to_vec();
        sorter.sort(&mut keys).expect("it has room");
        runs.push(keys, Vec::new());
    }
    let mut merge = Merge::new(&runs.lens(), 100);
    let mut sorted = Vec::new();
    while let Some((keys, _)) = merge.next(&mut sorter, &mut runs).expect("in memory") {
        assert!(keys.len() <= 100, "{} at once", keys.len());
        sorted.extend_from_slice(keys);
    }
    assert!(sorted.into_iter().eq(0..1000));
}

#[test]
fn a_part_has_as_many_elements_as_there_are_parts() {
    let part = PartSorter::<f32>::part;
    assert_eq!([part(0, 0), part(1, 0), part(100, 1), part(101, 1)], [1, 1, 10, 11]);
    assert_eq!([part(100, 10), part(100, 50), part(100, 200)], [10, 50, 200]);
}

#[test]
fn an_element_of_each_rank_is_found_in_the_runs() {
    let input = drawn(120);
    for order in Order::ALL {
        let expected = sort_on_cpu(order, &input);
        let mut runs = runs(&mut PartSorter::on_cpu(order), &input, 37);
        for (rank, expected) in expected.iter().enumerate() {
            let found = kth_of_runs(order, &mut runs, rank).expect("in memory");
            let bits = found.map(f32::to_bits);
            assert_eq!(bits, Some(expected.to_bits()), "rank {rank}, {order:?}");
        }
        assert_eq!(kth_of_runs(order, &mut runs, 120).expect("in memory"), None);
    }
}
