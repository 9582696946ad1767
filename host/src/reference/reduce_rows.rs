//! The reduction of the rows of a matrix.

use super::reduce::{LANES, by_pairs, reduce, take_all, take_run};
use crate::parallel;
use cuda_std::memory::Scalar;
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::Operation;

/// Elements that a core processes at once, if they are whole rows.
const CHUNK: usize = 1 << 12;

/// Reduces each of `rows` rows of `columns` elements of `input` by `op`, bit-identical to
/// [`reduce`] of that row alone. Empty rows give the result for the operation's identity.
///
/// # Panics
/// If `input` does not have `rows × columns` elements.
pub fn reduce_rows<O: Operation>(
    op: O,
    input: &[O::Element],
    rows: usize,
    columns: usize,
) -> Vec<O::Output>
where
    O::Output: Send,
{
    assert_eq!(
        Some(input.len()),
        rows.checked_mul(columns),
        "the elements of {rows} rows of {columns}"
    );
    let mut results = vec![reduce(op, &[]); rows];
    if columns == 0 {
        return results;
    }
    let together = CHUNK.div_ceil(columns);
    let matrix = input.chunks(together * columns);
    let pieces = matrix.zip(results.chunks_mut(together));
    parallel::for_each(pieces, &move |_, (rows, results)| {
        let rows = rows.chunks_exact(columns).zip(results);
        if O::EXACT && columns <= CHUNK {
            rows.for_each(|(row, result)| {
                *result = op.finish_of(take_all(op, row, 0), columns as u64);
            });
            return;
        }
        if columns > Shape::run::<O::Element>() || !O::COMMUTATIVE {
            rows.for_each(|(row, result)| *result = reduce(op, row));
            return;
        }
        // All other positions of the tree hold the identity.
        let count = (LANES * O::Element::PACK).min(columns.next_power_of_two());
        let mut places = Vec::with_capacity(count);
        for (row, result) in rows {
            places.clear();
            places.resize(count, op.identity());
            take_run(op, &mut places, row, 0);
            *result = op.finish_of(by_pairs(op, &mut places), columns as u64);
        }
    });
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_kernels::op::{Affine, Compose, Sum};

    /// Pseudorandom odd numbers, so that a map loses nothing of the maps before it.
    fn drawn(len: usize) -> impl Iterator<Item = u64> {
        (1..=len as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7) | 1)
    }

    const COLUMNS: [usize; 10] = [0, 1, 5, 16, 127, 129, 1023, 1024, 1025, 9000];

    #[test]
    fn each_row_is_bit_identical_to_its_own_reduction() {
        for columns in COLUMNS {
            let input: Vec<f32> = drawn(7 * columns).map(|x| x as f32 / 1e9).collect();
            let rows = reduce_rows(Sum::<f32>::new(), &input, 7, columns);
            let alone = |row: usize| reduce(Sum::<f32>::new(), &input[row * columns..][..columns]);
            let bits: Vec<u32> = rows.iter().map(|x| x.to_bits()).collect();
            let expected: Vec<u32> = (0..7).map(|row| alone(row).to_bits()).collect();
            assert_eq!(bits, expected, "{columns} columns");
        }
    }

    #[test]
    fn the_maps_of_each_row_are_composed_in_order() {
        for columns in COLUMNS {
            let input: Vec<u64> = drawn(3 * columns).collect();
            let rows = reduce_rows(Compose::new(), &input, 3, columns);
            for (row, composed) in rows.into_iter().enumerate() {
                let maps = input[row * columns..][..columns].iter();
                let one_by_one = maps.fold(7, |x, &bits| Affine::from_bits(bits).of(x));
                assert_eq!(composed.of(7), one_by_one, "row {row} of {columns} columns");
            }
        }
    }
}
