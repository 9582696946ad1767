//! Arrays with more elements than a 32-bit number can count, with or without a sign.
//!
//! The arrays are zero except for a few elements: at the ends, and at the indices where a narrow
//! index wraps. The host needs no copy of them. These tests run only on CUDA, and only if the
//! memory is sufficient.

use bytemuck::Pod;
use cuda_std::f16;
use gridsync::device::{Buffer, Device, DeviceError};
use gridsync::primitives::histogram::{Bins, Histogram};
use gridsync::primitives::scan::Form;
use gridsync::primitives::select::{Within, partition, select_with_positions};
use gridsync::primitives::sort::{Order, Sorter};
use gridsync::primitives::{Scanner, reduce};
use gridsync_kernels::op::{ArgMax, Count, Indexed, Or, Sum};
use gridsync_tests::devices::{skipped, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            a_sum_of_more_than_two_to_the_31_elements_is_right_on_cuda,
            a_count_of_more_than_two_to_the_32_elements_is_right_on_cuda,
            the_last_of_more_than_two_to_the_31_elements_of_8_bytes_is_seen_on_cuda,
            an_index_beyond_two_to_the_32_is_found_on_cuda,
            a_scan_of_more_than_two_to_the_32_elements_is_right_on_cuda,
            a_selection_from_more_than_two_to_the_32_elements_is_right_on_cuda,
            a_sort_of_more_than_two_to_the_32_elements_is_right_on_cuda,
            a_histogram_of_more_than_two_to_the_32_elements_is_right_on_cuda;
    }
}

