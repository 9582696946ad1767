//! Selections by rank: every type × order × length × input × rank × way to look × backend, and every
//! schedule.

use crate::matrix::{self, each_is_there_once};
use gridsync::device::{Device, DeviceError};
use gridsync::primitives::rank::{
    Arranged, QuantileMethod, RankError, Ranker, Tuning, kth, kth_on_cpu, kth_rows,
    kth_rows_on_cpu, median, median_on_cpu, quantiles, quantiles_on_cpu, quantiles_rows,
    quantiles_rows_on_cpu, top_k, top_k_on_cpu, top_k_rows, top_k_rows_on_cpu,
};
use gridsync::primitives::sort::Order;
use gridsync_tests::devices::{emulator, emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::{Budget, Trials};
use gridsync_verify::{Keys, Kind, Primitive, Size, TUNINGS, kinds};

/// Lengths around the ends of a warp, and of the shortest arrays that are filtered.
const SHORT: [usize; 9] = [0, 1, 2, 31, 33, 64, 65, 257, 2500];

/// Rows and columns: in warps, in blocks, and in passes.
const SHORT_ROWS: [(usize, usize); 6] =
    [(300, 1), (67, 16), (9, 32), (40, 100), (3, 4096), (3, 4100)];

/// Rows and columns of many blocks and tiles, and of rows from which elements are selected one after
/// another.
const LONG_ROWS: [(usize, usize); 5] =
    [(100_003, 17), (1009, 1000), (131, 12_288), (77, 32_000), (2, (1 << 20) + 1)];

/// Lengths of many chunks, and just above those that are always sorted.
const LONG: [usize; 3] = [(1 << 16) + 1, (1 << 20) + 7, (1 << 24) + 1];

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            every_type_of_the_library_is_in_the_matrix;
        on_each_backend:
            what_does_not_exist_is_an_error_with_numbers,
            outputs_that_do_not_fit_the_rows_are_refused_with_the_numbers,
            quantiles_with_a_nan_are_nan,
            a_nan_in_a_row_does_not_change_quantiles_of_other_rows,
            ranks_and_quantiles_of_rows_are_refused_with_the_numbers,
            one_ranker_selects_from_arrays_of_every_length,
            elements_that_are_found_in_one_place_are_read_again,
            an_array_of_equal_elements_is_not_sorted_wrong,
            many_quantiles_are_those_of_the_cpu,
            ranks_in_any_order_and_twice_are_found;
    };
    for kind in kinds(Primitive::Rank) {
        add_row(&mut trials, kind);
    }
    trials
}

/// Adds the tests of one type.
fn add_row(trials: &mut Trials, kind: &'static Kind) {
    let ty = kind.element;
    let mut lens = SHORT.to_vec();
    lens.extend([kind.tile - 1, kind.tile, kind.tile + 1]);
    for (number, len) in lens.clone().into_iter().enumerate() {
        // All types of one width share nearly all code.
        let is_tried = matches!(ty, "f16" | "f32" | "f64" | "i32") || number % 4 == 1;
        let budget = Budget::thorough_if(!is_tried);
        trials.add(format!("{ty}::on_the_emulator::len_{number}_{len}"), budget, move || {
            for share in 0..4 {
                case(&emulator(), kind, len, number + 5 * share, share);
            }
        });
    }
    let budget = Budget::thorough_if(ty != "f32");
    trials.add(format!("{ty}::on_the_emulator::in_many_blocks"), budget, move || {
        matrix::run(&emulator(), kind, size((1 << 16) + 1, 0, 1), 1);
    });
    trials.test(format!("{ty}::on_cuda::short"), move || {
        with_cuda(|cuda| {
            for &len in &lens {
                (0..56).for_each(|number| case(cuda, kind, len, number, number / 7));
            }
        });
    });
    for len in LONG {
        // Of the longest arrays, the CPU sorts one for a second or two.
        let step = if len > 1 << 20 && ty != "f32" { 4 } else { 1 };
        trials.test(format!("{ty}::on_cuda::len_{len}"), move || {
            let numbers = (0..14).step_by(step);
            with_cuda(|cuda| numbers.for_each(|number| case(cuda, kind, len, number, number / 3)));
        });
    }
    for (number, shape) in SHORT_ROWS.into_iter().enumerate() {
        let budget = Budget::thorough_if(!(ty == "f32" || number == 2));
        let name = format!("{ty}::on_the_emulator::rows_{}_of_{}", shape.0, shape.1);
        trials.add(name, budget, move || rows_case(&emulator(), kind, shape, number));
    }
    trials.test(format!("{ty}::on_cuda::rows"), move || {
        with_cuda(|cuda| {
            for shape in SHORT_ROWS.into_iter().chain(LONG_ROWS) {
                (0..7).for_each(|number| rows_case(cuda, kind, shape, number));
            }
        });
    });
    let budget = Budget::thorough_if(ty != "f32");
    trials.add(format!("{ty}::under_every_schedule"), budget, move || {
        for (number, schedule) in schedules().into_iter().enumerate() {
            case(&emulator_under(schedule), kind, 150, number, number);
        }
    });
}

