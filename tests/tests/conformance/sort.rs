//! Sorts: every type × order × length × input × backend, and every schedule.

use crate::matrix::{self, each_is_there_once};
use cuda_std::{bf16, f16};
use gridsync::device::{Device, DeviceError};
use gridsync::primitives::sort::{
    Key, Order, Sorter, argsort_on_cpu, argsort_rows_on_cpu, argsort_segments_on_cpu, sort_on_cpu,
    sort_rows_on_cpu, sort_segments_on_cpu,
};
use gridsync_tests::devices::{emulator, emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::{Budget, Trials};
use gridsync_verify::{Keys, Kind, Lens, Primitive, Sample, Size, kinds};
use std::cmp::Ordering;

/// Lengths around the ends of a warp, a block, and a small tile, of 4096.
const SHORT: [usize; 12] = [0, 1, 2, 31, 32, 33, 255, 257, 4095, 4096, 4097, 8193];

/// Rows and columns: in warps, in blocks, and in small tiles.
const SHORT_ROWS: [(usize, usize); 12] = [
    (1025, 1),
    (500, 2),
    (100, 16),
    (9, 31),
    (65, 32),
    (130, 33),
    (40, 100),
    (3, 1000),
    (5, 2049),
    (2, 4096),
    (2, 4097),
    (3, 8193),
];

/// Rows and columns of many blocks and tiles, and of rows that are sorted in turn.
const LONG_ROWS: [(usize, usize); 9] = [
    ((1 << 20) + 1, 3),
    (100_003, 17),
    (10_007, 40),
    (1009, 1000),
    (131, 12_288),
    (1000, 12_289),
    (31, 100_000),
    (3, 1 << 20),
    (2, (1 << 20) + 1),
];

/// Elements and their segments: short, in windows, in one block each, and in tiles.
const SEGMENTS: [(usize, Lens); 12] = [
    (0, Lens::Of(1)),
    (1, Lens::Of(1)),
    (3000, Lens::Of(1)),
    (5000, Lens::Of(16)),
    (4127, Lens::Of(31)),
    (7000, Lens::Of(33)),
    (5000, Lens::Of(1000)),
    (6200, Lens::Of(1024)),
    (5000, Lens::Of(1025)),
    (9000, Lens::Of(4096)),
    (20_000, Lens::Mixed),
    (12_300, Lens::Skewed),
];

/// The same, of many blocks, and of segments that are sorted in turn.
const LONG_SEGMENTS: [(usize, Lens); 8] = [
    ((1 << 20) + 1, Lens::Of(1)),
    ((1 << 22) + 5, Lens::Of(17)),
    ((1 << 22) + 5, Lens::Of(1000)),
    ((1 << 22) + 5, Lens::Of(1500)),
    ((1 << 22) + 5, Lens::Of(12_288)),
    ((1 << 22) + 5, Lens::Of(100_000)),
    ((1 << 22) + 5, Lens::Mixed),
    ((1 << 22) + 5, Lens::Skewed),
];

/// Lengths of many tiles. The last ones have large tiles on a GPU of up to 200 multiprocessors.
const LONG: [usize; 4] = [(1 << 16) - 1, (1 << 20) + 7, 200 * 10_240, (1 << 22) + 1];

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            every_type_of_the_library_is_in_the_matrix,
            the_cpu_sorts_each_segment_as_it_does_alone;
        on_each_backend:
            one_sorter_sorts_arrays_of_every_length,
            a_matrix_of_another_size_is_refused_with_the_numbers,
            the_first_elements_are_sorted_as_many_as_the_device_counted;
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
            case(&emulator(), kind, (1, len), number);
        });
    }
    for (number, (rows, columns)) in SHORT_ROWS.into_iter().enumerate() {
        // In a warp, several in a block, and, for keys of each length, in tiles.
        let is_tried = match number {
            2 | 6 => true,
            10 => matches!(ty, "i8" | "f16" | "f64"),
            _ => ty == "f32",
        };
        let budget = Budget::thorough_if(!is_tried);
        trials.add(format!("{ty}::on_the_emulator::rows_{rows}_of_{columns}"), budget, move || {
            case(&emulator(), kind, (rows, columns), number);
        });
    }
    for (number, (len, lens)) in SEGMENTS.into_iter().enumerate() {
        let is_tried = match number {
            8 => matches!(ty, "i8" | "f16" | "f64"),
            _ => ty == "f32",
        };
        let budget = Budget::thorough_if(!is_tried);
        let name = format!("{ty}::on_the_emulator::segments_{number}");
        trials.add(name, budget, move || segments(&emulator(), kind, (len, lens), number));
    }
    trials.test(format!("{ty}::on_cuda::segments"), move || {
        with_cuda(|cuda| {
            for of in SEGMENTS {
                (0..28).for_each(|number| segments(cuda, kind, of, number));
            }
            for (number, of) in LONG_SEGMENTS.into_iter().enumerate() {
                segments(cuda, kind, of, number);
                segments(cuda, kind, of, number + 9);
            }
        });
    });
    trials.test(format!("{ty}::on_cuda::short"), move || {
        with_cuda(|cuda| {
            for len in SHORT {
                (0..28).for_each(|number| case(cuda, kind, (1, len), number));
            }
            for shape in SHORT_ROWS {
                (0..28).for_each(|number| case(cuda, kind, shape, number));
            }
        });
    });
    for (rows, columns) in LONG_ROWS {
        trials.test(format!("{ty}::on_cuda::rows_{rows}_of_{columns}"), move || {
            with_cuda(|cuda| (0..7).for_each(|number| case(cuda, kind, (rows, columns), number)));
        });
    }
    for len in LONG {
        trials.test(format!("{ty}::on_cuda::len_{len}"), move || {
            with_cuda(|cuda| (0..7).for_each(|number| case(cuda, kind, (1, len), number)));
        });
    }
    let budget = Budget::thorough_if(ty != "f32");
    trials.add(format!("{ty}::under_every_schedule"), budget, move || {
        for (number, schedule) in schedules().into_iter().enumerate() {
            case(&emulator_under(schedule), kind, (1, 77), number);
            case(&emulator_under(schedule), kind, (7, 11), number);
            segments(&emulator_under(schedule), kind, (200, Lens::Of(40)), number);
        }
    });
}

