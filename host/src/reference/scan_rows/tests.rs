//! Tests of the scan of rows.

use super::super::scan;
use super::*;
use gridsync_kernels::op::{Max, Sum};
use std::fmt::Debug;

/// Compares with a segmented scan of the whole. The results must be bit-identical.
fn agrees<O>(of: fn(u64) -> O::Element, len: usize, columns: usize, part: usize)
where
    O: ScanOperation<Output: Debug> + Default,
{
    let drawn = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let input: Vec<_> = (0..len).map(|i| of(drawn(i))).collect();
    let segments = InSegments::<O>::new(Segments::rows(columns as u64));
    for form in [Form::Inclusive, Form::Exclusive] {
        let expected = scan(segments, &input, form);
        let mut rows = RowScan::<O>::new(len, columns, form).expect("there is room");
        let mut output = vec![O::Output::default(); len];
        let part = part.next_multiple_of(RowScan::<O>::tile(len));
        for (input, output) in input.chunks(part).zip(output.chunks_mut(part)) {
            rows.next(input, output);
        }
        // As text, which distinguishes -0 from 0.
        let same = |at: &usize| format!("{:?}", output[*at]) == format!("{:?}", expected[*at]);
        let differs = (0..len).find(|at| !same(at));
        assert_eq!(differs, None, "{form:?} of {len} in rows of {columns}");
    }
}

#[test]
fn rows_are_bit_identical_to_a_segmented_scan() {
    // A quarter is -0, which a sum with +0 would lose.
    let f32_of = |bits: u64| {
        if bits.is_multiple_of(4) { -0.0 } else { (bits >> 40) as f32 / 1e3 - 5e3 }
    };
    let f64_of = |bits: u64| (bits >> 20) as f64 / 1e9 - 5e3;
    for columns in
        [1, 2, 3, 4, 5, 6, 8, 64, 96, 100, 127, 128, 129, 4095, 4096, 5000, 70_000, 1 << 30]
    {
        for len in [1, 130, 20_001, 300_000] {
            agrees::<Sum<f32>>(f32_of, len, columns, 50_000);
            agrees::<Sum<f32, f64>>(f32_of, len, columns, 50_000);
            agrees::<Sum<f64>>(f64_of, len, columns, 50_000);
        }
    }
    // More than one group of tiles, and several times as many tiles as are scanned at a time.
    agrees::<Sum<f32>>(f32_of, (3 << 20) + 77, 1_000_003, 1 << 20);
}

#[test]
fn rows_of_exact_operations_can_be_cut_anywhere() {
    for columns in [1, 3, 1000, CHUNK - 1, CHUNK, CHUNK + 1, 1 << 20] {
        let len = 3 * CHUNK + 17;
        agrees::<Sum<i32, i64>>(|bits| (bits >> 32) as i32, len, columns, 100_000);
        agrees::<Max<f32>>(|bits| (bits >> 40) as f32, len, columns, 100_000);
    }
}
