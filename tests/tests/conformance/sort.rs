//! Sorts: every type × order × length × input × backend; pairs, indices, in place, one sorter for
//! many lengths.

use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::sort::{Key, Order, Sorter, argsort_on_cpu, sort_on_cpu};
use gridsync_tests::devices::{emulator, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Sample, sample};
use std::cmp::Ordering;

/// Lengths around the ends of a warp, a block and a tile: one of 4608, 8192, 9216 or 10240.
const SHORT: [usize; 12] = [0, 1, 2, 31, 32, 33, 255, 257, 4609, 8193, 9215, 9217];

const ORDERS: [Order; 4] =
    [Order::ASCENDING, Order::DESCENDING, Order::ASCENDING.total(), Order::DESCENDING.total()];

pub(crate) fn trials() -> Trials {
    let mut trials = trials! { on_each_backend: one_sorter_sorts_arrays_of_any_length_in_any_way; };
    add::<f16>(&mut trials, "f16");
    add::<bf16>(&mut trials, "bf16");
    add::<f32>(&mut trials, "f32");
    add::<f64>(&mut trials, "f64");
    add::<i32>(&mut trials, "i32");
    add::<u32>(&mut trials, "u32");
    add::<i64>(&mut trials, "i64");
    add::<u64>(&mut trials, "u64");
    trials
}

fn add<K: Key + Sample + Compared>(trials: &mut Trials, name: &str) {
    trials.test(format!("on_the_cpu::{name}"), || SHORT.into_iter().for_each(on_cpu::<K>));
    trials.test(format!("on_the_emulator::{name}"), || {
        let device = emulator();
        for (number, len) in SHORT.into_iter().enumerate() {
            let mut sorter = Sorter::new(&device, len).expect("a sorter");
            every_way::<K>(
                &mut sorter,
                &device,
                ORDERS[number % 4],
                inputs(len).swap_remove(number % 6),
            );
        }
    });
    trials.test(format!("on_cuda::{name}"), || {
        with_cuda(|device| {
            for len in SHORT.into_iter().chain([(1 << 16) - 1, 1 << 20, (1 << 22) + 7]) {
                let mut sorter = Sorter::new(device, len).expect("a sorter");
                for input in inputs(len) {
                    for order in ORDERS {
                        every_way::<K>(&mut sorter, device, order, input.clone());
                    }
                }
            }
        });
    });
}

/// The order of the standard library.
trait Compared: Copy {
    fn compare(self, other: Self, is_total: bool) -> Ordering;
}

macro_rules! compared {
    (integers $($ty:ident)*) => {$(
        impl Compared for $ty {
            fn compare(self, other: Self, _: bool) -> Ordering {
                self.cmp(&other)
            }
        }
    )*};
    (floats $($ty:ident)*) => {$(
        impl Compared for $ty {
            fn compare(self, other: Self, is_total: bool) -> Ordering {
                if is_total {
                    return self.total_cmp(&other);
                }
                let nan = self.is_nan().cmp(&other.is_nan());
                self.partial_cmp(&other).unwrap_or(nan)
            }
        }
    )*};
}
compared!(integers i32 u32 i64 u64);
compared!(floats f16 bf16 f32 f64);

/// Arrays of `len` elements: any values, special ones, all equal, few values, in order, and the
/// reverse.
fn inputs<K: Key + Sample + Compared>(len: usize) -> Vec<Vec<K>> {
    let any = sample::<K>(Input::Values, len, 1);
    let bits = sample::<u64>(Input::Values, len, 2);
    let patterns = bits.iter().map(|&bits| {
        // Ones above, noise below: NaNs of both signs, infinities, zeros, subnormals.
        let noise = [0, 0, 1, bits >> 40][bits as usize % 4];
        let top = [0, !0, !0 << 4, 1][bits as usize / 4 % 4] << (size_of::<K>() * 8 - 12);
        let sign = (bits >> 20 & 1) << (size_of::<K>() * 8 - 1);
        let bytes =
            ((noise | top) & !0 >> 1 & ((1 << (size_of::<K>() * 8 - 1)) - 1) | sign).to_le_bytes();
        bytemuck::pod_read_unaligned(&bytes[..size_of::<K>()])
    });
    let special: Vec<K> = patterns.collect();
    let equal = vec![any.first().copied().unwrap_or_else(K::zeroed); len];
    let few = bits.iter().map(|&bits| any[bits as usize % len.min(5)]).collect();
    let mut sorted = any.clone();
    sorted.sort_by(|&a, &b| a.compare(b, true));
    let reversed = sorted.iter().rev().copied().collect();
    vec![any, special, equal, few, sorted, reversed]
}