/// Runs the library's case with the keys and the order of this number: all pairs of them below 28.
fn case(device: &Device, kind: &Kind, (rows, columns): (usize, usize), number: usize) {
    let (keys, order) = (Keys::ALL[number % 7], Order::ALL[number % 4]);
    matrix::run(device, kind, Size::Keys(rows, columns, keys, order), rows * columns);
}

/// The same with segments.
fn segments(device: &Device, kind: &Kind, (len, lens): (usize, Lens), number: usize) {
    let (keys, order) = (Keys::ALL[number % 7], Order::ALL[number % 4]);
    matrix::run(device, kind, Size::Segments(len, lens, keys, order), len);
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
    trials.test(format!("{name}::the_cpu_sorts_each_row_as_it_does_alone"), || {
        for (number, (rows, columns)) in SHORT_ROWS.into_iter().enumerate() {
            let order = Order::ALL[number % 4];
            let input = Keys::ALL[number % 7].sample::<K>(rows * columns, 5);
            let got = sort_rows_on_cpu(order, &input, rows, columns);
            let indices = argsort_rows_on_cpu::<K, u32>(order, &input, rows, columns);
            for (row, elements) in input.chunks(columns).enumerate() {
                let (sorted, of_row) =
                    (sort_on_cpu(order, elements), row * columns..(row + 1) * columns);
                let same = bytemuck::cast_slice::<K, u8>(&got[of_row.clone()])
                    == bytemuck::cast_slice::<K, u8>(&sorted);
                assert!(same, "row {row} of {rows} × {columns}, {order:?}");
                assert!(indices[of_row] == argsort_on_cpu::<K, u32>(order, elements)[..]);
            }
        }
    });
}

