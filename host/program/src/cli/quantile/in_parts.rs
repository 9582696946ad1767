//! Quantiles of an array that is read part by part: the parts are sorted into a temporary file, where
//! the elements of all ranks are looked up.

use super::Quantile;
use crate::cli::axis::Matrix;
use crate::cli::comparisons::hold;
use crate::cli::job::Job;
use crate::cli::runs::SpilledRuns;
use crate::data::Incoming;
use gridsync::memory;
use gridsync::primitives::parts::{PartSorter, kth_of_runs};
use gridsync::primitives::sort::{Key, Order};

/// The quantiles of each row, the time in µs, the elements of a part, and those held for the check.
type InParts<T> = (Vec<f64>, f64, Option<usize>, Vec<T>);

impl Quantile {
    /// The quantiles of `input`, about `part` elements of which are read at a time.
    pub(super) fn in_parts<T: Key>(
        &self,
        job: &Job<'_>,
        input: Incoming,
        matrix: &Matrix,
        part: usize,
    ) -> anyhow::Result<InParts<T>> {
        let (len, device) = (input.len(), job.place().device("quantile")?);
        let mut held = Vec::new();
        if self.axis.is_asked() {
            let (columns, part) = (matrix.size().1.max(1), matrix.whole_rows(part));
            let (mut values, mut us) = (Vec::new(), 0.0);
            job.each_part::<T>(input, part, |rows| {
                let (more, took) = self.values(device, rows, (rows.len() / columns, columns))?;
                values.extend(more);
                us += took;
                hold(self.check, &mut held, rows)
            })?;
            let part = self.parts.taken_because(job, part, len, "so that rows are whole");
            return Ok((values, us, part, held));
        }
        let order = Order::ASCENDING;
        let mut sorter = match device {
            None => PartSorter::on_cpu(order),
            Some(device) => PartSorter::new(order, device)?,
        };
        let mut runs = SpilledRuns::<T>::beside(None, false)?;
        let mut keys = Vec::new();
        job.each_part::<T>(input.in_any_order(), part, |elements| {
            keys.clear();
            memory::reserve(&mut keys, elements.len())?;
            keys.extend_from_slice(elements);
            sorter.sort(&mut keys)?;
            runs.push(&keys, &[])?;
            hold(self.check, &mut held, elements)
        })?;
        let mut of_rank = |rank| -> anyhow::Result<f64> {
            let element = kth_of_runs(order, &mut runs, rank)?;
            Ok(element.expect("ranks are less than the length").to_f64())
        };
        // NaNs come last.
        let has_nan = of_rank(len - 1)?.is_nan();
        let mut values = Vec::new();
        for &q in &self.quantiles {
            let place = self.method.of(q, len);
            let [low, high] = place.ranks;
            let ends = [of_rank(low)?, of_rank(high)?];
            values.push(if has_nan { f64::NAN } else { place.value(ends) });
        }
        Ok((values, sorter.us(), self.parts.taken(job, part, len), held))
    }
}