/// The size of the case with the keys and the order of this number, and with none, one, a few or all
/// of the elements.
fn size(len: usize, number: usize, share: usize) -> Size {
    let (keys, order) = (Keys::ALL[number % 7], Order::ALL[number % 4]);
    let k = [0, 1.min(len), len / 20, len][share % 4];
    Size::Ranks(1, len, keys, order, k)
}

/// Runs the library's case of rows of this shape, with the keys and the order of this number.
fn rows_case(device: &Device, kind: &Kind, (rows, columns): (usize, usize), number: usize) {
    let (keys, order) = (Keys::ALL[number % 7], Order::ALL[number % 4]);
    let k = [1, 2, columns / 3, columns][number % 4].min(columns);
    matrix::run(device, kind, Size::Ranks(rows, columns, keys, order, k), rows * columns);
}

/// Runs the library's case of this number.
fn case(device: &Device, kind: &Kind, len: usize, number: usize, share: usize) {
    // Each way to look with each share, and both arrangements.
    let seed = number % TUNINGS.len() + TUNINGS.len() * (len + share + number / TUNINGS.len());
    matrix::run(device, kind, size(len, number, share), seed);
}

/// Looks for elements in arrays that are usually sorted.
const SOON: Tuning = Tuning { shortest: 64, sample: 100, margin: 4.0, room: usize::MAX };

fn outputs_that_do_not_fit_the_rows_are_refused_with_the_numbers(device: &Device) {
    let input = device.upload(&[3u32, 1, 2, 6, 5, 4]).expect("memory");
    let mut ranker = Ranker::new(device, 3).expect("memory");
    let mut first = |shape, elements: usize, indices: usize| {
        let mut elements = device.alloc(elements).expect("memory");
        let mut indices = device.alloc(indices).expect("memory");
        ranker.top_k_rows(Order::ASCENDING, &input, shape, (&mut elements, &mut indices))?;
        Ok((elements.download()?, indices.download()?))
    };
    assert_eq!(first((2, 3), 4, 4), Ok((vec![1, 2, 4, 5], vec![1, 2, 2, 1])));
    assert_eq!(first((2, 3), 0, 0), Ok((vec![], vec![])));
    let mismatch = |rows, columns, given| {
        Err(RankError::from(DeviceError::ShapeMismatch { rows, columns, given }))
    };
    assert_eq!(first((2, 2), 4, 4), mismatch(2, 2, 6));
    assert_eq!(first((2, 3), 5, 5), mismatch(2, 2, 5));
    assert_eq!(first((2, 3), 8, 8), Err(RankError::TooMany { k: 4, len: 3 }));
    let lengths = DeviceError::LengthMismatch { buffer: 2, given: 4 };
    assert_eq!(first((2, 3), 4, 2), Err(lengths.into()));
    let top = top_k_rows(Order::DESCENDING, &input, (3, 2), 1).expect("they exist");
    assert_eq!(top.elements.download().expect("a download"), [3, 6, 5]);
    let error = top_k_rows_on_cpu(Order::ASCENDING, &[1u32, 2], (1, 2), 3);
    assert_eq!(error, Err(RankError::TooMany { k: 3, len: 2 }));
}

