//! `--rows` and `--axis`: which lines of an array are processed separately.

use super::exit::Usage;
use crate::data::Along;

#[derive(Clone, Copy, Debug, clap::Args)]
#[group(id = "lines", multiple = false)]
pub(super) struct Axis {
    /// Process each row of the array separately, along its last dimension.
    #[arg(long)]
    rows: bool,
    /// Like --rows, along another dimension: 0 is the first one, -1 the last one, as in NumPy.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    axis: Option<i64>,
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
        let axis = self.axis.unwrap_or(-1);
        let from_the_end = if axis < 0 { dimensions as i64 } else { 0 };
        let number = axis.checked_add(from_the_end).and_then(|axis| usize::try_from(axis).ok());
        number.filter(|&number| number < dimensions).ok_or_else(|| {
            Usage(format!(
                "--axis {axis} is not one of the {dimensions} dimensions of the array, whose shape is {shape:?}: use 0 to {}, or -{dimensions} to -1",
                dimensions - 1
            ))
        })
    }

    /// The lines of an array of this shape.
    pub(super) fn along(self, shape: &[u64]) -> Result<Along, Usage> {
        let too_many = || Usage(format!("an array of shape {shape:?} has too many lines"));
        Along::of(shape, self.number(shape)?).ok_or_else(too_many)
    }

    /// Describes the lines.
    pub(super) fn text(self, along: Along) -> String {
        match self.axis {
            None => format!("each of {} rows of {}", along.lines(), along.len()),
            Some(axis) => {
                format!("each of {} lines of {} along axis {axis}", along.lines(), along.len())
            }
        }
    }
}