/// The segments of 2^16 elements are sorted as by the CPU's sort of each.
fn the_cpu_sorts_each_segment_as_it_does_alone() {
    for lens in [Lens::Mixed, Lens::Skewed, Lens::Of(3)] {
        let input = Keys::Special.sample::<f32>(200_000, 7);
        let offsets = lens.offsets(input.len(), 3);
        let got = sort_segments_on_cpu(Order::ASCENDING, &input, &offsets);
        let indices: Vec<u32> = argsort_segments_on_cpu(Order::ASCENDING, &input, &offsets);
        for pair in offsets.windows(2) {
            let of = pair[0] as usize..pair[1] as usize;
            let alone = sort_on_cpu(Order::ASCENDING, &input[of.clone()]);
            let bits = |keys: &[f32]| keys.iter().map(|key| key.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&got[of.clone()]), bits(&alone), "{lens:?} segments, {of:?}");
            assert!(
                indices[of.clone()] == argsort_on_cpu::<f32, u32>(Order::ASCENDING, &input[of])[..]
            );
        }
    }
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

fn the_first_elements_are_sorted_as_many_as_the_device_counted(device: &Device) {
    // Several tiles, of which some are past the first elements.
    let (len, order) = (9000, Order::DESCENDING);
    let input = Keys::Special.sample::<f32>(len, 2);
    let keys = device.upload(&input).expect("memory");
    let mut sorter = Sorter::<f32>::new(device, 0).expect("a sorter");
    for count in [0, 1, 31, 4095, 4096, 4097, 8192, 8999, 9000, u64::MAX] {
        let sorted = (count as usize).min(len);
        let on_device = device.upload(&[count]).expect("memory");
        let expected = [&sort_on_cpu(order, &input[..sorted])[..], &input[sorted..]].concat();
        let bits = |keys: &[f32]| keys.iter().map(|key| key.to_bits()).collect::<Vec<_>>();

        let mut output = device.upload(&input).expect("memory");
        sorter.launch_counted(order, &keys, &on_device, &mut output).expect("a launch");
        assert_eq!(bits(&output.download().expect("a download")), bits(&expected), "{count} keys");
        let mut in_place = device.upload(&input).expect("memory");
        let mut first = sorter.counted(len, &on_device).expect("one count");
        first.launch_in_place(order, &mut in_place).expect("a launch");
        assert_eq!(
            bits(&in_place.download().expect("a download")),
            bits(&expected),
            "{count} keys"
        );
        let mut indices = device.upload(&vec![7_u32; len]).expect("memory");
        first.launch_argsort(order, &keys, &mut indices).expect("a launch");
        let mut right = argsort_on_cpu::<f32, u32>(order, &input[..sorted]);
        right.resize(len, 7);
        assert_eq!(indices.download().expect("a download"), right, "{count} indices");
    }
    let two = device.upload(&[1, 2]).expect("memory");
    let error = sorter.counted(len, &two).err();
    assert_eq!(error, Some(DeviceError::LengthMismatch { buffer: 2, given: 1 }));
}

fn a_matrix_of_another_size_is_refused_with_the_numbers(device: &Device) {
    let mut sorter = Sorter::<u32>::new(device, 0).expect("a sorter");
    let mut elements = device.upload(&[3, 2, 1, 0, 5, 4]).expect("memory");
    for (rows, columns) in [(2, 2), (1, 7), (usize::MAX, 2), (0, 6)] {
        let error = sorter.rows(rows, columns).launch_in_place(Order::ASCENDING, &mut elements);
        assert_eq!(error, Err(DeviceError::ShapeMismatch { rows, columns, given: 6 }));
    }
    let mut short = device.alloc(5).expect("memory");
    let error = sorter.rows(2, 3).launch(Order::ASCENDING, &elements, &mut short);
    assert_eq!(error, Err(DeviceError::ShapeMismatch { rows: 2, columns: 3, given: 5 }));
    assert_eq!(elements.download().expect("a download"), [3, 2, 1, 0, 5, 4]);
    let mut none = device.alloc::<u32>(0).expect("memory");
    for (rows, columns) in [(0, 5), (5, 0), (0, 0)] {
        let sorted = sorter.rows(rows, columns).launch_in_place(Order::ASCENDING, &mut none);
        assert_eq!(sorted, Ok(()), "{rows} rows of {columns}");
    }
}

fn every_type_of_the_library_is_in_the_matrix() {
    each_is_there_once(Primitive::Sort, &trials(), |name| {
        format!("sort::{name}::under_every_schedule")
    });
}
