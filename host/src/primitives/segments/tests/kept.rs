//! Objects that reduce and scan runs, and are kept.

use super::*;

/// Lengths for a kept object of at most 5000 keys, of which one is longer, and the longest run.
const KEPT: [(usize, u64); 7] =
    [(300, 2), (5000, 300), (0, 1), (33, 5), (20_000, 40), (1, 1), (5000, 1)];

#[test]
fn a_run_reducer_can_be_used_for_keys_of_any_number() {
    let device = Device::emulator();
    let (sum, mean) = (Sum::<f32>::new(), Mean::new(Sum::<f32, f64>::new()));
    let mut sums = RunReducer::new(sum, &device, 5000).expect("there is room");
    let mut means = RunReducer::new(mean, &device, 0).expect("there is room");
    for (len, most) in KEPT {
        let (keys, host) = (keys(len, most), values(len));
        let on_device = device.upload(&keys).expect("there is room");
        let input = device.upload(&host).expect("there is room");
        let (firsts, offsets) = runs_on_cpu(&keys, Nans::Apart);
        let count = sums.reduce(&on_device, &input).expect("it should run");
        assert_eq!(count, firsts.len(), "{len} keys");
        assert_eq!(means.reduce(&on_device, &input), Ok(count));
        assert_eq!(key_bits(&sums.keys().expect("they are there")), key_bits(&firsts));
        let starts = sums.starts().download_part(0..count).expect("they are there");
        assert_eq!(starts, offsets[..count]);
        let kept = sums.firsts().download_part(0..count).expect("they are there");
        assert_eq!(key_bits(&kept), key_bits(&firsts));
        let expected = reduce_segments_on_cpu(sum, &host, &offsets);
        assert_eq!(bits(&sums.results().expect("they are there")), bits(&expected), "{len} keys");
        assert_eq!(means.results(), Ok(reduce_segments_on_cpu(mean, &host, &offsets)));
    }
}

#[test]
fn a_run_scanner_can_be_used_for_keys_of_any_number() {
    let device = Device::emulator();
    let mut scanner = RunScanner::<f64, Sum<f32>>::new(&device, 5000).expect("there is room");
    for (i, (len, most)) in KEPT.into_iter().enumerate() {
        let (keys, host) = (keys(len, most), values(len));
        let on_device = device.upload(&keys).expect("there is room");
        let input = device.upload(&host).expect("there is room");
        let mut output = device.alloc(len).expect("there is room");
        let form = if i % 2 == 0 { Form::Inclusive } else { Form::Exclusive };
        for nans in [Nans::Together, Nans::Apart] {
            scanner.launch(&on_device, &input, &mut output, form, nans).expect("it should run");
            let expected = scan_by_key_on_cpu::<Sum<f32>, _>(&keys, &host, form, nans);
            let scanned = output.download().expect("they are there");
            assert_eq!(bits(&scanned), bits(&expected), "{form:?}, {len} keys, {nans:?}");
        }
    }
}

#[test]
fn a_kept_object_refuses_arrays_of_other_lengths_and_devices() {
    let device = Device::emulator();
    let mut reducer = RunReducer::new(Sum::<f32>::new(), &device, 2).expect("there is room");
    let mut scanner = RunScanner::<u32, Sum<f32>>::new(&device, 2).expect("there is room");
    assert!(matches!(reducer.keys(), Err(DeviceError::NoResult { .. })), "nothing was reduced");
    let arrays = |device: &Device, len| {
        let (keys, values) = (device.upload(&vec![1u32; len]), device.upload(&vec![1.0f32; len]));
        (keys.expect("there is room"), values.expect("there is room"))
    };
    let ((keys, values), (_, long)) = (arrays(&device, 2), arrays(&device, 3));
    let (foreign_keys, foreign) = arrays(&Device::emulator(), 2);
    let (form, nans) = (Form::Inclusive, Nans::Apart);
    let mut output = device.alloc(2).expect("there is room");
    assert_eq!(reducer.reduce(&keys, &values), Ok(1));
    let refused = reducer.reduce(&keys, &long);
    assert_eq!(refused, Err(DeviceError::LengthMismatch { buffer: 3, given: 2 }));
    assert!(matches!(reducer.results(), Err(DeviceError::NoResult { .. })), "it was refused");
    let refused = scanner.launch(&keys, &long, &mut output, form, nans);
    assert_eq!(refused, Err(DeviceError::LengthMismatch { buffer: 3, given: 2 }));
    let mut short = device.alloc(1).expect("there is room");
    let refused = scanner.launch(&keys, &values, &mut short, form, nans);
    assert_eq!(refused, Err(DeviceError::LengthMismatch { buffer: 1, given: 2 }));
    for (keys, values) in [(&foreign_keys, &values), (&keys, &foreign), (&foreign_keys, &foreign)] {
        let refused = reducer.reduce(keys, values);
        assert!(matches!(refused, Err(DeviceError::OtherDevice { .. })), "{refused:?}");
        let refused = scanner.launch(keys, values, &mut output, form, nans);
        assert!(matches!(refused, Err(DeviceError::OtherDevice { .. })), "{refused:?}");
    }
    assert_eq!(reducer.reduce(&keys, &values), Ok(1));
    assert_eq!(reducer.results(), Ok(vec![2.0]));
}

#[test]
fn kept_memory_for_first_values_grows_with_the_keys() {
    let device = Device::emulator();
    let mut firsts = RunFirsts::new(&device, 1).expect("there is room");
    for (len, most) in [(0, 1), (1, 1), (5000, 300), (33, 2)] {
        let (keys, host) = (keys(len, most), values(len));
        let on_device = (device.upload(&keys).expect("room"), device.upload(&host).expect("room"));
        let runs = firsts.find(&on_device.0, &on_device.1).expect("it should run");
        let (of_runs, kept) = unique_by_key_on_cpu(&keys, &host, Nans::Apart);
        let found = firsts.keys().download_part(0..runs).expect("they are there");
        assert_eq!(key_bits(&found), key_bits(&of_runs));
        let found = firsts.values().download_part(0..runs).expect("they are there");
        assert_eq!(bits(&found), bits(&kept), "{len} keys");
    }
    let (keys, values) = (device.upload(&[1.0f64]).expect("room"), device.alloc(2).expect("room"));
    let error = firsts.find(&keys, &values).expect_err("a key is missing");
    assert!(matches!(error, DeviceError::LengthMismatch { .. }), "{error}");
}
