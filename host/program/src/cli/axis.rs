//! `--rows` and `--axis`: which lines of an array are processed separately.

use super::exit::Usage;
use crate::data::{Along, Incoming};
use bytemuck::Pod;
use gridsync::memory::NoRoom;
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

#[derive(Clone, Copy, Debug, clap::Args)]
#[group(id = "lines", multiple = false)]
pub(super) struct Axis {
    /// Process each row of the array separately, along its last dimension.
    #[arg(long)]
    rows: bool,
    /// Like --rows, along another dimension: 0 is the first one, -1 the last one, as in NumPy. reduce
    /// also takes several: 0,2.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    axis: Option<Dimensions>,
}

/// The most dimensions of `--axis`.
const MOST: usize = 8;

/// Numbers of dimensions, negative ones from the end.
#[derive(Clone, Copy, Debug)]
struct Dimensions {
    numbers: [i64; MOST],
    count: usize,
}

impl Dimensions {
    fn all(&self) -> &[i64] {
        &self.numbers[..self.count]
    }
}

impl FromStr for Dimensions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self { numbers: [0; MOST], count: 0 };
        for part in text.split(',') {
            let number = part.trim().parse();
            let number =
                number.map_err(|_| format!("{part:?} is not the number of a dimension"))?;
            let next = all.numbers.get_mut(all.count);
            *next.ok_or_else(|| format!("more than {MOST} dimensions"))? = number;
            all.count += 1;
        }
        Ok(all)
    }
}

impl Display for Dimensions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.all().iter().map(i64::to_string).collect();
        f.write_str(&numbers.join(","))
    }
}

/// The lines of an array along one or more of its dimensions.
pub(super) struct Reduced {
    /// The lines of the array, or of the array where the dimensions have been moved to the end.
    pub(super) along: Along,
    /// The dimensions to move, if lines along them have no constant distance between elements.
    pub(super) moved: Option<Vec<usize>>,
    /// The other dimensions.
    pub(super) kept: Vec<u64>,
}

impl Axis {
    /// Whether `--rows` or `--axis` is given.
    pub(super) fn is_asked(self) -> bool {
        self.rows || self.axis.is_some()
    }

    /// The flag that was given.
    pub(super) fn flag(self) -> &'static str {
        match self.axis {
            None => "--rows",
            Some(_) => "--axis",
        }
    }

    /// The index of the dimension in an array of this shape.
    pub(super) fn number(self, shape: &[u64]) -> Result<usize, Usage> {
        let dimensions = shape.len();
        if dimensions == 0 {
            return Err(Usage(format!(
                "{} needs an array of one dimension or more, but this one has none",
                self.flag()
            )));
        }
        match self.numbers(shape)?[..] {
            [number] => Ok(number),
            _ => Err(Usage("--axis has several dimensions, which only reduce takes".into())),
        }
    }

    /// The indices of all dimensions that were asked for, in ascending order.
    fn numbers(self, shape: &[u64]) -> Result<Vec<usize>, Usage> {
        let dimensions = shape.len();
        let last = Dimensions { numbers: [-1; MOST], count: 1 };
        let index = |&axis: &i64| {
            let from_the_end = if axis < 0 { dimensions as i64 } else { 0 };
            let number = axis.checked_add(from_the_end).and_then(|axis| usize::try_from(axis).ok());
            number.filter(|&number| number < dimensions).ok_or_else(|| {
                Usage(format!(
                    "--axis {axis} is not one of the {dimensions} dimensions of the array, whose shape is {shape:?}: use 0 to {}, or -{dimensions} to -1",
                    dimensions.saturating_sub(1)
                ))
            })
        };
        let asked = self.axis.unwrap_or(last);
        let mut numbers = asked.all().iter().map(index).collect::<Result<Vec<_>, _>>()?;
        numbers.sort_unstable();
        if numbers.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Usage(format!("--axis {asked} names a dimension twice")));
        }
        Ok(numbers)
    }

    /// The lines of an array of this shape along all dimensions that were asked for.
    pub(super) fn reduced(self, shape: &[u64]) -> Result<Reduced, Usage> {
        let too_many = || Usage(format!("an array of shape {shape:?} has too many lines"));
        // Fails if the array has none.
        if self.axis.is_none_or(|axis| axis.count == 1) {
            self.number(shape)?;
        }
        let numbers = self.numbers(shape)?;
        let (first, count) = (numbers[0], numbers.len());
        let others = shape.iter().enumerate().filter(|(number, _)| !numbers.contains(number));
        let kept: Vec<u64> = others.map(|(_, &len)| len).collect();
        let product = |dimensions: &[u64]| {
            dimensions.iter().try_fold(1u64, |all, &len| all.checked_mul(len)).ok_or_else(too_many)
        };
        let reduced: Vec<u64> = numbers.iter().map(|&number| shape[number]).collect();
        let len = product(&reduced)?;
        let is_together = numbers[count - 1] - first == count - 1;
        // Adjacent dimensions are one of their product.
        let as_one = if is_together {
            [&shape[..first], &[len], &shape[first + count..]].concat()
        } else {
            vec![product(&kept)?, len]
        };
        let axis = if is_together { first } else { 1 };
        let along = Along::of(&as_one, axis).ok_or_else(too_many)?;
        Ok(Reduced { along, moved: (!is_together).then_some(numbers), kept })
    }

    /// The lines of an array of this shape.
    pub(super) fn along(self, shape: &[u64]) -> Result<Along, Usage> {
        let too_many = || Usage(format!("an array of shape {shape:?} has too many lines"));
        Along::of(shape, self.number(shape)?).ok_or_else(too_many)
    }

    /// The lines of `input` as the rows of a matrix, or all of it as one row.
    pub(super) fn matrix(self, input: &Incoming) -> Result<Matrix, Usage> {
        if !self.is_asked() {
            return Ok(Matrix { along: None, shape: vec![input.len() as u64] });
        }
        let along = self.along(input.shape())?;
        let axis = self.number(input.shape())?;
        Ok(Matrix { along: Some((along, axis)), shape: input.shape().to_vec() })
    }

    /// Describes the lines.
    pub(super) fn text(self, along: Along) -> String {
        match self.axis {
            None => format!("each of {} rows of {}", along.lines(), along.len()),
            Some(axis) => {
                let axes = if axis.count == 1 { "axis" } else { "axes" };
                format!("each of {} lines of {} along {axes} {axis}", along.lines(), along.len())
            }
        }
    }
}