fn what_does_not_exist_is_an_error_with_numbers(device: &Device) {
    let input = device.upload(&[3u32, 1, 2]).expect("memory");
    let error = top_k(Order::ASCENDING, &input, 4).expect_err("there are three");
    assert_eq!(error, RankError::TooMany { k: 4, len: 3 });
    assert!(error.to_string().contains("the first 4 of 3 elements"), "{error}");
    let error = kth(Order::ASCENDING, &input, 3).expect_err("there are three");
    assert_eq!(error, RankError::NoSuchRank { rank: 3, len: 3 });
    assert_eq!(kth_on_cpu(Order::ASCENDING, &[3u32, 1, 2], 3), Err(error));
    let by_rank = |k| top_k_on_cpu(Order::ASCENDING, &[1u32], k, Arranged::ByRank);
    assert_eq!(by_rank(2), Err(RankError::TooMany { k: 2, len: 1 }));
    let empty = device.alloc::<f32>(0).expect("no memory");
    assert_eq!(median(&empty), Err(RankError::Empty));
    assert_eq!(median_on_cpu::<f32>(&[]), Err(RankError::Empty));
    let linear = QuantileMethod::Linear;
    assert_eq!(quantiles(&input, &[0.5, 1.5], linear), Err(RankError::NotAQuantile(1.5)));
    assert!(quantiles(&input, &[f64::NAN], linear).is_err());
    assert_eq!(quantiles(&input, &[], linear), Ok(Vec::new()));
    let mut ranker = Ranker::<u32>::new(device, 3).expect("memory");
    let (mut two, mut one) = (device.alloc(2).expect("memory"), device.alloc(1).expect("memory"));
    let error = ranker.top_k(Order::ASCENDING, &input, Arranged::ByRank, (&mut two, &mut one));
    let mismatch = DeviceError::LengthMismatch { buffer: 1, given: 2 };
    assert_eq!(error, Err(RankError::Device(mismatch)));
}

fn quantiles_with_a_nan_are_nan(device: &Device) {
    for len in [1, 5, 700] {
        for sign in [1.0f32, -1.0] {
            let mut elements = Keys::Few.sample::<f32>(len, 3);
            let is_nan = |device: &Device, elements: &[f32]| {
                let mut ranker = Ranker::with(device, len, SOON).expect("memory");
                let input = device.upload(elements).expect("memory");
                let found = ranker.median(&input).expect("it is not empty");
                let of_cpu = median_on_cpu(elements).expect("it is not empty");
                assert_eq!(found.to_bits(), of_cpu.to_bits(), "{len}");
                found.is_nan()
            };
            assert!(!is_nan(device, &elements), "{len}");
            elements[len / 3] = f32::NAN.copysign(sign);
            assert!(is_nan(device, &elements), "{len}");
        }
    }
    // The greatest integers have the bits of NaNs, and are none.
    let greatest = device.upload(&[u32::MAX; 300]).expect("memory");
    let mut ranker = Ranker::with(device, 300, SOON).expect("memory");
    assert_eq!(ranker.median(&greatest), Ok(f64::from(u32::MAX)));
}

fn a_nan_in_a_row_does_not_change_quantiles_of_other_rows(device: &Device) {
    for columns in [1, 20, 700] {
        let mut elements = Keys::Any.sample::<f32>(5 * columns, 3);
        elements.iter_mut().filter(|element| element.is_nan()).for_each(|nan| *nan = 0.0);
        elements[columns] = -f32::NAN;
        elements[5 * columns - 1] = f32::NAN;
        let input = device.upload(&elements).expect("memory");
        let (qs, method) = ([0.0, 0.3, 1.0], QuantileMethod::Linear);
        let found = quantiles_rows(&input, (5, columns), &qs, method).expect("there are some");
        let of_cpu = quantiles_rows_on_cpu(&elements, (5, columns), &qs, method);
        let bits =
            |values: Vec<f64>| -> Vec<u64> { values.into_iter().map(f64::to_bits).collect() };
        assert_eq!(bits(found.clone()), bits(of_cpu.expect("there are some")), "{columns}");
        for (row, values) in found.chunks(3).enumerate() {
            let is_nan = matches!(row, 1 | 4);
            assert!(values.iter().all(|value| value.is_nan() == is_nan), "row {row} of {columns}");
        }
    }
}

fn ranks_and_quantiles_of_rows_are_refused_with_the_numbers(device: &Device) {
    let input = device.upload(&[3u32, 1, 2, 9, 8, 7]).expect("memory");
    let (order, linear) = (Order::ASCENDING, QuantileMethod::Linear);
    assert_eq!(kth_rows(order, &input, (2, 3), 1), Ok(vec![(2, 2), (8, 1)]));
    let error = RankError::NoSuchRank { rank: 3, len: 3 };
    assert_eq!(kth_rows(order, &input, (2, 3), 3), Err(error.clone()));
    assert_eq!(kth_rows_on_cpu(order, &[1u32, 2, 3], (1, 3), 3), Err(error));
    let shape = DeviceError::ShapeMismatch { rows: 2, columns: 4, given: 6 };
    assert_eq!(kth_rows(order, &input, (2, 4), 0), Err(RankError::Device(shape.clone())));
    let quantiles = |shape, qs: &[f64]| quantiles_rows(&input, shape, qs, linear);
    assert_eq!(quantiles((2, 4), &[0.5]), Err(RankError::Device(shape)));
    assert_eq!(quantiles((2, 3), &[0.5, 1.5]), Err(RankError::NotAQuantile(1.5)));
    assert_eq!(quantiles((2, 3), &[]), Ok(Vec::new()));
    let empty = device.alloc::<u32>(0).expect("no memory");
    assert_eq!(quantiles_rows(&empty, (2, 0), &[0.5], linear), Err(RankError::Empty));
    assert_eq!(quantiles_rows(&empty, (0, 7), &[0.5], linear), Ok(Vec::new()));
    assert_eq!(kth_rows(order, &empty, (0, 7), 9), Ok(Vec::new()));
}

