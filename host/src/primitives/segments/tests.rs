mod kept;

use super::by_key::*;
use super::scatter::{scatter_reduce, scatter_reduce_on_cpu};
use super::*;
use crate::primitives::scan::Form;
use gridsync_kernels::op::{ArgMin, Max, Mean, Min, Sum};

/// Values whose sums depend on the order.
fn values(len: usize) -> Vec<f32> {
    (0..len as u32).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 8) as f32 / 77.0).collect()
}

/// Offsets of `count` segments of `len` elements: some empty, some short, and some long ones.
fn offsets(len: usize, count: usize) -> Vec<u64> {
    let random = |i: usize| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11;
    let mut inner: Vec<u64> = (1..count).map(|i| random(i * i) % (len as u64 + 1)).collect();
    inner.sort_unstable();
    let mut offsets = vec![0];
    offsets.extend(inner);
    offsets.push(len as u64);
    offsets
}

/// Runs of at most `most` keys, some of NaNs.
fn keys(len: usize, most: u64) -> Vec<f64> {
    let random = |i: usize| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    let mut keys: Vec<f64> = Vec::with_capacity(len);
    while keys.len() < len {
        let (key, run) = (random(keys.len()) % 50, random(keys.len() + 7) % most + 1);
        let key = if key == 0 { f64::NAN } else { key as f64 - 25.0 };
        keys.extend((0..run.min((len - keys.len()) as u64)).map(|_| key));
    }
    keys
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn segments_have_the_same_bits_as_on_the_cpu() {
    let device = Device::emulator();
    for (len, count) in
        [(0, 1), (0, 40), (1, 1), (33, 5), (7936, 1), (7935, 1), (9000, 9000), (40_000, 3)]
    {
        let (host, offsets) = (values(len), offsets(len, count));
        let input = device.upload(&host).expect("there is room");
        let sums = reduce_segments(Sum::<f32>::new(), &input, &offsets).expect("it should run");
        let expected = reduce_segments_on_cpu(Sum::<f32>::new(), &host, &offsets);
        assert_eq!(bits(&sums), bits(&expected), "{count} segments of {len}");
        let largest = reduce_segments(Max::<f32>::new(), &input, &offsets).expect("it should run");
        for (i, pair) in offsets.windows(2).enumerate() {
            let own = &host[pair[0] as usize..pair[1] as usize];
            let max = own.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            assert_eq!(largest[i], max, "segment {i} of {count} of {len}");
            let exact: f64 = own.iter().map(|&x| f64::from(x)).sum();
            let error = (f64::from(sums[i]) - exact).abs();
            assert!(error <= exact * 1e-4, "segment {i} of {count} of {len}: {}", sums[i]);
        }
    }
}

#[test]
fn a_reducer_can_be_used_for_arrays_of_any_length() {
    let device = Device::emulator();
    let mut reducer =
        SegmentReducer::new(Mean::new(Sum::<f32, f64>::new()), &device).expect("room");
    for (len, count) in [(100, 3), (30_000, 100), (10, 2), (0, 0), (30_000, 2)] {
        let (host, offsets) = (values(len), offsets(len, count.max(1)));
        let on_device = Offsets::new(&device, &offsets).expect("they are offsets");
        let input = device.upload(&host).expect("there is room");
        let means = reducer.reduce(&input, &on_device).expect("it should run");
        for (mean, pair) in means.iter().zip(offsets.windows(2)) {
            let own = &host[pair[0] as usize..pair[1] as usize];
            let exact = own.iter().map(|&x| f64::from(x)).sum::<f64>() / own.len() as f64;
            assert_eq!(mean.is_none(), own.is_empty(), "an empty segment has no mean");
            assert!(mean.is_none_or(|mean| (mean - exact).abs() <= 1e-9 * exact), "{exact}");
        }
    }
    let short = device.upload(&[1.0f32]).expect("there is room");
    let two = Offsets::new(&device, &[0, 2]).expect("they are offsets");
    let error = reducer.launch(&short, &two).expect_err("an element is missing");
    assert!(matches!(error, DeviceError::LengthMismatch { buffer: 1, given: 2 }), "{error}");
    assert!(reducer.results(&two).is_err());
}

#[test]
fn nans_are_separate_runs_or_one() {
    let device = Device::emulator();
    let keys = [1.0f32, f32::NAN, f32::NAN, -0.0, 0.0, f32::NAN];
    let counted = |nans| {
        let buffer = device.upload(&keys).expect("there is room");
        let (firsts, offsets) = runs(&buffer, nans).expect("it should run");
        assert_eq!(firsts.len(), offsets.count());
        offsets.lengths().collect::<Vec<_>>()
    };
    assert_eq!(counted(Nans::Apart), [1, 1, 1, 2, 1]);
    assert_eq!(counted(Nans::Together), [1, 2, 2, 1]);
}

#[test]
fn runs_and_groups_have_the_same_bits_as_on_the_cpu() {
    let device = Device::emulator();
    for (len, most) in [(0, 1), (1, 1), (5000, 2), (20_000, 300), (20_000, 1)] {
        let keys = keys(len, most);
        let host = values(len);
        let (on_device, input) = (device.upload(&keys), device.upload(&host));
        let (on_device, input) = (on_device.expect("room"), input.expect("room"));
        let (sum, min) = (Sum::<f32>::new(), Min::<f32>::new());
        for nans in [Nans::Apart, Nans::Together] {
            let (found, sums) =
                reduce_by_key(sum, &on_device, &input, nans).expect("it should run");
            let (firsts, offsets) = runs_on_cpu(&keys, nans);
            assert_eq!(key_bits(&found), key_bits(&firsts));
            assert_eq!(bits(&sums), bits(&reduce_segments_on_cpu(sum, &host, &offsets)));
            for form in [Form::Inclusive, Form::Exclusive] {
                let scanned = scan_by_key::<Sum<f32>, _>(&on_device, &input, form, nans);
                let scanned = scanned.and_then(|buffer| buffer.download()).expect("it should run");
                let expected = scan_by_key_on_cpu::<Sum<f32>, _>(&keys, &host, form, nans);
                assert_eq!(bits(&scanned), bits(&expected), "{form:?}, {len} keys, {nans:?}");
            }
        }
        let (distinct, groups) = group_by(&on_device).expect("it should run");
        let (expected, on_cpu) = group_by_on_cpu(&keys);
        let minima = groups.reduce(min, &input).expect("it should run");
        assert_eq!(key_bits(&distinct), key_bits(&expected));
        assert!(groups.counts().eq(on_cpu.counts()));
        assert_eq!(bits(&minima), bits(&on_cpu.reduce(min, &host)));
        let ascend = distinct.windows(2).all(|pair| pair[0] < pair[1] || pair[1].is_nan());
        assert!(ascend, "{distinct:?}");
        for (key, min) in distinct.iter().zip(&minima) {
            let is_own = |of: &f64| of == key || of.is_nan() && key.is_nan();
            let own = keys.iter().zip(&host).filter(|(of, _)| is_own(of)).map(|(_, &x)| x);
            assert_eq!(own.fold(f32::INFINITY, f32::min), *min, "key {key}");
        }
    }
}

fn key_bits(keys: &[f64]) -> Vec<u64> {
    keys.iter().map(|key| key.to_bits()).collect()
}

#[test]
fn keys_and_values_have_to_be_as_long() {
    let device = Device::emulator();
    let keys = device.upload(&[1u32, 2]).expect("there is room");
    let values = device.upload(&[1.0f32]).expect("there is room");
    let (_, groups) = group_by(&keys).expect("it should run");
    let error = groups.reduce(Sum::<f32>::new(), &values).expect_err("a value is missing");
    assert!(matches!(error, DeviceError::LengthMismatch { buffer: 1, given: 2 }), "{error}");
}

#[test]
fn each_run_keeps_its_first_value() {
    let device = Device::emulator();
    let (keys, values) = ([3u32, 3, 1, 1, 1, 3], [0.5f32, 1.5, 2.5, 3.5, 4.5, 5.5]);
    let on_device = (device.upload(&keys).expect("room"), device.upload(&values).expect("room"));
    let (firsts, kept) =
        unique_by_key(&on_device.0, &on_device.1, Nans::Apart).expect("it should run");
    assert_eq!((firsts, kept), (vec![3, 1, 3], vec![0.5, 2.5, 5.5]));
    let on_cpu = unique_by_key_on_cpu(&keys, &values, Nans::Apart);
    assert_eq!(on_cpu, (vec![3, 1, 3], vec![0.5, 2.5, 5.5]));
}

#[test]
fn a_scan_of_segments_begins_anew_in_each() {
    let device = Device::emulator();
    for (len, count) in [(0, 1), (1, 3), (33, 5), (5000, 700), (40_000, 3)] {
        let (host, offsets) = (values(len), offsets(len, count));
        let input = device.upload(&host).expect("there is room");
        let on_device = Offsets::new(&device, &offsets).expect("they are offsets");
        for form in [Form::Inclusive, Form::Exclusive] {
            let maxima = scan_segments::<Max<f32>>(&input, &on_device, form);
            let maxima = maxima.and_then(|buffer| buffer.download()).expect("it should run");
            let by_loop = offsets.windows(2).flat_map(|pair| {
                let own = &host[pair[0] as usize..pair[1] as usize];
                let mut so_far = f32::NEG_INFINITY;
                own.iter().map(move |&x| {
                    let before = so_far;
                    so_far = so_far.max(x);
                    if form == Form::Inclusive { so_far } else { before }
                })
            });
            assert!(by_loop.eq(maxima), "{form:?}, {count} segments of {len}");
            let sums = scan_segments::<Sum<f32>>(&input, &on_device, form);
            let sums = sums.and_then(|buffer| buffer.download()).expect("it should run");
            let expected = scan_segments_on_cpu::<Sum<f32>>(&host, &offsets, form);
            assert_eq!(bits(&sums), bits(&expected), "{form:?}, {count} segments of {len}");
        }
    }
}

#[test]
fn the_index_of_an_extreme_is_within_its_segment() {
    let device = Device::emulator();
    let input = device.upload(&[4.0f32, 2.0, 2.0, 9.0, 8.0]).expect("there is room");
    let found = reduce_segments(ArgMin::<f32>::new(), &input, &[0, 3, 3, 5]).expect("it runs");
    let indices: Vec<_> = found.iter().map(|found| found.map(|found| found.index)).collect();
    assert_eq!(indices, [Some(1), None, Some(1)]);
}

#[test]
fn scattered_values_are_combined_in_their_order() {
    let device = Device::emulator();
    for (len, slots) in [(0, 3), (1, 1), (5000, 7), (20_000, 20_000)] {
        let host = values(len);
        let indices: Vec<u64> = (0..len as u64).map(|i| i * i % slots as u64).collect();
        let before = values(slots);
        let mut into = device.upload(&before).expect("there is room");
        let on_device = (device.upload(&indices).expect("room"), device.upload(&host));
        let input = on_device.1.expect("there is room");
        scatter_reduce(Sum::<f32>::new(), &on_device.0, &input, &mut into).expect("it runs");
        let mut on_cpu = before.clone();
        scatter_reduce_on_cpu(Sum::<f32>::new(), &indices, &host, &mut on_cpu);
        let found = into.download().expect("it is there");
        assert_eq!(bits(&found), bits(&on_cpu), "{len} values to {slots}");
        for (slot, (&found, &before)) in found.iter().zip(&before).enumerate() {
            let own = indices.iter().zip(&host).filter(|(at, _)| **at == slot as u64);
            let exact = f64::from(before) + own.map(|(_, &x)| f64::from(x)).sum::<f64>();
            assert!((f64::from(found) - exact).abs() <= exact * 1e-4, "{slot}: {found}");
        }
    }
}

#[test]
fn an_index_past_the_end_is_an_error() {
    let device = Device::emulator();
    let (indices, values) = (device.upload(&[0u32, 2]), device.upload(&[1i64, 2]));
    let (indices, values) = (indices.expect("room"), values.expect("room"));
    let mut into = device.upload(&[5i64, 6]).expect("there is room");
    let error = scatter_reduce(Max::<i64>::new(), &indices, &values, &mut into);
    let error = error.expect_err("there is no element 2");
    assert!(matches!(error, DeviceError::NoSuchIndex { index: 2, len: 2 }), "{error}");
    assert_eq!(into.download().expect("it is there"), [5, 6]);
}
