//! The lines of an array along one of its dimensions.

use super::transpose::transpose_each;
use bytemuck::Pod;
use gridsync::memory::{self, NoRoom};
use std::borrow::Cow;

/// The lines of an array along one of its dimensions, such as the rows or the columns of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Along {
    /// Product of the dimensions before it.
    outer: usize,
    len: usize,
    /// Distance between consecutive elements of a line.
    inner: usize,
}

impl Along {
    /// The lines along dimension `axis` of an array of this shape, or `None` if there are too many
    /// to count.
    ///
    /// # Panics
    /// If the array does not have this dimension.
    #[must_use]
    pub fn of(shape: &[u64], axis: usize) -> Option<Self> {
        let product = |dimensions: &[u64]| {
            let product = dimensions.iter().try_fold(1u64, |all, &n| all.checked_mul(n))?;
            usize::try_from(product).ok()
        };
        let (outer, inner) = (product(&shape[..axis])?, product(&shape[axis + 1..])?);
        outer.checked_mul(inner)?;
        Some(Self { outer, len: usize::try_from(shape[axis]).ok()?, inner })
    }

    /// The number of lines.
    #[must_use]
    pub fn lines(self) -> usize {
        self.outer * self.inner
    }

    /// Elements of a line.
    #[must_use]
    pub fn len(self) -> usize {
        self.len
    }

    /// Lines of `len` elements, as many of them as these, which interleave in the same way.
    #[must_use]
    pub fn of_len(self, len: usize) -> Self {
        Self { len, ..self }
    }

    /// Whether lines have no elements.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Elements of a block, which consists of lines that interleave. The array is a sequence of
    /// blocks.
    #[must_use]
    pub fn block(self) -> usize {
        self.len.saturating_mul(self.inner)
    }

    /// The elements of some blocks, reordered so that each line is contiguous, as by
    /// `numpy.moveaxis(x, axis, -1)`.
    ///
    /// # Errors
    /// [`NoRoom`] if a second array does not fit in memory.
    pub fn gathered<T: Pod>(self, blocks: &[T]) -> Result<Cow<'_, [T]>, NoRoom> {
        self.transposed(blocks, (self.len, self.inner))
    }

    /// The inverse of [`gathered`](Self::gathered): puts the elements of contiguous lines back in
    /// their order in the blocks.
    ///
    /// # Errors
    /// [`NoRoom`] if a second array does not fit in memory.
    pub fn scattered<T: Pod>(self, lines: &[T]) -> Result<Cow<'_, [T]>, NoRoom> {
        self.transposed(lines, (self.inner, self.len))
    }

    fn transposed<T: Pod>(
        self,
        from: &[T],
        (rows, columns): (usize, usize),
    ) -> Result<Cow<'_, [T]>, NoRoom> {
        if self.is_in_place() || from.is_empty() {
            return Ok(Cow::Borrowed(from));
        }
        let mut to = memory::zeroed::<T>(from.len())?;
        let into = bytemuck::cast_slice_mut(&mut to);
        transpose_each(bytemuck::cast_slice(from), into, size_of::<T>(), (rows, columns));
        Ok(Cow::Owned(to))
    }

    /// The index in the array of element `at` of [`gathered`](Self::gathered).
    #[must_use]
    pub fn place(self, at: usize) -> usize {
        let (line, within) = (at / self.len, at % self.len);
        (line / self.inner * self.len + within) * self.inner + line % self.inner
    }

    /// Whether each line is contiguous in the array.
    #[must_use]
    pub fn is_in_place(self) -> bool {
        self.inner == 1 || self.len == 1
    }
}

/// The elements of an array of this shape with some dimensions, in ascending order, moved to the
/// end, as by `numpy.moveaxis`.
///
/// # Errors
/// [`NoRoom`] if a second or third array does not fit in memory.
///
/// # Panics
/// If the array does not have these dimensions.
pub fn moved_to_the_end<'a, T: Pod>(
    array: &'a [T],
    shape: &[u64],
    dimensions: &[usize],
) -> Result<Cow<'a, [T]>, NoRoom> {
    let (mut moved, mut shape) = (Cow::Borrowed(array), shape.to_vec());
    for (before, &dimension) in dimensions.iter().enumerate() {
        let dimension = dimension - before;
        let along = Along::of(&shape, dimension).expect("the array is in memory");
        if let Cow::Owned(next) = along.gathered(&moved)? {
            moved = Cow::Owned(next);
        }
        let len = shape.remove(dimension);
        shape.push(len);
    }
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_dimensions_move_to_the_end_in_their_order() {
        let shape = [3u64, 5, 2, 4];
        let array = array(&shape);
        let at = |[a, b, c, d]: [u32; 4]| ((a * 5 + b) * 2 + c) * 4 + d;
        let moved = moved_to_the_end(&array, &shape, &[0, 2]).unwrap();
        let mut expected = Vec::new();
        for (b, d) in (0..5).flat_map(|b| (0..4).map(move |d| (b, d))) {
            for (a, c) in (0..3).flat_map(|a| (0..2).map(move |c| (a, c))) {
                expected.push(at([a, b, c, d]));
            }
        }
        assert_eq!(moved[..], expected);
        assert_eq!(moved_to_the_end(&array, &shape, &[2, 3]).unwrap()[..], array);
    }

    fn array(shape: &[u64]) -> Vec<u32> {
        (0..shape.iter().product::<u64>() as u32).collect()
    }

    #[test]
    fn lines_are_gathered_and_scattered_along_any_dimension() {
        let shape = [3u64, 65, 2, 33];
        for axis in 0..shape.len() {
            let along = Along::of(&shape, axis).unwrap();
            let array = array(&shape);
            let gathered = along.gathered(&array).unwrap();
            let apart: u64 = shape[axis + 1..].iter().product();
            for (line, elements) in gathered.chunks(along.len()).enumerate() {
                let each = elements.windows(2).all(|two| u64::from(two[1] - two[0]) == apart);
                assert!(each, "line {line} along {axis}");
            }
            assert_eq!(gathered.len(), along.lines() * along.len());
            for (at, &element) in gathered.iter().enumerate() {
                assert_eq!(along.place(at), element as usize, "{at} along {axis}");
            }
            let back = along.scattered(&gathered).unwrap();
            assert_eq!(back[..], array, "along {axis}");
        }
    }

    #[test]
    fn too_many_lines_to_count_are_none() {
        assert!(Along::of(&[1 << 40, 0, 1 << 40], 1).is_none());
        assert_eq!(Along::of(&[1 << 40, 0, 7], 1).map(Along::lines), Some(7 << 40));
        assert_eq!(Along::of(&[5], 0).map(Along::lines), Some(1));
    }
}