fn one_ranker_selects_from_arrays_of_every_length(device: &Device) {
    let mut ranker = Ranker::<i32>::with(device, 0, SOON).expect("memory");
    for (len, order) in [300, 9001, 0, 1200].into_iter().zip(Order::ALL) {
        let input = Keys::Any.sample::<i32>(len, 1);
        let (keys, k) = (device.upload(&input).expect("memory"), len.min(7));
        let mut first = (device.alloc(k).expect("memory"), device.alloc(k).expect("memory"));
        let to = (&mut first.0, &mut first.1);
        ranker.top_k(order, &keys, Arranged::ByRank, to).expect("there are as many");
        let found = (first.0.download().expect("a copy"), first.1.download().expect("a copy"));
        let expected = top_k_on_cpu(order, &input, k, Arranged::ByRank).expect("as many");
        assert_eq!(found, expected, "{len}, {order:?}");
    }
}

/// All that a filter finds is in a few of its chunks, which have no room for it.
fn elements_that_are_found_in_one_place_are_read_again(device: &Device) {
    for len in [700, 6000] {
        let input: Vec<u32> = (0..len).collect();
        let keys = device.upload(&input).expect("memory");
        let mut ranker = Ranker::with(device, input.len(), SOON).expect("memory");
        for order in [Order::ASCENDING, Order::DESCENDING] {
            let ranks = [7, 99, input.len() / 2, input.len() - 1];
            let found = ranker.kths(order, &keys, &ranks).expect("they exist");
            let expected = ranks.map(|rank| kth_on_cpu(order, &input, rank).expect("it exists"));
            assert_eq!(found, expected, "{len}, {order:?}");
        }
    }
}

fn an_array_of_equal_elements_is_not_sorted_wrong(device: &Device) {
    let input = device.upload(&[2.5f32; 900]).expect("memory");
    for room in [usize::MAX, 500, 10] {
        let tuning = Tuning { room, ..SOON };
        let mut ranker = Ranker::with(device, 900, tuning).expect("memory");
        for rank in [0, 9, 10, 450, 899] {
            let found = ranker.kth(Order::DESCENDING, &input, rank);
            assert_eq!(found, Ok((2.5, rank as u64)), "room for {room}");
        }
    }
}

fn many_quantiles_are_those_of_the_cpu(device: &Device) {
    let elements = Keys::Any.sample::<f64>(1500, 8);
    let input = device.upload(&elements).expect("memory");
    let mut ranker = Ranker::with(device, 1500, SOON).expect("memory");
    let qs: Vec<f64> = (0..=20).map(|q| f64::from(q) / 20.0).collect();
    for (number, method) in QuantileMethod::ALL.into_iter().enumerate() {
        // More than are looked for separately, and fewer.
        let qs = if number % 2 == 0 { &qs[..] } else { &qs[7..9] };
        let expected = quantiles_on_cpu(&elements, qs, method);
        assert_eq!(ranker.quantiles(&input, qs, method), expected, "{}", method.name());
    }
}

fn ranks_in_any_order_and_twice_are_found(device: &Device) {
    let elements: Vec<u16> = (0..800).rev().collect();
    let input = device.upload(&elements).expect("memory");
    let mut ranker = Ranker::with(device, 800, SOON).expect("memory");
    let ranks = [500, 3, 4, 500, 799, 0];
    let found = ranker.kths(Order::ASCENDING, &input, &ranks).expect("they exist");
    let expected: Vec<_> = ranks.iter().map(|&rank| (rank as u16, 799 - rank as u64)).collect();
    assert_eq!(found, expected);
    assert_eq!(ranker.kths(Order::ASCENDING, &input, &[]), Ok(Vec::new()));
}

fn every_type_of_the_library_is_in_the_matrix() {
    each_is_there_once(Primitive::Rank, &trials(), |name| {
        format!("rank::{name}::under_every_schedule")
    });
}