/// An array as a matrix, whose rows are processed separately.
pub(super) struct Matrix {
    /// Its lines, and the dimension along which they are.
    along: Option<(Along, usize)>,
    shape: Vec<u64>,
}

impl Matrix {
    /// The lines, if they were asked for.
    pub(super) fn along(&self) -> Option<Along> {
        self.along.map(|(along, _)| along)
    }

    /// The shape of the array; one dimension if it is one row.
    pub(super) fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }

    /// The dimensions of one result for each row.
    pub(super) fn shape_of_rows(&self) -> Vec<u64> {
        let dropped = self.along.map_or(0, |(_, axis)| axis);
        let kept = self.shape.iter().enumerate().filter(|&(dimension, _)| dimension != dropped);
        kept.map(|(_, &len)| len).collect()
    }

    /// The number of rows, and the elements of each.
    pub(super) fn size(&self) -> (usize, usize) {
        self.along().map_or_else(|| (1, self.len()), |along| (along.lines(), along.len()))
    }

    /// Whether the lines are not contiguous in the array.
    pub(super) fn interleaves(&self) -> bool {
        self.along().is_some_and(|along| !along.is_in_place())
    }

    /// The elements of whole rows, about `part` and at least one row.
    pub(super) fn whole_rows(&self, part: usize) -> usize {
        let columns = self.size().1.max(1);
        (part / columns).max(1).saturating_mul(columns)
    }

    /// The same with `k` elements in each row.
    pub(super) fn of(&self, k: usize) -> Self {
        let mut shape = self.shape.clone();
        let along = self.along.map(|(along, axis)| (along.of_len(k), axis));
        shape[along.map_or(0, |(_, axis)| axis)] = k as u64;
        Self { along, shape }
    }

    /// The elements of `array` with each row contiguous.
    pub(super) fn gathered<'a, T: Pod>(&self, array: &'a [T]) -> Result<Cow<'a, [T]>, NoRoom> {
        self.along().map_or(Ok(Cow::Borrowed(array)), |along| along.gathered(array))
    }

    /// The inverse of that.
    pub(super) fn scattered<'a, T: Pod>(&self, rows: &'a [T]) -> Result<Cow<'a, [T]>, NoRoom> {
        self.along().map_or(Ok(Cow::Borrowed(rows)), |along| along.scattered(rows))
    }

    /// The place in the array of the first wrong one of `results`, which has as many elements, in
    /// rows. `wrong` finds that of a row.
    pub(super) fn wrong<T, R>(
        &self,
        input: &[T],
        results: &[R],
        wrong: impl Fn(&[T], &[R]) -> Result<Option<usize>, NoRoom>,
    ) -> Result<Option<usize>, NoRoom> {
        // An array without elements has no row to check.
        let columns = self.size().1.max(1);
        let rows = input.chunks(columns).zip(results.chunks(columns));
        for (row, (input, results)) in rows.enumerate() {
            if let Some(at) = wrong(input, results)? {
                let at = row * columns + at;
                return Ok(Some(self.along().map_or(at, |along| along.place(at))));
            }
        }
        Ok(None)
    }
}
