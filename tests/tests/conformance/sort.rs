//! Sorts: every type × order × length × input × backend, and every schedule.

use crate::matrix::{self, each_is_there_once};
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::sort::{Key, Order, Sorter, argsort_on_cpu, sort_on_cpu};
use gridsync_tests::devices::{emulator, emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::{Budget, Trials};
use gridsync_verify::{Keys, Kind, Primitive, Sample, Size, kinds};
use std::cmp::Ordering;

/// Lengths around the ends of a warp, a block, and a small tile, of 4096.
const SHORT: [usize; 12] = [0, 1, 2, 31, 32, 33, 255, 257, 4095, 4096, 4097, 8193];

/// Lengths of many tiles. The last ones have large tiles on a GPU of up to 200 multiprocessors.
const LONG: [usize; 4] = [(1 << 16) - 1, (1 << 20) + 7, 200 * 10_240, (1 << 22) + 1];

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            every_type_of_the_library_is_in_the_matrix;
        on_each_backend: one_sorter_sorts_arrays_of_every_length;
    };
    for kind in kinds(Primitive::Sort) {
        add_row(&mut trials, kind);
    }
    on_cpu::<f16>(&mut trials, "f16");
    on_cpu::<bf16>(&mut trials, "bf16");
    on_cpu::<f32>(&mut trials, "f32");
    on_cpu::<f64>(&mut trials, "f64");
    on_cpu::<i8>(&mut trials, "i8");
    on_cpu::<u8>(&mut trials, "u8");
    on_cpu::<i16>(&mut trials, "i16");
    on_cpu::<u16>(&mut trials, "u16");
    on_cpu::<i32>(&mut trials, "i32");
    on_cpu::<u32>(&mut trials, "u32");
    on_cpu::<i64>(&mut trials, "i64");
    on_cpu::<u64>(&mut trials, "u64");
    trials
}

/// Adds the tests of one type.
fn add_row(trials: &mut Trials, kind: &'static Kind) {
    let ty = kind.element;
    for (number, len) in SHORT.into_iter().enumerate() {
        // All types of one width share nearly all code.
        let is_tried = matches!(ty, "f16" | "f32" | "f64" | "i8" | "i32") || number % 4 == 1;
        let budget = Budget::thorough_if(!is_tried);
        trials.add(format!("{ty}::on_the_emulator::len_{len}"), budget, move || {
            case(&emulator(), kind, len, number);
        });
    }
    trials.test(format!("{ty}::on_cuda::short"), move || {
        with_cuda(|cuda| {
            for len in SHORT {
                (0..28).for_each(|number| case(cuda, kind, len, number));
            }
        });
    });
    for len in LONG {
        trials.test(format!("{ty}::on_cuda::len_{len}"), move || {
            with_cuda(|cuda| (0..7).for_each(|number| case(cuda, kind, len, number)));
        });
    }
    let budget = Budget::thorough_if(ty != "f32");
    trials.add(format!("{ty}::under_every_schedule"), budget, move || {
        for (number, schedule) in schedules().into_iter().enumerate() {
            case(&emulator_under(schedule), kind, 77, number);
        }
    });
}

/// Runs the library's case with the keys and the order of this number: all pairs of them below 28.
fn case(device: &Device, kind: &Kind, len: usize, number: usize) {
    let (keys, order) = (Keys::ALL[number % 7], Order::ALL[number % 4]);
    matrix::run(device, kind, Size::Keys(len, keys, order), len);
}

/// Adds the comparison of the CPU's sort of `K`, which the cases compare with, with the standard
/// library's.
fn on_cpu<K: Key + Sample + Compared>(trials: &mut Trials, name: &str) {
    trials.test(format!("{name}::the_cpu_sorts_as_the_standard_library_does"), || {
        for (len, number) in SHORT
            .into_iter()
            .chain([100_003])
            .flat_map(|len| (0..28).map(move |number| (len, number)))
        {
            let order = Order::ALL[number % 4];
            let input = Keys::ALL[number % 7].sample::<K>(len, 5);
            let mut indices: Vec<u64> = (0..len as u64).collect();
            indices.sort_by(|&a, &b| {
                let compared = input[a as usize].compare(input[b as usize], order.is_total);
                if order.is_descending { compared.reverse() } else { compared }
            });
            let sorted: Vec<K> = indices.iter().map(|&index| input[index as usize]).collect();
            let got = sort_on_cpu(order, &input);
            let same =
                bytemuck::cast_slice::<K, u8>(&got) == bytemuck::cast_slice::<K, u8>(&sorted);
            assert!(same, "{len} elements, {order:?}, number {number}");
            assert!(argsort_on_cpu::<K, u64>(order, &input) == indices, "{len}, {order:?}");
        }
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
compared!(integers i8 u8 i16 u16 i32 u32 i64 u64);
compared!(floats f16 bf16 f32 f64);

fn one_sorter_sorts_arrays_of_every_length(device: &Device) {
    let mut sorter = Sorter::<i32>::new(device, 0).expect("a sorter");
    for (len, order) in [300, 20_000, 0, 9000].into_iter().zip(Order::ALL) {
        let input = Keys::Any.sample::<i32>(len, 1);
        let (keys, mut output) = (device.upload(&input), device.alloc(len).expect("memory"));
        sorter.launch(order, &keys.expect("memory"), &mut output).expect("it should launch");
        let got = output.download().expect("a download");
        assert_eq!(got, sort_on_cpu(order, &input), "{len} elements, {order:?}");
    }
}

fn every_type_of_the_library_is_in_the_matrix() {
    each_is_there_once(Primitive::Sort, &trials(), |name| {
        format!("sort::{name}::under_every_schedule")
    });
}
