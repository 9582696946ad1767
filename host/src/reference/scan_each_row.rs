//! The scan of each row of a matrix, with the bits of a [`Scan`] of the row alone.

use super::scan::{Blocks, LANES, Scan, lanes_before, scan_tile};
use crate::memory::NoRoom;
use crate::parallel::{self, CHUNK};
use cuda_std::memory::Scalar;
use gridsync_kernels::grid::scan::{Form, ScanOperation, Shape};

/// Scans each row of `columns` elements of `input`, on all cores, and writes a result for each
/// element. A row has the bits of a [`scan`](super::scan()) of the row alone.
///
/// # Errors
/// [`NoRoom`] for the accumulators of some tiles of a long row.
///
/// # Panics
/// If `input` is not whole rows, or the numbers of results and elements differ.
pub fn scan_each_row<O: ScanOperation>(
    op: O,
    input: &[O::Element],
    columns: usize,
    form: Form,
    output: &mut [O::Output],
) -> Result<(), NoRoom> {
    assert_eq!(input.len(), output.len(), "a result for each element");
    if input.is_empty() {
        return Ok(());
    }
    assert!(input.len().is_multiple_of(columns), "whole rows");
    if columns > CHUNK {
        for (row, results) in input.chunks(columns).zip(output.chunks_mut(columns)) {
            Scan::new(op, columns, form)?.next(row, results);
        }
        return Ok(());
    }
    let shape = Shape::of::<O::Element, O::Accumulator>(columns);
    let tile = shape.tile::<O::Element>().min(columns);
    let is_short = columns <= Shape::row::<O::Element>();
    let few = CHUNK / columns * columns;
    parallel::for_each(input.chunks(few).zip(output.chunks_mut(few)), &|_, (input, output)| {
        let mut in_tile = vec![op.identity(); tile];
        for (row, results) in input.chunks(columns).zip(output.chunks_mut(columns)) {
            if is_short {
                scan_short_row(op, row, form, results);
            } else {
                scan_row(op, shape, row, form, &mut in_tile, results);
            }
        }
    });
    Ok(())
}

/// Scans a row on one core. `in_tile` has room for the results of a tile.
fn scan_row<O: ScanOperation>(
    op: O,
    shape: Shape,
    row: &[O::Element],
    form: Form,
    in_tile: &mut [O::Accumulator],
    results: &mut [O::Output],
) {
    let tile = in_tile.len();
    let (mut group, mut base) = (Blocks::of(op, shape.group, 0), op.identity());
    let tiles = row.chunks(tile).zip(results.chunks_mut(tile));
    for ((row, results), first) in tiles.zip((0..).step_by(tile)) {
        let in_tile = &mut in_tile[..row.len()];
        let mut prefix = [scan_tile(op, shape, row, first, in_tile, form)];
        group.take(op, &mut base, &mut prefix);
        for (result, &all) in results.iter_mut().zip(&*in_tile) {
            *result = op.finish(op.combine(prefix[0], all));
        }
    }
}

/// Scans a row of at most one pack per lane of a warp on one core. All else is the identity, which
/// changes no bits.
fn scan_short_row<O: ScanOperation>(
    op: O,
    row: &[O::Element],
    form: Form,
    results: &mut [O::Output],
) {
    let width = O::Element::PACK;
    let mut lanes = [op.identity(); LANES];
    let packs = row.chunks(width).zip((0..).step_by(width));
    let count = row.len().div_ceil(width);
    for (lane, (pack, first)) in lanes.iter_mut().zip(packs.clone()) {
        for (&x, index) in pack.iter().zip(first..) {
            *lane = op.combine(*lane, op.lift(x, index));
        }
    }
    for distance in [1, 2, 4, 8, 16] {
        for lane in (distance..count).rev() {
            lanes[lane] = op.combine(lanes[lane - distance], lanes[lane]);
        }
    }
    for ((lane, (pack, first)), results) in packs.enumerate().zip(results.chunks_mut(width)) {
        let before = lanes_before(op, &lanes, lane);
        let mut packed = op.identity();
        for ((&x, index), result) in pack.iter().zip(first..).zip(results) {
            let with_x = op.combine(packed, op.lift(x, index));
            let in_pack = match form {
                Form::Inclusive => with_x,
                Form::Exclusive => op.before(packed, index),
            };
            *result = op.finish(op.combine(before, in_pack));
            packed = with_x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;
    use bytemuck::Pod;
    use gridsync_kernels::op::{Max, Product, Sum};

    fn rows_have_their_own_bits<O: ScanOperation<Element = f32, Output: Pod>>(op: O) {
        let drawn = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for (rows, columns) in [
            (1, 1),
            (700, 3),
            (90, 17),
            (300, 128),
            (30, 129),
            (9, 1025),
            (3, 70_001),
            (2, CHUNK + 1),
        ] {
            let input: Vec<f32> =
                (0..rows * columns).map(|i| (drawn(i) >> 40) as f32 / 1e7 - 0.1).collect();
            for form in [Form::Inclusive, Form::Exclusive] {
                let mut output = vec![O::Output::default(); input.len()];
                scan_each_row(op, &input, columns, form, &mut output).expect("there is room");
                for (row, results) in input.chunks(columns).zip(output.chunks(columns)) {
                    let expected = scan(op, row, form);
                    let bits = |all| bytemuck::cast_slice::<O::Output, u8>(all).to_vec();
                    assert_eq!(bits(results), bits(&expected), "{form:?}, {rows} of {columns}");
                }
            }
        }
    }

    #[test]
    fn each_row_has_the_bits_of_a_scan_of_it_alone() {
        rows_have_their_own_bits(Sum::<f32>::new());
        rows_have_their_own_bits(Sum::<f32, f64>::new());
        rows_have_their_own_bits(Product::<f32>::new());
        rows_have_their_own_bits(Max::<f32>::new());
    }

    #[test]
    fn a_matrix_without_elements_has_no_results() {
        scan_each_row(Sum::<f32>::new(), &[], 0, Form::Inclusive, &mut []).expect("there is room");
    }
}