/// `len` zeros with `value` at each of `places`, or `None` if the memory is insufficient.
fn zeros_but<T: Pod>(device: &Device, len: usize, places: &[usize], value: T) -> Option<Buffer<T>> {
    let buffer = match device.zeroed::<T>(len) {
        Ok(buffer) => buffer,
        Err(error @ DeviceError::OutOfMemory { .. }) => {
            skipped(&error.to_string());
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    for &place in places {
        let at = buffer.address() + (place * size_of::<T>()) as u64;
        // SAFETY: every index is inside the buffer, which is live and idle.
        unsafe { device.backend().upload(at, bytemuck::bytes_of(&value)) }
            .expect("an element should be copied");
    }
    Some(buffer)
}

/// The ends, and both sides of the wrap of a 31- or 32-bit index or a 32-bit byte offset.
fn places(len: usize) -> Vec<usize> {
    let edges = [1 << 29, 1 << 30, 1 << 31, 1 << 32];
    edges
        .into_iter()
        .flat_map(|edge: usize| [edge - 1, edge])
        .chain([0, len - 1])
        .filter(|&place| place < len)
        .collect()
}

fn a_sum_of_more_than_two_to_the_31_elements_is_right_on_cuda() {
    with_cuda(|cuda| {
        let len = (1 << 31) + 9;
        let places = places(len);
        let Some(input) = zeros_but(cuda, len, &places, u32::MAX) else {
            return;
        };
        let sum = reduce(Sum::<u32, u64>::new(), &input).expect("the sum should be computed");
        assert_eq!(sum, places.len() as u64 * u64::from(u32::MAX));
    });
}

fn a_count_of_more_than_two_to_the_32_elements_is_right_on_cuda() {
    with_cuda(|cuda| {
        let len = (1 << 32) + 9;
        let places = places(len);
        let Some(input) = zeros_but(cuda, len, &places, f16::ONE) else {
            return;
        };
        let count = reduce(Count::<f16>::new(), &input).expect("the count should be computed");
        assert_eq!(count, places.len() as u64);
    });
}

fn the_last_of_more_than_two_to_the_31_elements_of_8_bytes_is_seen_on_cuda() {
    with_cuda(|cuda| {
        let len = (1 << 31) + 9;
        let Some(input) = zeros_but(cuda, len, &[len - 1], 1u64 << 63) else {
            return;
        };
        let or = reduce(Or::<u64>::new(), &input).expect("the or should be computed");
        assert_eq!(or, 1 << 63);
    });
}

fn an_index_beyond_two_to_the_32_is_found_on_cuda() {
    with_cuda(|cuda| {
        let len = (1 << 32) + 9;
        // The first of two equal elements wins, not the index to which a 32-bit index would wrap.
        let Some(input) = zeros_but(cuda, len, &[len - 3, len - 1], f16::ONE) else {
            return;
        };
        let greatest = reduce(ArgMax::<f16, f32>::new(), &input).expect("it should be computed");
        let index = len as u64 - 3;
        assert_eq!(greatest, Some(Indexed { value: 1.0, index }));
    });
}

fn a_scan_of_more_than_two_to_the_32_elements_is_right_on_cuda() {
    with_cuda(|cuda| {
        let len = (1 << 32) + 9;
        let places = places(len);
        let Some(mut array) = zeros_but(cuda, len, &places, 1u32) else {
            return;
        };
        let mut scanner = Scanner::new(Sum::<u32>::new(), cuda, len).expect("the words should fit");
        scanner.launch_in_place(&mut array, Form::Inclusive).expect("it should launch");
        let sum_at = |place: usize| {
            let mut sum = 0u32;
            let at = array.address() + (place * size_of::<u32>()) as u64;
            // SAFETY: every index is inside the buffer, which is live. The copy waits for the scan.
            unsafe { cuda.backend().download(at, bytemuck::bytes_of_mut(&mut sum)) }
                .expect("a sum should be copied");
            sum as usize
        };
        for &place in &places {
            let up_to = |end: usize| places.iter().filter(|&&one| one <= end).count();
            assert_eq!(sum_at(place), up_to(place), "at {place}");
            let next = (place + 1).min(len - 1);
            assert_eq!(sum_at(next), up_to(next), "at {next}");
        }
    });
}

fn a_selection_from_more_than_two_to_the_32_elements_is_right_on_cuda() {
    with_cuda(|cuda| {
        let len = (1 << 32) + 9;
        let mut places = places(len);
        places.sort_unstable();
        let Some(input) = zeros_but(cuda, len, &places, 7u32) else {
            return;
        };
        let by = Within::<u32>::nonzero();
        let (kept, positions) = match select_with_positions(by, &input) {
            Err(error @ DeviceError::OutOfMemory { .. }) => return skipped(&error.to_string()),
            selected => selected.expect("it should run"),
        };
        let kept = kept.download().expect("the results are there");
        assert_eq!(kept, vec![7; places.len()]);
        let positions = positions.download().expect("the results are there");
        let expected: Vec<u64> = places.iter().map(|&place| place as u64).collect();
        assert_eq!(positions, expected);
        // The other way round: zeros are written beyond 2^32.
        let [zeros, rest] = match partition(by.others(), &input) {
            Err(error @ DeviceError::OutOfMemory { .. }) => return skipped(&error.to_string()),
            parts => parts.expect("it should run"),
        };
        assert_eq!(zeros.len(), len - places.len());
        let last = zeros.buffer().download_part(zeros.len() - 3..zeros.len());
        assert_eq!(last, Ok(vec![0; 3]));
        assert_eq!(rest.download(), Ok(kept));
    });
}

fn a_sort_of_more_than_two_to_the_32_elements_is_right_on_cuda() {
    with_cuda(|cuda| {
        let len = (1 << 32) + 9;
        let mut places = places(len);
        places.sort_unstable();
        // Both digits differ, so that both passes run.
        let Some(mut keys) = zeros_but(cuda, len, &places, 0x0101u16) else {
            return;
        };
        let mut sorter = Sorter::new(cuda, len).expect("the workspace should fit");
        let ones = places.len();
        match cuda.alloc::<u64>(len).and_then(|mut indices| {
            sorter.launch_argsort(Order::DESCENDING, &keys, &mut indices)?;
            Ok([indices.download_part(0..ones + 2)?, indices.download_part(len - 2..len)?])
        }) {
            Err(error @ DeviceError::OutOfMemory { .. }) => skipped(&error.to_string()),
            Err(error) => panic!("{error}"),
            Ok([first, last]) => {
                // The last element is one of the places, and so is not among the zeros.
                let expected = places.iter().map(|&place| place as u64).chain([1, 2]);
                assert!(first.iter().copied().eq(expected), "{first:?}");
                assert_eq!(last, [len as u64 - 3, len as u64 - 2]);
            }
        }
        sorter.launch_in_place(Order::ASCENDING, &mut keys).expect("it should launch");
        let end = keys.download_part(len - ones - 2..len).expect("the result is there");
        assert_eq!(end, [vec![0; 2], vec![0x0101; ones]].concat());
    });
}

fn a_histogram_of_more_than_two_to_the_32_elements_is_right_on_cuda() {
    with_cuda(|cuda| {
        let len = (1 << 32) + 9;
        let places = places(len);
        let Some(input) = zeros_but(cuda, len, &places, 3u16) else {
            return;
        };
        let right = [(len - places.len()) as u64, 0, 0, places.len() as u64];
        // In columns, and in half words.
        for last in [3, 59_999] {
            let bins = Bins::numbers(0..=last).expect("there are bins");
            let mut histogram = Histogram::new(cuda, bins).expect("the workspace should fit");
            let mut counts = cuda.alloc::<u64>(usize::from(last) + 1).expect("a few bytes");
            histogram.launch(&input, &mut counts).expect("it should launch");
            assert_eq!(counts.download_part(0..4), Ok(right.to_vec()), "{last}");
            let mut narrow = cuda.alloc::<u32>(usize::from(last) + 1).expect("a few bytes");
            let error = histogram.launch(&input, &mut narrow).expect_err("it could overflow");
            assert!(error.to_string().contains("64 bits"), "{error}");
        }
    });
}
