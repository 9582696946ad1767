//! Selections of the first elements from an array that is read part by part.

use super::{First, Top};
use crate::cli::axis::Matrix;
use crate::cli::comparisons::hold;
use crate::cli::job::Job;
use crate::data::Incoming;
use gridsync::primitives::parts::PartTop;
use gridsync::primitives::sort::Key;

/// The first elements, the time in µs, the elements of a part, and those held for the check.
type InParts<T> = (First<T>, f64, Option<usize>, Vec<T>);

impl Top {
    /// Selects from `input`, about `part` elements at a time.
    pub(super) fn in_parts<T: Key>(
        &self,
        job: &Job<'_>,
        input: Incoming,
        matrix: &Matrix,
        part: usize,
    ) -> anyhow::Result<InParts<T>> {
        let (len, device) = (input.len(), job.place().device("top")?);
        let mut held = Vec::new();
        if self.axis.is_asked() {
            let (columns, part) = (matrix.size().1.max(1), matrix.whole_rows(part));
            let (mut elements, mut indices, mut us) = (Vec::new(), Vec::new(), 0.0);
            job.each_part::<T>(input, part, |rows| {
                let size = (rows.len() / columns, columns);
                let (first, more) = self.of_rows(device, rows, size)?;
                elements.extend(first.0);
                indices.extend(first.1);
                us += more;
                hold(self.check, &mut held, rows)
            })?;
            let part = self.parts.taken_because(job, part, len, "so that rows are whole");
            return Ok(((elements, indices), us, part, held));
        }
        let mut top = match device {
            None => PartTop::on_cpu(self.order(), self.k),
            Some(device) => PartTop::new(self.order(), device, self.k, part)?,
        };
        job.each_part::<T>(input, part, |elements| {
            top.next(elements)?;
            hold(self.check, &mut held, elements)
        })?;
        let (us, part) = (top.us(), self.parts.taken(job, part, len));
        Ok((top.first(self.arranged()), us, part, held))
    }
}
