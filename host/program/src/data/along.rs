//! The lines of an array along one of its dimensions.

use super::Array;
use super::array::Aligned;
use super::transpose::transpose_each;
use bytemuck::Pod;
use gridsync::memory::{self, NoRoom};

/// Where the lines of an array along one of its dimensions are: the rows of a matrix, or its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Along {
    /// How many times the dimensions before it repeat it.
    outer: usize,
    len: usize,
    /// Elements from one of a line to the next.
    inner: usize,
}

impl Along {
    /// The lines along dimension `axis` of an array of this shape. None if they are too many to count.
    ///
    /// # Panics
    /// If the array has no such dimension.
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

    /// How many lines there are.
    #[must_use]
    pub fn lines(self) -> usize {
        self.outer * self.inner
    }

    /// Elements of a line.
    #[must_use]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether lines have no elements.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The array with its lines one after the other, each as it stands: as `numpy.moveaxis(x, axis, -1)`.
    ///
    /// # Errors
    /// [`NoRoom`] for a second array.
    pub fn gather(self, array: Array) -> Result<Array, NoRoom> {
        if self.is_in_place() || array.is_empty() {
            return Ok(array);
        }
        let mut to = Aligned::zeroed(array.bytes().len())?;
        let size = array.dtype().size();
        transpose_each(array.bytes(), to.bytes_mut(), size, (self.len, self.inner));
        Ok(array.with_data(to))
    }

    /// The elements of lines that stand one after the other, each where it stands in the array.
    ///
    /// # Errors
    /// [`NoRoom`] for a second array.
    pub fn scatter<T: Pod>(self, lines: Vec<T>) -> Result<Vec<T>, NoRoom> {
        if self.is_in_place() || lines.is_empty() {
            return Ok(lines);
        }
        let mut to = memory::zeroed::<T>(lines.len())?;
        let (from, into) = (bytemuck::cast_slice(&lines), bytemuck::cast_slice_mut(&mut to));
        transpose_each(from, into, size_of::<T>(), (self.inner, self.len));
        Ok(to)
    }

    /// The index in the array of element `at` of the lines one after the other.
    #[must_use]
    pub fn place(self, at: usize) -> usize {
        let (line, within) = (at / self.len, at % self.len);
        (line / self.inner * self.len + within) * self.inner + line % self.inner
    }

    /// Whether lines stand one after the other in the array.
    fn is_in_place(self) -> bool {
        self.inner == 1 || self.len == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dtype;

    fn array(shape: &[u64]) -> Array {
        let elements: Vec<u32> = (0..shape.iter().product::<u64>() as u32).collect();
        let bytes = bytemuck::cast_slice(&elements).to_vec();
        Array::new(Dtype::U32, shape.to_vec(), Aligned::from_vec(bytes).unwrap())
    }

    #[test]
    fn lines_are_gathered_and_scattered_along_any_dimension() {
        let shape = [3u64, 65, 2, 33];
        for axis in 0..shape.len() {
            let along = Along::of(&shape, axis).unwrap();
            let gathered = along.gather(array(&shape)).unwrap();
            let gathered = gathered.as_slice::<u32>().unwrap();
            let apart: u64 = shape[axis + 1..].iter().product();
            for (line, elements) in gathered.chunks(along.len()).enumerate() {
                let each = elements.windows(2).all(|two| u64::from(two[1] - two[0]) == apart);
                assert!(each, "line {line} along {axis}");
            }
            assert_eq!(gathered.len(), along.lines() * along.len());
            for (at, &element) in gathered.iter().enumerate() {
                assert_eq!(along.place(at), element as usize, "{at} along {axis}");
            }
            let back = along.scatter(gathered.to_vec()).unwrap();
            assert!(back.into_iter().eq(0..gathered.len() as u32), "along {axis}");
        }
    }

    #[test]
    fn lines_that_are_too_many_are_not_counted() {
        assert!(Along::of(&[1 << 40, 0, 1 << 40], 1).is_none());
        assert_eq!(Along::of(&[1 << 40, 0, 7], 1).map(Along::lines), Some(7 << 40));
        assert_eq!(Along::of(&[5], 0).map(Along::lines), Some(1));
    }
}