/// The indices in order, by the standard library.
fn expected<K: Compared>(order: Order, input: &[K]) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..input.len()).collect();
    indices.sort_by(|&a, &b| {
        let compared = input[a].compare(input[b], order.is_total);
        if order.is_descending { compared.reverse() } else { compared }
    });
    indices
}

fn bytes<T: bytemuck::Pod>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn on_cpu<K: Key + Sample + Compared>(len: usize) {
    for input in inputs::<K>(len) {
        for order in ORDERS {
            let indices = expected(order, &input);
            let sorted: Vec<K> = indices.iter().map(|&index| input[index]).collect();
            assert!(bytes(&sort_on_cpu(order, &input)) == bytes(&sorted), "{len}, {order:?}");
            let got: Vec<u64> = argsort_on_cpu(order, &input);
            assert!(got.into_iter().eq(indices.into_iter().map(|index| index as u64)));
        }
    }
}

/// Sorts to another array, in place, with values of 4 and 8 bytes, and indices.
fn every_way<K: Key + Compared>(
    sorter: &mut Sorter<K>,
    device: &Device,
    order: Order,
    input: Vec<K>,
) {
    let case = format!("{} elements, {order:?}", input.len());
    let indices = expected(order, &input);
    let sorted: Vec<K> = indices.iter().map(|&index| input[index]).collect();
    let same = |got: &gridsync::device::Buffer<K>, what: &str| {
        let got = got.download().expect("a download");
        assert!(bytes(&got) == bytes(&sorted), "{what}: {case}");
    };
    let on_device = device.upload(&input).expect("an upload");
    let mut output = device.alloc(input.len()).expect("memory");
    sorter.launch(order, &on_device, &mut output).expect("a launch");
    same(&output, "sorted");
    let mut in_place = device.upload(&input).expect("an upload");
    sorter.launch_in_place(order, &mut in_place).expect("a launch");
    same(&in_place, "sorted in place");

    let values: Vec<u64> = (0..input.len() as u64).map(|index| index * 0x1_0000_0003).collect();
    let mut keys = device.upload(&input).expect("an upload");
    let mut moved = device.upload(&values).expect("an upload");
    sorter.launch_pairs(order, &mut keys, &mut moved).expect("a launch");
    same(&keys, "keys of pairs");
    let moved = moved.download().expect("a download");
    assert!(moved.iter().copied().eq(indices.iter().map(|&index| values[index])), "pairs: {case}");

    let mut got = device.alloc::<u32>(input.len()).expect("memory");
    sorter.launch_argsort(order, &on_device, &mut got).expect("a launch");
    let got = got.download().expect("a download");
    assert!(got.into_iter().eq(indices.iter().map(|&index| index as u32)), "indices: {case}");
    let mut got = device.alloc::<u64>(input.len()).expect("memory");
    sorter.launch_argsort(order, &on_device, &mut got).expect("a launch");
    let got = got.download().expect("a download");
    assert!(got.into_iter().eq(indices.iter().map(|&index| index as u64)), "indices: {case}");
    let untouched = on_device.download().expect("a download");
    assert!(bytes(&untouched) == bytes(&input), "the input: {case}");
}

fn one_sorter_sorts_arrays_of_any_length_in_any_way(device: &Device) {
    let mut sorter = Sorter::<i32>::new(device, 0).expect("a sorter");
    for (len, order) in [300, 20_000, 3, 9000].into_iter().zip(ORDERS) {
        let input = inputs::<i32>(len).swap_remove(0);
        every_way(&mut sorter, device, order, input);
    }
}
