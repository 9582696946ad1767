//! Converts from Fortran order to C order.

use super::array::Aligned;
use gridsync::memory::NoRoom;
use gridsync::parallel;

/// Rows and columns that are moved together, so that they touch few pages and use whole cache
/// lines.
const BLOCK: usize = 32;

/// Converts an array of this shape from Fortran order to C order; each element has `size` bytes.
///
/// # Errors
/// [`NoRoom`] if a second array does not fit in memory.
pub(super) fn from_fortran(data: Aligned, size: usize, shape: &[u64]) -> Result<Aligned, NoRoom> {
    let mut from = data;
    if from.bytes().is_empty() {
        return Ok(from);
    }
    let mut to = Aligned::zeroed(from.bytes().len())?;
    // In Fortran order the first dimension varies fastest. Each step makes one dimension slower
    // than all remaining ones: it transposes a matrix whose rows are along that dimension.
    let elements = from.bytes().len() / size;
    let mut fixed = 1;
    for &dimension in &shape[..shape.len().saturating_sub(1)] {
        let columns = dimension as usize;
        let rows = elements / fixed / columns;
        transpose_each(from.bytes(), to.bytes_mut(), size, (rows, columns));
        std::mem::swap(&mut from, &mut to);
        fixed *= columns;
    }
    Ok(from)
}

/// Transposes each of a sequence of matrices with this many rows and columns. Elements have `size`
/// bytes.
pub(super) fn transpose_each(
    from: &[u8],
    to: &mut [u8],
    size: usize,
    (rows, columns): (usize, usize),
) {
    let apart = rows * columns * size;
    let transpose = match size {
        1 => transpose::<u8>,
        2 => transpose::<u16>,
        4 => transpose::<u32>,
        _ => transpose::<u64>,
    };
    let matrices = from.chunks(apart).zip(to.chunks_mut(apart));
    parallel::for_each(matrices, &|_, (from, to)| transpose(from, to, columns));
}

/// Transposes a matrix of `columns` columns.
fn transpose<T: bytemuck::Pod + Send + Sync>(from: &[u8], to: &mut [u8], columns: usize) {
    let (from, to): (&[T], &mut [T]) = (bytemuck::cast_slice(from), bytemuck::cast_slice_mut(to));
    let rows = from.len() / columns;
    parallel::for_each(to.chunks_mut(BLOCK * rows), &move |number, to| {
        let first = number * BLOCK;
        for start in (0..rows).step_by(BLOCK) {
            let end = rows.min(start + BLOCK);
            for (column, to) in to.chunks_mut(rows).enumerate() {
                for row in start..end {
                    to[row] = from[row * columns + first + column];
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected result, by the definition of both orders.
    fn one_by_one(from: &[u32], shape: &[u64]) -> Vec<u32> {
        let mut index = vec![0u64; shape.len()];
        (0..from.len())
            .map(|_| {
                let (mut at, mut stride) = (0, 1);
                for (i, n) in index.iter().zip(shape) {
                    at += i * stride;
                    stride *= n;
                }
                // The last index varies fastest.
                for (i, n) in index.iter_mut().zip(shape).rev() {
                    *i += 1;
                    if *i < *n {
                        break;
                    }
                    *i = 0;
                }
                from[at as usize]
            })
            .collect()
    }

    #[test]
    fn every_element_moves_to_its_index_in_c_order() {
        for shape in [
            &[2, 3][..],
            &[3, 2],
            &[1, 5],
            &[5, 1],
            &[100, 70],
            &[33, 31],
            &[2, 3, 4],
            &[4, 1, 3, 2],
            &[7],
            &[],
            &[40, 41, 3],
        ] {
            let len: u64 = shape.iter().product();
            let from: Vec<u32> = (0..len as u32).collect();
            let bytes = bytemuck::cast_slice(&from).to_vec();
            let data = Aligned::from_vec(bytes).expect("there is room");
            let to = from_fortran(data, 4, shape).expect("there is room");
            let to: &[u32] = bytemuck::cast_slice(to.bytes());
            assert_eq!(to, one_by_one(&from, shape), "{shape:?}");
        }
    }
}
