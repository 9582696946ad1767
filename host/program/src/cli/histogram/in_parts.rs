//! Histograms of an array that is read part by part.

use super::Histogram;
use super::asked::{Asked, Numbered, extent_of, joined, range_of};
use crate::cli::comparisons::hold;
use crate::cli::exit::Usage;
use crate::cli::job::{About, Done, Job};
use crate::data::{self, Identity, Incoming, Input};
use gridsync::primitives::histogram::{Binned, Bins};
use gridsync::primitives::parts::PartHistogram;
use gridsync_verify::Widen;

impl Histogram {
    /// Counts `input`, `part` elements at a time, in the `given` bins. Without these it is read twice:
    /// the first time for its least and greatest element.
    pub(super) fn in_parts<T: Binned + Widen + data::Scalar>(
        &self,
        job: &Job<'_>,
        input: Incoming,
        part: usize,
        given: Option<(Asked, Bins<T>)>,
        numbered: Numbered<T>,
    ) -> anyhow::Result<Done> {
        let about = About::of(&input);
        let (input, (asked, bins)) = match given {
            Some(given) => (input, given),
            None => {
                let again = self.again(job)?;
                let mut extent = None;
                job.doing("looking for the range");
                job.each_part::<T>(input, part, |elements| {
                    extent = [extent, extent_of(elements)].into_iter().flatten().reduce(joined);
                    Ok(())
                })?;
                (again, self.even(range_of(extent)?, numbered)?)
            }
        };
        let mut counter = match job.place().device("histogram")? {
            None => PartHistogram::on_cpu(&bins)?,
            Some(device) => PartHistogram::new(&bins, device, part)?,
        };
        let mut held = Vec::new();
        job.doing("counting");
        job.each_part::<T>(input, part, |elements| {
            counter.next(elements)?;
            hold(self.check, &mut held, elements)
        })?;
        let us = counter.us();
        let done = self.checked(job, about, (&asked, &bins), &held, counter.counts())?;
        Ok(Done { us, part: self.parts.taken(job, part, about.len), ..done })
    }

    /// Opens the array a second time.
    fn again(&self, job: &Job<'_>) -> anyhow::Result<Incoming> {
        let input = Input::parse(&self.input);
        let is_once = input.identity().as_ref().is_none_or(Identity::is_read_once);
        if input == Input::Stdin || is_once {
            return Err(Usage(format!(
                "{input} can be read only once, and parts are read a second time for bins between the least and the greatest element: give --range LOW HIGH"
            ))
            .into());
        }
        Ok(job.open(&self.input, self.dtype)?.in_any_order())
    }
}
