//! Searches in sorted arrays: every type × order × side × size × backend × schedule.

use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig};
use gridsync::primitives::search::{Searchable, Side, search, search_into, search_on_cpu};
use gridsync::primitives::sort::{Order, sort_on_cpu};
use gridsync_tests::devices::{emulator, emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Keys, Sample, sample};
use std::any::type_name;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            searches_are_right_under_every_schedule,
            one_multiprocessor_searches_for_more_values_than_its_threads_do_at_once;
        on_each_backend:
            a_search_counts_duplicates_zeros_and_nan_as_numpy_does,
            a_search_in_an_unsorted_array_stays_inside_it,
            indices_that_are_not_one_per_value_are_refused;
    };
    for len in LENGTHS {
        trials.test(format!("on_the_emulator::len_{len}"), move || every_type(&emulator(), len));
    }
    for len in LENGTHS.into_iter().chain([8191, 8192, 16_383, 16_384, 1 << 20, (1 << 22) + 7]) {
        trials.test(format!("on_cuda::len_{len}"), move || {
            with_cuda(|cuda| every_type(cuda, len));
        });
    }
    trials
}

/// Lengths of sorted arrays, around powers of two, where the number of comparisons changes. With
/// 2^12 to 2^14 keys and more, the last comparisons are not in shared memory.
const LENGTHS: [usize; 20] =
    [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 255, 256, 257, 1000, 4095, 4096, 4097, 40_000];

/// Numbers of values: one, fewer than a block has threads, and more than an odd number of blocks.
const VALUES: [usize; 4] = [0, 1, 200, 1300];

/// A small search of every type.
pub(crate) fn small_searches(device: &Device) {
    every_type(device, 33);
}

fn every_type(device: &Device, len: usize) {
    for count in VALUES {
        check::<u32>(device, len, count, |a, b| a < b);
        check::<i32>(device, len, count, |a, b| a < b);
        check::<f32>(device, len, count, |a, b| a < b || !a.is_nan() && b.is_nan());
        check::<u64>(device, len, count, |a, b| a < b);
        check::<i64>(device, len, count, |a, b| a < b);
        check::<f64>(device, len, count, |a, b| a < b || !a.is_nan() && b.is_nan());
    }
}

/// Searches among keys of several kinds for `count` values, half of which are keys, in every order
/// and on both sides. `is_less` is NumPy's ascending order.
fn check<T: Searchable + Sample>(
    device: &Device,
    len: usize,
    count: usize,
    is_less: impl Fn(T, T) -> bool,
) {
    for kind in [Keys::Any, Keys::Special, Keys::Few] {
        let unsorted = kind.sample::<T>(len, 1);
        let mut wanted = kind.sample::<T>(count, 2);
        wanted.iter_mut().step_by(2).zip(&unsorted).for_each(|(value, &key)| *value = key);
        let values = device.upload(&wanted).expect("the values should fit");
        for order in Order::ALL {
            let keys = sort_on_cpu(order, &unsorted);
            let sorted = device.upload(&keys).expect("the keys should fit");
            for side in [Side::Left, Side::Right] {
                let case = format!("{} of {len} {kind:?} in {order:?}, {side:?}", type_name::<T>());
                let expected = search_on_cpu(order, side, &keys, &wanted);
                if order == Order::ASCENDING {
                    let of = |&value: &T| match side {
                        Side::Left => keys.partition_point(|&key| is_less(key, value)) as u64,
                        Side::Right => keys.partition_point(|&key| !is_less(value, key)) as u64,
                    };
                    assert_eq!(expected, wanted.iter().map(of).collect::<Vec<_>>(), "{case}");
                }
                let indices = search(order, side, &sorted, &values);
                let found = indices.and_then(|indices| indices.download());
                assert_eq!(found.expect("it should search"), expected, "{case}");
            }
        }
    }
}

fn a_search_counts_duplicates_zeros_and_nan_as_numpy_does(device: &Device) {
    fn check<T: Searchable + From<f32>>(device: &Device) {
        let array = |elements: &[f32]| {
            let elements: Vec<T> = elements.iter().map(|&x| T::from(x)).collect();
            device.upload(&elements).expect("it should fit")
        };
        let infinity = f32::INFINITY;
        let sorted = array(&[-infinity, -1.0, 0.0, -0.0, 0.0, 2.0, infinity, f32::NAN, -f32::NAN]);
        let values = array(&[-0.0, 0.0, f32::NAN, -f32::NAN, infinity, -infinity, 1.0, 9.0]);
        let of = |side| {
            let found = search(Order::ASCENDING, side, &sorted, &values);
            found.and_then(|indices| indices.download()).expect("it should search")
        };
        // As numpy.searchsorted finds them.
        assert_eq!(of(Side::Left), [2, 2, 7, 7, 6, 0, 5, 6]);
        assert_eq!(of(Side::Right), [5, 5, 9, 9, 7, 1, 5, 6]);
    }
    check::<f32>(device);
    check::<f64>(device);
}

fn a_search_in_an_unsorted_array_stays_inside_it(device: &Device) {
    let keys = sample::<i64>(Input::Values, 1001, 1);
    let sorted = device.upload(&keys).expect("it should fit");
    let values = device.upload(&sample::<i64>(Input::Values, 500, 2)).expect("it should fit");
    let found = search(Order::ASCENDING, Side::Right, &sorted, &values);
    let indices = found.and_then(|indices| indices.download()).expect("it should search");
    assert!(indices.iter().all(|&index| index <= 1001), "{indices:?}");
}

fn indices_that_are_not_one_per_value_are_refused(device: &Device) {
    let sorted = device.zeroed::<f32>(12).expect("it should fit");
    let values = device.zeroed::<f32>(4).expect("it should fit");
    let mut indices = device.alloc::<u64>(3).expect("it should fit");
    let refused = search_into(Order::ASCENDING, Side::Left, &sorted, &values, &mut indices);
    assert_eq!(refused, Err(DeviceError::LengthMismatch { buffer: 3, given: 4 }));
}

fn one_multiprocessor_searches_for_more_values_than_its_threads_do_at_once() {
    let config = EmulatorConfig { multiprocessors: 1, ..EmulatorConfig::default() };
    let device = Device::new(Emulator::new(config));
    check::<i32>(&device, 99, 9001, |a, b| a < b);
}

fn searches_are_right_under_every_schedule() {
    for schedule in schedules() {
        check::<u32>(&emulator_under(schedule), 300, 700, |a, b| a < b);
    }
}
